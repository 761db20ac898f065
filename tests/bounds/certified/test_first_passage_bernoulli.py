"""The bound by first passages for Bernoulli arms: against its definition by drawn paths of indices, against the exact
regret, and its error against a finer rule."""

import math

import numpy as np
import pytest

from bayesregret import BayesUCB, BernoulliBandit, bounds, exact_regret
from bayesregret.bounds import DoesNotHold
from bayesregret.bounds.bound import FINE, make_setting
from bayesregret.bounds.certified.first_passage_bernoulli import LONGEST_HORIZON, MOST_KINDS, first_passage_bernoulli


def value(bandit, horizon, delta=None, order=FINE):
    return first_passage_bernoulli(bandit, make_setting(horizon, delta), order).terms["leading"]


def drawn_values(bandit, horizon, delta, runs):
    """For each run the sum over arms of (V - theta)^+ times the pulls whose lowest index so far is at least Y."""
    rng = np.random.default_rng(51)
    means = rng.beta(bandit.alpha, bandit.beta, (runs, bandit.arms))
    wins = rng.random((runs, bandit.arms, horizon - 1)) < means[:, :, None]
    totals = np.concatenate([np.zeros((runs, bandit.arms, 1)), np.cumsum(wins, axis=2)], axis=2)
    worth = bandit.alpha[:, None] + bandit.beta[:, None] + np.arange(horizon)
    width = np.sqrt(2.0 * np.log(1.0 / delta) * 0.25 / (worth + 1.0))
    lowest = np.minimum.accumulate((bandit.alpha[:, None] + totals) / worth + width, axis=2)
    total = np.zeros(runs)
    for arm in range(bandit.arms):
        others = np.arange(bandit.arms) != arm
        level = lowest[:, others, -1].max(axis=1)
        pulls = (lowest[:, arm] >= level[:, None] - 1e-12).sum(axis=1)
        total += np.maximum(0.0, means[:, others].max(axis=1) - means[:, arm]) * pulls
    return total


SMALL = {
    "equal arms": (BernoulliBandit([1, 1, 1], [1, 1, 1]), 12, 0.05),
    "all levels": (BernoulliBandit([2, 1, 1], [1, 1, 3]), 9, 0.3),
    "near 0 and 1": (BernoulliBandit([0.1, 0.3], [0.2, 0.1]), 15, 0.1),
}


@pytest.mark.parametrize(("bandit", "horizon", "delta"), SMALL.values(), ids=SMALL)
def test_its_definition(bandit, horizon, delta):
    drawn = drawn_values(bandit, horizon, delta, 60_000)
    stderr = drawn.std() / math.sqrt(len(drawn))
    found = bounds.certified_first_passage(bandit, horizon=horizon, delta=delta).value
    assert abs(found - drawn.mean()) < 4.0 * stderr
    assert abs(1.1 * found - drawn.mean()) > 4.0 * stderr, "the control"


@pytest.mark.compiled
def test_a_grid_of_levels_gives_a_little_more():
    bandit, horizon, delta = BernoulliBandit([1, 1, 2], [1, 1, 2]), 60, 0.02
    drawn = drawn_values(bandit, horizon, delta, 60_000)
    stderr = drawn.std() / math.sqrt(len(drawn))
    found = bounds.certified_first_passage(bandit, horizon=horizon, delta=delta).value
    assert drawn.mean() - 4.0 * stderr < found < 1.02 * drawn.mean() + 4.0 * stderr


def test_one_round():
    """The arm with the higher index is taken; E(U - theta)^+ is 1/20 for U of Beta(1, 3) and a uniform theta."""
    found = bounds.certified_first_passage(BernoulliBandit([1, 1], [1, 3]), horizon=1)
    assert found.value == pytest.approx(0.05, rel=1e-9)


@pytest.mark.compiled
def test_the_paper_sized_problem():
    five = BernoulliBandit([1] * 5, [1] * 5)
    found = bounds.certified_first_passage(five, horizon=1_000)
    assert 25.1458899 < found.value < 1.11 * 25.1458899
    assert found.error < 1e-5 * found.value
    table = bounds.table(five, horizon=1_000)
    assert table.best.name == "certified_first_passage"
    assert table["certified_index"].value > 2.0 * found.value


@pytest.mark.compiled
def test_it_is_above_the_exact_regret_and_its_error_is_honest():
    rng = np.random.default_rng(52)
    nearest = math.inf
    for _ in range(10):
        arms, horizon = int(rng.integers(2, 6)), int(10.0 ** rng.uniform(0.0, 1.8))
        counts = np.round(10.0 ** rng.uniform(-1.0, 2.0, (2, arms)), 1)
        bandit = BernoulliBandit(*counts)
        delta = None if rng.random() < 0.5 else float(10.0 ** rng.uniform(-6.0, -0.05))
        bound = bounds.certified_first_passage(bandit, horizon=horizon, delta=delta)
        exact = exact_regret(bandit, BayesUCB(delta=delta), horizon=horizon)
        assert bound.value >= exact.regret - exact.error, (bandit, horizon, delta)
        assert abs(bound.leading - value(bandit, horizon, delta, 2 * FINE)) <= bound.error, (bandit, horizon, delta)
        assert bound.error <= 2e-4 * bound.value + 1e-12 * horizon
        nearest = min(nearest, bound.value / exact.regret)
    assert nearest < 1.05, "some are so near that a mistake would be seen"


@pytest.mark.compiled
def test_probabilities_that_underflow():
    """0.37^736 0.63^1264 is less than the smallest number; so are all weights of a sharp prior far from its mean."""
    long = bounds.certified_first_passage(BernoulliBandit([1, 1], [1, 1]), horizon=LONGEST_HORIZON)
    half = bounds.certified_first_passage(BernoulliBandit([1, 1], [1, 1]), horizon=LONGEST_HORIZON // 2)
    assert half.value < long.value < 2.0 * half.value
    sharp = bounds.certified_first_passage(BernoulliBandit([1e4, 1.01e4], [1e4, 1e4]), horizon=200)
    exact = exact_regret(BernoulliBandit([1e4, 1.01e4], [1e4, 1e4]), BayesUCB(), horizon=200)
    assert exact.regret <= sharp.value < 1.001 * exact.regret


REFUSED = {
    "horizon": (
        [1, 1],
        {"horizon": LONGEST_HORIZON + 1},
        f"first passages need a horizon of at most {LONGEST_HORIZON:,}",
    ),
    "priors": (
        np.arange(1.0, MOST_KINDS + 2.0),
        {"horizon": 5},
        f"first passages need at most {MOST_KINDS} different priors",
    ),
    "apart": (
        [1e7, 1e5],
        {"horizon": 5},
        "first passages need smaller prior pseudo-counts or priors closer to each other",
    ),
}


@pytest.mark.parametrize(("alpha", "setting", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(alpha, setting, reason):
    bandit = BernoulliBandit(alpha, np.full(len(alpha), 1e7 if len(alpha) == 2 else 1.0))
    with pytest.raises(DoesNotHold) as refused:
        bounds.certified_first_passage(bandit, **setting)
    assert refused.value.reason == reason


def test_one_arm():
    assert bounds.certified_first_passage(BernoulliBandit([1], [2]), horizon=10**9).value == 0.0
