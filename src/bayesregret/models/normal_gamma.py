"""K-armed Gaussian bandit with unknown noise: normal-inverse-gamma priors, Student posteriors."""

from __future__ import annotations

import math
import numbers
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import (
    current_mean,
    draw_means,
    draw_reward,
    posterior_draw,
    posterior_quantile,
    prior_pulls,
    prior_total,
)
from bayesregret.contracts.mixture import component, log_predictive, posterior_variance
from bayesregret.dispatch import jitable
from bayesregret.elementary import log, log1p
from bayesregret.models.bandit import Bandit, Instance
from bayesregret.numerics.log_gamma_ratio import log_gamma_ratio, log_gamma_ratios
from bayesregret.numerics.special import stdtrit
from bayesregret.rng import INSTANCE, gamma_of_any_shape, normal, open_stream, run_word, seed_key


class NormalGammaModel(NamedTuple):
    prior_mean: Array
    prior_pulls: Array
    shape: Array
    scale: Array
    variances: Array  # (arms,): of rewards in the instance drawn last; unused in a belief


class NormalGammaBandit(Bandit):
    """K-armed bandit with Gaussian rewards of unknown mean and variance, independent for each arm.

    The variance of an arm's rewards is inverse-gamma: `scale` over a Gamma(shape, 1) variable. Given the variance, the
    mean reward is normal around `prior_mean`, with the variance divided by `prior_pulls`. Marginally the mean reward
    has Student's distribution with 2 shape degrees of freedom. Its tails are heavy, so none of the paper's bounds
    holds.

    Parameters
    ----------
    prior_mean : array_like
        Prior mean of each arm's mean reward.
    prior_pulls : float or array_like
        Prior pseudo-count, for all arms or for each one; positive.
    shape : float or array_like
        Shape of the inverse-gamma prior, for all arms or for each one; above 1/2, so that the mean reward has a mean.
    scale : float or array_like
        Scale of the inverse-gamma prior, for all arms or for each one; positive.

    Examples
    --------
    >>> NormalGammaBandit(prior_mean=[1, 0], prior_pulls=1, shape=2, scale=[1, 3])
    NormalGammaBandit(prior_mean=[1., 0.], prior_pulls=[1., 1.], shape=[2., 2.], scale=[1., 3.])
    """

    kind: ClassVar[str] = "normal-gamma"
    arm_fields: ClassVar[tuple[str, ...]] = ("prior_mean", "prior_pulls", "shape", "scale")

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_pulls: float | ArrayLike,
        shape: float | ArrayLike,
        scale: float | ArrayLike,
    ) -> None:
        self.prior_mean = checks.vector("prior_mean", prior_mean)
        self.arms = len(self.prior_mean)
        self.prior_pulls = _number_per_arm("prior_pulls", prior_pulls, self.arms)
        self.shape = _number_per_arm("shape", shape, self.arms)
        self.scale = _number_per_arm("scale", scale, self.arms)
        if self.shape.min() <= 0.5:
            raise ValueError(
                f"shape must be above 0.5 for each arm, or its mean reward has no mean, "
                f"got {checks.in_full(self.shape.min())}"
            )
        self.reward_proxy = math.inf  # unconditionally: the variance is unbounded
        self.model = self.world()

    def world(self) -> NormalGammaModel:
        return NormalGammaModel(self.prior_mean, self.prior_pulls, self.shape, self.scale, np.zeros(self.arms))

    def for_costs(self) -> NormalGammaBandit:
        return NormalGammaBandit(-self.prior_mean, self.prior_pulls, self.shape, self.scale)

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> NormalGammaBandit:
        if squares is None:
            raise ValueError("squares must be given for a normal-gamma posterior, as it depends on squared deviations")
        pulls = self.prior_pulls + counts
        mean = (self.prior_pulls * self.prior_mean + totals) / pulls
        return NormalGammaBandit(mean, pulls, self.shape + 0.5 * counts, self._posterior_scale(counts, totals, squares))

    def _posterior_scale(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> Array:
        off = totals / np.maximum(counts, 1) - self.prior_mean
        shrink = self.prior_pulls * counts / (self.prior_pulls + counts)
        return self.scale + 0.5 * (squares + shrink * off * off)

    def arm_log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> Array:
        gain = (self._posterior_scale(counts, totals, squares) - self.scale) / self.scale
        half = 0.5 * counts
        shrink = half * np.log(self.scale) + (self.shape + half) * np.log1p(gain)
        return np.asarray(log_gamma_ratios(self.shape, half) - shrink - 0.5 * np.log1p(counts / self.prior_pulls))

    def draw_instance(self, *, seed: int, run: int = 0) -> Instance:
        """Return the instance of one run of `simulate`; `parameter` is (arms, 2), means and variances of rewards.

        Parameters
        ----------
        seed : int
            Seed of the simulation.
        run : int
            Number of the run, from 0.
        """
        world, means = self.world(), np.empty(self.arms)
        key = seed_key(checks.whole("seed", seed, 0))
        with np.errstate(over="ignore"):
            draw_means(world, means, open_stream(key, run_word(key, checks.whole("run", run, 0)), INSTANCE))
        return Instance(means, np.column_stack([means, world.variances]))


def _number_per_arm(field: str, value: Any, arms: int) -> Array:
    """Return a positive number for each arm, from a list or from one number for all."""
    may_be = "a positive number, or a list of them, one for each arm"
    made = checks.array(field, [value] * arms if isinstance(value, numbers.Real) else value, 1, may_be)
    if len(made) != arms:
        raise ValueError(f"{field} must be {may_be}, got {len(made)} for {arms} arms")
    if made.min() < checks.SMALLEST:
        raise ValueError(f"{field} must be {may_be}, got {checks.in_full(made.min())}")
    return made


@draw_means.implement(NormalGammaModel)
def normal_gamma_means(model, means, stream):
    for arm in range(means.shape[0]):
        precision, stream = gamma_of_any_shape(model.shape[arm], stream)
        z, stream = normal(stream)
        variance = model.scale[arm] / precision
        model.variances[arm] = variance
        means[arm] = model.prior_mean[arm] + math.sqrt(variance / model.prior_pulls[arm]) * z
    return stream


@draw_reward.implement(NormalGammaModel)
def normal_gamma_reward(model, arm, mean, stream):
    z, stream = normal(stream)
    return mean + math.sqrt(model.variances[arm]) * z, stream


@prior_pulls.implement(NormalGammaModel)
def normal_gamma_prior_pulls(model, arm):
    return model.prior_pulls[arm]


@prior_total.implement(NormalGammaModel)
def normal_gamma_prior_total(model, arm):
    return model.prior_pulls[arm] * model.prior_mean[arm]


@jitable
def posterior_shape(model, stats, arm):
    return model.shape[arm] + 0.5 * stats.counts[arm]


@jitable
def posterior_scale(model, stats, arm):
    """Prior scale plus half the squared deviations of rewards from their mean, and of it from the prior mean."""
    count = stats.counts[arm]
    if count == 0:
        return model.scale[arm]
    off = stats.totals[arm] / count - model.prior_mean[arm]
    shrink = model.prior_pulls[arm] * count / (model.prior_pulls[arm] + count)
    return model.scale[arm] + 0.5 * (stats.squares[arm] + shrink * off * off)


@posterior_draw.implement(NormalGammaModel)
def normal_gamma_draw(model, stats, arm, stream):
    """Draw the variance of rewards, then their mean given the variance."""
    precision, stream = gamma_of_any_shape(posterior_shape(model, stats, arm), stream)
    z, stream = normal(stream)
    variance = posterior_scale(model, stats, arm) / (precision * (model.prior_pulls[arm] + stats.counts[arm]))
    return current_mean(model, stats, arm) + math.sqrt(variance) * z, stream


@posterior_quantile.implement(NormalGammaModel)
def normal_gamma_quantile(model, stats, arm, tail):
    """Student's distribution with 2 shape degrees of freedom."""
    shape = posterior_shape(model, stats, arm)
    pulls = model.prior_pulls[arm] + stats.counts[arm]
    spread = math.sqrt(posterior_scale(model, stats, arm) / (shape * pulls))
    return current_mean(model, stats, arm) - spread * stdtrit(2.0 * shape, tail)


@component.implement(NormalGammaModel)
def normal_gamma_component(stacked, number):
    return NormalGammaModel(
        stacked.prior_mean[number],
        stacked.prior_pulls[number],
        stacked.shape[number],
        stacked.scale[number],
        stacked.variances[number],
    )


@log_predictive.implement(NormalGammaModel)
def normal_gamma_log_predictive(model, stats, arm, reward):
    """Student's distribution with 2 shape degrees of freedom."""
    shape, scale = posterior_shape(model, stats, arm), posterior_scale(model, stats, arm)
    pulls = model.prior_pulls[arm] + stats.counts[arm]
    spread = 2.0 * scale * (1.0 + 1.0 / pulls)
    off = reward - current_mean(model, stats, arm)
    log_height = log_gamma_ratio(shape, 0.5) - 0.5 * log(spread)
    return log_height - (shape + 0.5) * log1p(off * off / spread)


@posterior_variance.implement(NormalGammaModel)
def normal_gamma_posterior_variance(model, stats, arm):
    """Of Student's distribution, infinite for shapes up to 1."""
    shape = posterior_shape(model, stats, arm)
    pulls = model.prior_pulls[arm] + stats.counts[arm]
    return posterior_scale(model, stats, arm) / ((shape - 1.0) * pulls) if shape > 1.0 else math.inf
