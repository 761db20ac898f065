"""Thompson sampling on linear beliefs takes each arm with the chance that it is the best one."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstest

import bayesregret as br
from bayesregret.contracts import choose_linear
from bayesregret.models.linear_lazy_posterior import learn_one, linear_empty_stats, make_lazy_posterior
from bayesregret.policies.thompson_fast.linear import CALLED, MOST_CALLED, TAILS, normal_above
from bayesregret.rng import POLICY
from conftest import JIT_IS_OFF
from draws import compiled, stream_of

CHOICES = 2_000 if JIT_IS_OFF else 200_000


def choose_often(settings, posterior, stats, times, stream):
    for _ in range(times):
        arm, stream = choose_linear(settings, posterior, stats, 1, stream)
        stats.counts[arm] += 1


def shares(bandit, arms, rewards):
    """How often each arm is taken after these rewards."""
    belief = br.Thompson().belief(bandit)
    posterior = make_lazy_posterior(belief)
    stats = linear_empty_stats(
        belief, br.Thompson().memory(bandit), br.Thompson().linear_scratch(*belief.whitened.shape)
    )
    for arm, reward in zip(arms, rewards, strict=True):
        learn_one(posterior, belief, arm, reward)
        stats.received[0] += 1
    compiled(choose_often)(br.Thompson().settings(bandit, None), posterior, stats, CHOICES, stream_of(8, label=POLICY))
    return stats.counts / CHOICES, stats.memory[CALLED]


@pytest.mark.parametrize("pulls", [0, 3, 40])
def test_share_of_the_best_of_two(pulls):
    """The chance that one arm is better is that of a normal variable; taking arms for independent is far off."""
    bandit = br.LinearBandit([[1, 0.2], [0.9, 0.3]], [0.1, -0.1], prior_cov=[[1, 0.6], [0.6, 2]], reward_noise=0.5)
    taken, _ = shares(bandit, [0] * pulls, [0.3] * pulls)
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


# Rewards of 20 arms at random; then many of one arm, which leads; the same, and one of another arm.
CASES = {"no leader": (30, 0, 0), "a leader": (30, 60, 0), "a leader not repeated": (30, 60, 1)}


@pytest.mark.parametrize("case", CASES)
def test_shares_of_many(case):
    """Against draws of the parameter by NumPy."""
    rng = np.random.default_rng(2)
    bandit = br.LinearBandit(rng.standard_normal((20, 4)), rng.standard_normal(4), prior_width=1, reward_noise=1)
    few, many, last = CASES[case]
    arms = [*rng.integers(20, size=few), *[7] * many, *[3] * last]
    rewards = [*rng.standard_normal(few), *0.9 + rng.standard_normal(many), *[0.1] * last]
    taken, called = shares(bandit, arms, rewards)
    assert (called < MOST_CALLED) == (many > 0)
    x = bandit.features[arms]
    covariance = np.linalg.inv(np.eye(4) + x.T @ x)
    mean = covariance @ (bandit.prior_mean + x.T @ np.array(rewards))

    def drawn(covariance):
        theta = rng.multivariate_normal(mean, covariance, size=CHOICES)
        return np.bincount((theta @ bandit.features.T).argmax(axis=1), minlength=20) / CHOICES

    right, wrong = drawn(covariance), drawn(1.2 * covariance)
    stderr = np.sqrt((right + 1.0 / CHOICES) * (1.0 - right) * 2.0 / CHOICES)
    assert (np.abs(taken - right) < 4.5 * stderr).all()
    assert JIT_IS_OFF or (np.abs(taken - wrong) > 10 * stderr).any()


@pytest.mark.parametrize("level", [0.0, 0.5, 2.0, 8.0])
def test_draws_above_a_level(level):
    """Kolmogorov-Smirnov, and the law above another level as a control."""
    drawn, stream = np.empty(1_000), stream_of(3, label=POLICY)
    with np.errstate(over="ignore"):
        for i in range(len(drawn)):
            drawn[i], stream = normal_above(level, stream)
    assert drawn.min() > level
    assert kstest(drawn, lambda x: 1.0 - ndtr(-x) / ndtr(-level)).pvalue > 1e-4
    assert kstest(drawn, lambda x: 1.0 - (ndtr(-x) / ndtr(-level)) ** 1.5).pvalue < 1e-4


def test_sums_of_chances_are_exact():
    """They are multiples of what coins are multiples of, and as good as the chances themselves."""
    assert (np.floor(TAILS * 2.0**53) == TAILS * 2.0**53).all()
    assert np.abs(TAILS[1:] - ndtr(-np.sqrt(np.arange(len(TAILS) - 1) / 8))).max() < 2.0**-52
