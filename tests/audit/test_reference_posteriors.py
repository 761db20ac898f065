"""The audit's own posteriors against the textbook's, reward by reward."""

import numpy as np
import pytest

from bayesregret import GaussianBandit, LinearBandit
from bayesregret.audit.reference_posteriors import bayes_belief, flat_belief
from problems import BANDITS
from reference.posteriors import History, posterior

RUNS = 3


@pytest.mark.parametrize("kind", BANDITS)
def test_posteriors_are_the_textbooks(kind):
    bandit, generator = BANDITS[kind], np.random.default_rng(1)
    belief = bayes_belief(bandit, RUNS)
    histories = [History([], []) for _ in range(RUNS)]
    for _ in range(20):
        taken = generator.integers(bandit.arms, size=RUNS)
        rewards = generator.integers(2, size=RUNS).astype(float)
        belief.learn(taken, rewards)
        for run, history in enumerate(histories):
            history.arms.append(int(taken[run]))
            history.rewards.append(float(rewards[run]))
            truth = posterior(bandit, history)
            np.testing.assert_allclose(belief.mean[run], truth.mean, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(belief.variance[run], truth.variance, rtol=1e-9, atol=1e-12)


def test_without_a_prior_an_arm_is_its_rewards():
    belief = flat_belief(GaussianBandit([5.0, 5.0], 1.0, 3.0), 1)
    assert belief.variance.tolist() == [[np.inf, np.inf]]
    for reward in (1.0, 2.0):
        belief.learn(np.array([1]), np.array([reward]))
    assert belief.mean.tolist() == [[0.0, 1.5]]
    assert belief.variance.tolist() == [[np.inf, 4.5]]


def test_a_wide_linear_prior_keeps_its_digits():
    bandit = LinearBandit([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], prior_width=1e2, reward_noise=1e-2)
    belief = bayes_belief(bandit, 1)
    for pulls in range(1, 50):
        belief.learn(np.array([pulls % 2]), np.array([1.0]))
        np.testing.assert_allclose(belief.variance[0], [1e-4 / pulls, 1e-4 / pulls, 1e4], rtol=1e-6)
        np.testing.assert_allclose(belief.mean[0], [1.0, 1.0, 0.0], rtol=1e-6)
