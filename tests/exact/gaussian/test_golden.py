"""Gaussian regret against integrals over all rewards, and its error against the true error.

tests/golden/exact_direct.py computes the values directly from the policy's decisions."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayesregret as br
from bayesregret.problem import problem_from_dict

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "exact.json").read_text())
PROMISED = 5e-10
ROUNDING = 1e-13
BEST = 2e-5  # promised accuracy of the probability of pulling the best arm


def policy_of(entry, **changes):
    entry = entry | changes
    if entry["policy"]["name"] == "ucb1":
        return br.UCB1(delta=entry["delta"])
    prior = entry["policy"].get("prior")
    return br.BayesUCB(delta=entry["delta"], prior=prior and problem_from_dict(prior))


def golden(entry, name):
    return np.array([float(number) for number in entry[name]])


def identify(entry):
    return entry["name"].replace(" ", "_")


# Without a compiler: few rounds, and no chain per threshold.
QUICK = ("one", "three, ucb1", "three, equal", "tie of wrong beliefs", "ucb1, very little noise", "very little noise")
CASES = [
    pytest.param(entry, id=identify(entry), marks=() if entry["name"] in QUICK else pytest.mark.compiled)
    for entry in GOLDEN
]


@pytest.mark.parametrize("entry", CASES)
def test_curve_and_its_error(entry):
    found = br.exact_regret(problem_from_dict(entry["problem"]), policy_of(entry), horizon=entry["horizon"])
    truth = golden(entry, "regret")
    off = np.abs(found.curve - truth)
    scale = max(truth[-1], entry["problem"]["prior_width"])
    assert off.max() <= PROMISED * scale
    assert (off <= found.curve_error + ROUNDING * scale).all()
    assert found.error <= 100 * PROMISED * scale
    assert np.abs(found.pulls - golden(entry, "pulls")).max() <= PROMISED * entry["horizon"]


TWO = [
    pytest.param(*case.values, id=case.id, marks=[*case.marks, *[pytest.mark.slow] * (case.id == "ucb1,_narrow")])
    for case in CASES
    if case.values[0]["best_chance"] is not None
]


@pytest.mark.parametrize("entry", TWO)
def test_probability_of_the_best_arm(entry):
    found = br.exact_regret(problem_from_dict(entry["problem"]), policy_of(entry), horizon=entry["horizon"])
    assert np.abs(found.best_chance - golden(entry, "best_chance")).max() <= BEST
    assert found.best_share == pytest.approx(golden(entry, "best_chance").mean(), rel=BEST)


@pytest.mark.compiled
def test_a_wrong_problem_is_noticed():
    """The control: a thousandth in delta or in a prior mean is more than the comparison allows."""
    entry = GOLDEN[0]
    truth = golden(entry, "regret")
    bandit = problem_from_dict(entry["problem"])
    other = br.exact_regret(bandit, policy_of(entry, delta=1.001 * entry["delta"]), horizon=entry["horizon"])
    assert abs(other.regret - truth[-1]) > 2e3 * PROMISED * truth[-1]
    moved = br.GaussianBandit(np.add(bandit.prior_mean, [1e-3, 0.0]), bandit.prior_width, bandit.reward_noise)
    other = br.exact_regret(moved, policy_of(entry), horizon=entry["horizon"])
    assert abs(other.regret - truth[-1]) > 2e3 * PROMISED * truth[-1]
