"""The bound by first passages: against its definition by drawn paths of indices, against the exact regret, and its
error against a finer rule."""

import itertools
import math

import numpy as np
import pytest

from bayesregret import BayesUCB, GaussianBandit, bounds, exact_regret
from bayesregret.bounds import DoesNotHold
from bayesregret.bounds.bound import COARSE, FINE, make_setting
from bayesregret.bounds.certified.first_passage_gaussian import (
    LARGEST_PSEUDO_COUNT,
    LONGEST_HORIZON,
    MOST_MEANS,
    first_passage_gaussian,
)
from bayesregret.bounds.certified.gaussian_passages import passages, whole_sum_rule

LANDMARK = GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0)
FINER = 18


def value(bandit, horizon, delta=None, order=FINE):
    return first_passage_gaussian(bandit, make_setting(horizon, delta), order).terms["leading"]


# --- by drawn paths ------------------------------------------------------------------------------------------------


def paths(rng, bandit, horizon, z, runs):
    """Means (runs, arms) and lowest indices so far (runs, arms, horizon)."""
    means = bandit.prior_mean + bandit.prior_width * rng.standard_normal((runs, bandit.arms))
    noise = bandit.reward_noise * rng.standard_normal((runs, bandit.arms, horizon))
    noise[:, :, 0] = 0.0
    pulls, r = np.arange(horizon), bandit.model.pseudo_count
    totals = np.cumsum(noise, axis=2) + means[:, :, None] * pulls
    index = (r * bandit.prior_mean[:, None] + totals) / (r + pulls) + z * bandit.reward_noise / np.sqrt(r + pulls)
    index[:, :, 0] = bandit.prior_mean + z * bandit.prior_width  # arms tie here: no rounding
    return means, np.minimum.accumulate(index, axis=2)


def right_hand_side(means, lowest, *, before=np.greater, after=np.greater_equal):
    """For each run the sum over arms of (V - theta)^+ times the pulls that the others let the arm make."""
    total = np.zeros(len(means))
    last = lowest[:, :, -1]
    for arm in range(means.shape[1]):
        others = np.arange(means.shape[1]) != arm
        allowed = np.ones(lowest[:, arm].shape, bool)
        for other in np.flatnonzero(others):
            compare = before if other < arm else after
            allowed &= compare(lowest[:, arm], last[:, other, None])
        total += np.maximum(0.0, means[:, others].max(axis=1) - means[:, arm]) * allowed.sum(axis=1)
    return total


SMALL = {
    "four arms": (GaussianBandit([0.4, 0.0, 0.0, -0.9], 0.8, 0.7), 25, 0.05),
    "ties": (GaussianBandit([0.3, 0.0, 0.0], 1.0, 1.0), 3, 0.9),
    "much noise": (GaussianBandit([0.98, -1.25], 0.8, 6.8), 15, None),
    "little noise": (GaussianBandit([0.5, 0.0, 0.0], 2.0, 0.1), 12, None),
}


@pytest.mark.parametrize(("bandit", "horizon", "delta"), SMALL.values(), ids=SMALL)
def test_its_definition(bandit, horizon, delta):
    setting = make_setting(horizon, delta)
    drawn = right_hand_side(*paths(np.random.default_rng(41), bandit, horizon, setting.z, 60_000))
    stderr = drawn.std() / math.sqrt(len(drawn))
    found = bounds.certified_first_passage(bandit, horizon=horizon, delta=delta).value
    assert abs(found - drawn.mean()) < 4.0 * stderr
    assert abs(1.15 * found - drawn.mean()) > 4.0 * stderr, "the control"


def test_who_goes_first_on_ties_counts():
    bandit, horizon, delta = SMALL["ties"]
    drawn = paths(np.random.default_rng(41), bandit, horizon, make_setting(horizon, delta).z, 60_000)
    sharp, all_first = right_hand_side(*drawn), right_hand_side(*drawn, before=np.greater_equal)
    assert (all_first >= sharp).all()
    assert all_first.mean() > sharp.mean() + 10.0 * sharp.std() / math.sqrt(len(sharp))


