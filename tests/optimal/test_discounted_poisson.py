"""Poisson arms: against a plain recursion over all sums, refinement, large means, and limits."""

import numpy as np
import pytest
from scipy import stats

from bayesregret.optimal.discounted_poisson import PoissonAccuracy, gamma_excess, is_coarse, solve_poisson
from bayesregret.optimal.discounted_stages import HORIZONS

SINGLE = PoissonAccuracy(1e-9, 8.0)  # pull by pull


def plain_margins(shape, rate, horizon, charges, most=200):
    """(1 - g) C over all sums up to `most`, above which an arm is not given up; the mean is shown at last."""
    g, sums, depth = 1.0 - 1.0 / horizon, np.arange(most + 1.0), int(HORIZONS * horizon)
    found = np.empty(len(charges))
    for j, y in enumerate(charges):
        values = np.empty(0)
        for k in range(depth - 1, -1, -1):
            a, b = shape + sums, rate + k
            if k == depth - 1:
                mean = stats.gamma(a + 1.0, scale=1.0 / b)
                ahead = a / b * mean.sf(y) - y * stats.gamma(a, scale=1.0 / b).sf(y)
            else:
                ahead = np.empty(most + 1)
                for x in range(most + 1):
                    jumps = np.arange(most - x + 1)
                    mass = stats.nbinom.pmf(jumps, a[x], b / (b + 1.0))
                    rest_mass = max(0.0, 1.0 - mass.sum())
                    rest_mean = max(0.0, a[x] / b - mass @ jumps)
                    ahead[x] = mass @ values[x:] + (rest_mass * (a[x] - y * (b + 1.0)) + rest_mean) / (b + 1.0)
            margins = (1.0 - g) * (a / b - y) + g * ahead
            values = np.maximum(0.0, margins)
        found[j] = margins[0]
    return found


@pytest.mark.compiled
@pytest.mark.parametrize(("shape", "rate"), [(2.0, 1.0), (0.4, 0.6)])
def test_plain_recursion(shape, rate):
    """Pull by pull all is exact; with another horizon it is not: the control."""
    charges = shape / rate * np.array([0.6, 1.0, 1.4])
    plain = plain_margins(shape, rate, 2, charges, most=60)
    assert solve_poisson(shape, rate, 2, charges, SINGLE) == pytest.approx(plain, abs=1e-9)
    assert np.abs(solve_poisson(shape, rate, 3, charges, SINGLE) - plain).max() > 1e-2


@pytest.mark.compiled
def test_blocks_only_raise_it():
    charges = np.linspace(0.5, 5.0, 10)
    found = [solve_poisson(2.0, 1.0, 60, charges, PoissonAccuracy(growth, 8.0)) for growth in (1e-9, 0.05, 0.2)]
    assert (np.diff(found, axis=0) >= -1e-9).all()
    assert np.abs(found[1] - found[0]).max() < 2e-4 < np.abs(found[2] - found[0]).max() < 2e-3


@pytest.mark.compiled
@pytest.mark.parametrize(("shape", "rate"), [(100.0, 2.0), (1e4, 2.0), (3.0, 1e-3), (1e4, 100.0)])
def test_a_coarse_lattice_raises_it_a_little(shape, rate):
    deviation = np.sqrt(shape) / rate
    charges = shape / rate + deviation * np.array([-1.0, 0.0, 1.0, 1.5])
    coarse, fine = (solve_poisson(shape, rate, 30, charges, PoissonAccuracy(0.1, points)) for points in (6.0, 24.0))
    assert (coarse >= fine - 1e-7 * deviation).all()
    assert coarse == pytest.approx(fine, abs=3e-3 * deviation)


@pytest.mark.compiled
def test_between_the_mean_now_and_the_mean_itself():
    charges = np.array([1e-12, 0.2, 1.0, 2.0, 4.0])
    found = solve_poisson(2.0, 1.0, 30, charges, PoissonAccuracy())
    over, _ = gamma_excess(2.0, 1.0, charges)
    assert (found >= 2.0 - charges - 1e-12).all()
    assert (np.maximum(0.0, found) <= over + 1e-9).all()
    assert found[0] == pytest.approx(2.0)


@pytest.mark.compiled
def test_one_round_is_the_mean_above_the_charge():
    charges = np.array([1.0, 2.0, 3.0])
    assert solve_poisson(2.0, 1.0, 1, charges, PoissonAccuracy()) == pytest.approx(2.0 - charges, abs=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize(("shape", "rate"), [(1e-12, 1.0), (1e12, 1.0), (2.0, 1e-4), (1e6, 1e-6), (2.0, 1e12)])
def test_extremes(shape, rate):
    assert not is_coarse(shape, rate)
    mean = shape / rate
    found = solve_poisson(shape, rate, 10, mean * np.array([1e-6, 0.9, 1.0, 1.1]), PoissonAccuracy(0.2, 4.0))
    assert np.isfinite(found).all()
    assert (found >= mean * np.array([1.0 - 1e-6, 0.1, 0.0, -0.1]) * (1.0 - 1e-9) - 1e-12 * mean).all()


@pytest.mark.parametrize(("shape", "rate"), [(1e-13, 1.0), (1e13, 1.0), (2.0, 0.9e-4), (1e3, 0.9e-6)])
def test_what_is_not_computed(shape, rate):
    assert is_coarse(shape, rate)
