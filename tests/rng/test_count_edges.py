"""Poisson, exponential and gamma draws one by one: the ends of the range, and their acceptance probabilities."""

import math

import mpmath
import numpy as np
import pytest

from bayesregret import rng
from draws import stream_of

pytestmark = pytest.mark.both


def take(draw, size, *parameters, seed=0):
    values, stream = [], stream_of(seed)
    with np.errstate(all="ignore"):
        for _ in range(size):
            value, stream = draw(*parameters, stream)
            values.append(value)
    return np.array(values)


@pytest.mark.parametrize("mean", [0.0, 1e-300, 0.3, 9.99, 10.0, 12.5, 300.0, 1e15, 1e100])
def test_poisson_draws_are_whole_numbers_around_the_mean(mean):
    values = take(rng.poisson, 300, mean)
    assert (values >= 0.0).all()
    assert np.array_equal(values, np.floor(values))
    rounding = 2.0 * np.spacing(mean)  # of a sum of so large numbers
    assert abs(values.mean() - mean) <= 4.0 * math.sqrt(mean / 300) + rounding
    if mean >= 9.0:
        assert abs(values.mean() - 1.2 * mean) > 8.0 * math.sqrt(mean / 300)
    if 0.3 <= mean < 1e30:  # beyond, floats are further apart than the draws
        assert values.std() == pytest.approx(math.sqrt(mean), rel=0.25)


@pytest.mark.parametrize("mean", [10.0, 33.3, 1e4, 1e12, 1e20])
def test_the_chance_of_a_count_keeps_its_digits(mean):
    """To 1e-10 even where a difference of its terms would have none left."""
    with mpmath.workdps(60):
        for deviations in (-8.0, -3.0, -0.5, 0.0, 1.0, 6.0, 40.0):
            count = max(0.0, math.floor(mean + deviations * math.sqrt(mean)))
            k, m = mpmath.mpf(count), mpmath.mpf(mean)
            truth = float(k * mpmath.log(m) - m - mpmath.loggamma(k + 1))
            assert rng._log_poisson(count, mean) == pytest.approx(truth, rel=1e-10, abs=1e-10)
            assert rng._log_poisson(count, mean * (1.0 + 1e-3)) != pytest.approx(truth, rel=1e-10, abs=1e-10)


def test_both_ways_of_drawing_agree_where_they_meet():
    """Waiting below, rejection above: means 4 standard errors apart at most, variances too."""
    below = take(rng.poisson, 2000, math.nextafter(rng.FEW_ARRIVALS, 0.0), seed=1)
    above = take(rng.poisson, 2000, rng.FEW_ARRIVALS, seed=2)
    assert abs(below.mean() - above.mean()) < 4.0 * math.sqrt(2.0 * 10.0 / 2000)
    assert abs(below.var() - above.var()) < 4.0 * math.sqrt(2.0 * (10.0 + 2.0 * 100.0) / 2000)
    assert abs(below.mean() - 1.1 * above.mean()) > 8.0 * math.sqrt(2.0 * 10.0 / 2000)


def test_exponential_draws_are_logarithms_of_uniforms():
    uniforms = take(rng.uniform, 200, seed=3)
    assert np.allclose(np.exp(-take(rng.exponential, 200, seed=3)), 1.0 - uniforms, rtol=1e-13)


@pytest.mark.parametrize("shape", [1e-50, 0.02, 0.7, 1.0, 30.0, 1e50])
def test_gamma_draws_of_any_shape(shape):
    values = take(rng.gamma_of_any_shape, 300, shape, seed=4)
    assert (values >= 0.0).all()
    assert abs(values.mean() - shape) <= 4.0 * math.sqrt(shape / 300) + 1e-12 * shape
    if shape >= 0.7:
        assert abs(values.mean() - 1.5 * shape) > 4.0 * math.sqrt(shape / 300)
