"""Prepared Beta draws against SciPy's distribution; in plain Python a few, compiled many."""

import numpy as np
import pytest
from scipy import stats

from bayesregret.policies.thompson_fast.beta_sampler import (
    PREPARED,
    SKEW,
    STEEP,
    log_acceptance,
    prepare_beta,
    prepared_beta,
)
from draws import compiled, deviation, stream_of

FIRST = np.uint64(0)
SHAPES = [
    (0.05, 2.0),
    (0.1, 1.5),
    (0.5, 0.5),
    (3.0, 0.3),
    (0.7, 40.0),
    (1.0, 1.0),
    (1.0, 3.0),
    (7.5, 2.0),
    (1e2, 1e4),
    (1e8, 3e8),
]


def fill(prepared, out, stream):
    for i in range(out.shape[0]):
        out[i], stream = prepared_beta(prepared, FIRST, stream)


def draws_of(a, b, size, play=fill, seed=60):
    prepared, out = np.zeros(PREPARED), np.empty(size)
    prepare_beta(a, b, prepared, FIRST)
    with np.errstate(over="ignore"):
        play(prepared, out, stream_of(seed))
    return out


def check(values, a, b):
    """By the uniform variables that their distribution function makes of them (Kolmogorov-Smirnov)."""
    distribution, wrong = stats.beta(a, b), stats.beta(a * 1.3, b / 1.3)
    assert ((values >= 0.0) & (values <= 1.0)).all()
    assert stats.kstest(distribution.cdf(values), "uniform").pvalue > 1e-3
    assert stats.kstest(wrong.cdf(values), "uniform").pvalue < 1e-6
    assert deviation(values, distribution.mean(), distribution.std()) < 4.0


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_a_few_draws(a, b):
    check(draws_of(a, b, 2_000), a, b)


@pytest.mark.compiled
@pytest.mark.parametrize(("a", "b"), SHAPES[:-1])
def test_many_draws(a, b):
    values = draws_of(a, b, 100_000, play=compiled(fill))
    check(values, a, b)
    distribution = stats.beta(a, b)
    variance, kurtosis = distribution.var(), float(distribution.stats("k"))
    squares, spread = (values - distribution.mean()) ** 2, variance * np.sqrt(kurtosis + 2.0)
    assert deviation(squares, variance, spread) < 4.0
    assert deviation(1.1 * squares, variance, spread) > 4.0


def test_what_is_surely_kept():
    """The bound that spares logarithms holds for all d from 2/3 on; with one per cent less it would not."""
    d, s = np.geomspace(2.0 / 3.0, 1e3, 40)[:, None], np.linspace(-0.999, 3.0, 4_000)
    z = s * np.sqrt(9.0 * d)
    probability = np.exp(np.vectorize(log_acceptance)(d, z, 1.0 + s))
    unlikely = STEEP * (s * z) ** 2 / (1.0 + SKEW * np.minimum(0.0, s))
    assert (probability >= 1.0 - unlikely - 1e-12).all()
    assert not (probability >= 1.0 - 0.99 * unlikely - 1e-12).all()
    flatter = STEEP * (s * z) ** 2 / (1.0 + 0.75 * np.minimum(0.0, s))
    assert not (probability >= 1.0 - flatter - 1e-12).all()
