"""What `bayesregret exact` prints."""

import math
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import bayesregret as br
from bayesregret import spinner
from bayesregret.problem import common_bernoulli, common_gaussian, save_problem

SMALL = ["--horizon", "5"]


@pytest.fixture(autouse=True)
def some_best_chance(request, monkeypatch):
    """The real one takes long when nothing is compiled."""
    if request.node.get_closest_marker("compiled") is None:
        some = property(lambda result: np.linspace(0.25, 0.75, result.horizon))
        monkeypatch.setattr("bayesregret.exact.ExactRegret.best_chance", some)


@pytest.fixture
def run_exact(bayesregret):
    return lambda *arguments: bayesregret("exact", *SMALL, *arguments)


def without(data, *keys):
    return {key: value for key, value in data.items() if key not in keys}


# --- programs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "bandit"),
    [
        ("gaussian --arms 3", common_gaussian(arms=3)),
        ("bernoulli --arms 3 --alpha 2", common_bernoulli(arms=3, alpha=2)),
    ],
)
def test_json_of_one_policy_is_what_python_gives(run_exact, problem, bandit):
    outcome = run_exact(*shlex.split(problem), "--policy", "ucb1", "--delta", "0.1", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.data == br.exact_regret(bandit, br.UCB1(), horizon=5, delta=0.1).to_dict()
    assert {"problem", "policy", "horizon", "delta", "regret", "error"} <= set(outcome.data)
    assert (outcome.data["policy"], outcome.data["horizon"], outcome.data["delta"]) == ("ucb1", 5, 0.1)


def test_json_of_several_policies_has_each_under_its_name(run_exact):
    bandit = common_bernoulli(arms=2)
    expected = {
        "problem": bandit.to_dict(),
        "horizon": 5,
        "policies": {
            policy.name: without(br.exact_regret(bandit, policy, horizon=5).to_dict(), "problem", "horizon", "policy")
            for policy in (br.BayesUCB(), br.UCB1())
        },
    }
    both = ["--policy", "bayes-ucb", "--policy", "ucb1"]
    for policies in ([], both):
        data = run_exact("bernoulli", "--arms", "2", *policies, "--json").data
        assert data == expected
        assert list(data["policies"]) == ["bayes-ucb", "ucb1"]
    turned = run_exact("bernoulli", "--arms", "2", *both[2:], *both[:2], "--json").data
    assert list(turned["policies"]) == ["ucb1", "bayes-ucb"]
    assert turned == expected


def test_the_horizon_is_as_in_other_commands(bayesregret):
    help_text = " ".join(bayesregret("exact", "--help").out.split())
    assert "--horizon N Rounds. [default: 1000]" in help_text


# --- people ---------------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_policy(run_exact):
    outcome = run_exact("bernoulli", "--arms", "2")
    found = [br.exact_regret(common_bernoulli(arms=2), policy, horizon=5) for policy in (br.BayesUCB(), br.UCB1())]
    lines = outcome.out.splitlines()
    assert (outcome.status, outcome.err) == (0, "")
    rows = [re.split(r" {2,}", line.strip()) for line in lines[:3]]
    assert rows == [found[0].table()[0], found[0].table()[1], found[1].table()[1]]
    assert lines[3:] == ["", "bernoulli bandit, 5 rounds, 2 arms, delta 0.2; computed, not simulated"]
    assert max(map(len, lines)) < 100
    assert "\x1b" not in outcome.out


def test_probabilities_of_the_best_arm_are_optional(run_exact):
    plain, asked = run_exact("bernoulli", "--arms", "2"), run_exact("bernoulli", "--arms", "2", "--best-arm")
    assert "best arm" not in plain.out
    assert "best arm at the end" in asked.out
    assert asked.out.splitlines()[1].endswith("50.00%               75.00%")
    data = run_exact("bernoulli", "--arms", "2", "--policy", "ucb1", "--best-arm", "--json").data
    assert data["best_chance"] == [0.25, 0.375, 0.5, 0.625, 0.75]
    assert data["best_share"] == 0.5


def test_checkpoints_are_shown(run_exact):
    text = run_exact("bernoulli", "--arms", "2", "--checkpoints", "3,1").out
    found = [br.exact_regret(common_bernoulli(arms=2), policy, horizon=5) for policy in (br.BayesUCB(), br.UCB1())]
    curve = text.split("\n\n")[1].splitlines()
    assert curve[0].split() == ["round", "bayes-ucb", "ucb1"]
    assert [line.split()[0] for line in curve[1:]] == ["1", "3", "5"]
    for line, round_ in zip(curve[1:], (1, 3, 5), strict=True):
        assert [float(cell) for cell in line.split()[1:]] == pytest.approx(
            [each.curve[round_ - 1] for each in found], rel=1e-9
        )


def test_policies_of_which_different_things_are_to_be_said(monkeypatch, run_exact):
    monkeypatch.setattr("bayesregret.exact.ExactRegret.summary", lambda result: f"this is {result.policy}")
    assert run_exact("bernoulli").out.splitlines()[-2:] == ["bayes-ucb: this is bayes-ucb", "ucb1: this is ucb1"]


def test_a_terminal_sees_that_something_goes_on(run_exact, monkeypatch):
    assert run_exact("bernoulli").err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(spinner, "PATIENCE", 0.0)
    outcome = run_exact("bernoulli", "--policy", "ucb1", "--json")
    assert "exact regret of ucb1" in outcome.err
    assert outcome.data["policy"] == "ucb1"


def test_a_file_gives_the_problem(run_exact):
    bandit = br.GaussianBandit([0.3, 0.0], 0.5, 2.0)
    save_problem(bandit, "problem.toml")
    data = run_exact("problem.toml", "--policy", "bayes-ucb", "--json").data
    assert data["problem"] == bandit.to_dict()
    assert data["regret"] == br.exact_regret(bandit, br.BayesUCB(), horizon=5).regret


def test_one_round_and_one_arm(run_exact):
    data = run_exact("gaussian", "--horizon", "1", "--policy", "ucb1", "--json").data
    assert data["curve"] == [data["regret"]]
    assert data["delta"] == 1.0
    data = run_exact("bernoulli", "--arms", "1", "--policy", "ucb1", "--json").data
    assert math.isclose(data["regret"], 0.0, abs_tol=1e-9)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("linear", "PROBLEM must be gaussian or bernoulli for an exact regret, got a linear one"),
        ("gaussian --noise-kind rademacher", "--noise-kind must be gaussian for an exact regret, got rademacher"),
        ("gaussian --horizon 1e9", "--horizon must be a whole number, at least 1 and at most "),
        ("bernoulli --horizon 1e9", "--horizon must be a whole number, at least 1 and at most "),
        ("gaussian --horizon 0", "--horizon must be a whole number, at least 1, got 0"),
        ("gaussian --horizon 1.5", "--horizon must be a whole number, at least 1, got 1.5"),
        ("gaussian --horizon x", "--horizon must be a whole number, at least 1, got 'x'"),
        ("gaussian --horizon 0 --checkpoints 1", "--horizon must be a whole number, at least 1, got 0"),
        ("gaussian --delta 1", "--delta must be a number strictly between 0 and 1, got 1"),
        ("gaussian --policy foo", "--policy must be one of bayes-optimal, bayes-ucb, "),
        ("gaussian --policy ucb1 --policy ucb1", "--policy must be given once each, got ucb1 2 times"),
        ("gaussian --checkpoints 6", "--checkpoints must be whole numbers between 1 and the horizon, 5, got [6]"),
        ("gaussian --checkpoints x", "--checkpoints must be whole numbers between 1 and the horizon, 5, got ['x']"),
        ("gaussian --alpha 1", "--alpha does not go with gaussian"),
        ("gaussian --runs 5", "No such option: --runs"),
        ("nothing.toml", "PROBLEM must be a TOML or JSON file"),
        ("", "Missing argument 'PROBLEM'"),
    ],
)
def test_bad_input_is_one_line(run_exact, arguments, said):
    for output in ([], ["--json"]):
        if output and "--checkpoints" in arguments:
            continue
        outcome = run_exact(*shlex.split(arguments), *output)
        assert (outcome.status, outcome.out) == (2, "")
        assert outcome.err.startswith(f"bayesregret: {said}")
        assert outcome.err.count("\n") == 1


