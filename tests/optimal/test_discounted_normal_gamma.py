"""Normal-gamma arms: closed forms, one step against draws, a plain recursion, and Gaussian arms as a limit."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from bayesregret import GaussianBandit
from bayesregret.optimal.discounted_normal_gamma import NormalGammaArm
from bayesregret.optimal.discounted_scaled import Accuracy, solve_scaled
from bayesregret.optimal.gittins import gittins_index
from bayesregret.optimal.scaled_arm import given_up, growth_of_scale, log_normaliser, step, step_range, unit_of_mean


def test_excess():
    """Of Student's distribution."""
    arm = NormalGammaArm(1.5, 2.0)
    mean = stats.t(4.0 + 3.0, scale=unit_of_mean(arm, 3))
    assert unit_of_mean(arm, 3) == pytest.approx((3.5 * 4.5) ** -0.5)
    for t in (-1.0, 0.0, 0.4):
        over, under = arm.excess(3, np.array([t]))
        assert over[0] == pytest.approx(quad(mean.sf, -t, np.inf)[0], abs=1e-9)
        assert over[0] - under[0] == pytest.approx(t, abs=1e-12)


@pytest.mark.parametrize("length", [1, 2, 6])
def test_steps_against_rewards_one_by_one(length):
    """Means of |shift| and of the scale's factor."""
    arm, rng = NormalGammaArm(1.5, 3.0), np.random.default_rng(5)
    draws = 100_000
    variance = 1.0 / rng.gamma(3.0, size=draws)
    theta = np.sqrt(variance / 1.5) * rng.standard_normal(draws)
    mean, scale, pulls = np.zeros(draws), np.ones(draws), 1.5
    for _ in range(length):
        reward = theta + np.sqrt(variance) * rng.standard_normal(draws)
        scale += pulls * (reward - mean) ** 2 / (2.0 * (pulls + 1.0))
        mean, pulls = (pulls * mean + reward) / (pulls + 1.0), pulls + 1.0
    growth, _ = growth_of_scale(arm, 0.0, float(length))
    for f, g, sample in ((abs, 1.0, np.abs(mean)), (lambda shift: 1.0, growth, np.sqrt(scale))):
        found = g * expected(arm, length, f)
        error = 4.0 * sample.std() / math.sqrt(draws)
        assert abs(found - sample.mean()) < error
        assert not abs(1.05 * found - sample.mean()) < error


def expected(arm, length, f):
    """E f(shift of the mean) times the factor of the scale if f is 1, by numerical integration."""
    normaliser = log_normaliser(arm, 0.0, float(length))

    def weighted(x):
        weight, slope, shift = step(arm, 0.0, float(length), normaliser, x)
        return weight * (slope if f is abs else 1.0) * f(shift / slope)

    _, _, first, last = step_range(arm, 0.0, float(length))
    return quad(weighted, first, 0.0)[0] + quad(weighted, 0.0, last)[0]


@pytest.mark.parametrize(("t", "zero"), [(-0.5, -0.4), (-0.2, -0.4), (0.3, -0.01), (-0.9, -1.0)])
def test_where_it_is_given_up(t, zero):
    """At the ends of the interval the next t is at the zero; without one it is above for all rewards."""
    arm = NormalGammaArm(1.5, 3.0)
    low, high = given_up(arm, 1.0, 2.0, t, zero)
    at = [slope * t + shift for _, slope, shift in (step(arm, 1.0, 2.0, 0.0, x) for x in (low, high)) if slope > 0.0]
    assert all(each == pytest.approx(zero) for each in at)
    inside = 0.5 * (low + high) if math.isfinite(low) else min(high, 50.0) - 1e-3
    rewards = [inside] if high > -math.inf else np.linspace(-5.0, 5.0, 101)
    for x in rewards:
        _, slope, shift = step(arm, 1.0, 2.0, 0.0, x)
        assert (slope * t + shift < zero) == (high > -math.inf)


def plain_values(pulls, shape, horizon, t, depth):
    """(1 - g) w by midpoint quantiles of Student variables on a fine grid; nothing is learned at the end."""
    g = 1.0 - 1.0 / horizon
    grid = np.sinh(np.linspace(-6.0, 6.0, 2_001))
    values = np.maximum(0.0, grid)
    fractions = (np.arange(400) + 0.5) / 400
    for k in range(depth - 1, -1, -1):
        q, a = pulls + k, shape + 0.5 * k
        u = stats.t.ppf(fractions, 2.0 * a) / math.sqrt(2.0 * a)
        factor = np.sqrt(1.0 + u * u)
        at = (grid[:, None] + math.sqrt(2.0 / (q * (q + 1.0))) * u) / factor
        ahead = (factor * np.interp(at, grid, values)).mean(axis=1)
        values = np.maximum(0.0, (1.0 - g) * grid + g * ahead)
    return np.interp(t, grid, values)


@pytest.mark.compiled
@pytest.mark.parametrize(("pulls", "shape", "horizon"), [(1.0, 2.0, 2), (0.5, 4.0, 4)])
def test_plain_recursion(pulls, shape, horizon):
    t = np.array([-0.5, -0.2, 0.0, 0.3])
    found = solve_scaled(NormalGammaArm(pulls, shape), horizon, Accuracy())(t)
    plain = plain_values(pulls, shape, horizon, t, 6 * horizon)
    assert found == pytest.approx(plain, abs=3e-3)
    control = solve_scaled(NormalGammaArm(pulls, shape), 2 * horizon, Accuracy())(t)
    assert np.abs(control - plain).max() > 1e-2


@pytest.mark.compiled
def test_large_shapes_are_gaussian_arms():
    """The charge from which on the arm is not pulled is the Gittins index."""
    shape = 1e5
    found = solve_scaled(NormalGammaArm(2.0, shape), 20, Accuracy())
    exact = gittins_index(GaussianBandit([0.0], math.sqrt(0.5), 1.0), discount=0.95)
    assert -math.sqrt(shape) * found.zero == pytest.approx(exact, rel=2e-5)


@pytest.mark.compiled
@pytest.mark.parametrize(("pulls", "shape"), [(1.0, 0.5 + 1e-9), (1.0, 0.56), (1.0, 1e8), (1e-50, 2.0), (1e30, 2.0)])
def test_extreme_priors(pulls, shape):
    arm = NormalGammaArm(pulls, shape)
    found = solve_scaled(arm, 100, Accuracy(0.1, 0.12, 2.0))
    t = unit_of_mean(arm, 0.0) * np.array([-1e12, -1.0, 0.0, 1.0, 1e12])
    surplus = found(t)
    assert np.isfinite(surplus).all()
    assert (surplus >= t).all()
