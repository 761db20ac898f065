"""Thompson sampling on linear beliefs takes each arm with the chance that it is the best one."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

import bayesregret as br
from bayesregret.contracts import choose_linear
from bayesregret.models.linear_streak import learn_one, linear_nothing_known, make_streak
from bayesregret.rng import POLICY
from conftest import JIT_IS_OFF
from draws import compiled, stream_of

CHOICES = 2_000 if JIT_IS_OFF else 200_000


def choose_often(settings, posterior, known, times, stream):
    for _ in range(times):
        arm, stream = choose_linear(settings, posterior, known, 1, stream)
        known.counts[arm] += 1


def shares(bandit, arms, rewards):
    """How often each arm is taken after these rewards."""
    belief = br.Thompson().belief(bandit)
    posterior = make_streak(belief)
    known = linear_nothing_known(belief, 0, sum(belief.whitened.shape))
    for arm, reward in zip(arms, rewards, strict=True):
        learn_one(posterior, belief, arm, reward)
    compiled(choose_often)(br.Thompson().settings(bandit, None), posterior, known, CHOICES, stream_of(8, label=POLICY))
    return known.counts / CHOICES


@pytest.mark.parametrize("pulls", [0, 3, 40])
def test_share_of_the_best_of_two(pulls):
    """The chance that one arm is better is that of a normal variable; taking arms for independent is far off."""
    bandit = br.LinearBandit([[1, 0.2], [0.9, 0.3]], [0.1, -0.1], prior_cov=[[1, 0.6], [0.6, 2]], reward_noise=0.5)
    taken = shares(bandit, [0] * pulls, [0.3] * pulls)
    x = bandit.features
    precision = np.linalg.inv(bandit.covariance) + pulls * np.outer(x[0], x[0]) / 0.5**2
    mean = np.linalg.solve(
        precision, np.linalg.solve(bandit.covariance, bandit.prior_mean) + 0.3 * pulls * x[0] / 0.5**2
    )
    covariance = x @ np.linalg.inv(precision) @ x.T
    lead = (x[0] - x[1]) @ mean
    chance = ndtr(lead / math.sqrt(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]))
    stderr = math.sqrt(chance * (1.0 - chance) / CHOICES)
    assert abs(taken[0] - chance) < 4 * stderr
    if not JIT_IS_OFF:
        alone = ndtr(lead / math.sqrt(covariance[0, 0] + covariance[1, 1]))
        assert abs(taken[0] - alone) > 10 * stderr


def test_shares_of_many():
    """Against draws of the parameter by NumPy."""
    rng = np.random.default_rng(2)
    bandit = br.LinearBandit(rng.standard_normal((20, 4)), rng.standard_normal(4), prior_width=1, reward_noise=1)
    arms, rewards = rng.integers(20, size=30), rng.standard_normal(30)
    taken = shares(bandit, arms, rewards)
    x = bandit.features[arms]
    covariance = np.linalg.inv(np.eye(4) + x.T @ x)
    mean = covariance @ (bandit.prior_mean + x.T @ rewards)

    def drawn(covariance):
        theta = rng.multivariate_normal(mean, covariance, size=CHOICES)
        return np.bincount((theta @ bandit.features.T).argmax(axis=1), minlength=20) / CHOICES

    right, wrong = drawn(covariance), drawn(1.2 * covariance)
    stderr = np.sqrt((right + 1.0 / CHOICES) * (1.0 - right) * 2.0 / CHOICES)
    assert (np.abs(taken - right) < 4.5 * stderr).all()
    assert JIT_IS_OFF or (np.abs(taken - wrong) > 10 * stderr).any()
