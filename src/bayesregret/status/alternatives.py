"""Other priors for the same arms: what the rewards may fit better than the prior of the experiment."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
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
from bayesregret.planning.perturbed_priors import prior_moments, shifted, stretched

# Shifts of all mean rewards in prior widths, factors of the prior widths, and of the noise, each with its weight: a
# prior that is far off should be found within few rewards.
SHIFTS = ((2.0, 2.0), (-2.0, 2.0), (5.0, 6.0), (-5.0, 6.0))
WIDTHS = ((2.0, 2.0), (6.0, 2.0), (0.5, 1.0))
NOISES = ((1.5, 1.5), (1.0 / 1.5, 1.5))
# A shift leaves at least this fraction of the distance of a mean to the end of possible ones.
KEPT = 0.25

Change = Callable[[Bandit, Array], Bandit]  # of one prior, given the prior widths of the arms


class Alternative(NamedTuple):
    """Another prior, how it differs in words, and its weight."""

    words: str
    bandit: Bandit
    weight: float


def alternatives(bandit: Bandit) -> list[Alternative]:
    """Return the priors that the test of misfit compares with; none for a kind without a known evidence."""
    parts = bandit.bandits if isinstance(bandit, MixtureBandit) else (bandit,)
    if not all(isinstance(part, KINDS) for part in parts):
        return []
    widths = _widths(bandit)
    found: list[Alternative] = []
    for words, weight, change in _changes(bandit.representative):
        # A number that no bandit may have, as beside an end of possible means: that alternative is left out.
        with contextlib.suppress(ValueError):
            changed = [change(part, widths) for part in parts]
            made = MixtureBandit(bandit.weights, changed) if isinstance(bandit, MixtureBandit) else changed[0]
            if all(made != other.bandit for other in found):  # as two shifts beyond the same end
                found.append(Alternative(words, made, weight))
    return found


def _changes(bandit: Bandit) -> Iterator[tuple[str, float, Change]]:
    for by, weight in SHIFTS:
        side = "higher" if by > 0.0 else "lower"
        yield f"all mean rewards are about {abs(by):g} prior widths {side}", weight, partial(_shifted, by)
    for factor, weight in WIDTHS:
        apart = "far from" if factor > 1.0 else "close to"
        words = f"mean rewards are about {max(factor, 1.0 / factor):g} times as {apart} the prior means"
        yield words, weight, partial(_widened, factor)
    if isinstance(bandit, GaussianBandit | LinearBandit | NormalGammaBandit):
        for factor, weight in NOISES:
            size = "large" if factor > 1.0 else "small"
            words = f"the noise of rewards is about {max(factor, 1.0 / factor):g} times as {size}"
            yield words, weight, partial(_noisier, factor)


# --- the means --------------------------------------------------------------------------------------------------------


def _widths(bandit: Any) -> Array:
    """(arms,): standard deviation of each arm's mean reward, or a number like it where there is none."""
    if isinstance(bandit, MixtureBandit):
        widths = np.array([_widths(part) for part in bandit.bandits])
        means = np.array([_means(part) for part in bandit.bandits])
        centre = bandit.weights @ means
        return np.asarray(np.sqrt(bandit.weights @ (widths**2 + (means - centre) ** 2)))
    if isinstance(bandit, LinearBandit):
        return np.asarray(np.sqrt((bandit.model.whitened[:, : bandit.arms] ** 2).sum(axis=0)))
    means, widths = prior_moments(bandit)
    if isinstance(bandit, NormalGammaBandit):
        return np.where(np.isfinite(widths), widths, np.sqrt(bandit.scale / (bandit.shape * bandit.prior_pulls)))
    return np.where(np.isfinite(widths), widths, means)


def _means(bandit: Any) -> Array:
    return bandit.model.offset[: bandit.arms] if isinstance(bandit, LinearBandit) else prior_moments(bandit)[0]


def _shifted(by: float, bandit: Any, widths: Array) -> Bandit:
    """Add `by` widths to each mean, but stay away from the ends of possible means."""
    if isinstance(bandit, LinearBandit):
        return _linear_shifted(by, bandit)
    if isinstance(bandit, GaussianBandit | NormalGammaBandit):
        return shifted(bandit, by * widths)
    means = _means(bandit)
    most = 1.0 - KEPT * (1.0 - means) if isinstance(bandit, BernoulliBandit) else np.inf
    moved = np.clip(means + by * widths, KEPT * means, most)
    if isinstance(bandit, BernoulliBandit):  # not wider than the prior, or it explains less
        pulls = np.maximum(bandit.alpha + bandit.beta, moved * (1.0 - moved) / widths**2 - 1.0)
        return BernoulliBandit(moved * pulls, (1.0 - moved) * pulls)
    if isinstance(bandit, PoissonBandit):
        rate = np.maximum(bandit.rate, moved / widths**2)
        return PoissonBandit(moved * rate, rate)
    return shifted(bandit, moved - means)


def _linear_shifted(by: float, bandit: LinearBandit) -> LinearBandit:
    """Move the parameter to where the mean reward of the average arm is `by` of its widths away, most likely."""
    average = bandit.features.mean(axis=0)
    along = bandit.covariance @ average
    width = np.sqrt(average @ along)
    if width == 0.0:
        raise ValueError("features must have an average of which the mean reward is uncertain")
    moved = bandit.prior_mean + by * along / width
    return LinearBandit(bandit.features, moved, bandit.prior_cov, bandit.prior_width, reward_noise=bandit.reward_noise)


# --- the widths -------------------------------------------------------------------------------------------------------


def _widened(factor: float, bandit: Any, widths: Array) -> Bandit:
    """Multiply prior widths by about `factor`, and divide prior pseudo-counts by its square."""
    less = 1.0 / factor**2
    if isinstance(bandit, BernoulliBandit):  # one that is `factor` times as wide need not exist
        return BernoulliBandit(less * bandit.alpha, less * bandit.beta)
    if isinstance(bandit, ExponentialBandit):
        shape = 1.0 + less * (bandit.shape - 1.0)
        return ExponentialBandit(shape, bandit.rate * less)
    return stretched(bandit, factor)


def _noisier(factor: float, bandit: Any, widths: Array) -> Bandit:
    if isinstance(bandit, GaussianBandit):
        return GaussianBandit(bandit.prior_mean, bandit.prior_width, factor * bandit.reward_noise)
    if isinstance(bandit, NormalGammaBandit):
        square = factor * factor
        return NormalGammaBandit(bandit.prior_mean, square * bandit.prior_pulls, bandit.shape, square * bandit.scale)
    return LinearBandit(
        bandit.features,
        bandit.prior_mean,
        bandit.prior_cov,
        bandit.prior_width,
        reward_noise=factor * bandit.reward_noise,
    )


KINDS = (BernoulliBandit, ExponentialBandit, GaussianBandit, LinearBandit, NormalGammaBandit, PoissonBandit)
