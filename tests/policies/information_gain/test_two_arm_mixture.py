"""The mixture of two arms that information-directed sampling draws from."""

import math

import numpy as np
import pytest

from bayesregret.policies.information_gain.two_arm_mixture import best_mixture
from reference.linear_policies import least_ratio


def ratio(gaps, gains, probabilities):
    gap, gain = gaps @ probabilities, gains @ probabilities
    return gap**2 / gain if gain > 0.0 else math.inf


@pytest.mark.parametrize("seed", range(20))
def test_no_mixture_is_better(seed):
    """Against random mixtures of all arms, and against a search along every pair."""
    rng = np.random.default_rng(seed)
    gaps, gains = rng.exponential(size=5), rng.exponential(size=5) ** 2
    first, second, weight = best_mixture(gaps, gains)
    probabilities = np.zeros(5)
    probabilities[first] += weight
    probabilities[second] += 1.0 - weight
    ours = ratio(gaps, gains, probabilities)
    assert all(ours <= ratio(gaps, gains, other) for other in rng.dirichlet(np.full(5, 0.3), size=2000))
    pairs = [[one, other] for one in range(5) for other in range(one)]
    assert ours == pytest.approx(min(least_ratio(gaps[pair], gains[pair])[0] for pair in pairs), rel=1e-9)


def test_mixtures_at_the_edges():
    one = np.array([0.5])
    assert best_mixture(one, one) == (0, 0, 1.0)
    gaps = np.array([0.4, 0.1, 0.0, 0.3])
    assert best_mixture(gaps, np.zeros(4))[:2] == (2, 2)  # nothing to learn: the least gap
    assert best_mixture(gaps + 0.1, np.zeros(4))[:2] == (2, 2)
    assert best_mixture(np.array([0.4, 0.4]), np.array([1.0, 1.0]))[:2] == (0, 0)  # ties: the lower number
    assert best_mixture(np.array([0.1, 0.1]), np.array([0.0, 1.0]))[:2] == (1, 1)


@pytest.mark.parametrize("far", [1e3, 1e20, 1e100])
def test_a_far_arm_that_tells_nothing_changes_nothing(far):
    assert best_mixture(np.array([1.0, 1.0, far]), np.array([0.03, 0.27, 0.0])) == (1, 1, 1.0)


@pytest.mark.parametrize("far", [1e3, 1e8, 1e13])
def test_a_far_arm_that_tells_much_has_its_small_share(far):
    first, second, weight = best_mixture(np.array([far, 1.0]), np.array([1.0, 1e-3 / far]))
    assert (first, second) == (0, 1)
    assert weight == pytest.approx(1.0 / (far - 1.0) - 2.0 / (1e3 * far - 1.0), rel=1e-12)
