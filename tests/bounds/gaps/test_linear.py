"""Expectations over gaps: one-dimensional ones exactly, the others against plain Monte Carlo."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from bayesregret import LinearBandit
from bayesregret.bounds.gaps import linear as linear_gaps
from bayesregret.bounds.gaps.linear import (
    ACCURACY,
    GapEstimate,
    expectation_of_gaps,
    expected_inverse_gap,
    expected_largest_gap,
    geometry,
)
from bayesregret.problem import common_linear

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

COMMON = common_linear()
SMALL = common_linear(arms=8, dimension=3, prior_width=0.7)
TWO = LinearBandit([[1.0, 0.0], [0.6, 0.8]], [0.3, -0.1], prior_width=0.5, reward_noise=1.0)


def two_arms(bandit):
    """Mean and deviation of the difference of two arms."""
    difference = bandit.features[0] - bandit.features[1]
    return difference @ bandit.prior_mean, math.sqrt(difference @ bandit.covariance @ difference)


def monte_carlo(bandit, function, samples=2_000_000):
    """Mean and standard error of a function of (instances, arms) mean rewards, straight from the definition."""
    rng = np.random.default_rng(70)
    root, values = np.linalg.cholesky(bandit.covariance), []
    for _ in range(20):
        theta = bandit.prior_mean + rng.standard_normal((samples // 20, len(bandit.prior_mean))) @ root.T
        values.append(function(theta @ bandit.features.T))
    values = np.concatenate(values)
    return values.mean(), values.std() / math.sqrt(len(values))


def smallest_gap(means):
    second, best = np.partition(means, -2, axis=1)[:, -2:].T
    return best - second


def largest_gap(means):
    return means.max(axis=1) - means.min(axis=1)


def agree(ours, truth, stderr, wrong):
    spread = math.hypot(ours.error, stderr)
    assert abs(ours.value - truth) < 4.0 * spread
    assert abs(ours.value - wrong) > 10.0 * spread


@pytest.mark.parametrize("bandit", [COMMON, SMALL], ids=["common", "small"])
@pytest.mark.parametrize("cutoff", [0.02, 0.5, 3.0])
def test_inverse_gap_against_monte_carlo(bandit, cutoff):
    truth, stderr = monte_carlo(bandit, lambda means: 1.0 / np.maximum(smallest_gap(means), cutoff))
    agree(expected_inverse_gap(bandit, cutoff), truth, stderr, 1.05 * truth)


def test_inverse_gap_below_what_monte_carlo_reaches():
    """E[1/max(D, c)] - E[1/max(D, x)] is int P(D < y)/y^2 dy from c to x, and P(D < y) is nearly linear."""
    low, high = 1e-7, 4e-3
    density, density_error = monte_carlo(SMALL, lambda means: (smallest_gap(means) < high) / high)
    ours, beside = expected_inverse_gap(SMALL, low), expected_inverse_gap(SMALL, high)
    logarithm = math.log(high / low)
    spread = math.hypot(ours.error, beside.error, density_error * logarithm)
    curvature = 0.03 * density * logarithm
    assert abs(ours.value - beside.value - density * logarithm) < 4.0 * spread + curvature
    assert abs(ours.value - beside.value - density * (logarithm - 3.0)) > 10.0 * spread + curvature


@pytest.mark.parametrize("bandit", [COMMON, SMALL], ids=["common", "small"])
def test_largest_gap_against_monte_carlo(bandit):
    truth, stderr = monte_carlo(bandit, largest_gap)
    agree(expected_largest_gap(bandit), truth, stderr, 1.05 * truth)


def test_standard_error_is_what_was_asked_for():
    for bandit, cutoff in [(SMALL, 1e-3), (COMMON, 0.5), (common_linear(prior_width=0.2), 1e-3)]:
        ours = expected_inverse_gap(bandit, cutoff)
        assert 0.0 < ours.error <= 1.01 * ACCURACY * ours.value
    assert expected_inverse_gap(COMMON, 1e-3).error < 2.0 * ACCURACY * expected_inverse_gap(COMMON, 1e-3).value


def test_same_number_on_every_call():
    first = expected_inverse_gap(SMALL, 1e-3)
    expected_inverse_gap.cache_clear()
    geometry.cache_clear()
    assert expected_inverse_gap(SMALL, 1e-3) == first


def test_standard_errors_are_honest(monkeypatch):
    """Estimates with other seeds spread as their standard errors say."""
    estimates = []
    for seed in range(30):
        monkeypatch.setattr(linear_gaps, "SEED", seed)
        monkeypatch.setattr(linear_gaps, "ACCURACY", 0.02)
        expected_inverse_gap.cache_clear()
        estimates.append(expected_inverse_gap(SMALL, 1e-3))
    expected_inverse_gap.cache_clear()
    values, errors = np.array(estimates).T
    ratio = values.std(ddof=1) / math.sqrt(np.mean(errors**2))
    assert 0.6 < ratio < 1.6


def test_two_arms_exactly():
    mean, deviation = two_arms(TWO)
    for cutoff in (1e-3, 0.2, 4.0):

        def integrand(x, cutoff=cutoff):
            return (norm.pdf(x, mean, deviation) + norm.pdf(-x, mean, deviation)) / max(x, cutoff)

        edges = [0.0, *np.geomspace(cutoff, 8.0, 30)]
        truth = sum(quad(integrand, a, b, epsabs=1e-15)[0] for a, b in itertools.pairwise(edges))
        ours = expected_inverse_gap(TWO, cutoff)
        assert np.isclose(ours.value, truth, rtol=1e-9)
        assert ours.error < 1e-9 * truth
    folded = deviation * math.sqrt(2.0 / math.pi) * math.exp(-0.5 * (mean / deviation) ** 2)
    folded += mean * (1.0 - 2.0 * norm.cdf(-mean / deviation))
    assert np.isclose(expected_largest_gap(TWO).value, folded, rtol=1e-12)


def rank_one(arms=7, seed=3):
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(3)
    features = rng.standard_normal((arms, 3))
    return LinearBandit(features, rng.standard_normal(3), prior_cov=np.outer(direction, direction), reward_noise=1.0)


@pytest.mark.parametrize("bandit", [TWO, rank_one()], ids=["two arms", "rank 1"])
def test_exact_cases_agree_with_the_lattice(bandit):
    """A copy of the problem with a third coordinate that never matters is done by lines in two or more dimensions."""
    arms = geometry(bandit)
    assert arms.spread.shape[1] == 1
    padded = arms._replace(spread=np.column_stack([arms.spread, 1e-9 * np.arange(arms.arms)]))
    small = linear_gaps._small_gap(padded)
    for cutoff in (1e-4, 1e-2):
        exact = expected_inverse_gap(bandit, cutoff)
        along = linear_gaps._inverse_gap_along_lines(padded, cutoff, small)
        lines = linear_gaps.randomised_mean(arms.arms, (2, 2), along)
        plain = expectation_of_gaps(bandit, lambda gaps: 1.0 / np.maximum(np.partition(gaps, 1)[:, 1], small))
        both = GapEstimate(lines.value + plain.value, math.hypot(lines.error, plain.error))
        assert abs(both.value - exact.value) < 4.0 * both.error + 1e-6 * exact.value
        assert abs(both.value - 1.03 * exact.value) > 10.0 * both.error
    plain = expectation_of_gaps(bandit, lambda gaps: gaps.max(axis=1))
    assert abs(plain.value - expected_largest_gap(bandit).value) < 4.0 * plain.error + 1e-12


def test_rank_one_against_a_fine_grid():
    bandit = rank_one()
    t = (np.arange(4_000_000) + 0.5) / 4_000_000
    arms = geometry(bandit)
    means = [arms.offset[a] + arms.spread[a, 0] * norm.ppf(t) for a in range(arms.arms)]
    second, best = np.partition(np.array(means), -2, axis=0)[-2:]
    truth = np.mean(1.0 / np.maximum(best - second, 0.1))
    assert np.isclose(expected_inverse_gap(bandit, 0.1).value, truth, rtol=1e-6)


def test_identical_arms_count_once():
    rng = np.random.default_rng(4)
    features = rng.standard_normal((5, 3))
    alone = LinearBandit(features, [0.1, 0.2, 0.3], prior_width=1.0, reward_noise=1.0)
    twice = LinearBandit(features[[0, 1, 1, 2, 3, 4, 0]], [0.1, 0.2, 0.3], prior_width=1.0, reward_noise=1.0)
    assert geometry(twice).arms == 5
    assert expected_inverse_gap(twice, 1e-3) == pytest.approx(expected_inverse_gap(alone, 1e-3), rel=1e-12)
    assert expected_largest_gap(twice) == pytest.approx(expected_largest_gap(alone), rel=1e-12)


def test_arms_that_differ_where_the_prior_is_certain_are_the_same():
    """The parameter's second coordinate is known to be 0, whatever rounding does to the whitened features."""
    rng = np.random.default_rng(5)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    features = np.array([[1.0, 0.0, 0.2], [1.0, 5.0, 0.2], [0.3, 1.0, 0.9]]) @ turn.T
    covariance = turn @ np.diag([1.0, 0.0, 2.0]) @ turn.T
    bandit = LinearBandit(features, np.zeros(3), prior_cov=0.5 * (covariance + covariance.T), reward_noise=1.0)
    arms = geometry(bandit)
    assert arms.arms == 2
    assert arms.rank == 2


