"""Beta draws against SciPy's distribution, for pseudo-counts from 0.01 to 10^4."""

import numpy as np
import pytest
from scipy import stats

from draws import deviation, fill_beta, sample

pytestmark = pytest.mark.compiled

SIZE = 200_000
SHAPES = [
    (0.01, 0.01),
    (0.01, 1.0),
    (1.0, 0.01),
    (0.01, 1e4),
    (1e4, 0.01),
    (0.1, 0.3),
    (0.5, 0.5),
    (0.9, 1.1),
    (1.0, 1.0),
    (1.0, 3.0),
    (7.5, 2.0),
    (1e2, 1e4),
    (1e4, 1e4),
]
# Floats next to 1 are 10^-16 apart, and a Beta with small counts has much of its mass closer to 1 than that.
RESOLVED = 1.0 - 1e-12


def ks_distance(values, distribution):
    """Kolmogorov-Smirnov statistic times sqrt(size), over the part of [0, 1] that floats resolve."""
    x = np.sort(values)
    cdf = distribution.cdf(x)
    rank = np.arange(len(x) + 1) / len(x)
    off = np.maximum(np.abs(cdf - rank[:-1]), np.abs(cdf - rank[1:]))
    at_the_end = abs(np.mean(values <= RESOLVED) - distribution.cdf(RESOLVED))
    return max(off[x <= RESOLVED].max(initial=0.0), at_the_end) * np.sqrt(len(x))


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_beta_draws(a, b):
    values = sample(fill_beta, SIZE, a, b, seed=30)
    assert ((values >= 0.0) & (values <= 1.0)).all()
    distribution, wrong = stats.beta(a, b), stats.beta(a * 1.2, b / 1.2)
    assert ks_distance(values, distribution) < 1.95  # one in a thousand
    assert ks_distance(values, wrong) > 5.0

    mean, variance, kurtosis = map(float, distribution.stats("mvk"))
    spread = np.sqrt(variance)
    assert deviation(values, mean, spread) < 4.0
    squares = (values - mean) ** 2
    assert deviation(squares, variance, variance * np.sqrt(kurtosis + 2.0)) < 4.0
    if min(a, b) >= 0.1:  # with less the mean hardly distinguishes the distributions
        assert deviation(values, float(wrong.mean()), spread) > 10.0
        assert deviation(1.1 * squares, variance, variance * np.sqrt(kurtosis + 2.0)) > 10.0


def test_beta_draws_that_floats_cannot_resolve():
    """With 0.01 and 0.01 a third of the draws are so close to 1 that they are 1."""
    values = sample(fill_beta, SIZE, 0.01, 0.01, seed=31)
    fraction = stats.beta(0.01, 0.01).cdf(2.0**-54)  # of a symmetric distribution
    assert deviation(values == 1.0, fraction, np.sqrt(fraction * (1.0 - fraction))) < 4.0
    assert deviation(values == 1.0, 1.1 * fraction, np.sqrt(fraction * (1.0 - fraction))) > 10.0
