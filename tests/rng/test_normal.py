"""Ten million normal draws: moments, tails, the whole distribution and independence. Each test has a control."""

import numpy as np
import pytest
from scipy import stats

from bayesregret.rng import normal
from bayesregret.ziggurat import TAIL_START
from draws import compiled, deviation, fill_normal, sample, stream_of

pytestmark = pytest.mark.compiled

SIZE = 10_000_000
# Power of z, its expectation, standard deviation of one term, and a distortion that this moment must notice.
MOMENTS = {
    "mean": (1, 0.0, 1.0, lambda z: z + 0.004),
    "variance": (2, 1.0, 2.0**0.5, lambda z: z * 1.003),
    "skewness": (3, 0.0, 15.0**0.5, lambda z: z + 0.003 * (z * z - 1.0)),
    "kurtosis": (4, 3.0, 96.0**0.5, lambda z: z + 0.001 * z**3),
}


@pytest.fixture(scope="module")
def z():
    values = sample(fill_normal, SIZE, seed=20)
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("moment", MOMENTS)
def test_moments(z, moment):
    power, truth, spread, distort = MOMENTS[moment]
    assert deviation(z**power, truth, spread) < 4.0
    assert deviation(distort(z) ** power, truth, spread) > 10.0


def test_kolmogorov_smirnov(z):
    """The controls are 6 and 4.6 over sqrt(SIZE) from the normal distribution; one sample in 1,000 is 1.95 away."""
    ordered = np.sort(z)
    assert stats.kstest(ordered, "norm").pvalue > 1e-3
    assert stats.kstest(ordered + 0.005, "norm").pvalue < 1e-6
    assert stats.kstest(ordered * 1.006, "norm").pvalue < 1e-6


def test_neighbours_are_independent(z):
    assert deviation(z[1:] * z[:-1], 0.0, 1.0) < 4.0
    assert deviation((z[1:] ** 2 - 1.0) * (z[:-1] ** 2 - 1.0), 0.0, 2.0) < 4.0
    mixed = z[1:] + 0.004 * z[:-1]
    assert deviation(mixed * z[:-1], 0.0, 1.0) > 10.0


@pytest.mark.parametrize(("edge", "scale"), [(3.0, 1.01), (4.0, 1.05)])
def test_share_of_the_tails(z, edge, scale):
    fraction = stats.norm.sf(edge)
    spread = np.sqrt(fraction * (1.0 - fraction))
    for side in (1.0, -1.0):
        assert deviation(side * z > edge, fraction, spread) < 4.0
        assert deviation(side * z * scale > edge, fraction, spread) > 10.0


def keep_tail(out, edge, draws, stream):
    """Write the draws beyond the edge, either side, into `out`; return how many there were."""
    kept = 0
    for _ in range(draws):
        value, stream = normal(stream)
        if abs(value) > edge:
            out[kept] = value
            kept += 1
    return kept


def test_the_law_of_the_far_tail():
    """Beyond the last layer of the ziggurat, where draws are made in another way: 10^8 draws leave 26,000 there."""
    draws, fraction = 100_000_000, 2.0 * stats.norm.sf(TAIL_START)
    out = np.empty(int(2 * draws * fraction))
    tail = out[: compiled(keep_tail)(out, TAIL_START, draws, stream_of(21))]
    expected = draws * fraction
    assert abs(len(tail) - expected) < 4.0 * np.sqrt(expected)

    def distribution(x):
        return 1.0 - stats.norm.sf(x) / stats.norm.sf(TAIL_START)

    size = np.abs(tail)
    assert stats.kstest(size, distribution).pvalue > 1e-3
    rate = TAIL_START  # what the tail would be without its rejection step: exponential
    assert (
        stats.kstest(TAIL_START + np.random.default_rng(1).exponential(1.0 / rate, len(size)), distribution).pvalue
        < 1e-6
    )
    assert abs((tail > 0).sum() - len(tail) / 2) < 4.0 * np.sqrt(len(tail) / 4)
    assert (size > 5.0).sum() == pytest.approx(2.0 * draws * stats.norm.sf(5.0), abs=4.0 * np.sqrt(57.0))
