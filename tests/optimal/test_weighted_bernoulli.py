"""Indices of a Bernoulli arm whose pulls have weights, and when it is given up."""

import numpy as np
import pytest

from bayesregret.optimal.gittins_bernoulli import bernoulli_index
from bayesregret.optimal.weighted_bernoulli import stopping_times, weighted_indices

FALLING = np.array([1.0, 1.0, 0.6, 0.3])


@pytest.mark.both
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.3, 4.0)])
def test_equal_weights_give_gittins_indices(alpha, beta):
    indices = weighted_indices(alpha, beta, np.ones(5))
    for pulls in range(5):
        for wins in range(pulls + 1):
            expected = bernoulli_index(alpha + wins, beta + pulls - wins, 5 - pulls, 1.0)
            assert indices[pulls, wins] == pytest.approx(expected, abs=1e-12)
    assert indices[0, 0] > weighted_indices(alpha, beta, FALLING)[0, 0] > alpha / (alpha + beta)


def surplus(alpha, beta, weights, charge):
    """Largest expected weighted rewards minus charges."""
    if len(weights) == 0:
        return 0.0
    mean = alpha / (alpha + beta)
    later = mean * surplus(alpha + 1, beta, weights[1:], charge)
    later += (1 - mean) * surplus(alpha, beta + 1, weights[1:], charge)
    return max(0.0, weights[0] * (mean - charge) + later)


@pytest.mark.both
@pytest.mark.parametrize("charge", [0.2, 0.45, 0.55, 0.7])
def test_stopping_times_are_optimal(charge):
    """The surplus falls with the charge by the weights of the pulls."""
    alpha, beta, step = 1.3, 1.1, 1e-6
    times = stopping_times(alpha, beta, weighted_indices(alpha, beta, FALLING), np.array([charge]))[0]
    ends = [surplus(alpha, beta, FALLING, charge + side) for side in (-step, step)]
    assert times.sum() == pytest.approx(1.0)
    assert times @ np.append(0.0, np.cumsum(FALLING)) == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)
