"""K-armed Poisson bandit: rewards are counts, whose means have Gamma priors."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
)
from bayesregret.contracts.mixture import component, log_predictive, posterior_variance
from bayesregret.elementary import log, log1p
from bayesregret.models.bandit import Bandit, check_sums_of_positive
from bayesregret.models.bernoulli import BernoulliBandit
from bayesregret.numerics.log_gamma_ratio import log_gamma_ratio, log_gamma_ratios
from bayesregret.numerics.special import gammainccinv
from bayesregret.rng import gamma_of_any_shape, poisson

# Newton's method converges from above, quadratically near the root.
MOST_STEPS, LAST_STEP = 60, 1e-14


class PoissonModel(NamedTuple):
    shape: Array
    rate: Array


class PoissonBandit(Bandit):
    """K-armed bandit with Poisson rewards, whose means have independent Gamma priors.

    The prior pseudo-count is `rate`, with rewards that sum to `shape`. Rewards are not sub-Gaussian, so none of the
    paper's bounds holds.

    Parameters
    ----------
    shape, rate : array_like
        Shape and rate of each arm's Gamma prior; positive.

    Examples
    --------
    >>> PoissonBandit(shape=[2, 1], rate=[1, 0.5])
    PoissonBandit(shape=[2., 1.], rate=[1. , 0.5])
    """

    kind: ClassVar[str] = "poisson"
    arm_fields: ClassVar[tuple[str, ...]] = ("shape", "rate")

    def __init__(self, shape: ArrayLike, rate: ArrayLike) -> None:
        self.shape, self.rate = checks.positive_pair("shape", shape, "rate", rate)
        self.arms = len(self.shape)
        self.reward_proxy = math.inf
        self.model = PoissonModel(self.shape, self.rate)

    def check_reward(self, reward: float) -> float:
        may_be = "a whole number, at least 0"
        number = checks.real("reward", reward, may_be)
        if not 0.0 <= number <= checks.LARGEST or number != math.floor(number):
            raise checks.fail("reward", may_be, reward)
        return number

    def check_sums(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> None:
        super().check_sums(counts, totals, squares)
        check_sums_of_positive(counts, totals, squares)
        if (totals != np.floor(totals)).any():
            raise ValueError("totals must be whole numbers")

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> PoissonBandit:
        return PoissonBandit(self.shape + totals, self.rate + counts)

    def arm_log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> Array:
        # Without the factorials of rewards.
        shrink = self.shape * np.log1p(counts / self.rate) + totals * np.log(self.rate + counts)
        return log_gamma_ratios(self.shape, totals) - shrink

    def accepts_rewards_of(self, other: Bandit) -> bool:
        return isinstance(other, PoissonBandit | BernoulliBandit)


@draw_means.implement(PoissonModel)
def poisson_means(model, means, stream):
    for arm in range(means.shape[0]):
        value, stream = gamma_of_any_shape(model.shape[arm], stream)
        means[arm] = value / model.rate[arm]
    return stream


@draw_reward.implement(PoissonModel)
def poisson_reward(model, arm, mean, stream):
    return poisson(mean, stream)


@prior_pulls.implement(PoissonModel)
def poisson_prior_pulls(model, arm):
    return model.rate[arm]


@prior_total.implement(PoissonModel)
def poisson_prior_total(model, arm):
    return model.shape[arm]


@posterior_draw.implement(PoissonModel)
def poisson_draw(model, stats, arm, stream):
    value, stream = gamma_of_any_shape(model.shape[arm] + stats.totals[arm], stream)
    return value / (model.rate[arm] + stats.counts[arm]), stream


@posterior_quantile.implement(PoissonModel)
def poisson_quantile(model, stats, arm, tail):
    return gammainccinv(model.shape[arm] + stats.totals[arm], tail) / (model.rate[arm] + stats.counts[arm])


@divergence_limit.implement(PoissonModel)
def poisson_divergence_limit(model, arm, mean, divergence):
    """Largest q with q - mean - mean log(q / mean) <= divergence, by Newton's method.

    With q = mean (1 + s) and c = divergence / mean this is s - log(1 + s) <= c, whose left side is convex and at least
    s^2 / (2 (1 + s)): this bound gives a start above the root.
    """
    if mean <= 0.0:
        return divergence
    c = divergence / mean
    s = c + math.sqrt(c * (c + 2.0))
    for _ in range(MOST_STEPS):
        if s <= LAST_STEP:
            break
        step = (s - log1p(s) - c) * (1.0 + s) / s
        s -= step
        if abs(step) <= LAST_STEP * s:
            break
    return mean * (1.0 + s)


@component.implement(PoissonModel)
def poisson_component(stacked, number):
    return PoissonModel(stacked.shape[number], stacked.rate[number])


@log_predictive.implement(PoissonModel)
def poisson_log_predictive(model, stats, arm, reward):
    """Negative binomial, without the factorial of the reward."""
    shape, rate = model.shape[arm] + stats.totals[arm], model.rate[arm] + stats.counts[arm]
    return log_gamma_ratio(shape, reward) - shape * log1p(1.0 / rate) - reward * log(rate + 1.0)


@posterior_variance.implement(PoissonModel)
def poisson_posterior_variance(model, stats, arm):
    rate = model.rate[arm] + stats.counts[arm]
    return (model.shape[arm] + stats.totals[arm]) / (rate * rate)
