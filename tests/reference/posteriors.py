"""Each model's posterior by the textbook, from the whole history: Section 3 of the paper, formula by formula."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from bayesregret import BernoulliBandit, GaussianBandit, LinearBandit

# Beyond this the prior covariance is inverted no more: the covariance form takes over.
LARGEST_CONDITION = 1e6
# A variance of this fraction of the prior's is a rounding error of the matrix products.
NO_VARIANCE = 1e-12


class History(NamedTuple):
    """The arms taken so far and the rewards that they brought."""

    arms: list[int]
    rewards: list[float]

    def of(self, arm: int) -> list[float]:
        return [reward for taken, reward in zip(self.arms, self.rewards, strict=True) if taken == arm]

    def data(self, arm: int) -> tuple[int, float]:
        """How often the arm was taken and the sum of its rewards."""
        return len(self.of(arm)), sum(self.of(arm))


def stats(bandit, arm: int, history: History) -> tuple:
    """Sufficient statistics of an independent arm: two arms with the same ones tie in any order of computation."""
    if isinstance(bandit, GaussianBandit):
        own = bandit.prior_mean[arm], bandit.prior_widths[arm], bandit.reward_noises[arm]
        return (*own, *history.data(arm))
    return (bandit.alpha[arm], bandit.beta[arm], *history.data(arm))


class Posterior(NamedTuple):
    """(arms,) each: posterior mean of the arm's mean reward, and its variance or variance proxy."""

    mean: np.ndarray
    variance: np.ndarray


@singledispatch
def posterior(bandit, history: History) -> Posterior:
    raise NotImplementedError(type(bandit))


@posterior.register
def gaussian_posterior(bandit: GaussianBandit, history: History) -> Posterior:
    """Section 3.1; Rademacher noise is treated as Gaussian."""
    means, variances = [], []
    arms = zip(bandit.prior_mean, bandit.prior_widths, bandit.reward_noises, strict=True)
    for arm, (prior_mean, width, noise) in enumerate(arms):
        rewards = history.of(arm)
        variance = 1.0 / (width**-2 + noise**-2 * len(rewards))
        means.append(variance * (width**-2 * prior_mean + noise**-2 * sum(rewards)))
        variances.append(variance)
    return Posterior(np.array(means), np.array(variances))


@posterior.register
def bernoulli_posterior(bandit: BernoulliBandit, history: History) -> Posterior:
    """Section 3.2."""
    means, proxies = [], []
    for arm in range(bandit.arms):
        rewards = history.of(arm)
        alpha = bandit.alpha[arm] + sum(rewards)
        beta = bandit.beta[arm] + sum(1.0 - reward for reward in rewards)
        means.append(alpha / (alpha + beta))
        proxies.append(1.0 / (4.0 * (alpha + beta + 1.0)))
    return Posterior(np.array(means), np.array(proxies))


@posterior.register
def linear_posterior(bandit: LinearBandit, history: History) -> Posterior:
    """Section 3.3. Equal arms get equal numbers, to the last bit: each is computed once."""
    prior = bandit.covariance
    taken = bandit.features[history.arms]
    if np.linalg.cond(prior) < LARGEST_CONDITION:
        mean, covariance = precision_form(bandit.prior_mean, prior, taken, history.rewards, bandit.reward_noise)
    else:
        mean, covariance = covariance_form(bandit.prior_mean, prior, taken, history.rewards, bandit.reward_noise)
    arms, which = np.unique(bandit.features, axis=0, return_inverse=True)
    before = np.array([x @ prior @ x for x in arms])
    after = np.array([x @ covariance @ x for x in arms])
    after[after < NO_VARIANCE * before.max()] = 0.0
    return Posterior(np.array([x @ mean for x in arms])[which], after[which])


def precision_form(prior_mean, prior_cov, taken, rewards, noise):
    """Posterior mean and covariance of the parameter, with the inverse of the prior covariance."""
    prior_precision = np.linalg.inv(prior_cov)
    covariance = np.linalg.inv(prior_precision + taken.T @ taken / noise**2)
    return covariance @ (prior_precision @ prior_mean + taken.T @ np.array(rewards) / noise**2), covariance


def covariance_form(prior_mean, prior_cov, taken, rewards, noise):
    """The same without that inverse, by conditioning on the rewards, which are jointly normal with the parameter."""
    rewards_cov = taken @ prior_cov @ taken.T + noise**2 * np.eye(len(taken))
    gain = prior_cov @ taken.T @ np.linalg.inv(rewards_cov)
    return prior_mean + gain @ (np.array(rewards) - taken @ prior_mean), prior_cov - gain @ taken @ prior_cov
