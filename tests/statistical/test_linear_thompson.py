"""Thompson sampling on linear beliefs takes each arm with the chance that it is the best one."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

import bayesregret as br
from bayesregret.contracts import choose_linear
from bayesregret.models.linear_posterior import forget, learn_one, linear_nothing_known, make_posterior
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
    posterior = make_posterior(belief)
    known = linear_nothing_known(belief, 0, sum(belief.whitened.shape))
    forget(posterior, belief)
    for arm, reward in zip(arms, rewards, strict=True):
        learn_one(posterior, belief, arm, reward)
    compiled(choose_often)(br.Thompson().settings(bandit, None), posterior, known, CHOICES, stream_of(8))
    return posterior, known.counts / CHOICES


@pytest.mark.parametrize("pulls", [0, 3, 40])
def test_share_of_the_best_of_two(pulls):
    """The chance that one arm is better is that of a normal variable; taking arms for independent is far off."""
    bandit = br.LinearBandit([[1, 0.2], [0.9, 0.3]], [0.1, -0.1], prior_cov=[[1, 0.6], [0.6, 2]], reward_noise=0.5)
    posterior, taken = shares(bandit, [0] * pulls, [0.3] * pulls)
    covariance = posterior.roots[:, :2].T @ posterior.roots[:, :2]
    lead = posterior.mean[0] - posterior.mean[1]
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
    arms = rng.integers(20, size=30)
    _, taken = shares(bandit, arms, rng.standard_normal(30))
    x = bandit.features[arms]
    precision = np.eye(4) + x.T @ x
    rng = np.random.default_rng(2)
    rng.standard_normal((20, 4)), rng.standard_normal(4), rng.integers(20, size=30)
    mean = np.linalg.solve(precision, bandit.prior_mean + x.T @ rng.standard_normal(30))
    theta = rng.multivariate_normal(mean, np.linalg.inv(precision), size=CHOICES)
    drawn = np.bincount((theta @ bandit.features.T).argmax(axis=1), minlength=20) / CHOICES
    stderr = np.sqrt((drawn + 1.0 / CHOICES) * (1.0 - drawn) * 2.0 / CHOICES)
    assert (np.abs(taken - drawn) < 4.5 * stderr).all()
    too_wide = rng.multivariate_normal(mean, 1.2 * np.linalg.inv(precision), size=CHOICES)
    wrong = np.bincount((too_wide @ bandit.features.T).argmax(axis=1), minlength=20) / CHOICES
    assert JIT_IS_OFF or (np.abs(taken - wrong) > 10 * stderr).any()
