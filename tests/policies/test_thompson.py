"""Thompson sampling that draws every arm: it chooses each arm with the posterior probability that it is best."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, choose_linear, empty_stats
from bayesregret.models.linear_lazy_posterior import add_linear_reward, linear_empty_stats, make_lazy_posterior
from bayesregret.policies.thompson import HighestDraw
from bayesregret.policies.thompson_fast.beta import NearAndFarBeta
from bayesregret.policies.thompson_fast.normal import NearAndFarNormal
from bayesregret.rng import POLICY
from conftest import JIT_IS_OFF
from draws import compiled, stream_of
from problems import BANDITS
from reference.best_arm import posteriors, probabilities_of_best, pvalue

pytestmark = pytest.mark.long

ROUNDS = 5_000
UNLIKELY = 1e-4  # about four standard errors
GAUSSIAN = br.GaussianBandit([0.5, 0.0, 0.0, -0.5], 1.0, 1.5)
HETEROSCEDASTIC = br.GaussianBandit([0.5, 0.0, 0.0, -0.5], [0.5, 1.0, 1.0, 2.0], [1.5, 0.7, 0.7, 6.0])
BERNOULLI = br.BernoulliBandit([1.0, 0.4, 3.0, 1.0], [1.0, 0.7, 2.0, 1.0])
# (count, total) of each arm: no data, some and many; a clear leader and none.
DATA = {
    "nothing known": (GAUSSIAN, [(0, 0.0)] * 4),
    "a clear leader": (GAUSSIAN, [(50, 45.0), (5, 1.0), (9, 2.0), (0, 0.0)]),
    "one far ahead": (GAUSSIAN, [(90, 90.0), (20, 6.0), (30, 5.0), (12, 3.0)]),
    "two close ones": (GAUSSIAN, [(20, 11.0), (22, 12.5), (4, -3.0), (3, 2.0)]),
    "heteroscedastic": (HETEROSCEDASTIC, [(20, 11.0), (22, 12.5), (4, -3.0), (3, 2.0)]),
    "bernoulli": (BERNOULLI, [(60, 54.0), (7, 5.0), (9, 3.0), (0, 0.0)]),
}


def choose_often(policy, model, arm_stats, taken, stream):
    for round_ in range(1, taken.shape[0] + 1):
        taken[round_ - 1], stream = choose_arm(policy, model, arm_stats, round_, stream)


def counts_of_choices(bandit, data, rounds=ROUNDS, play=choose_often):
    """Number of times that each arm is chosen, given these data."""
    arm_stats, taken = empty_stats(bandit.arms), np.empty(rounds, np.int64)
    for arm, (count, total) in enumerate(data):
        for _ in range(count):
            add_reward(arm_stats, arm, total / count)
    with np.errstate(over="ignore"):
        play(HighestDraw(), bandit.model, arm_stats, taken, stream_of(11, label=POLICY))
    return np.bincount(taken, minlength=bandit.arms)


@pytest.mark.parametrize("case", DATA)
def test_arms_are_chosen_with_the_probability_that_they_are_best(case):
    bandit, data = DATA[case]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-3)
    assert pvalue(counts_of_choices(bandit, data), probabilities) > UNLIKELY


@pytest.mark.slow
@pytest.mark.parametrize("case", DATA)
def test_the_same_to_three_digits(case):
    bandit, data = DATA[case]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    counts = counts_of_choices(bandit, data, rounds=1_000_000, play=compiled(choose_often))
    assert pvalue(counts, probabilities) > UNLIKELY


@pytest.mark.parametrize("case", ["two close ones"])
def test_other_probabilities_are_noticed(case):
    """The control: beliefs with a few more rewards of an arm."""
    bandit, data = DATA[case]
    wrong = probabilities_of_best(posteriors(bandit, [data[0], (data[1][0] + 4, data[1][1] + 4.0), *data[2:]]))
    assert pvalue(counts_of_choices(bandit, data), wrong) < UNLIKELY


@pytest.mark.parametrize("kind", BANDITS)
def test_beta_and_normal_posteriors_are_accelerated(kind):
    bandit, policy = BANDITS[kind], br.Thompson()
    fast = {"gaussian": NearAndFarNormal, "bernoulli": NearAndFarBeta}.get(bandit.kind)
    assert type(policy.settings(bandit, None)) is (fast or HighestDraw)
    assert (policy.memory(bandit) > 0) == (policy.scratch(bandit) > 0) == (fast is not None)


# --- linear beliefs ------------------------------------------------------------------------------------------------

CHOICES = 2_000 if JIT_IS_OFF else 200_000


def choose_linear_often(settings, posterior, stats, times, stream):
    for _ in range(times):
        arm, stream = choose_linear(settings, posterior, stats, 1, stream)
        stats.counts[arm] += 1


def frequencies(bandit, arms, rewards):
    """How often each arm is chosen after these rewards."""
    policy = br.Thompson()
    belief = policy.belief(bandit)
    posterior = make_lazy_posterior(belief)
    stats = linear_empty_stats(belief, policy.memory(bandit), policy.linear_scratch(*belief.whitened.shape))
    for arm, reward in zip(arms, rewards, strict=True):
        add_linear_reward(posterior, belief, arm, reward)
        stats.received[0] += 1
    settings = policy.settings(bandit, None)
    compiled(choose_linear_often)(settings, posterior, stats, CHOICES, stream_of(8, label=POLICY))
    return stats.counts / CHOICES


@pytest.mark.parametrize("pulls", [0, 3, 40])
def test_frequency_of_the_best_of_two(pulls):
    """The probability that one arm is better is normal; the one for independent arms is far off."""
    bandit = br.LinearBandit([[1, 0.2], [0.9, 0.3]], [0.1, -0.1], prior_cov=[[1, 0.6], [0.6, 2]], reward_noise=0.5)
    taken = frequencies(bandit, [0] * pulls, [0.3] * pulls)
    x = bandit.features
    precision = np.linalg.inv(bandit.covariance) + pulls * np.outer(x[0], x[0]) / 0.5**2
    mean = np.linalg.solve(
        precision, np.linalg.solve(bandit.covariance, bandit.prior_mean) + 0.3 * pulls * x[0] / 0.5**2
    )
    covariance = x @ np.linalg.inv(precision) @ x.T
    lead = (x[0] - x[1]) @ mean
    probability = ndtr(lead / math.sqrt(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]))
    stderr = math.sqrt(probability * (1.0 - probability) / CHOICES)
    assert abs(taken[0] - probability) < 4 * stderr
    if not JIT_IS_OFF:
        independent = ndtr(lead / math.sqrt(covariance[0, 0] + covariance[1, 1]))
        assert abs(taken[0] - independent) > 10 * stderr


# Rewards of 20 arms at random; then many of one arm, which leads; the same, and one of another arm.
CASES = {"no leader": (30, 0, 0), "a leader": (30, 60, 0), "a leader not repeated": (30, 60, 1)}


@pytest.mark.parametrize("case", CASES)
def test_frequencies_of_many(case):
    """Against draws of the parameter by NumPy."""
    rng = np.random.default_rng(2)
    bandit = br.LinearBandit(rng.standard_normal((20, 4)), rng.standard_normal(4), prior_width=1, reward_noise=1)
    few, many, last = CASES[case]
    arms = [*rng.integers(20, size=few), *[7] * many, *[3] * last]
    rewards = [*rng.standard_normal(few), *0.9 + rng.standard_normal(many), *[0.1] * last]
    taken = frequencies(bandit, arms, rewards)
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
