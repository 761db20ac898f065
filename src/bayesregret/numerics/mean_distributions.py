"""Laws of mean rewards before rewards are known: chances and expected rests, and panels on which they are smooth.

Panels end at quantiles of the laws, so that no chance changes much on one. Means that are positive stand on the line of
their logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bayesregret.checks import Array
from bayesregret.numerics.quadrature import even_edges, merge_edges

# Chances at whose quantiles panels end: halves at first, later quarters.
TAILS = 0.5 ** np.append(np.arange(1.0, 8.0), np.arange(9.0, 58.0, 2.0))
LOG_PANEL = 0.5  # the longest, of logarithms
# Of the largest prior mean: below it, priors are spread over so much more that nothing there counts.
LEAST = math.log(1e-18)
# SciPy's lower tails of a Gamma variable lose their digits soon after this shape, from 4.5 deviations on.
LARGE_SHAPE = 1e5
FARTHEST = 40.0  # deviations, where nothing is left of a tail


class MeanLaw(NamedTuple):
    """Of arms of one kind, on the line of places."""

    copies: float
    quantiles: Array
    tails: Callable[[Array], tuple[Array, Array]]  # the chances that the mean reward is below a place, and above
    rests: Callable[[float], tuple[float, float]]  # E(x - mean reward)^+ for x at a place, and E(mean reward - x)^+


def kinds(*fields: Array) -> list[list[float]]:
    """The different rows of the arms' fields, each with the number of its arms in front."""
    rows, counts = np.unique(np.stack(fields, axis=1), axis=0, return_counts=True)
    return [[float(many), *row] for many, row in zip(counts.tolist(), rows.tolist(), strict=True)]


def quantile_edges(laws: list[MeanLaw]) -> Array:
    """Quantiles so chosen that between two of them there is at most one of each prior: many alike share panels."""
    owners = np.repeat(np.arange(len(laws)), [len(law.quantiles) for law in laws])
    every = np.concatenate([law.quantiles for law in laws])
    in_order = np.argsort(every, kind="stable")
    chosen, passed = [every.min(), every.max()], set[int]()
    for place, owner in zip(every[in_order].tolist(), owners[in_order].tolist(), strict=True):
        if owner in passed:
            chosen.append(place)
            passed.clear()
        passed.add(owner)
    return np.unique(chosen)


def log_chance(chance: Array, other: Array) -> Array:
    """The logarithm of a chance, from the other one where that is small."""
    with np.errstate(divide="ignore"):
        return np.where(other < 0.5, np.log1p(-np.minimum(other, 0.5)), np.log(chance))


# --- positive means ---------------------------------------------------------------------------------------------------


def log_edges(laws: list[MeanLaw], least_high: float) -> Array:
    edges = quantile_edges(laws)
    low = max(LEAST, float(edges[0]))
    high = max(low, least_high, float(edges[-1]))
    return merge_edges(even_edges(low, high, LOG_PANEL), edges, low=low, high=high)


def gamma_tails(shape: float, x: Any) -> tuple[Any, Any]:
    """The chances that a Gamma(shape, 1) variable is below x, and above.

    For large shapes by the uniform expansion of Temme (1979), its coefficients around the mean.
    """
    if shape < LARGE_SHAPE:
        return special.gammainc(shape, x), special.gammaincc(shape, x)
    farthest = FARTHEST / math.sqrt(shape)
    off = np.clip((x - shape) / shape, -farthest, farthest)
    fall = off * off * np.polyval([1 / 8, -1 / 7, 1 / 6, -1 / 5, 1 / 4, -1 / 3, 1 / 2], off)  # off - log(1 + off)
    eta = np.sign(off) * np.sqrt(2.0 * fall)
    series = np.polyval([1 / 864, -2 / 135, 1 / 12, -1 / 3], eta) - 1.0 / (540.0 * shape)
    rest = np.exp(-shape * fall) / math.sqrt(2.0 * math.pi * shape) * series
    root = math.sqrt(0.5 * shape)
    return 0.5 * special.erfc(-root * eta) - rest, 0.5 * special.erfc(root * eta) + rest


def _gamma_quantiles(shape: float) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.append(special.gammaincinv(shape, TAILS), special.gammainccinv(shape, TAILS))))


