"""Prior distributions of mean rewards and posterior means: tails, expected excesses, and panels that resolve them.

Panels end at quantiles, so that no probability changes much within one. Positive means are represented by their
logarithms: the coordinate of a value is the value itself, or its logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bayesregret.checks import Array
from bayesregret.numerics.quadrature import even_edges, merge_edges

# Tail probabilities at whose quantiles panels end: each a half of the previous, later a quarter.
TAILS = 0.5 ** np.append(np.arange(1.0, 8.0), np.arange(9.0, 58.0, 2.0))
LOG_PANEL = 0.5  # longest panel, in logarithms
# Relative to the largest prior mean: values below contribute nothing to an expected maximum in double precision.
LEAST = math.log(1e-18)
# Beyond this shape, SciPy's lower tails of a Gamma variable lose digits from 4.5 standard deviations on.
LARGE_SHAPE = 1e5
FARTHEST = 40.0  # standard deviations beyond which a tail is 0


class MeanDistribution(NamedTuple):
    """Distribution of the mean of `copies` equal arms, as a function of the coordinate."""

    copies: float
    quantiles: Array
    tails: Callable[[Array], tuple[Array, Array]]  # P(mean < x), P(mean > x)
    expected_excess: Callable[[float], tuple[float, float]]  # E(x - mean)^+, E(mean - x)^+


def group_arms(*fields: Array) -> list[list[float]]:
    """Distinct rows of the arms' fields, each preceded by its number of arms."""
    rows, counts = np.unique(np.stack(fields, axis=1), axis=0, return_counts=True)
    return [[float(many), *row] for many, row in zip(counts.tolist(), rows.tolist(), strict=True)]


def quantile_edges(distributions: list[MeanDistribution]) -> Array:
    """Quantiles chosen so that at most one of each prior lies between two of them: similar priors share panels."""
    return shared_edges([distribution.quantiles for distribution in distributions])


def shared_edges(places: list[Array]) -> Array:
    """Places chosen so that at most one of each array lies between two of them."""
    owners = np.repeat(np.arange(len(places)), [len(each) for each in places])
    every = np.concatenate(places)
    in_order = np.argsort(every, kind="stable")
    chosen, passed = [every.min(), every.max()], set[int]()
    for place, owner in zip(every[in_order].tolist(), owners[in_order].tolist(), strict=True):
        if owner in passed:
            chosen.append(place)
            passed.clear()
        passed.add(owner)
    return np.unique(chosen)


def log_probability(probability: Array, other: Array) -> Array:
    """Logarithm of a probability, computed from its complement `other` where that is small."""
    with np.errstate(divide="ignore"):
        return np.where(other < 0.5, np.log1p(-np.minimum(other, 0.5)), np.log(np.maximum(probability, 0.0)))


# --- positive means ---------------------------------------------------------------------------------------------------


def log_edges(distributions: list[MeanDistribution], least_high: float) -> Array:
    edges = quantile_edges(distributions)
    low = max(LEAST, float(edges[0]))
    high = max(low, least_high, float(edges[-1]))
    return merge_edges(even_edges(low, high, LOG_PANEL), edges, low=low, high=high)


def gamma_tails(shape: float, x: Any) -> tuple[Any, Any]:
    """P(X < x) and P(X > x) for a Gamma(shape, 1) variable X."""
    if shape < LARGE_SHAPE:
        return special.gammainc(shape, x), special.gammaincc(shape, x)
    return large_gamma_tails(shape, (x - shape) / shape)


def large_gamma_tails(shape: Any, off: Any) -> tuple[Any, Any]:
    """P(X < (1 + off) shape) and P(X > (1 + off) shape) for a Gamma(shape, 1) variable X of a large shape.

    By the uniform expansion of Temme (1979), with coefficients expanded around the mean.
    """
    farthest = FARTHEST / np.sqrt(shape)
    off = np.clip(off, -farthest, farthest)
    fall = off * off * np.polyval([1 / 8, -1 / 7, 1 / 6, -1 / 5, 1 / 4, -1 / 3, 1 / 2], off)  # off - log(1 + off)
    eta = np.sign(off) * np.sqrt(2.0 * fall)
    series = np.polyval([1 / 864, -2 / 135, 1 / 12, -1 / 3], eta) - 1.0 / (540.0 * shape)
    rest = np.exp(-shape * fall) / np.sqrt(2.0 * math.pi * shape) * series
    root = np.sqrt(0.5 * shape)
    return 0.5 * special.erfc(-root * eta) - rest, 0.5 * special.erfc(root * eta) + rest


def _gamma_quantiles(shape: float) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.append(special.gammaincinv(shape, TAILS), special.gammainccinv(shape, TAILS))))


