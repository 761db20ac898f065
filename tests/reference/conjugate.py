"""Posteriors of the conjugate models as SciPy's distributions, from all rewards of an arm, and indices made of them."""

from __future__ import annotations

import math
from functools import singledispatch

import numpy as np
from scipy import optimize, stats

from bayesregret import KLUCB, BayesUCB, ExponentialBandit, Greedy, NormalGammaBandit, PoissonBandit, QuantileUCB


@singledispatch
def posterior(bandit, arm, rewards):
    """The distribution of the arm's mean reward."""
    raise NotImplementedError(type(bandit))


@posterior.register
def of_poisson(bandit: PoissonBandit, arm, rewards):
    return stats.gamma(bandit.shape[arm] + sum(rewards), scale=1.0 / (bandit.rate[arm] + len(rewards)))


@posterior.register
def of_exponential(bandit: ExponentialBandit, arm, rewards):
    return stats.invgamma(bandit.shape[arm] + len(rewards), scale=bandit.rate[arm] + sum(rewards))


@posterior.register
def of_normal_gamma(bandit: NormalGammaBandit, arm, rewards):
    """Reward by reward, each posterior being the next one's prior."""
    mean, pulls = bandit.prior_mean[arm], bandit.prior_pulls[arm]
    shape, scale = bandit.shape[arm], bandit.scale[arm]
    for reward in rewards:
        scale += pulls * (reward - mean) ** 2 / (2.0 * (pulls + 1.0))
        mean = (pulls * mean + reward) / (pulls + 1.0)
        pulls, shape = pulls + 1.0, shape + 0.5
    return stats.t(2.0 * shape, loc=mean, scale=math.sqrt(scale / (shape * pulls)))


@singledispatch
def divergence(bandit, mean, other):
    """Kullback-Leibler divergence of rewards with the one mean from rewards with the other."""
    raise NotImplementedError(type(bandit))


@divergence.register
def of_counts(bandit: PoissonBandit, mean, other):
    return other - mean + (mean * math.log(mean / other) if mean > 0.0 else 0.0)


@divergence.register
def of_waiting_times(bandit: ExponentialBandit, mean, other):
    return math.log(other / mean) + mean / other - 1.0


def farthest(bandit, mean, limit):
    """The highest mean whose divergence is within the limit, by bisection."""
    high = mean + limit + 1.0
    while divergence(bandit, mean, high) < limit:
        high *= 2.0
    return optimize.brentq(lambda q: divergence(bandit, mean, q) - limit, max(mean, 1e-300), high, xtol=1e-13)


@singledispatch
def index(policy, bandit, arm, rewards, round_, horizon):
    raise NotImplementedError(type(policy))


@index.register
def greedy(policy: Greedy, bandit, arm, rewards, round_, horizon):
    return posterior(policy.prior or bandit, arm, rewards).mean()


@index.register
def bayes_ucb(policy: BayesUCB, bandit, arm, rewards, round_, horizon):
    return posterior(policy.prior or bandit, arm, rewards).isf(min(0.5, policy.delta or 1.0 / horizon))


@index.register
def quantile_ucb(policy: QuantileUCB, bandit, arm, rewards, round_, horizon):
    slower = max(1.0, math.log(horizon)) ** policy.c
    return posterior(policy.prior or bandit, arm, rewards).isf(min(0.5, 1.0 / (round_ * slower)))


@index.register
def kl_ucb(policy: KLUCB, bandit, arm, rewards, round_, horizon):
    if not rewards:
        return math.inf
    exploration = math.log(round_) + policy.c * math.log(max(1.0, math.log(round_)))
    return farthest(bandit, float(np.mean(rewards)), exploration / len(rewards))
