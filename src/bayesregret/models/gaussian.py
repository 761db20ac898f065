"""K-armed Gaussian bandit, Section 3.1 of the paper."""

from __future__ import annotations

import math
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
    variance_proxy,
)
from bayesregret.contracts.fast import normal_deviation, reward_deviation
from bayesregret.contracts.mixture import component, log_predictive, posterior_variance
from bayesregret.elementary import log
from bayesregret.models.bandit import Bandit
from bayesregret.models.gaussian_heteroscedastic import HeteroscedasticModel, HeteroscedasticRademacherModel
from bayesregret.models.no_prior import NoPriorArmsModel
from bayesregret.numerics.normal_tails import ndtri
from bayesregret.rng import normal, sign

NOISE_KINDS = ("gaussian", "rademacher")


class GaussianModel(NamedTuple):
    prior_mean: Array
    prior_width: float
    reward_noise: float
    pseudo_count: float  # prior pseudo-count, reward_noise^2 / prior_width^2


class RademacherModel(NamedTuple):
    """Gaussian beliefs about rewards whose noise is plus or minus `reward_noise`."""

    prior_mean: Array
    prior_width: float
    reward_noise: float
    pseudo_count: float


class GaussianBandit(Bandit):
    """K-armed bandit with independent Gaussian priors and Gaussian rewards of known noise.

    Parameters
    ----------
    prior_mean : array_like
        Prior mean of each arm's mean reward.
    prior_width : float or array_like
        Prior standard deviation of the mean rewards: one for all arms, or one for each arm.
    reward_noise : float or array_like
        Standard deviation of rewards around their mean: one for all arms, or one for each arm. A list of equal numbers
        is the same as that number, here and in `prior_width`.
    noise_kind : str
        "gaussian", or "rademacher": plus or minus `reward_noise`, with probability one half each, while beliefs stay
        Gaussian (the paper's appendix that compares BayesUCB and UCB1).

    Examples
    --------
    >>> GaussianBandit(prior_mean=[1.0, 0.0], prior_width=1.0, reward_noise=2.0)
    GaussianBandit(prior_mean=[1., 0.], prior_width=1.0, reward_noise=2.0, noise_kind='gaussian')
    >>> GaussianBandit(prior_mean=[1.0, 0.0], prior_width=[1.0, 3.0], reward_noise=2.0).arms_differ
    True
    """

    kind: ClassVar[str] = "gaussian"
    arm_fields: ClassVar[tuple[str, ...]] = ("prior_mean", "prior_width", "reward_noise")
    prior_width: Any  # a float, or (arms,) where arms differ
    reward_noise: Any

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_width: float | ArrayLike,
        reward_noise: float | ArrayLike,
        noise_kind: str = "gaussian",
    ) -> None:
        self.prior_mean = checks.vector("prior_mean", prior_mean)
        self.arms = len(self.prior_mean)
        self.prior_width = _number_or_vector("prior_width", prior_width, self.arms)
        self.reward_noise = _number_or_vector("reward_noise", reward_noise, self.arms)
        self.noise_kind = checks.one_of("noise_kind", noise_kind, NOISE_KINDS)
        largest_noise = float(np.max(self.reward_noise))
        self.reward_proxy = largest_noise * largest_noise
        self.model = self._make_model()

    @property
    def arms_differ(self) -> bool:
        """Whether prior widths or reward noises differ from arm to arm."""
        return isinstance(self.prior_width, np.ndarray) or isinstance(self.reward_noise, np.ndarray)

    @property
    def prior_widths(self) -> Array:
        """(arms,): prior width of each arm."""
        return np.full(self.arms, self.prior_width)

    @property
    def reward_noises(self) -> Array:
        """(arms,): reward noise of each arm."""
        return np.full(self.arms, self.reward_noise)

    def no_prior_model(self) -> Any:
        if isinstance(self.reward_noise, np.ndarray):
            return NoPriorArmsModel(self.reward_noise * self.reward_noise)
        return super().no_prior_model()

    def _make_model(self) -> Any:
        if self.arms_differ:
            return self.heteroscedastic_model()
        shared = GaussianModel if self.noise_kind == "gaussian" else RademacherModel
        ratio = self.reward_noise / self.prior_width
        pseudo_count = ratio * ratio
        return shared(self.prior_mean, self.prior_width, self.reward_noise, pseudo_count)

    def for_costs(self) -> GaussianBandit:
        return GaussianBandit(-self.prior_mean, self.prior_width, self.reward_noise, self.noise_kind)

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> GaussianBandit:
        if self.noise_kind != "gaussian":
            raise ValueError(
                f"noise_kind must be gaussian for a posterior that is a bandit, got {self.noise_kind}, with which the "
                "posterior is not normal"
            )
        pulls = np.full(self.arms, self.model.pseudo_count)
        widths = np.where(counts > 0, self.reward_noises / np.sqrt(pulls + counts), self.prior_widths)
        moved = np.where(counts > 0, (pulls * self.prior_mean + totals) / (pulls + counts), self.prior_mean)
        mean = np.clip(moved, -checks.LARGEST, checks.LARGEST)  # rounding alone carries it further
        return GaussianBandit(mean, widths, self.reward_noise)

    def arm_log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> Array:
        noise = self.reward_noises**2
        spread = self.prior_widths**2 * counts / noise
        off = totals / np.maximum(counts, 1) - self.prior_mean
        misfit = (squares + counts * off * off / (1.0 + spread)) / noise
        return np.asarray(-0.5 * (np.log1p(spread) + counts * np.log(noise) + misfit))

    def heteroscedastic_model(self) -> HeteroscedasticModel | HeteroscedasticRademacherModel:
        """Return the model with a width and a noise for each arm, whether or not they differ."""
        differing = HeteroscedasticModel if self.noise_kind == "gaussian" else HeteroscedasticRademacherModel
        ratio = self.reward_noise / self.prior_width
        pseudo_count = np.full(self.arms, ratio * ratio)
        return differing(self.prior_mean, self.prior_widths, self.reward_noises, pseudo_count)


