"""Output of `bayesregret audit`."""

import math
import re
import shlex

import pytest

from bayesregret.audit import audit
from bayesregret.problem import common_bernoulli, common_gaussian, save_problem

SMALL = ["--horizon", "20", "--runs", "20"]


def unlimited(value):
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {key: unlimited(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [unlimited(entry) for entry in value]
    return {math.inf: "inf", -math.inf: "-inf"}.get(value, value) if isinstance(value, float) else value


@pytest.mark.compiled
def test_json_is_what_python_gives(bayesregret):
    options = ["--seed", "7", "--delta", "0.1", "--epsilon", "0.2", "--prior-width", "0.1", "--arms", "3"]
    outcome = bayesregret("audit", "gaussian", *SMALL, *options, "--json")
    bandit = common_gaussian(arms=3, prior_width=0.1)
    result = audit(bandit, horizon=20, runs=20, seed=7, delta=0.1, epsilon=0.2)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.data == unlimited(result.to_dict())
    assert result.failures, "a defect that is found is no error"


def test_the_table_has_the_verdicts(bayesregret):
    save_problem(common_bernoulli(arms=2), "problem.toml")
    outcome = bayesregret("audit", "problem.toml", *SMALL)
    result = audit(common_bernoulli(arms=2), horizon=20, runs=20)
    heading, *lines, blank, first, second = outcome.out.splitlines()
    assert (outcome.status, outcome.err, blank) == (0, "", "")
    titles = ["check", "source", "form", "evidence", "observed", "allowed", "worst ratio", "verdict", "note"]
    assert re.split(r" {2,}", heading.strip()) == titles
    assert [first, second] == result.summary().splitlines()
    assert len(lines) == len(result.checks)
    for line, check in zip(lines, result.checks, strict=True):
        assert line.startswith(check.name)
        assert f" {check.evidence} " in line
        assert f" {check.verdict} " in f"{line} "


@pytest.mark.parametrize(
    ("arguments", "evidence", "told"),
    [
        ("", "exact", "bounds are compared with the exact regret"),
        ("--exact", "exact", "bounds are compared with the exact regret"),
        ("--no-exact", "simulated", "bounds are compared with the simulated regret, since a simulation was requested"),
        (
            "--horizon 2001",
            "simulated",
            "bounds are compared with the simulated regret, since the exact regret takes more than a second or so here "
            "(--exact computes it)",
        ),
    ],
)
def test_the_evidence_is_shown_and_can_be_chosen(bayesregret, arguments, evidence, told):
    arguments = ["bernoulli", "--arms", "2", "--horizon", "5", "--runs", "2", *shlex.split(arguments)]
    outcome = bayesregret("audit", *arguments)
    assert outcome.out.splitlines()[-1] == told
    data = bayesregret("audit", *arguments, "--json").data
    others = [check for check in data["checks"] if "thompson" not in check["statement"]]  # that is simulated always
    assert {check["evidence"] for check in others} == {"tracked", evidence}
    assert (data["why_simulated"] is None) == (evidence == "exact")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("gaussian --horizon 0", "--horizon must be a whole number, at least 1"),
        ("gaussian --runs x", "--runs must be a whole number, at least 1"),
        ("gaussian --delta 2", "--delta must be a number strictly between 0 and 1, got 2"),
        ("gaussian --epsilon -1", "--epsilon must be a positive number, got -1"),
        (
            "gaussian --noise-kind rademacher --exact",
            "--noise-kind must be gaussian for an exact regret, got rademacher",
        ),
        ("linear --exact", "PROBLEM must be gaussian or bernoulli for an exact regret, got a linear one"),
        ("gaussian --alpha 1", "--alpha does not go with gaussian"),
        ("nothing.toml", "PROBLEM must be a TOML or JSON file"),
    ],
)
def test_bad_input_is_one_line(bayesregret, arguments, said):
    outcome = bayesregret("audit", *SMALL, *shlex.split(arguments))
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"bayesregret: {said}")
    assert outcome.err.count("\n") == 1


@pytest.mark.compiled
def test_examples_run_as_they_stand(bayesregret):
    text = bayesregret("audit", "--help").out
    commands = re.findall(r"^ +bayesregret (audit .*)$", text, re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        outcome = bayesregret(*shlex.split(command))
        assert (outcome.status, outcome.err) == (0, ""), command
        assert outcome.out.startswith("{" if "--json" in command else "check ")