def test_json_has_every_round(run_exact):
    outcome = run_exact("gaussian", "--checkpoints", "2", "--json")
    assert outcome == (
        2,
        "",
        "bayesregret: --checkpoints does not go with --json, which has the curve after every round\n",
    )


# --- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_examples_run_as_they_stand(bayesregret):
    text = bayesregret("exact", "--help").out
    commands = re.findall(r"^ +bayesregret (exact .*)$", text + bayesregret("--help").out, re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        outcome = bayesregret(*shlex.split(command))
        assert (outcome.status, outcome.err) == (0, ""), command
        assert outcome.out.startswith("{" if "--json" in command else "policy ")


def test_every_option_is_explained(bayesregret):
    text = " ".join(bayesregret("exact", "--help").out.split())
    for name in ("policy", "horizon", "delta", "checkpoints", "best-arm", "json", "arms", "prior-width", "alpha"):
        assert f"--{name} " in text
    assert "Usage: bayesregret exact PROBLEM [OPTIONS]" in text
    assert "With several policies, or none given, it prints problem, horizon and policies" in text


def test_scipy_waits_until_a_regret_is_asked_for():
    code = "; import sys; print('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    loaded = {}
    for command in ("exact", "simulate"):
        done = subprocess.run(
            [sys.executable, "-c", f"from bayesregret.cli import run; run(['{command}', '--help']){code}"],
            capture_output=True,
            text=True,
            check=True,
        )
        loaded[command] = set(done.stdout.partition("LOADED")[2].split())
        assert "typer" in loaded[command], "the control"
        assert not loaded[command] & {"scipy", "numba", "rich"}
