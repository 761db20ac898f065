"""Posteriors in plain NumPy, many runs at once, written from Section 3 of the paper and not from the engine.

A belief has `mean` and `variance` of every arm in every run, both (runs, arms), and learns one reward a run at a time.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, LinearBandit

Arms = NDArray[np.intp]


class Belief(Protocol):
    @property
    def mean(self) -> Array: ...

    @property
    def variance(self) -> Array:
        """Posterior variance, or the sub-Gaussian variance proxy that stands for it."""
        ...

    def learn(self, taken: Arms, rewards: Array) -> None:
        """Take in one reward of the arm taken in each run."""


class IndependentArms:
    """Each arm's prior is worth `prior_pulls` pulls that brought `prior_total`; variance = proxy / (offset + pulls)."""

    def __init__(self, runs: int, prior_pulls: Array, prior_total: Array, proxy: Array | float, offset: Array) -> None:
        self.prior_pulls = prior_pulls
        self.proxy = proxy
        self.offset = offset
        self.pulls = np.zeros((runs, len(prior_pulls)))
        self.total = np.tile(prior_total, (runs, 1))
        self.rows = np.arange(runs)

    @property
    def mean(self) -> Array:
        known = self.prior_pulls + self.pulls
        return np.divide(self.total, known, out=np.zeros_like(self.total), where=known > 0.0)

    @property
    def variance(self) -> Array:
        known = self.offset + self.pulls
        return np.divide(self.proxy, known, out=np.full_like(self.total, np.inf), where=known > 0.0)

    def learn(self, taken: Arms, rewards: Array) -> None:
        self.pulls[self.rows, taken] += 1.0
        self.total[self.rows, taken] += rewards


class LinearArms:
    """The posterior of the whitened parameter, N(0, I) at first, and with it every arm's mean and variance."""

    def __init__(self, runs: int, bandit: LinearBandit) -> None:
        self.features = bandit.features @ bandit.covariance_root  # (arms, r): whitened
        self.noise = bandit.reward_noise**2
        self.covariance = np.tile(np.eye(self.features.shape[1]), (runs, 1, 1))
        self.mean: Array = np.tile(bandit.features @ bandit.prior_mean, (runs, 1))
        self.variance: Array = np.tile((self.features**2).sum(axis=1), (runs, 1))
        self.rows = np.arange(runs)

    def learn(self, taken: Arms, rewards: Array) -> None:
        """With x the taken arm's features and D = s^2 + x'Sx: S falls by Sxx'S/D, a mean moves by a'Sx (y - mean)/D."""
        gain = np.einsum("rij,rj->ri", self.covariance, self.features[taken])
        shared = gain @ self.features.T
        own = self.variance[self.rows, taken][:, None]
        whole = self.noise + own
        surprise = (rewards - self.mean[self.rows, taken])[:, None]
        self.mean += shared * (surprise / whole)
        # What an arm shares with the taken one is taken out before it shrinks: less cancels with a wide prior.
        common = np.divide(shared**2, own, out=np.zeros_like(shared), where=own > 0.0)
        self.variance = np.maximum(0.0, self.variance - common) + common * (self.noise / whole)
        self.covariance -= gain[:, :, None] * (gain / whole)[:, None, :]


def bayes_belief(bandit: Bandit, runs: int) -> Belief:
    """The prior of a bandit."""
    if isinstance(bandit, LinearBandit):
        return LinearArms(runs, bandit)
    if isinstance(bandit, BernoulliBandit):
        pulls = bandit.alpha + bandit.beta
        return IndependentArms(runs, pulls, bandit.alpha, 0.25, pulls + 1.0)
    assert isinstance(bandit, GaussianBandit)
    pulls = (bandit.reward_noises / bandit.prior_widths) ** 2
    return IndependentArms(runs, pulls, pulls * bandit.prior_mean, bandit.reward_noises**2, pulls)


def flat_belief(bandit: Bandit, runs: int) -> Belief:
    """An infinitely wide prior, as UCB1 has it."""
    none = np.zeros(bandit.arms)
    proxy = bandit.reward_noises**2 if isinstance(bandit, GaussianBandit) else bandit.reward_proxy
    return IndependentArms(runs, none, none, proxy, none)
