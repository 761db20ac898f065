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


def test_excess():
    """Of Student's distribution."""
    arm = NormalGammaArm(1.5, 2.0)
    mean = stats.t(4.0 + 3.0, scale=arm.deviation(3))
    assert arm.deviation(3) == pytest.approx((3.5 * 4.5) ** -0.5)
    for t in (-1.0, 0.0, 0.4):
        over, under = arm.excess(3, np.array([t]))
        assert over[0] == pytest.approx(quad(mean.sf, -t, np.inf)[0], abs=1e-9)
        assert over[0] - under[0] == pytest.approx(t, abs=1e-12)


@pytest.mark.parametrize("length", [1, 2, 6])
def test_steps_against_rewards_one_by_one(length):
    """Means of |shift| and of factors; masses at points may only be a little more spread."""
    arm, rng = NormalGammaArm(1.5, 3.0), np.random.default_rng(5)
    draws = 100_000
    variance = 1.0 / rng.gamma(3.0, size=draws)
    theta = np.sqrt(variance / 1.5) * rng.standard_normal(draws)
    mean, scale, pulls = np.zeros(draws), np.ones(draws), 1.5
    for _ in range(length):
        reward = theta + np.sqrt(variance) * rng.standard_normal(draws)
        scale += pulls * (reward - mean) ** 2 / (2.0 * (pulls + 1.0))
        mean, pulls = (pulls * mean + reward) / (pulls + 1.0), pulls + 1.0
    parts = arm.steps(0, length, 20)
    assert all(part.weights.sum() == pytest.approx(1.0, abs=1e-9) for part in parts)
    moved = float(parts[0].weights @ np.abs(parts[0].shifts))
    grown = math.prod(float(part.weights @ part.factors) for part in parts)
    for found, sample in ((moved, np.abs(mean)), (grown, np.sqrt(scale))):
        error = 4.0 * sample.std() / math.sqrt(draws)
        assert abs(found - sample.mean()) < error + 2e-3 * found
        assert not abs(1.05 * found - sample.mean()) < error + 2e-3 * found


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
    """The charge from which on the arm is not pulled is the Gittins index, a little too high."""
    shape = 1e5
    found = solve_scaled(NormalGammaArm(2.0, shape), 20, Accuracy())
    index = -math.sqrt(shape) * float(found.points[np.argmax(found.values > 0.0) - 1])
    exact = gittins_index(GaussianBandit([0.0], math.sqrt(0.5), 1.0), discount=0.95)
    assert exact < index < 1.004 * exact


@pytest.mark.parametrize("shape", [0.5 + 1e-9, 0.51, 1e4, 1e8])
def test_extreme_shapes(shape):
    found = solve_scaled(NormalGammaArm(1.0, shape), 100, Accuracy(0.2, 8, 4))
    assert np.isfinite(found.values).all()