def gamma_distribution(copies: float, shape: float, rate: float) -> MeanDistribution:
    def tails(y: Array) -> tuple[Array, Array]:
        return gamma_tails(shape, rate * np.exp(y))

    def expected_excess(y: float) -> tuple[float, float]:
        x = math.exp(y)
        (below, above), parts = gamma_tails(shape, rate * x), gamma_tails(shape + 1.0, rate * x)
        return max(0.0, x * below - shape / rate * parts[0]), max(0.0, shape / rate * parts[1] - x * above)

    return MeanDistribution(copies, _gamma_quantiles(shape) - math.log(rate), tails, expected_excess)


def large_sums_distribution(copies: float, shape: float, rate: float, pulls: float) -> MeanDistribution:
    """Distribution of (shape + sum of rewards) / (rate + pulls), with sums of Poisson rewards treated as continuous.

    P(sum <= s) is the probability that a Beta(shape, s + 1) variable is below 1 - `fraction`; a continuity correction
    puts half of each step on either side. Quantiles are those of a Gamma distribution with the same mean and variance.
    """
    fraction = pulls / (rate + pulls)

    def tails(y: Array) -> tuple[Array, Array]:
        sums = np.maximum(np.exp(y) * (rate + pulls) - shape + 0.5, 0.01)
        return special.betainc(shape, sums, 1.0 - fraction), special.betainc(sums, shape, fraction)

    return gamma_distribution(copies, shape / fraction, rate / fraction)._replace(tails=tails)


def inverse_gamma_distribution(copies: float, shape: float, rate: float) -> MeanDistribution:
    def tails(y: Array) -> tuple[Array, Array]:
        above, below = gamma_tails(shape, rate * np.exp(-y))
        return below, above

    def expected_excess(y: float) -> tuple[float, float]:
        x, mean = math.exp(y), rate / (shape - 1.0)
        (above, below), parts = gamma_tails(shape, rate / x), gamma_tails(shape - 1.0, rate / x)
        return max(0.0, x * below - mean * parts[1]), max(0.0, mean * parts[0] - x * above)

    return MeanDistribution(copies, math.log(rate) - _gamma_quantiles(shape), tails, expected_excess)


def beta_prime_distribution(copies: float, shape: float, rate: float, pulls: float) -> MeanDistribution:
    """Distribution of (rate + sum of rewards) / (shape - 1 + pulls), whose logarithm is at least `least`.

    The sum over the rate is w / (1 - w) for a Beta(pulls, shape) variable w.
    """
    least = math.log(rate / (shape - 1.0 + pulls))

    def tails(y: Array) -> tuple[Array, Array]:
        over = np.maximum(y - least, 0.0)
        return special.betainc(pulls, shape, -np.expm1(-over)), special.betainc(shape, pulls, np.exp(-over))

    def expected_excess(y: float) -> tuple[float, float]:
        over = max(y - least, 0.0)
        fraction, rest, odds = -math.expm1(-over), math.exp(-over), math.expm1(over)
        mean, unit = pulls / (shape - 1.0), math.exp(least)
        below = odds * special.betainc(pulls, shape, fraction) - mean * special.betainc(
            pulls + 1.0, shape - 1.0, fraction
        )
        above = mean * special.betainc(shape - 1.0, pulls + 1.0, rest) - odds * special.betainc(shape, pulls, rest)
        return unit * max(0.0, float(below)), unit * max(0.0, float(above))

    low, high = special.betaincinv(pulls, shape, TAILS), special.betaincinv(shape, pulls, TAILS)
    return MeanDistribution(
        copies, least + np.concatenate([np.zeros(1), -np.log1p(-low), -np.log(high)]), tails, expected_excess
    )


# --- Student's distribution -------------------------------------------------------------------------------------------


def student_distribution(copies: float, mean: float, spread: float, freedom: float) -> MeanDistribution:
    def tails(x: Array) -> tuple[Array, Array]:
        at = (x - mean) / spread
        return special.stdtr(freedom, at), special.stdtr(freedom, -at)

    def rest(t: float) -> float:
        """E(T - t)^+: (freedom + t^2) / (freedom - 1) times the density at t, minus t P(T > t)."""
        log_density = -special.betaln(0.5, 0.5 * freedom) - 0.5 * math.log(freedom)
        log_density -= 0.5 * (freedom + 1.0) * math.log1p(t * t / freedom)
        partial_mean = (freedom + t * t) / (freedom - 1.0) * math.exp(log_density)
        return spread * max(0.0, float(partial_mean - t * special.stdtr(freedom, -t)))

    def expected_excess(x: float) -> tuple[float, float]:
        return rest((mean - x) / spread), rest((x - mean) / spread)

    quantiles: Any = special.stdtrit(freedom, TAILS)
    return MeanDistribution(copies, mean + spread * np.append(quantiles, -quantiles), tails, expected_excess)
