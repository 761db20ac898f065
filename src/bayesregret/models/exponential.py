"""K-armed exponential bandit: rewards are waiting times, whose rates have Gamma priors."""

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
from bayesregret.dispatch import jitable
from bayesregret.elementary import exp, expm1, log, log1p
from bayesregret.models.bandit import Bandit, check_sums_of_positive
from bayesregret.models.bernoulli import BernoulliBandit
from bayesregret.models.poisson import PoissonBandit
from bayesregret.numerics.log_gamma_ratio import log_gamma_ratios
from bayesregret.numerics.normal_tails import ndtri
from bayesregret.numerics.special import gammaincinv
from bayesregret.rng import exponential, gamma

# Newton's method converges from above, quadratically near the root.
MOST_STEPS, LAST_STEP = 60, 1e-14
# For larger shapes, four terms after the normal ones give all digits of a Gamma quantile, down to tails of 1e-20.
LARGE_SHAPE = 1e5


class ExponentialModel(NamedTuple):
    shape: Array
    rate: Array


class ExponentialBandit(Bandit):
    """K-armed bandit with exponential rewards, whose rates have independent Gamma priors.

    An arm's mean reward, one over its rate, is inverse-gamma with mean rate / (shape - 1): the prior pseudo-count is
    shape - 1, with rewards that sum to `rate`. Rewards are not sub-Gaussian, so none of the paper's bounds holds.

    Parameters
    ----------
    shape : array_like
        Shape of each arm's Gamma prior; above 1, so that the mean reward has a mean.
    rate : array_like
        Rate of each arm's Gamma prior; positive.

    Examples
    --------
    >>> ExponentialBandit(shape=[3, 2], rate=[2, 1])
    ExponentialBandit(shape=[3., 2.], rate=[2., 1.])
    """

    kind: ClassVar[str] = "exponential"
    arm_fields: ClassVar[tuple[str, ...]] = ("shape", "rate")

    def __init__(self, shape: ArrayLike, rate: ArrayLike) -> None:
        self.shape, self.rate = checks.positive_pair("shape", shape, "rate", rate)
        if self.shape.min() <= 1.0:
            raise ValueError(
                f"shape must be above 1 for each arm, or its mean reward has no mean, "
                f"got {checks.in_full(self.shape.min())}"
            )
        self.arms = len(self.shape)
        self.reward_proxy = math.inf
        self.model = ExponentialModel(self.shape, self.rate)

    def check_reward(self, reward: float) -> float:
        number = super().check_reward(reward)
        if number < 0.0:
            raise checks.fail("reward", "a number, at least 0", reward)
        return number

    def check_sums(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> None:
        super().check_sums(counts, totals, squares)
        check_sums_of_positive(counts, totals, squares)

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> ExponentialBandit:
        return ExponentialBandit(self.shape + counts, self.rate + totals)

    def arm_log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> Array:
        shrink = self.shape * np.log1p(totals / self.rate) + counts * np.log(self.rate + totals)
        return log_gamma_ratios(self.shape, counts) - shrink

    def accepts_rewards_of(self, other: Bandit) -> bool:
        return isinstance(other, ExponentialBandit | PoissonBandit | BernoulliBandit)


@draw_means.implement(ExponentialModel)
def exponential_means(model, means, stream):
    for arm in range(means.shape[0]):
        value, stream = gamma(model.shape[arm], stream)
        means[arm] = model.rate[arm] / value
    return stream


@draw_reward.implement(ExponentialModel)
def exponential_reward(model, arm, mean, stream):
    value, stream = exponential(stream)
    return mean * value, stream


@prior_pulls.implement(ExponentialModel)
def exponential_prior_pulls(model, arm):
    return model.shape[arm] - 1.0


@prior_total.implement(ExponentialModel)
def exponential_prior_total(model, arm):
    return model.rate[arm]


@posterior_draw.implement(ExponentialModel)
def exponential_draw(model, stats, arm, stream):
    value, stream = gamma(model.shape[arm] + stats.counts[arm], stream)
    return (model.rate[arm] + stats.totals[arm]) / value, stream


@posterior_quantile.implement(ExponentialModel)
def exponential_quantile(model, stats, arm, tail):
    """An upper quantile of the mean is one over a lower quantile of the rate."""
    return (model.rate[arm] + stats.totals[arm]) / low_gamma_quantile(model.shape[arm] + stats.counts[arm], tail)


@jitable
def low_gamma_quantile(shape, tail):
    """Value that a Gamma(shape, 1) variable is below with probability `tail`.

    For large shapes by the expansion of Cornish and Fisher (1937): there SciPy's function has only six digits in the
    tails.
    """
    if shape < LARGE_SHAPE:
        return gammaincinv(shape, tail)
    z, root = ndtri(tail), math.sqrt(shape)
    square = z * z
    terms = z * (square - 7.0) / 36.0
    terms -= ((3.0 * square + 7.0) * square - 16.0) / (810.0 * root)
    terms += z * ((9.0 * square + 256.0) * square - 433.0) / (38880.0 * shape)
    return shape + z * root + (square - 1.0) / 3.0 + terms / root


@divergence_limit.implement(ExponentialModel)
def exponential_divergence_limit(model, arm, mean, divergence):
    """Largest q with log(q / mean) + mean / q - 1 <= divergence, by Newton's method.

    In w = log(q / mean) the left side is w + exp(-w) - 1, which is convex and at least w^2 / (2 + w): this bound gives
    a start above the root.
    """
    w = 0.5 * (divergence + math.sqrt(divergence * (divergence + 8.0)))
    for _ in range(MOST_STEPS):
        if w <= LAST_STEP:
            break
        step = (w + expm1(-w) - divergence) / -expm1(-w)
        w -= step
        if abs(step) <= LAST_STEP * w:
            break
    return mean * exp(w)


@component.implement(ExponentialModel)
def exponential_component(stacked, number):
    return ExponentialModel(stacked.shape[number], stacked.rate[number])


@log_predictive.implement(ExponentialModel)
def exponential_log_predictive(model, stats, arm, reward):
    """Lomax: shape / rate (1 + reward / rate)^-(shape + 1)."""
    shape, rate = model.shape[arm] + stats.counts[arm], model.rate[arm] + stats.totals[arm]
    return log(shape / rate) - (shape + 1.0) * log1p(reward / rate)


@posterior_variance.implement(ExponentialModel)
def exponential_posterior_variance(model, stats, arm):
    """Of an inverse-gamma distribution, infinite for shapes up to 2."""
    shape = model.shape[arm] + stats.counts[arm]
    mean = (model.rate[arm] + stats.totals[arm]) / (shape - 1.0)
    return mean * mean / (shape - 2.0) if shape > 2.0 else math.inf
