"""K-armed Bernoulli bandit with Beta priors, Section 3.2 of the paper."""

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
    variance_proxy,
)
from bayesregret.contracts.fast import divergence, limit_rise, never_lowers, pseudo_counts, quantile_rise
from bayesregret.contracts.mixture import component, log_predictive, posterior_variance
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import exp, log, log1p
from bayesregret.models.bandit import SUM_SLACK, Bandit
from bayesregret.numerics.bernoulli_kl import highest_mean_within
from bayesregret.numerics.beta_tails import beta_quantile_rise
from bayesregret.numerics.log_gamma_ratio import log_beta, log_gamma_ratios
from bayesregret.numerics.special import betainccinv
from bayesregret.rng import beta, uniform


class BernoulliModel(NamedTuple):
    alpha: Array
    beta: Array
    pseudo_count: Array  # of the prior, alpha + beta


class BernoulliBandit(Bandit):
    """K-armed bandit with independent Beta priors and rewards 0 or 1.

    Parameters
    ----------
    alpha, beta : array_like
        Positive pseudo-counts of successes and failures of each arm.

    Examples
    --------
    >>> BernoulliBandit(alpha=[1, 1], beta=[1, 3])
    BernoulliBandit(alpha=[1., 1.], beta=[1., 3.])
    """

    kind: ClassVar[str] = "bernoulli"
    arm_fields: ClassVar[tuple[str, ...]] = ("alpha", "beta")

    def __init__(self, alpha: ArrayLike, beta: ArrayLike) -> None:
        self.alpha, self.beta = checks.positive_pair("alpha", alpha, "beta", beta)
        self.arms = len(self.alpha)
        self.reward_proxy = 0.25
        self.model = BernoulliModel(self.alpha, self.beta, self.alpha + self.beta)

    def check_reward(self, reward: float) -> float:
        number = checks.real("reward", float(reward) if isinstance(reward, bool | np.bool_) else reward, "0 or 1")
        if number not in (0.0, 1.0):
            raise checks.fail("reward", "0 or 1", reward)
        return number

    def check_sums(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> None:
        if ((totals < 0.0) | (totals > counts) | (totals != np.floor(totals))).any():
            raise ValueError("totals must be whole numbers of successes, from 0 to the arm's count")
        spread = totals * (1.0 - totals / np.maximum(counts, 1))
        if squares is not None and (np.abs(squares - spread) > (SUM_SLACK - 1.0) * spread).any():
            raise ValueError("squares must follow from counts and successes: successes times failures over the count")

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> BernoulliBandit:
        return BernoulliBandit(self.alpha + totals, self.beta + (counts - totals))

    def arm_log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> Array:
        won, lost = log_gamma_ratios(self.alpha, totals), log_gamma_ratios(self.beta, counts - totals)
        every = log_gamma_ratios(self.alpha + self.beta, counts)
        return won + lost - every

    def accepts_rewards_of(self, other: Bandit) -> bool:
        return isinstance(other, BernoulliBandit)

    def for_costs(self) -> BernoulliBandit:
        return BernoulliBandit(self.beta, self.alpha)


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
    """Sub-Gaussian variance proxy of the Beta posterior (Marchal and Arbel 2017)."""
    return 0.25 / (model.pseudo_count[arm] + count + 1.0)


@posterior_draw.implement(BernoulliModel)
def bernoulli_draw(model, stats, arm, stream):
    a, b = pseudo_counts(model, stats, arm)
    return beta(a, b, stream)


@pseudo_counts.implement(BernoulliModel)
def bernoulli_pseudo_counts(model, stats, arm):
    wins = stats.totals[arm]
    return model.alpha[arm] + wins, model.beta[arm] + stats.counts[arm] - wins


@posterior_quantile.implement(BernoulliModel)
def bernoulli_quantile(model, stats, arm, tail):
    a, b = pseudo_counts(model, stats, arm)
    quantile = betainccinv(a, b, tail)
    return quantile if quantile >= 0.0 else quantile_near_1(a, b, tail)


@rarely_called
def quantile_near_1(a, b, tail):
    """Quantile where SciPy returns nan: for tails below 1e-16 and small pseudo-counts.

    There the tail equals its first term, (1 - x)^b / (b B(a, b)), to all digits of a float. A pseudo-count may also
    have been rounded to 0.
    """
    if a <= 0.0 or b <= 0.0:
        return 1.0 if b <= 0.0 else 0.0
    return 1.0 - exp((log(tail * b) + log_beta(a, b)) / b)


@quantile_rise.implement(BernoulliModel)
def bernoulli_quantile_rise(model, stats, arm, tail, quantile):
    a, b = pseudo_counts(model, stats, arm)
    return beta_quantile_rise(a, b, tail, quantile)


@never_lowers.implement(BernoulliModel)
def bernoulli_never_lowers(model, pulls, gain):
    """Whether all were successes: quantiles and divergence limits grow with the first pseudo-count."""
    return gain == pulls


@divergence_limit.implement(BernoulliModel)
def bernoulli_divergence_limit(model, arm, mean, divergence):
    return highest_mean_within(divergence, mean)


@divergence.implement(BernoulliModel)
def bernoulli_divergence(model, arm, mean, other):
    if mean <= 0.0 or mean >= 1.0:
        return -log(other) if mean >= 1.0 else -log1p(-other)
    return mean * log(mean / other) + (1.0 - mean) * log((1.0 - mean) / (1.0 - other))


@limit_rise.implement(BernoulliModel)
def bernoulli_limit_rise(model, arm, mean, limit):
    """One over the slope of the divergence, which grows with the limit."""
    return limit * (1.0 - limit) / (limit - mean) if mean < limit < 1.0 else (0.0 if limit >= 1.0 else math.inf)


@component.implement(BernoulliModel)
def bernoulli_component(stacked, number):
    return BernoulliModel(stacked.alpha[number], stacked.beta[number], stacked.pseudo_count[number])


@log_predictive.implement(BernoulliModel)
def bernoulli_log_predictive(model, stats, arm, reward):
    a, b = exact_pseudo_counts(model, stats, arm)
    return log((a if reward == 1.0 else b) / (a + b))


@posterior_variance.implement(BernoulliModel)
def bernoulli_posterior_variance(model, stats, arm):
    a, b = exact_pseudo_counts(model, stats, arm)
    return (a / (a + b)) * (b / (a + b)) / (a + b + 1.0)


@jitable
def exact_pseudo_counts(model, stats, arm):
    """Pseudo-counts that are never rounded to 0, where a logarithm would be infinite: failures are counted first."""
    wins = stats.totals[arm]
    return model.alpha[arm] + wins, model.beta[arm] + (stats.counts[arm] - wins)