@pytest.mark.parametrize("seed", range(3))
def test_no_arm_is_pulled_more_often(seed):
    """Run by run, ties included: rewards are whole numbers, so that indices meet."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        arms, horizon = int(rng.integers(2, 5)), int(rng.integers(1, 30))
        rewards = rng.integers(0, 2, (arms, horizon))
        # The mean with one pull and half a reward before, plus 1/pulls: for z = 0 and a width that vanishes.
        totals = np.concatenate([np.zeros((arms, 1)), np.cumsum(rewards, axis=1)[:, :-1]], axis=1)
        index = (0.5 + totals) / (1.0 + np.arange(horizon)) + rng.choice([0.0, 0.5]) / (1.0 + np.arange(horizon))
        counts = np.zeros(arms, int)
        for _ in range(horizon):
            counts[int(np.argmax(index[np.arange(arms), counts.clip(max=horizon - 1)]))] += 1
        lowest = np.minimum.accumulate(index, axis=1)
        for arm in range(arms):
            allowed = np.ones(horizon, bool)
            for other in set(range(arms)) - {arm}:
                compare = np.greater if other < arm else np.greater_equal
                allowed &= compare(lowest[arm], lowest[other, -1])
            assert counts[arm] <= allowed.sum()


# --- numbers -------------------------------------------------------------------------------------------------------


def test_the_landmark():
    found = bounds.certified_first_passage(LANDMARK, horizon=1_000)
    assert found.leading == pytest.approx(79.8750278, rel=3e-8)
    assert 75.6969 < found.value < 1.06 * 75.6969125
    assert found.error <= 1e-6 * found.value
    assert list(found.terms) == ["leading", "numerical error"]
    assert "certified_first_passage" in str(found)


def test_it_is_the_best_of_the_table():
    table = bounds.table(LANDMARK, horizon=1_000)
    assert table.best.name == "certified_first_passage"
    best = bounds.certified(LANDMARK, horizon=1_000)
    assert best.details["name"] == "certified_first_passage"
    assert best.value == table["certified_first_passage"].value


def test_one_round_is_exact():
    """The first of equal arms is pulled, and no other: E[max] of two standard normals is 1 / sqrt(pi)."""
    found = bounds.certified_first_passage(GaussianBandit([0.0, 0.0], 2.0, 1.0), horizon=1)
    assert found.value == pytest.approx(2.0 / math.sqrt(math.pi), rel=1e-6)
    unequal = bounds.certified_first_passage(GaussianBandit([1.0, 0.0], 1.0, 1.0), horizon=1).value
    gap = math.exp(-0.25) / math.sqrt(math.pi) - 0.5 * math.erfc(0.5)  # E(theta_2 - theta_1)^+, of deviation sqrt(2)
    assert unequal == pytest.approx(gap, rel=1e-6)


def test_one_arm_and_arms_far_apart():
    assert bounds.certified_first_passage(GaussianBandit([0.3], 1.0, 1.0), horizon=10**9).value == 0.0
    far = bounds.certified_first_passage(GaussianBandit([1e9, 0.0], 1.0, 1.0), horizon=50)
    assert far.leading == 0.0
    assert 0.0 < far.value == far.error < 1e-7


def random_problem(rng, longest):
    arms = int(rng.integers(2, 6))
    means = np.round(rng.choice([0.0, 0.3, 1.0]) * rng.standard_normal(arms), int(rng.integers(0, 3)))
    bandit = GaussianBandit(means, 10.0 ** rng.uniform(-1.0, 1.0), 10.0 ** rng.uniform(-1.0, 1.0))
    delta = None if rng.random() < 0.5 else float(10.0 ** rng.uniform(-6.0, -0.05))
    return bandit, int(10.0 ** rng.uniform(0.0, math.log10(longest))), delta


@pytest.mark.compiled
def test_it_is_above_the_exact_regret():
    rng = np.random.default_rng(42)
    nearest = math.inf
    for _ in range(20):
        bandit, horizon, delta = random_problem(rng, 60)
        bound = bounds.certified_first_passage(bandit, horizon=horizon, delta=delta)
        exact = exact_regret(bandit, BayesUCB(delta=delta), horizon=horizon)
        assert bound.value >= exact.regret - exact.error, (bandit, horizon, delta)
        assert bound.value <= horizon * np.sqrt(2.0) * bandit.arms * (np.ptp(bandit.prior_mean) + bandit.prior_width)
        if exact.regret > 1e-3 * bandit.prior_width:
            nearest = min(nearest, bound.value / exact.regret)
    assert nearest < 1.01, "some are so near that a mistake would be seen"


def test_errors_are_honest():
    rng = np.random.default_rng(43)
    for _ in range(25):
        bandit, horizon, delta = random_problem(rng, 120)
        found = bounds.certified_first_passage(bandit, horizon=horizon, delta=delta)
        assert abs(found.leading - value(bandit, horizon, delta, FINER)) <= found.error, (bandit, horizon, delta)
        assert found.error <= 5e-6 * found.value + 1e-8 * bandit.arms * horizon * bandit.prior_width


def test_many_arms():
    """The best of many is sharper than the prior."""
    bandit = GaussianBandit(np.zeros(200), 1.0, 1.0)
    fine, finer = (value(bandit, 100, order=order) for order in (FINE, FINER))
    assert fine == pytest.approx(finer, rel=1e-7)


def test_means_that_nearly_agree_are_nearly_equal_arms():
    equal, near = (value(GaussianBandit([0.5, off, 0.0], 1.0, 1.0), 40, 0.7) for off in (0.0, 1e-11))
    assert near == pytest.approx(equal, rel=1e-7)


def test_tables_of_passages_hold_probabilities():
    arms = [(1.0, 3.0, 40), (50.0, 0.5, 7), (1e-4, 2.0, 9)]
    for order, (pseudo_count, z, horizon) in itertools.product((COARSE, FINE), arms):
        table = passages(pseudo_count, z, horizon, order)
        assert (table.passed > -1e-6).all()
        assert (table.passed <= table.passed_overall[:, None] + 1e-6).all()
        assert (table.passed_overall < 1.0 + 1e-6).all()
        assert (table.pulls < horizon + 1e-3).all()
        assert table.passed[:, -1] == pytest.approx(table.passed_overall, abs=1e-3 if z < 1.0 else 1e-6)


def test_sums_at_whole_numbers():
    numbers, weights = whole_sum_rule(1, 5_000, 10, 2.0)
    assert numbers.dtype.kind == "i"
    assert len(numbers) < 120
    k = np.arange(1, 5_000)
    for f in (np.ones_like, np.log, lambda x: x**-1.5, lambda x: x / (30.0 + x)):
        assert weights @ f(numbers.astype(float)) == pytest.approx(f(k.astype(float)).sum(), rel=1e-8)
    assert [len(part) for part in whole_sum_rule(1, 1, 10, 2.0)] == [0, 0]


# --- refusals ------------------------------------------------------------------------------------------------------

REFUSED = {
    "horizon": (
        LANDMARK,
        {"horizon": LONGEST_HORIZON + 1},
        f"first passages need a horizon of at most {LONGEST_HORIZON:,}",
    ),
    "prior": (
        GaussianBandit([0.0, 0.0], 1e-4, 1.0),
        {"horizon": 5},
        f"first passages need a prior pseudo-count of at most {LARGEST_PSEUDO_COUNT:g}",
    ),
    "delta": (LANDMARK, {"horizon": 5, "delta": 1e-31}, "first passages need a delta of at least 1e-30"),
    "means": (
        GaussianBandit(np.arange(MOST_MEANS + 1.0), 1.0, 1.0),
        {"horizon": 5},
        f"first passages need at most {MOST_MEANS} different prior means",
    ),
    "noise": (
        GaussianBandit([0.0, 0.0], 1.0, 1.0, "rademacher"),
        {"horizon": 5},
        "rewards must be Gaussian, and noise_kind is rademacher",
    ),
}


@pytest.mark.compiled
@pytest.mark.parametrize(("bandit", "setting", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(bandit, setting, reason):
    with pytest.raises(DoesNotHold) as refused:
        bounds.certified_first_passage(bandit, **setting)
    assert refused.value.reason == reason
    assert bounds.table(bandit, **setting).refused["certified_first_passage"] == reason
    assert bounds.certified(bandit, **setting).details["name"] != "certified_first_passage"
