"""What a bandit's prior says about its arms: means, credible intervals, and which arm is best."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

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
from bayesregret.numerics.best_arm import best_probabilities
from bayesregret.numerics.correlated_best_arm import drawn_best
from bayesregret.numerics.marginals import (
    BetaMeans,
    GammaMeans,
    InverseGammaMeans,
    Marginals,
    NormalMeans,
    StudentMeans,
    bisected,
    quantiles,
)

# Components whose weights sum to less do not count for the best arm.
NEGLIGIBLE = 1e-9


class Summary(NamedTuple):
    """(arms,) each."""

    mean: Array
    low: Array
    high: Array
    best: Array  # probability of being the best arm
    best_stderr: Array  # its standard error; 0 if it is computed, not drawn


class Best(NamedTuple):
    probabilities: Array
    stderr: Array


def summarise(bandit: Bandit, level: float, effort: float = 1.0) -> Summary:
    """Summarise the arms, with equal-tailed intervals that have the probability `level`.

    `effort` is the fraction of the usual number of draws, if there are any.
    """
    weights, parts = _components(bandit)
    tail = 0.5 * (1.0 - level)
    mean = weights @ np.array([part.means for part in parts])
    low, high = (_quantiles(weights, parts, tail, upper=upper) for upper in (False, True))
    return Summary(mean, low, high, *best_arm(bandit, effort=effort))


def _components(bandit: Bandit) -> tuple[Array, list[Marginals]]:
    if isinstance(bandit, MixtureBandit):
        return bandit.weights, [marginals(each) for each in bandit.bandits]
    return np.ones(1), [marginals(bandit)]


def _quantiles(weights: Array, parts: list[Marginals], tail: float, *, upper: bool) -> Array:
    """(arms,): quantiles of mixtures; each is between those of its components."""
    if len(parts) == 1:
        return parts[0].values(quantiles(parts[0], tail, upper=upper))
    arms, components = len(parts[0].means), len(parts)
    every = type(parts[0]).joined(parts)
    rows = np.arange(components * arms)
    apart = every.apart(rows, rows % arms)  # from the first component
    ends = (apart + quantiles(every, tail, upper=upper)).reshape(components, arms)

    def is_beyond(t: Array) -> Array:
        local = np.tile(t, components) - apart
        outside = (every.above if upper else every.below)(local).reshape(components, arms)
        return np.asarray(weights @ outside > tail)

    inner, outer = (ends.min(axis=0), ends.max(axis=0)) if upper else (ends.max(axis=0), ends.min(axis=0))
    return parts[0].values(bisected(is_beyond, inner, outer)[1])


# --- one bandit -------------------------------------------------------------------------------------------------------


@functools.singledispatch
def marginals(bandit: Any) -> Marginals:
    """Distributions of the arms' mean rewards."""
    raise ValueError(f"bandit must be of a kind whose mean rewards have a known distribution, got {bandit.a_kind} one")


@marginals.register
def _(bandit: GaussianBandit) -> Marginals:
    return NormalMeans(bandit.prior_mean, bandit.prior_widths)


@marginals.register
def _(bandit: BernoulliBandit) -> Marginals:
    return BetaMeans(bandit.alpha, bandit.beta)


@marginals.register
def _(bandit: PoissonBandit) -> Marginals:
    return GammaMeans(bandit.shape, bandit.rate)


@marginals.register
def _(bandit: ExponentialBandit) -> Marginals:
    return InverseGammaMeans(bandit.shape, bandit.rate)


@marginals.register
def _(bandit: NormalGammaBandit) -> Marginals:
    spread = np.sqrt(bandit.scale / bandit.shape / bandit.prior_pulls)
    return StudentMeans(bandit.prior_mean, spread, 2.0 * bandit.shape)


@marginals.register
def _(bandit: LinearBandit) -> Marginals:
    mean, root = _joint(bandit)
    return NormalMeans(mean, np.sqrt((root * root).sum(axis=0)))


def _joint(bandit: LinearBandit) -> tuple[Array, Array]:
    """(arms,) means, and (r, arms) roots, whose products are the covariances of the arms' mean rewards."""
    return bandit.model.offset[: bandit.arms], bandit.model.whitened[:, : bandit.arms]


# --- the best arm -----------------------------------------------------------------------------------------------------


@functools.singledispatch
def best_arm(bandit: Any, seed: int = 0, effort: float = 1.0) -> Best:
    """Probability that each arm is the best one; seed and effort are of draws, if there are any."""
    return _computed(best_probabilities(marginals(bandit)))


@best_arm.register
def _(bandit: MixtureBandit, seed: int = 0, effort: float = 1.0) -> Best:
    in_order = np.argsort(bandit.weights)
    kept = in_order[np.cumsum(bandit.weights[in_order]) > NEGLIGIBLE]
    weights = bandit.weights[kept] / bandit.weights[kept].sum()
    found = [
        best_arm(bandit.bandits[number], number, effort * weight) for number, weight in zip(kept, weights, strict=True)
    ]
    probabilities = weights @ np.array([each.probabilities for each in found])
    return Best(probabilities, np.sqrt(weights**2 @ np.array([each.stderr**2 for each in found])))


@best_arm.register
def _(bandit: LinearBandit, seed: int = 0, effort: float = 1.0) -> Best:
    mean, root = _joint(bandit)
    if (np.count_nonzero(root, axis=1) <= 1).all():  # no two arms have a random number in common
        return _computed(best_probabilities(marginals(bandit)))
    if bandit.arms == 2:
        return _computed(_best_of_two(mean, root))
    return Best(*drawn_best(mean, root, seed=seed, effort=effort))


def _best_of_two(mean: Array, root: Array) -> Array:
    width = math.sqrt(float(((root[:, 0] - root[:, 1]) ** 2).sum()))
    gap = float(mean[0] - mean[1])
    if width == 0.0:
        return np.array([0.5, 0.5]) if gap == 0.0 else np.array([float(gap > 0.0), float(gap < 0.0)])
    return np.asarray(ndtr(np.array([gap, -gap]) / width))


def _computed(probabilities: Array) -> Best:
    return Best(probabilities, np.zeros_like(probabilities))
