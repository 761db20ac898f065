"""Instances follow the prior, rewards follow the instance: moments within four standard errors, controls beyond ten."""

import numpy as np
import pytest
from scipy import stats

from bayesregret import BernoulliBandit, GaussianBandit, LinearBandit
from bayesregret.contracts import draw_reward
from draws import compiled, deviation, stream_of
from problems import BANDITS

pytestmark = pytest.mark.compiled

RUNS = 200_000


def draw(bandit):
    return bandit.draw_means(RUNS, seed=50)


def assert_mean_and_variance(values, mean, variance, kurtosis=0.0):
    spread = np.sqrt(variance)
    assert deviation(values, mean, spread) < 4.0
    assert deviation(values, mean + 0.03 * spread, spread) > 10.0
    squares, of_squares = (values - mean) ** 2, variance * np.sqrt(kurtosis + 2.0)
    assert deviation(squares, variance, of_squares) < 4.0
    assert deviation(1.06 * squares, variance, of_squares) > 10.0


def test_gaussian():
    bandit = GaussianBandit([1.0, 0.0, -3.0], 0.7, 1.0)
    means = draw(bandit)
    for arm, prior_mean in enumerate(bandit.prior_mean):
        assert_mean_and_variance(means[:, arm], prior_mean, 0.49)
        assert stats.kstest(means[:, arm], "norm", (prior_mean, 0.7)).pvalue > 1e-3
        assert stats.kstest(means[:, arm], "norm", (prior_mean, 0.73)).pvalue < 1e-6
    off = (means - bandit.prior_mean) / 0.7
    for first, second in [(0, 1), (1, 2), (0, 2)]:
        assert deviation(off[:, first] * off[:, second], 0.0, 1.0) < 4.0


def test_bernoulli():
    bandit = BernoulliBandit([1.0, 0.3, 20.0], [1.0, 0.6, 5.0])
    means = draw(bandit)
    for arm in range(3):
        distribution = stats.beta(bandit.alpha[arm], bandit.beta[arm])
        mean, variance, kurtosis = map(float, distribution.stats("mvk"))
        assert_mean_and_variance(means[:, arm], mean, variance, kurtosis)
        assert stats.kstest(means[:, arm], distribution.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", ["linear", "linear of one rank"])
def test_linear(name):
    bandit = BANDITS[name]
    means = draw(bandit)
    truth = bandit.features @ bandit.covariance @ bandit.features.T
    centre = bandit.features @ bandit.prior_mean
    for arm in range(bandit.arms):
        assert_mean_and_variance(means[:, arm], centre[arm], truth[arm, arm])
    off = means - centre
    for first in range(bandit.arms):
        for second in range(first):
            both = truth[first, first] * truth[second, second]
            spread = np.sqrt(both + truth[first, second] ** 2)
            products = off[:, first] * off[:, second]
            assert deviation(products, truth[first, second], spread) < 4.0
            assert deviation(products, truth[first, second] + 0.05 * np.sqrt(both), spread) > 10.0


def test_a_width_and_its_covariance_are_one_law():
    features = np.random.default_rng(2).standard_normal((3, 4))
    by_width = LinearBandit(features, np.zeros(4), prior_width=1.3, reward_noise=1.0)
    by_cov = LinearBandit(features, np.zeros(4), prior_cov=1.69 * np.eye(4), reward_noise=1.0)
    for bandit in (by_width, by_cov):
        means = draw(bandit)
        for arm in range(3):
            assert_mean_and_variance(means[:, arm], 0.0, 1.69 * features[arm] @ features[arm])


def fill_rewards(out, model, arm, mean, stream):
    for i in range(out.shape[0]):
        out[i], stream = draw_reward(model, arm, mean, stream)


@pytest.mark.parametrize(
    ("name", "variance", "kurtosis"),
    [("gaussian", 2.25, 0.0), ("rademacher", 2.25, -2.0), ("bernoulli", 0.21, None), ("linear", 1.44, 0.0)],
)
def test_rewards(name, variance, kurtosis):
    out = np.empty(RUNS)
    compiled(fill_rewards)(out, BANDITS[name].model, 1, 0.3, stream_of(51))
    assert deviation(out, 0.3, np.sqrt(variance)) < 4.0
    assert deviation(out, 0.3 + 0.03 * np.sqrt(variance), np.sqrt(variance)) > 10.0
    if kurtosis == 0.0:
        assert_mean_and_variance(out, 0.3, variance)
    else:  # two values, so the mean says it all
        assert len(np.unique(out)) == 2
