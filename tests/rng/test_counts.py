"""Poisson, exponential and gamma draws against SciPy's distributions."""

import numpy as np
import pytest
from scipy import stats

from bayesregret.rng import exponential, gamma_of_any_shape, poisson
from draws import deviation, sample

pytestmark = pytest.mark.compiled

SIZE = 200_000


def fill_poisson(out, mean, stream):
    for i in range(out.shape[0]):
        out[i], stream = poisson(mean, stream)


def fill_exponential(out, stream):
    for i in range(out.shape[0]):
        out[i], stream = exponential(stream)


def fill_gamma(out, shape, stream):
    for i in range(out.shape[0]):
        out[i], stream = gamma_of_any_shape(shape, stream)


def p_value(values, distribution):
    """P-value of the chi-squared statistic of the counts, in cells of at least 50 expected draws."""
    edges = np.unique(distribution.ppf(np.linspace(0.0, 1.0, 60)[1:-1]))
    expected = SIZE * np.diff(np.concatenate([[0.0], distribution.cdf(edges), [1.0]]))
    cells = np.searchsorted(edges, values, side="left")
    found = np.bincount(cells, minlength=len(expected))
    wide = expected >= 50.0
    statistic = ((found - expected)[wide] ** 2 / expected[wide]).sum()
    return stats.chi2(max(1, wide.sum() - 1)).sf(statistic)


@pytest.mark.parametrize("mean", [0.01, 0.7, 9.9, 10.0, 11.0, 17.3, 60.0, 1e3, 1e10])
def test_poisson_draws(mean):
    values = sample(fill_poisson, SIZE, mean, seed=60)
    distribution = stats.poisson(mean)
    assert p_value(values, distribution) > 1e-3
    assert p_value(values, stats.poisson(mean + 0.1 * np.sqrt(mean))) < 1e-6
    assert deviation(values, mean, np.sqrt(mean)) < 4.0
    squares, of_squares = (values - mean) ** 2, np.sqrt(mean + 2.0 * mean * mean)
    assert deviation(squares, mean, of_squares) < 4.0
    if mean > 0.5:
        assert deviation(1.1 * squares, mean, of_squares) > 10.0


def test_the_far_tail_of_a_count():
    """Beyond five standard deviations the squeeze is not used: fractions within four standard errors."""
    values = sample(fill_poisson, 10 * SIZE, 12.0, seed=61)
    for beyond in (24, 28):
        fraction = stats.poisson(12.0).sf(beyond)
        assert deviation(values > beyond, fraction, np.sqrt(fraction)) < 4.0
    fraction = stats.poisson(12.0).sf(24)
    assert deviation(values > 24, 1.3 * fraction, np.sqrt(fraction)) > 10.0


def test_exponential_draws():
    values = sample(fill_exponential, SIZE, seed=62)
    assert stats.kstest(values, "expon").pvalue > 1e-3
    assert stats.kstest(values, "expon", (0.0, 1.02)).pvalue < 1e-6


@pytest.mark.parametrize("shape", [0.05, 0.6, 3.5])
def test_gamma_draws(shape):
    values = sample(fill_gamma, SIZE // 4, shape, seed=63)
    assert stats.kstest(values, "gamma", (shape,)).pvalue > 1e-3
    assert stats.kstest(values, "gamma", (1.1 * shape,)).pvalue < 1e-6