def _number_or_vector(field: str, value: Any, arms: int) -> float | Array:
    """Return a positive number, or one for each arm if they differ."""
    if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) == 0:
        return checks.positive(field, value)
    made = checks.positive_vector(field, value)
    if len(made) != arms:
        raise ValueError(f"{field} must be a number, or a list with one for each of the {arms} arms, got {len(made)}")
    return float(made[0]) if (made == made[0]).all() else made


@draw_means.implement(GaussianModel)
@draw_means.implement(RademacherModel)
def gaussian_means(model, means, stream):
    for arm in range(means.shape[0]):
        z, stream = normal(stream)
        means[arm] = model.prior_mean[arm] + model.prior_width * z
    return stream


@draw_reward.implement(GaussianModel)
def gaussian_reward(model, arm, mean, stream):
    z, stream = normal(stream)
    return mean + model.reward_noise * z, stream


@draw_reward.implement(RademacherModel)
def rademacher_reward(model, arm, mean, stream):
    side, stream = sign(stream)
    return mean + model.reward_noise * side, stream


@prior_pulls.implement(GaussianModel)
@prior_pulls.implement(RademacherModel)
def gaussian_prior_pulls(model, arm):
    return model.pseudo_count


@prior_total.implement(GaussianModel)
@prior_total.implement(RademacherModel)
def gaussian_prior_total(model, arm):
    return model.pseudo_count * model.prior_mean[arm]


@variance_proxy.implement(GaussianModel)
@variance_proxy.implement(RademacherModel)
def gaussian_variance(model, arm, count):
    """Posterior variance, (1/prior_width^2 + count/reward_noise^2)^-1."""
    return model.reward_noise * model.reward_noise / (model.pseudo_count + count)


@normal_deviation.implement(GaussianModel)
@normal_deviation.implement(RademacherModel)
@normal_deviation.implement(HeteroscedasticModel)
@normal_deviation.implement(HeteroscedasticRademacherModel)
def gaussian_deviation(model, arm, count):
    return math.sqrt(variance_proxy(model, arm, count))


@posterior_draw.implement(GaussianModel)
@posterior_draw.implement(RademacherModel)
@posterior_draw.implement(HeteroscedasticModel)
@posterior_draw.implement(HeteroscedasticRademacherModel)
def gaussian_draw(model, stats, arm, stream):
    z, stream = normal(stream)
    return current_mean(model, stats, arm) + normal_deviation(model, arm, stats.counts[arm]) * z, stream


@posterior_quantile.implement(GaussianModel)
@posterior_quantile.implement(RademacherModel)
@posterior_quantile.implement(HeteroscedasticModel)
@posterior_quantile.implement(HeteroscedasticRademacherModel)
def gaussian_quantile(model, stats, arm, tail):
    """Keep the normal quantile: it is the same for every arm, and ten times as expensive as the rest."""
    if stats.score[0] != tail:
        stats.score[0], stats.score[1] = tail, ndtri(tail)
    return current_mean(model, stats, arm) - normal_deviation(model, arm, stats.counts[arm]) * stats.score[1]


@reward_deviation.implement(GaussianModel)
@reward_deviation.implement(RademacherModel)
def gaussian_reward_deviation(model, arm):
    return model.reward_noise


@component.implement(GaussianModel)
def gaussian_component(stacked, number):
    return GaussianModel(
        stacked.prior_mean[number],
        stacked.prior_width[number],
        stacked.reward_noise[number],
        stacked.pseudo_count[number],
    )


@log_predictive.implement(GaussianModel)
@log_predictive.implement(HeteroscedasticModel)
def gaussian_log_predictive(model, stats, arm, reward):
    """Normal around the posterior mean; its variance is that of the mean plus that of the noise."""
    noise = reward_deviation(model, arm)
    variance = variance_proxy(model, arm, stats.counts[arm]) + noise * noise
    off = reward - current_mean(model, stats, arm)
    return -0.5 * (log(variance) + off * off / variance)


@posterior_variance.implement(GaussianModel)
@posterior_variance.implement(HeteroscedasticModel)
def gaussian_posterior_variance(model, stats, arm):
    return variance_proxy(model, arm, stats.counts[arm])
