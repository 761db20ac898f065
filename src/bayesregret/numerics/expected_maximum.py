"""The mean of the best arm under the prior."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, betaincc, digamma, expit, log_ndtr, polygamma

from bayesregret.checks import Array
from bayesregret.numerics.quadrature import even_edges, gauss_rule, merge_edges

# A standard normal beyond REACH, and the best of any number of arms beyond TOP, are of no weight in a float.
REACH = 9.0
TOP = 10.5
# The density of the best of many arms is as narrow as a quarter of a width.
SHARP_PANEL = 0.25
# Shares beyond these log-odds are 0 or 1 to the last digit.
LOG_ODDS = 40.0


def gaussian_best_above(means: Array, counts: Array, width: float, order: int) -> float:
    """E[best arm] minus the highest prior mean, for so many arms of each mean."""
    behind = (means.max() - means) / width
    near = behind <= REACH + TOP
    eta, weights = gauss_rule(even_edges(-REACH, TOP, SHARP_PANEL), order)
    log_all = counts[near] @ log_ndtr(eta + behind[near, None])
    # The mean of a variable is the integral of its upper tail over x > 0 less that of its lower tail over x < 0.
    return width * float(np.sum(weights * np.where(eta > 0.0, -np.expm1(log_all), -np.exp(log_all))))


def own_widths_best(means: Array, widths: Array, counts: Array, order: int) -> float:
    """E[best arm] for so many Gaussian arms of each mean and width: some arm is above `low`, and none above `high`."""
    low, high = float(np.max(means - REACH * widths)), float(np.max(means + TOP * widths))
    levels, weights = gauss_rule(level_edges(means, widths, means + TOP * widths, low, high), order)
    log_all = np.zeros_like(levels)
    for mean, width, count in zip(means.tolist(), widths.tolist(), counts.tolist(), strict=True):
        log_all += count * log_ndtr((levels - mean) / width)
    return low - float(np.sum(weights * np.expm1(log_all)))


def level_edges(means: Array, widths: Array, ends: Array, low: float, high: float) -> Array:
    """Edges of panels from low to high, short enough for each prior from where it begins to have weight up to its end.
    Priors of about the same width share panels."""
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
    """Intervals, overlapping ones joined."""
    in_order = np.argsort(starts)
    starts, ends = starts[in_order], np.maximum.accumulate(ends[in_order])
    first = np.append(True, starts[1:] > ends[:-1])
    return list(zip(starts[first].tolist(), ends[np.append(first[1:], True)].tolist(), strict=True))


def beta_best(alpha: Array, beta: Array) -> float:
    """E[best arm] for independent Beta priors: the integral of P(some arm above x)."""
    pairs, counts = np.unique(np.stack([alpha, beta]), axis=1, return_counts=True)

    def all_below(x: Array, rest: Array) -> Array:
        made = np.ones_like(x)
        for (a, b), count in zip(pairs.T, counts, strict=True):
            made *= np.where(x <= 0.5, betainc(a, b, x), betaincc(b, a, rest)) ** count
        return made

    low, high = -LOG_ODDS, LOG_ODDS
    humps = [_hump(a, b) for a, b in pairs.T.tolist()]
    edges = merge_edges(even_edges(low, high, 1.0), *humps, low=low, high=high)
    log_odds, weights = gauss_rule(edges, 16)
    x, rest = expit(log_odds), expit(-log_odds)
    return float(np.sum(weights * x * rest * (1.0 - all_below(x, rest))))


def _hump(alpha: float, beta: float) -> Array:
    """Edges where a prior has its weight, in log-odds."""
    middle = digamma(alpha) - digamma(beta)
    deviation = math.sqrt(polygamma(1, alpha) + polygamma(1, beta))
    return np.asarray(middle + deviation * np.linspace(-10.0, 10.0, 41))
