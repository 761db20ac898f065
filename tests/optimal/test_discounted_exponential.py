"""Exponential arms: closed forms, one step against integrals, and a plain recursion over logarithms of means."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from bayesregret.optimal.discounted_exponential import ExponentialArm
from bayesregret.optimal.discounted_scaled import Accuracy, solve_scaled


@pytest.mark.parametrize(("shape", "pulls"), [(1.3, 0), (3.0, 0), (3.0, 40)])
def test_excess(shape, pulls):
    """Of an inverse-gamma mean whose expectation is 1, over the charge 1 - t."""
    mean = stats.invgamma(shape + pulls, scale=shape + pulls - 1.0)
    for t in (-2.0, 0.0, 0.4):
        over, under = ExponentialArm(shape).excess(pulls, np.array([t]))
        assert under[0] == pytest.approx(quad(mean.cdf, 0.0, 1.0 - t)[0], abs=1e-9)
        assert over[0] - under[0] == pytest.approx(t, abs=1e-9)


@pytest.mark.parametrize(("shape", "length"), [(3.0, 1), (3.0, 7), (1.2, 1), (400.0, 20)])
def test_steps_are_a_spread_of_beta_ratios(shape, length):
    """The next mean over this one: its mean is 1, and E|R - 1| is a little too large."""
    (steps,) = ExponentialArm(shape).steps(0.0, length, 20)
    assert 1.0 + steps.shifts == pytest.approx(steps.factors, rel=1e-12)
    assert steps.weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert steps.weights @ steps.factors + steps.rest.sum() == pytest.approx(1.0, abs=1e-9)
    least = (shape - 1.0) / (shape + length - 1.0)
    u = stats.beta.ppf((np.arange(50_000) + 0.5) / 50_000, shape, length)
    below = float(np.mean(np.maximum(1.0 - least / u, 0.0)))
    assert below < steps.weights @ np.maximum(-steps.shifts, 0.0) < 1.01 * below


def plain_values(shape, horizon, charge, depth):
    """(1 - g) W for mean 1 by midpoint quantiles of Pareto ratios on a fine grid; nothing is learned at the end."""
    g = 1.0 - 1.0 / horizon
    z = np.linspace(-6.0, 6.0, 2_401)  # logarithms of means, for charge 1
    values = np.maximum(0.0, np.exp(z) - 1.0)
    fractions = (np.arange(400) + 0.5) / 400
    for k in range(depth - 1, -1, -1):
        a = shape + k
        steps = np.log((a - 1.0) / a) - np.log(fractions) / a
        steps -= np.log(np.mean(np.exp(steps)))  # quantiles at midpoints miss a part of the mean
        at = z[:, None] + steps
        ahead = np.where(at > z[-1], np.exp(at) - 1.0, np.interp(at, z, values)).mean(axis=1)
        values = np.maximum(0.0, (1.0 - g) * (np.exp(z) - 1.0) + g * ahead)
    return charge * np.interp(-np.log(charge), z, values)


@pytest.mark.parametrize(("shape", "horizon"), [(3.0, 2), (6.0, 4)])
def test_plain_recursion(shape, horizon):
    charges = np.array([0.5, 0.9, 1.0, 1.1, 1.3])
    found = solve_scaled(ExponentialArm(shape), horizon, Accuracy())(1.0 - charges)
    plain = plain_values(shape, horizon, charges, 6 * horizon)
    assert found == pytest.approx(plain, abs=2e-3)
    control = solve_scaled(ExponentialArm(shape), 2 * horizon, Accuracy())(1.0 - charges)
    assert np.abs(control - plain).max() > 1e-2


@pytest.mark.parametrize("shape", [1.0 + 1e-6, 1.01, 1e4, 1e8])
def test_extreme_shapes(shape):
    found = solve_scaled(ExponentialArm(shape), 100, Accuracy(0.2, 8, 4))
    assert np.isfinite(found.values).all()
    assert found(np.array([-1e9]))[0] == 0.0
