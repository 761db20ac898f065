"""Exponential arms: closed forms, one step against integrals, and a plain recursion over logarithms of means."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from bayesregret.optimal.discounted_exponential import ExponentialArm
from bayesregret.optimal.discounted_scaled import Accuracy, solve_scaled
from bayesregret.optimal.scaled_arm import at_coordinate, coordinate, given_up, kink, log_normaliser, step, step_range


@pytest.mark.parametrize(("shape", "pulls"), [(1.3, 0), (3.0, 0), (3.0, 40)])
def test_excess(shape, pulls):
    """Of an inverse-gamma mean whose expectation is 1, over the charge 1 - t."""
    mean = stats.invgamma(shape + pulls, scale=shape + pulls - 1.0)
    for t in (-2.0, 0.0, 0.4):
        over, under = ExponentialArm(shape).excess(pulls, np.array([t]))
        assert under[0] == pytest.approx(quad(mean.cdf, 0.0, 1.0 - t)[0], abs=1e-9)
        assert over[0] - under[0] == pytest.approx(t, abs=1e-9)


@pytest.mark.parametrize(("shape", "length"), [(3.0, 1), (3.0, 7), (1.2, 1), (400.0, 20)])
def test_steps_are_beta_ratios(shape, length):
    """The next mean over this one: total mass 1, mean 1, and E|R - 1|; with another length it differs."""
    arm = ExponentialArm(shape)

    def expected(f):
        def weighted(x):
            weight, slope, shift = step(arm, 0.0, float(length), log_normaliser(arm, 0.0, float(length)), x)
            assert shift == pytest.approx(1.0 - slope)
            return weight * slope * f(1.0 / slope)

        middle, deviation, first, last = step_range(arm, 0.0, float(length))
        edges = np.concatenate([np.linspace(first, middle + 10 * deviation, 40), [last]])
        return sum(quad(weighted, *pair)[0] for pair in itertools.pairwise(edges))

    assert expected(lambda ratio: 1.0) == pytest.approx(1.0, abs=1e-9)
    assert expected(lambda ratio: ratio) == pytest.approx(1.0, abs=1e-9)
    u = stats.beta.ppf((np.arange(200_000) + 0.5) / 200_000, [[shape], [shape]], [[length], [length + 1]])
    least = (shape - 1.0) / (shape + np.array([[length], [length + 1]]) - 1.0)
    exact, control = np.mean(np.maximum(1.0 - least / u, 0.0), axis=1)
    found = expected(lambda ratio: max(0.0, 1.0 - ratio))
    assert found == pytest.approx(exact, rel=1e-4)
    assert found != pytest.approx(control, rel=1e-3)


def test_where_it_is_given_up_and_from_where_on_never():
    arm, zero = ExponentialArm(3.0), -0.4
    _, high = given_up(arm, 2.0, 3.0, 0.1, zero)
    _, slope, shift = step(arm, 2.0, 3.0, log_normaliser(arm, 2.0, 3.0), high)
    assert slope * 0.1 + shift == pytest.approx(zero)
    _, never = given_up(arm, 2.0, 3.0, kink(arm, 2.0, 3.0, zero), zero)
    assert never == pytest.approx(0.0, abs=1e-12)
    assert at_coordinate(arm, 1.0, coordinate(arm, 1.0, -2.5)) == pytest.approx(-2.5)


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


@pytest.mark.compiled
@pytest.mark.parametrize(("shape", "horizon"), [(3.0, 2), (6.0, 4)])
def test_plain_recursion(shape, horizon):
    charges = np.array([0.5, 0.9, 1.0, 1.1, 1.3])
    found = solve_scaled(ExponentialArm(shape), horizon, Accuracy())(1.0 - charges)
    plain = plain_values(shape, horizon, charges, 6 * horizon)
    assert found == pytest.approx(plain, abs=2e-3)
    control = solve_scaled(ExponentialArm(shape), 2 * horizon, Accuracy())(1.0 - charges)
    assert np.abs(control - plain).max() > 1e-2


@pytest.mark.compiled
@pytest.mark.parametrize("shape", [1.0 + 1e-6, 1.01, 1.06, 1e4, 1e8, 1e12])
def test_extreme_shapes(shape):
    found = solve_scaled(ExponentialArm(shape), 100, Accuracy(0.1, 0.12, 2.0))
    t = np.array([-1e9, -1.0, 0.0, 0.5, 1.0, 2.0])
    surplus = found(t)
    assert surplus[0] == 0.0
    assert (surplus >= t).all()
    assert (surplus[:-1] <= ExponentialArm(shape).excess(0, t[:-1])[0] * (1.0 + 1e-6) + 1e-12).all()
