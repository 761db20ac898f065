"""Information-directed sampling by variances: decisions when nothing is in doubt, and its regret."""

import math

import numpy as np
import pytest

import bayesregret as br


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
