"""Output of `bayesregret bounds`."""

import json
import math
import re
import shlex
import subprocess
import sys

import pytest

from bayesregret import BernoulliBandit, GaussianBandit, bounds, simulate
from bayesregret.policies import UCB1, BayesUCB, Thompson
from bayesregret.problem import common_bernoulli, common_gaussian, save_problem

pytestmark = pytest.mark.compiled  # certified lower bounds take minutes without compilation

SMALL = ["--horizon", "50"]
PROMISED = ["name", "form", "source", "policy", "value", "leading", "remainder", "error", "applies", "why_not"]


def limited(value):
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {key: limited(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [limited(entry) for entry in value]
    return {math.inf: "inf", -math.inf: "-inf"}.get(value, value) if isinstance(value, float) else value


@pytest.fixture
def run_bounds(bayesregret):
    return lambda *arguments: bayesregret("bounds", *SMALL, *arguments)


def test_json_is_what_python_gives(run_bounds):
    outcome = run_bounds("gaussian", "--arms", "3", "--delta", "0.1", "--epsilon", "0.2", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    found = bounds.table(common_gaussian(arms=3), horizon=50, delta=0.1, epsilon=0.2)
    assert outcome.data == limited(found.to_dict())


def test_json_has_the_shape_that_is_promised(run_bounds):
    data = run_bounds("bernoulli", "--arms", "2", "--json").data
    assert data["problem"] == common_bernoulli(arms=2).to_dict()
    assert (data["horizon"], data["delta"], data["epsilon"]) == (50, 1 / 50, 1 / 50)
    for bound in data["bounds"]:
        assert set(PROMISED) <= set(bound)
        assert bound["form"] in ("paper", "certified")
        assert bound["applies"] is (bound["why_not"] is None)
        assert isinstance(bound["value"], float)
    assert {bound["name"] for bound in data["bounds"]} >= {"gap_dependent", "certified_floor", "certified_index"}


def test_infinite_values_are_text(run_bounds):
    data = run_bounds("bernoulli", "--alpha", "0.5", "--json").data
    (complexity,) = (bound for bound in data["bounds"] if bound["name"] == "complexity")
    assert complexity["value"] == complexity["terms"]["complexity"] == "inf"


def test_the_table_is_what_python_shows(run_bounds):
    outcome = run_bounds("gaussian", "--arms", "3")
    found = bounds.table(common_gaussian(arms=3), horizon=50)
    heading, *rest = outcome.out.splitlines()
    assert (outcome.status, outcome.err) == (0, "")
    assert heading.split() == found.table()[0]
    rows, summary = rest[: len(found)], rest[len(found) + 1 :]
    assert "\n".join(summary) == found.summary()
    for line, cells in zip(rows, found.table()[1:], strict=True):
        assert re.split(r" {2,}", line.strip()) == cells
    assert "\x1b" not in outcome.out


def test_against_a_simulation(run_bounds):
    options = ["gaussian", "--arms", "2", "--against", "--runs", "20", "--seed", "7"]
    bandit = common_gaussian(arms=2)
    simulation = simulate(bandit, [BayesUCB(), UCB1(), Thompson()], horizon=50, runs=20, seed=7)
    found = bounds.table(bandit, horizon=50, against=simulation)
    assert run_bounds(*options, "--json").data == limited(found.to_dict())
    text = run_bounds(*options).out
    assert "times regret" in text.splitlines()[0]
    assert found.summary() in text


def test_delta_reaches_the_simulation(run_bounds):
    data = run_bounds("gaussian", "--delta", "0.3", "--against", "--runs", "20", "--json").data
    simulation = simulate(
        common_gaussian(), [BayesUCB(delta=0.3), UCB1(delta=0.3)], horizon=50, runs=20, seed=data["simulation"]["seed"]
    )
    assert data["simulation"]["policies"]["ucb1"]["regret"] == simulation["ucb1"].mean


def test_a_file_gives_the_problem(run_bounds):
    bandit = GaussianBandit([0.3, 0.0], 0.5, 2.0, "rademacher")
    save_problem(bandit, "problem.toml")
    outcome = run_bounds("problem.toml", "--json")
    assert outcome.data["problem"] == bandit.to_dict()
    assert outcome.data["best"] == "certified_trivial"
    assert "not proved here, since rewards must be Gaussian" in run_bounds("problem.toml").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("gaussian --horizon 0", "--horizon must be a whole number, at least 1"),
        ("gaussian --horizon 1.5", "--horizon must be a whole number"),
        ("gaussian --horizon abc", "--horizon must be a whole number"),
        ("gaussian --delta 0", "--delta must be a number strictly between 0 and 1, got 0"),
        ("gaussian --delta 1", "--delta must be a number strictly between 0 and 1, got 1"),
        ("gaussian --delta nan", "--delta must be a number strictly between 0 and 1, got nan"),
        ("gaussian --delta small", "--delta must be a number strictly between 0 and 1, got 'small'"),
        ("gaussian --epsilon 0", "--epsilon must be a positive number, got 0"),
        ("gaussian --epsilon -1", "--epsilon must be a positive number, got -1"),
        ("gaussian --epsilon inf", "--epsilon must be a positive number, got inf"),
        ("gaussian --runs 5", "--runs requires --against"),
        ("gaussian --seed 5", "--seed requires --against"),
        ("gaussian --against --runs 0", "--runs must be a whole number, at least 1"),
        ("gaussian --against --seed -1", "--seed must be a whole number, at least 0, got -1"),
        ("gaussian --alpha 1", "--alpha does not go with gaussian"),
        ("gaussian --policy ucb1", "No such option: --policy"),
        ("gaussian --foo", "No such option: --foo"),
        ("gaussian more", "Got unexpected extra argument"),
        ("", "Missing argument 'PROBLEM'"),
        ("nothing.toml", "PROBLEM must be a TOML or JSON file"),
        ("flat.toml", "alpha must be between"),
    ],
)
def test_bad_input_is_one_line(run_bounds, arguments, said):
    save_problem(BernoulliBandit([1e-3, 1.0], [1.0, 1.0]), "flat.toml")
    for output in ([], ["--json"]):
        outcome = run_bounds(*output, *shlex.split(arguments))
        assert (outcome.status, outcome.out) == (2, "")
        assert outcome.err.startswith(f"bayesregret: {said}")
        assert outcome.err.count("\n") == 1


def test_examples_run_as_they_stand(bayesregret):
    text = bayesregret("bounds", "--help").out
    commands = re.findall(r"^ +bayesregret (bounds .*)$", text, re.MULTILINE)
    assert len(commands) >= 3
    save_problem(common_gaussian(arms=2), "problem.toml")
    for command in commands:
        small = ["--runs", "20"] if "--against" in command else []
        outcome = bayesregret(*shlex.split(command), *small)
        assert (outcome.status, outcome.err) == (0, ""), command
        assert outcome.out.startswith("{" if "--json" in command else "bound ")


def test_every_option_is_explained(bayesregret):
    text = " ".join(bayesregret("bounds", "--help").out.split())
    for name in ("horizon", "delta", "epsilon", "against", "runs", "seed", "json", "arms", "prior-width", "alpha"):
        assert f"--{name} " in text
    assert "Usage: bayesregret bounds PROBLEM [OPTIONS]" in text


LOADED = "; import sys; print('LOADED', *{name.partition('.')[0] for name in sys.modules})"


def loaded_by(code):
    printed = subprocess.run([sys.executable, "-c", code + LOADED], capture_output=True, text=True, check=True).stdout
    return set(printed.partition("LOADED")[2].split())


def test_scipy_waits_until_a_bound_is_asked_for():
    assert "scipy" not in loaded_by("import bayesregret")
    assert "scipy" not in loaded_by("from bayesregret.cli import run; run(['bounds', '--help'])")
    assert "scipy" in loaded_by("import bayesregret; bayesregret.bounds.table"), "the control"
    assert "numba" not in loaded_by("import bayesregret; bayesregret.bounds.table"), "bounds are not simulated"


@pytest.mark.compiled
def test_the_process_prints_strict_json_and_nothing_else():
    command = [sys.executable, "-m", "bayesregret", "bounds", "bernoulli", "--alpha", "0.5", "--arms", "2", *SMALL]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

    def refuse(constant):
        raise AssertionError(f"{constant} is not strict JSON")

    assert json.loads(done.stdout, parse_constant=refuse)["horizon"] == 50
    wrong = subprocess.run([*command, "--epsilon", "0"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "bayesregret: --epsilon must be a positive number, got 0\n"
