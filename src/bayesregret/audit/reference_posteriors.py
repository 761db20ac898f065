"""Posteriors in plain NumPy for many runs at once, written from Section 3 of the paper, independently of the engine.

A belief has the `mean` and `variance` of every arm in every run, both (runs, arms), and learns one reward per run at a
time.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, LinearBandit

Arms = NDArray[np.intp]


class Belief(Protocol):
    """Posteriors of all arms in all runs."""

    @property
    def mean(self) -> Array: ...

    @property
    def variance(self) -> Array:
        """Posterior variance, or its sub-Gaussian variance proxy."""
        ...

    def learn(self, taken: Arms, rewards: Array) -> None:
        """Update with one reward per run, of the arm taken in that run."""


class IndependentArms:
    """Independent arms with prior pseudo-counts `prior_pulls` and sums `prior_total`.

    The variance of an arm is proxy / (offset + pulls).
    """

    def __init__(self, runs: int, prior_pulls: Array, prior_total: Array, proxy: Array | float, offset: Array) -> None:
        self.prior_pulls = prior_pulls
        self.proxy = proxy
        self.offset = offset
        self.pulls = np.zeros((runs, len(prior_pulls)))
        self.total = np.tile(prior_total, (runs, 1))
        self.rows = np.arange(runs)

    @property
    def mean(self) -> Array:
        count = self.prior_pulls + self.pulls
        return np.divide(self.total, count, out=np.zeros_like(self.total), where=count > 0.0)

    @property
    def variance(self) -> Array:
        count = self.offset + self.pulls
        return np.divide(self.proxy, count, out=np.full_like(self.total, np.inf), where=count > 0.0)

    def learn(self, taken: Arms, rewards: Array) -> None:
        self.pulls[self.rows, taken] += 1.0
        self.total[self.rows, taken] += rewards


class LinearArms:
    """Linear arms: the posterior of the whitened parameter, initially N(0, I), and every arm's mean and variance."""

    def __init__(self, runs: int, bandit: LinearBandit) -> None:
        self.features = bandit.features @ bandit.covariance_root  # (arms, r): whitened
        self.noise = bandit.reward_noise**2
        self.covariance = np.tile(np.eye(self.features.shape[1]), (runs, 1, 1))
        self.mean: Array = np.tile(bandit.features @ bandit.prior_mean, (runs, 1))
        self.variance: Array = np.tile((self.features**2).sum(axis=1), (runs, 1))
        self.rows = np.arange(runs)

    def learn(self, taken: Arms, rewards: Array) -> None:
        """Subtract Sxx'S/D from S, add a'Sx (y - mean)/D to the means; x: the taken arm's features, D = s^2 + x'Sx."""
        gain = np.einsum("rij,rj->ri", self.covariance, self.features[taken])
        shared = gain @ self.features.T
        taken_variance = self.variance[self.rows, taken][:, None]
        reward_variance = self.noise + taken_variance
        surprise = (rewards - self.mean[self.rows, taken])[:, None]
        self.mean += shared * (surprise / reward_variance)
        # Subtracting the variance shared with the taken arm before shrinking it loses fewer digits under a wide prior.
        common = np.divide(shared**2, taken_variance, out=np.zeros_like(shared), where=taken_variance > 0.0)
        self.variance = np.maximum(0.0, self.variance - common) + common * (self.noise / reward_variance)
        self.covariance -= gain[:, :, None] * (gain / reward_variance)[:, None, :]


def bayes_belief(bandit: Bandit, runs: int) -> Belief:
    """Return the bandit's prior."""
    if isinstance(bandit, LinearBandit):
        return LinearArms(runs, bandit)
    if isinstance(bandit, BernoulliBandit):
        pulls = bandit.alpha + bandit.beta
        return IndependentArms(runs, pulls, bandit.alpha, 0.25, pulls + 1.0)
    assert isinstance(bandit, GaussianBandit)
    pulls = (bandit.reward_noises / bandit.prior_widths) ** 2
    return IndependentArms(runs, pulls, pulls * bandit.prior_mean, bandit.reward_noises**2, pulls)


def flat_belief(bandit: Bandit, runs: int) -> Belief:
    """Return an infinitely wide prior, which makes BayesUCB into UCB1."""
    none = np.zeros(bandit.arms)
    proxy = bandit.reward_noises**2 if isinstance(bandit, GaussianBandit) else bandit.reward_proxy
    return IndependentArms(runs, none, none, proxy, none)