def test_nothing_to_compare():
    only = LinearBandit([[1.0, 2.0]], [0.0, 1.0], prior_width=1.0, reward_noise=1.0)
    same = LinearBandit([[1.0, 2.0]] * 3, [0.0, 1.0], prior_width=1.0, reward_noise=1.0)
    for bandit in (only, same):
        assert geometry(bandit).arms == 1
        assert expected_inverse_gap(bandit, 1e-3) == GapEstimate(0.0, 0.0)
        assert expected_largest_gap(bandit).value == 0.0
    stats = LinearBandit([[1.0], [3.0], [2.5]], [1.0], prior_cov=[[0.0]], reward_noise=1.0)
    assert geometry(stats).rank == 0
    assert expected_inverse_gap(stats, 1e-3).value == pytest.approx(2.0)
    assert expected_inverse_gap(stats, 4.0).value == pytest.approx(0.25)
    assert expected_largest_gap(stats).value == pytest.approx(2.0)


def test_more_dimensions_than_the_lattice_has():
    rng = np.random.default_rng(6)
    bandit = LinearBandit(rng.standard_normal((75, 70)), np.zeros(70), prior_width=0.1, reward_noise=1.0)
    assert geometry(bandit).spread.shape[1] > len(linear_gaps.LATTICE)
    truth, stderr = monte_carlo(bandit, largest_gap, samples=100_000)
    agree(expected_largest_gap(bandit), truth, stderr, 1.1 * truth)


@pytest.mark.parametrize("change", ["permuted", "scaled", "rotated"])
def test_invariance(change):
    rng = np.random.default_rng(7)
    features, mean, width = SMALL.features, SMALL.prior_mean, SMALL.prior_width
    scale = 1.0
    if change == "permuted":
        features = features[rng.permutation(len(features))]
    elif change == "scaled":
        scale = 3.7
        mean, width = scale * mean, scale * width
    else:
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        features, mean = features @ turn, mean @ turn
    other = LinearBandit(features, mean, prior_width=width, reward_noise=1.0)
    for cutoff in (1e-3, 0.3):
        ours, theirs = expected_inverse_gap(SMALL, cutoff), expected_inverse_gap(other, scale * cutoff)
        assert abs(ours.value - scale * theirs.value) < 4.0 * math.hypot(ours.error, scale * theirs.error)
    ours, theirs = expected_largest_gap(SMALL), expected_largest_gap(other)
    assert abs(scale * ours.value - theirs.value) < 4.0 * math.hypot(scale * ours.error, theirs.error)
