"""Expected maxima of independent random variables: the mean of the best arm, or the highest posterior mean."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, digamma, expit, log_ndtr, polygamma

from bayesregret.checks import Array
from bayesregret.numerics.mean_distributions import MeanDistribution, log_probability
from bayesregret.numerics.quadrature import even_edges, gauss_rule, merge_edges

# In double precision, a standard normal has no mass below -REACH, and the best of any number of arms none above TOP.
REACH = 9.0
TOP = 10.5
# Panel length in prior widths: the density of the best of many arms is narrower than one arm's.
SHARP_PANEL = 0.25
# Probabilities beyond these log-odds are 0 or 1 to the last digit.
LOG_ODDS = 40.0
ORDER = 12
# Both parameters of an arm's prior and its pulls -> the possible values of its posterior mean, and their cumulative
# probabilities.
DiscreteMeans = Callable[[float, float, int], tuple[Array, Array]]


def gaussian_best_above(means: Array, counts: Array, width: float, order: int) -> float:
    """E[best arm] minus the highest prior mean, for `counts` arms of each mean."""
    behind = (means.max() - means) / width
    near = behind <= REACH + TOP
    eta, weights = gauss_rule(even_edges(-REACH, TOP, SHARP_PANEL), order)
    log_all = counts[near] @ log_ndtr(eta + behind[near, None])
    # The mean of a variable is the integral of its upper tail over x > 0 less that of its lower tail over x < 0.
    return width * float(np.sum(weights * np.where(eta > 0.0, -np.expm1(log_all), -np.exp(log_all))))


def heteroscedastic_best(means: Array, widths: Array, counts: Array, order: int) -> float:
    """E[best arm] for `counts` Gaussian arms of each mean and width.

    In double precision some arm is certainly above `low`, and none is above `high`.
    """
    low, high = float(np.max(means - REACH * widths)), float(np.max(means + TOP * widths))
    points, weights = gauss_rule(prior_panel_edges(means, widths, means + TOP * widths, low, high), order)
    log_all = np.zeros_like(points)
    for mean, width, count in zip(means.tolist(), widths.tolist(), counts.tolist(), strict=True):
        log_all += count * log_ndtr((points - mean) / width)
    return low - float(np.sum(weights * np.expm1(log_all)))


def prior_panel_edges(means: Array, widths: Array, ends: Array, low: float, high: float) -> Array:
    """Edges of panels from low to high that resolve each prior, from where its mass begins up to its `ends` entry.

    Priors of about the same width share panels.
    """
    parts = []
    octaves = np.floor(np.log2(widths))
    for octave in np.unique(octaves):
        alike = octaves == octave
        panel = SHARP_PANEL * float(widths[alike].min())
        for left, right in _joined(means[alike] - REACH * widths[alike], ends[alike]):
            if left < high and right > low:
                parts.append(even_edges(max(left, low), min(right, high), panel))
    return merge_edges(*parts, low=low, high=high)


def _joined(starts: Array, ends: Array) -> list[tuple[float, float]]:
    """Union of intervals, as disjoint ones in order."""
    in_order = np.argsort(starts)
    starts, ends = starts[in_order], np.maximum.accumulate(ends[in_order])
    first = np.append(True, starts[1:] > ends[:-1])
    return list(zip(starts[first].tolist(), ends[np.append(first[1:], True)].tolist(), strict=True))


def beta_best(alpha: Array, beta: Array) -> float:
    """E[best arm] for independent Beta priors: the integral of P(some arm above x)."""
    pairs, counts = np.unique(np.stack([alpha, beta]), axis=1, return_counts=True)

    def all_below(x: Array, rest: Array) -> Array:
        product = np.ones_like(x)
        for (a, b), count in zip(pairs.T, counts, strict=True):
            product *= np.where(x <= 0.5, betainc(a, b, x), betaincc(b, a, rest)) ** count
        return product

    low, high = -LOG_ODDS, LOG_ODDS
    humps = [_hump(a, b) for a, b in pairs.T.tolist()]
    edges = merge_edges(even_edges(low, high, 1.0), *humps, low=low, high=high)
    log_odds, weights = gauss_rule(edges, 16)
    x, rest = expit(log_odds), expit(-log_odds)
    return float(np.sum(weights * x * rest * (1.0 - all_below(x, rest))))


def _hump(alpha: float, beta: float) -> Array:
    """Panel edges where a prior has its mass, in log-odds."""
    middle = digamma(alpha) - digamma(beta)
    deviation = math.sqrt(polygamma(1, alpha) + polygamma(1, beta))
    return np.asarray(middle + deviation * np.linspace(-10.0, 10.0, 41))


# --- any distributions, given by their values or by their tails ------------------------------------------------------


def best_of_discrete(means: DiscreteMeans, first: Array, second: Array, pulls: NDArray[np.int64]) -> float:
    """E[highest posterior mean], from P(all <= v) at every value v that one of them can have."""
    groups, counts = np.unique(np.stack([first, second, pulls]), axis=1, return_counts=True)
    distributions = [means(a, b, int(k)) for a, b, k in groups.T.tolist()]
    values = np.unique(np.concatenate([value for value, _ in distributions]))
    all_below = np.ones(len(values))
    for (value, below), count in zip(distributions, counts, strict=True):
        position = np.searchsorted(value, values, side="right")
        all_below *= np.append(0.0, below)[position] ** count
    return float(values[-1] - np.sum(np.diff(values) * all_below[:-1]))


def best_above(
    top: float, certain: float, distributions: list[MeanDistribution], edges: Array, slope: Callable[[Array], Array]
) -> float:
    """E[maximum] minus the value at `top`, for independent variables and the constant at `certain`.

    `top`, `certain` and `edges` are coordinates (logarithms, for positive variables), and `slope` is the derivative of
    the value with respect to the coordinate. Beyond the last panel, two variables at once have negligible probability.
    """
    if not distributions:
        return 0.0
    low, high = max(certain, float(edges[0])), max(certain, top, float(edges[-1]))
    points, weights = gauss_rule(merge_edges(edges, np.array([top]), low=low, high=high), ORDER)
    log_all = sum(distribution.copies * log_probability(*distribution.tails(points)) for distribution in distributions)
    excess = float(np.sum(weights * slope(points) * np.where(points > top, -np.expm1(log_all), -np.exp(log_all))))
    above = math.fsum(distribution.copies * distribution.expected_excess(high)[1] for distribution in distributions)
    return excess + above - (_all_below(distributions, low) if low > certain else 0.0)


def _all_below(distributions: list[MeanDistribution], low: float) -> float:
    """E(low - maximum)^+, computed from the variable least likely to be below `low`; the others count as at `low`."""
    probabilities = [float(distribution.tails(np.array([low]))[0][0]) for distribution in distributions]
    rarest = min(range(len(distributions)), key=probabilities.__getitem__)
    others = math.prod(
        probability ** (distribution.copies - (i == rarest))
        for i, (distribution, probability) in enumerate(zip(distributions, probabilities, strict=True))
    )
    return float(distributions[rarest].expected_excess(low)[0] * others)
