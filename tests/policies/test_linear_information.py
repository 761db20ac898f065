"""Information-directed sampling by variances: the mixture, and decisions when nothing is in doubt."""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.policies.linear_information import best_mixture
from reference.linear_policies import least_ratio


def ratio(gaps, gains, chances):
    gap, gain = gaps @ chances, gains @ chances
    return gap**2 / gain if gain > 0.0 else math.inf


@pytest.mark.parametrize("seed", range(20))
def test_no_mixture_is_better(seed):
    """Against random mixtures of all arms, and against a search along every pair."""
    rng = np.random.default_rng(seed)
    gaps, gains = rng.exponential(size=5), rng.exponential(size=5) ** 2
    first, second, share = best_mixture(gaps, gains, 5)
    chances = np.zeros(5)
    chances[first] += share
    chances[second] += 1.0 - share
    ours = ratio(gaps, gains, chances)
    assert all(ours <= ratio(gaps, gains, other) for other in rng.dirichlet(np.full(5, 0.3), size=2000))
    pairs = [[one, other] for one in range(5) for other in range(one)]
    assert ours == pytest.approx(min(least_ratio(gaps[pair], gains[pair])[0] for pair in pairs), rel=1e-9)


def test_mixtures_at_the_edges():
    one = np.array([0.5])
    assert best_mixture(one, one, 1) == (0, 0, 1.0)
    gaps = np.array([0.4, 0.1, 0.0, 0.3])
    assert best_mixture(gaps, np.zeros(4), 4)[:2] == (2, 2)  # nothing to learn: the least gap
    assert best_mixture(gaps + 0.1, np.zeros(4), 4)[:2] == (2, 2)
    assert best_mixture(np.array([0.4, 0.4]), np.array([1.0, 1.0]), 2)[:2] == (0, 0)  # ties: the lower number
    assert best_mixture(np.array([0.1, 0.1]), np.array([0.0, 1.0]), 2)[:2] == (1, 1)


def test_a_best_arm_in_no_doubt_is_taken():
    bandit = br.LinearBandit([[1, 0], [0, 1], [1, 1]], [1, 2], prior_width=1e-6, reward_noise=1)
    ran = br.simulate(bandit, br.InformationDirected(draws=20), horizon=30, runs=3, seed=0)["information-directed"]
    assert ran.mean_pulls.tolist() == [0.0, 0.0, 30.0]


@pytest.mark.compiled
def test_it_loses_less_than_thompson():
    """As in the figures of Russo and Van Roy (2018) for linear bandits."""
    rng = np.random.default_rng(1)
    features = rng.uniform(-1, 1, (30, 5)) / math.sqrt(5)
    bandit = br.LinearBandit(features, np.zeros(5), prior_width=math.sqrt(10), reward_noise=1)
    ran = br.simulate(bandit, [br.InformationDirected(), br.Thompson()], horizon=150, runs=400, seed=6)
    difference = ran.paired("thompson", "information-directed")
    assert difference.mean > 4 * difference.stderr
