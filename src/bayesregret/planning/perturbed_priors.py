"""A bandit with another prior: shifted means, stretched widths, fewer or more arms."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.models import (
    Bandit,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
)

FURTHEST_SHIFT = 4.0  # prior widths: a mean that is further off is another problem
NEARLY_ALL = 0.98  # fraction of the distance to where a prior stops being one of its kind
LARGEST_STRETCH = 16.0


class PerturbationRange(NamedTuple):
    """How far a prior can be changed either way and still be one of its kind."""

    down: float
    up: float


def _cannot_change(bandit: Bandit) -> ValueError:
    return ValueError(f"bandit must be of a kind whose prior can be changed, got one that is {bandit.kind}")


# --- the means ------------------------------------------------------------------------------------------------------


@functools.singledispatch
def shifted(bandit: Bandit, by: float | Array) -> Bandit:
    """Add an amount to every arm's prior mean, the same or one for each; the prior pseudo-count does not change."""
    raise _cannot_change(bandit)


@shifted.register
def _(bandit: GaussianBandit, by: float | Array) -> Bandit:
    return GaussianBandit(bandit.prior_mean + by, bandit.prior_width, bandit.reward_noise, bandit.noise_kind)


@shifted.register
def _(bandit: NormalGammaBandit, by: float | Array) -> Bandit:
    return NormalGammaBandit(bandit.prior_mean + by, bandit.prior_pulls, bandit.shape, bandit.scale)


@shifted.register
def _(bandit: BernoulliBandit, by: float | Array) -> Bandit:
    pulls = bandit.alpha + bandit.beta
    return BernoulliBandit(bandit.alpha + by * pulls, bandit.beta - by * pulls)


@shifted.register
def _(bandit: PoissonBandit, by: float | Array) -> Bandit:
    return PoissonBandit(bandit.shape + by * bandit.rate, bandit.rate)


@shifted.register
def _(bandit: ExponentialBandit, by: float | Array) -> Bandit:
    return ExponentialBandit(bandit.shape, bandit.rate + by * (bandit.shape - 1.0))


def can_shift(bandit: Bandit) -> bool:
    return shifted.dispatch(type(bandit)) is not shifted.dispatch(Bandit)


def shift_range(bandit: Bandit) -> PerturbationRange:
    """Largest shifts, in units of reward: FURTHEST_SHIFT prior widths, or nearly to the end of possible means."""
    means, widths = prior_moments(bandit)
    far = FURTHEST_SHIFT * float(np.max(widths[np.isfinite(widths)], initial=0.0))
    far = far or FURTHEST_SHIFT * float(np.max(np.abs(means)))
    down = up = far
    if not isinstance(bandit, GaussianBandit | NormalGammaBandit):  # mean rewards are positive
        down = min(down, NEARLY_ALL * float(means.min()))
    if isinstance(bandit, BernoulliBandit):
        up = min(up, NEARLY_ALL * (1.0 - float(means.max())))
    return PerturbationRange(down, up)


def prior_moments(bandit: Any) -> tuple[Array, Array]:
    """(arms,) each: mean and standard deviation of every arm's mean reward under the prior."""
    if isinstance(bandit, GaussianBandit):
        return bandit.prior_mean, bandit.prior_widths
    if isinstance(bandit, BernoulliBandit):
        pulls = bandit.alpha + bandit.beta
        mean = bandit.alpha / pulls
        return mean, np.sqrt(mean * (1.0 - mean) / (pulls + 1.0))
    if isinstance(bandit, PoissonBandit):
        return bandit.shape / bandit.rate, np.sqrt(bandit.shape) / bandit.rate
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(bandit, ExponentialBandit):
            mean = bandit.rate / (bandit.shape - 1.0)
            return mean, np.where(bandit.shape > 2.0, mean / np.sqrt(np.maximum(0.0, bandit.shape - 2.0)), np.inf)
        variance = bandit.scale / (bandit.prior_pulls * (bandit.shape - 1.0))
        return bandit.prior_mean, np.where(bandit.shape > 1.0, np.sqrt(np.abs(variance)), np.inf)


# --- the widths -----------------------------------------------------------------------------------------------------


@functools.singledispatch
def stretched(bandit: Bandit, factor: float) -> Bandit:
    """Multiply every prior standard deviation by the factor; the means do not change."""
    raise _cannot_change(bandit)


@stretched.register
def _(bandit: GaussianBandit, factor: float) -> Bandit:
    return GaussianBandit(bandit.prior_mean, factor * bandit.prior_width, bandit.reward_noise, bandit.noise_kind)


@stretched.register
def _(bandit: LinearBandit, factor: float) -> Bandit:
    cov = None if bandit.prior_cov is None else factor**2 * bandit.prior_cov
    width = None if bandit.prior_width is None else factor * bandit.prior_width
    return LinearBandit(bandit.features, bandit.prior_mean, cov, width, reward_noise=bandit.reward_noise)


@stretched.register
def _(bandit: BernoulliBandit, factor: float) -> Bandit:
    """The variance is m (1 - m) / (pulls + 1), with pulls = alpha + beta."""
    pulls = bandit.alpha + bandit.beta
    change = ((pulls + 1.0) / factor**2 - 1.0) / pulls
    return BernoulliBandit(bandit.alpha * change, bandit.beta * change)


@stretched.register
def _(bandit: PoissonBandit, factor: float) -> Bandit:
    return PoissonBandit(bandit.shape / factor**2, bandit.rate / factor**2)


@stretched.register
def _(bandit: NormalGammaBandit, factor: float) -> Bandit:
    return NormalGammaBandit(bandit.prior_mean, bandit.prior_pulls / factor**2, bandit.shape, bandit.scale)


def can_stretch(bandit: Bandit) -> bool:
    return stretched.dispatch(type(bandit)) is not stretched.dispatch(Bandit)


def stretch_range(bandit: Bandit) -> PerturbationRange:
    """Smallest and largest factor: no Beta prior is wider than one with all its mass at 0 and 1."""
    up = LARGEST_STRETCH
    if isinstance(bandit, BernoulliBandit):
        up = min(up, 1.0 + NEARLY_ALL * (math.sqrt(float(np.min(bandit.alpha + bandit.beta)) + 1.0) - 1.0))
    return PerturbationRange(1.0 / LARGEST_STRETCH, up)


# --- the arms -------------------------------------------------------------------------------------------------------


def with_arms(bandit: Bandit, arms: int) -> Bandit:
    """The bandit's first arms; beyond the last, arms with the last one's prior."""
    if isinstance(bandit, LinearBandit):
        raise ValueError("bandit must have independent arms to change their number, got a linear one")
    if isinstance(bandit, MixtureBandit):
        return MixtureBandit(bandit.weights, [with_arms(part, arms) for part in bandit.bandits])
    given = bandit.settings()
    return type(bandit)(**{name: _first(value, arms) for name, value in given.items()})


def _first(value: Any, arms: int) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return np.concatenate([value[:arms], np.repeat(value[-1:], max(0, arms - len(value)))])