def gamma_law(copies: float, shape: float, rate: float) -> MeanLaw:
    def tails(y: Array) -> tuple[Array, Array]:
        return gamma_tails(shape, rate * np.exp(y))

    def rests(y: float) -> tuple[float, float]:
        x = math.exp(y)
        (below, above), parts = gamma_tails(shape, rate * x), gamma_tails(shape + 1.0, rate * x)
        return max(0.0, x * below - shape / rate * parts[0]), max(0.0, shape / rate * parts[1] - x * above)

    return MeanLaw(copies, _gamma_quantiles(shape) - math.log(rate), tails, rests)


def large_sums_law(copies: float, shape: float, rate: float, pulls: float) -> MeanLaw:
    """Of (shape + sum of rewards) / (rate + pulls), where sums of Poisson rewards are as good as continuous.

    A sum is at most s with the chance that a Beta(shape, s + 1) variable is below a share; between two sums, half of
    the step is on either side. A Gamma law of the same mean and variance tells where to look.
    """
    told = pulls / (rate + pulls)

    def tails(y: Array) -> tuple[Array, Array]:
        sums = np.maximum(np.exp(y) * (rate + pulls) - shape + 0.5, 0.01)
        return special.betainc(shape, sums, 1.0 - told), special.betainc(sums, shape, told)

    return gamma_law(copies, shape / told, rate / told)._replace(tails=tails)


def inverse_gamma_law(copies: float, shape: float, rate: float) -> MeanLaw:
    def tails(y: Array) -> tuple[Array, Array]:
        above, below = gamma_tails(shape, rate * np.exp(-y))
        return below, above

    def rests(y: float) -> tuple[float, float]:
        x, mean = math.exp(y), rate / (shape - 1.0)
        (above, below), parts = gamma_tails(shape, rate / x), gamma_tails(shape - 1.0, rate / x)
        return max(0.0, x * below - mean * parts[1]), max(0.0, mean * parts[0] - x * above)

    return MeanLaw(copies, math.log(rate) - _gamma_quantiles(shape), tails, rests)


def beta_prime_law(copies: float, shape: float, rate: float, pulls: float) -> MeanLaw:
    """Of (rate + sum of rewards) / (shape - 1 + pulls), whose logarithm is at least `least`; the sum over the rate is
    w / (1 - w) for a Beta(pulls, shape) variable w."""
    least = math.log(rate / (shape - 1.0 + pulls))

    def tails(y: Array) -> tuple[Array, Array]:
        over = np.maximum(y - least, 0.0)
        return special.betainc(pulls, shape, -np.expm1(-over)), special.betainc(shape, pulls, np.exp(-over))

    def rests(y: float) -> tuple[float, float]:
        over = max(y - least, 0.0)
        share, rest, odds = -math.expm1(-over), math.exp(-over), math.expm1(over)
        mean, unit = pulls / (shape - 1.0), math.exp(least)
        below = odds * special.betainc(pulls, shape, share) - mean * special.betainc(pulls + 1.0, shape - 1.0, share)
        above = mean * special.betainc(shape - 1.0, pulls + 1.0, rest) - odds * special.betainc(shape, pulls, rest)
        return unit * max(0.0, float(below)), unit * max(0.0, float(above))

    low, high = special.betaincinv(pulls, shape, TAILS), special.betaincinv(shape, pulls, TAILS)
    return MeanLaw(copies, least + np.concatenate([np.zeros(1), -np.log1p(-low), -np.log(high)]), tails, rests)


# --- Student's distribution -------------------------------------------------------------------------------------------


def student_law(copies: float, mean: float, spread: float, freedom: float) -> MeanLaw:
    def tails(x: Array) -> tuple[Array, Array]:
        at = (x - mean) / spread
        return special.stdtr(freedom, at), special.stdtr(freedom, -at)

    def rest(t: float) -> float:
        """E(T - t)^+, which is (freedom + t^2) / (freedom - 1) times the density at t, less t P(T > t)."""
        log_density = -special.betaln(0.5, 0.5 * freedom) - 0.5 * math.log(freedom)
        log_density -= 0.5 * (freedom + 1.0) * math.log1p(t * t / freedom)
        partial_mean = (freedom + t * t) / (freedom - 1.0) * math.exp(log_density)
        return spread * max(0.0, float(partial_mean - t * special.stdtr(freedom, -t)))

    def rests(x: float) -> tuple[float, float]:
        return rest((mean - x) / spread), rest((x - mean) / spread)

    quantiles: Any = special.stdtrit(freedom, TAILS)
    return MeanLaw(copies, mean + spread * np.append(quantiles, -quantiles), tails, rests)
