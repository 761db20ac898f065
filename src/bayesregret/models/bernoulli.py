"""The K-armed Bernoulli bandit with Beta priors, Section 3.2 of the paper."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import (
    divergence_limit,
    draw_means,
    draw_reward,
    posterior_draw,
    posterior_quantile,
    prior_pulls,
    prior_total,
    variance_proxy,
)
from bayesregret.models.bandit import Bandit
from bayesregret.rng import beta, uniform
from bayesregret.special import betainccinv

# Newton's method converges from above, at last quadratically.
MOST_STEPS, LAST_STEP = 60, 1e-14


class BernoulliModel(NamedTuple):
    alpha: Array
    beta: Array
    pseudo_count: Array  # alpha + beta: the pulls that the prior is worth


class BernoulliBandit(Bandit):
    """Independent Beta priors with positive pseudo-counts, rewards 0 or 1.

    >>> BernoulliBandit(alpha=[1, 1], beta=[1, 3])
    BernoulliBandit(alpha=[1., 1.], beta=[1., 3.])
    """

    kind: ClassVar[str] = "bernoulli"

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha = checks.positive_vector("alpha", alpha)
        self.beta = checks.positive_vector("beta", beta)
        if len(self.alpha) != len(self.beta):
            raise ValueError(
                f"alpha and beta must have one entry for each arm, got {len(self.alpha)} and {len(self.beta)} entries"
            )
        self.arms = len(self.alpha)
        self.reward_proxy = 0.25
        self.model = BernoulliModel(self.alpha, self.beta, self.alpha + self.beta)

    def check_reward(self, reward: Any) -> float:
        number = checks.real("reward", float(reward) if isinstance(reward, bool) else reward, "0 or 1")
        if number not in (0.0, 1.0):
            raise checks.fail("reward", "0 or 1", reward)
        return number

    def accepts_rewards_of(self, other: Bandit) -> bool:
        return isinstance(other, BernoulliBandit)


@draw_means.implement(BernoulliModel)
def bernoulli_means(model, means, stream):
    for arm in range(means.shape[0]):
        means[arm], stream = beta(model.alpha[arm], model.beta[arm], stream)
    return stream


@draw_reward.implement(BernoulliModel)
def bernoulli_reward(model, arm, mean, stream):
    u, stream = uniform(stream)
    return (1.0 if u < mean else 0.0), stream


@prior_pulls.implement(BernoulliModel)
def bernoulli_prior_pulls(model, arm):
    return model.pseudo_count[arm]


@prior_total.implement(BernoulliModel)
def bernoulli_prior_total(model, arm):
    return model.alpha[arm]


@variance_proxy.implement(BernoulliModel)
def bernoulli_variance_proxy(model, arm, count):
    """The Beta posterior's sub-Gaussian variance proxy (Marchal and Arbel 2017)."""
    return 0.25 / (model.pseudo_count[arm] + count + 1.0)


@posterior_draw.implement(BernoulliModel)
def bernoulli_draw(model, known, arm, stream):
    wins = known.totals[arm]
    return beta(model.alpha[arm] + wins, model.beta[arm] + known.counts[arm] - wins, stream)


@posterior_quantile.implement(BernoulliModel)
def bernoulli_quantile(model, known, arm, tail):
    wins = known.totals[arm]
    return betainccinv(model.alpha[arm] + wins, model.beta[arm] + known.counts[arm] - wins, tail)


@divergence_limit.implement(BernoulliModel)
def bernoulli_divergence_limit(model, arm, mean, divergence):
    """The largest q with mean log(mean / q) + (1 - mean) log((1 - mean) / (1 - q)) <= divergence, by Newton's method.

    In y = -log(1 - q) the divergence is convex, and Newton's method from above a root of a convex function never
    passes it.
    """
    if mean >= 1.0:
        return 1.0
    rest = 1.0 - mean
    if mean <= 0.0:
        return -math.expm1(-divergence)
    start = rest * math.log(rest) + mean * math.log(mean)
    y = (divergence - start) / rest  # where the divergence without the part of log q, which is positive, is reached
    for _ in range(MOST_STEPS):
        q = -math.expm1(-y)
        off = start - mean * math.log(q) + rest * y - divergence
        step = off / (rest - mean * (1.0 - q) / q)
        y -= step
        if abs(step) <= LAST_STEP * y:
            break
    return -math.expm1(-y)
