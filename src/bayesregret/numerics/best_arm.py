"""Probabilities that each of many independent arms is the best one.

Arm j is best with probability integral of (product of all other F) dF_j, F the distribution functions. On a panel both
factors are interpolated at Chebyshev points, so that densities are not needed, and all probabilities sum to 1 however
badly a panel resolves its functions. Panels are halved until two orders agree.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from bayesregret.checks import Array
from bayesregret.numerics.marginals import Marginals, bisected, quantiles
from bayesregret.numerics.mean_distributions import shared_edges

ORDER = 16  # of the finer of two nested rules
TAIL = 1e-11  # probability that is left out at both ends of each arm, and of the best one
TOLERANCE = 1e-7  # largest difference of the two rules on a panel: the finer one has twice as many digits
MOST_HALVINGS = 200
KNOTS = np.array([-8.0, -4.0, 0.0, 4.0, 8.0])  # of panels, in widths of an arm
END_STEPS = 12  # of bisection, for the ends of integrals
CHUNK = 2_000_000  # numbers in memory at a time


def best_probabilities(marginals: Marginals) -> Array:
    """(arms,): probability that the arm's mean reward is the highest; equal arms have equal ones, and they sum to 1."""
    distinct, place = marginals.distinct()
    copies = np.bincount(place).astype(np.float64)
    found = np.maximum(0.0, _distinct_probabilities(distinct, copies))[place]
    return found / found.sum()


def _distinct_probabilities(marginals: Marginals, copies: Array) -> Array:
    """(arms,): probability of each copy of each arm."""
    if len(copies) == 1:
        return 1.0 / copies
    lows = quantiles(marginals, TAIL, upper=False, steps=END_STEPS)
    highs = quantiles(marginals, TAIL, upper=True, steps=END_STEPS)
    shifts = _shifts(marginals, lows)
    ends = shifts + highs
    start = _start(marginals, copies, shifts)
    found, live = np.zeros(len(copies)), np.flatnonzero(ends > start)
    if len(live) == 1:
        found[live] = 1.0 / copies[live]
        return found
    found[live] = _integrals(marginals.take(live), copies[live], shifts[live], ends[live], start)
    return found


def _shifts(marginals: Marginals, lows: Array) -> Array:
    """(arms,): coordinates of centres, with the origin where integrals begin: at the highest of all lower ends.

    An arm that is still integrated at z begins before the origin and ends after z. So it is wider than z, and its
    coordinate z minus its shift has all the digits it needs, however much widths differ.
    """
    every = np.arange(len(lows))
    highest = int(np.argmax(marginals.centres + lows))
    for _ in every:
        ahead = marginals.apart(every, np.full_like(every, highest)) + (lows - lows[highest])
        if ahead.max() <= 0.0:
            break
        highest = int(np.argmax(ahead))  # centres that agree to all digits may hide it
    return marginals.apart(every, np.full_like(every, highest)) - lows[highest]


def _start(marginals: Marginals, copies: Array, shifts: Array) -> float:
    """A place that the best arm is surely not below: among many arms it is far above the origin."""

    def is_before(z: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(copies @ np.log(marginals.below(z - shifts)) < math.log(TAIL))

    low, high = np.zeros(1), np.full(1, float(marginals.widths.min()))
    while is_before(high):
        low, high = high, 2.0 * high
    return float(bisected(is_before, low, high, END_STEPS)[0][0])


def _integrals(marginals: Marginals, copies: Array, shifts: Array, ends: Array, start: float) -> Array:
    """Integrate from the start to the last end."""
    high, total = float(ends.max()), np.zeros(len(copies))
    knots = np.clip(shifts[:, None] + KNOTS * marginals.widths[:, None], start, high)
    edges = np.unique(np.append(shared_edges(list(np.column_stack([knots, ends]))), [start, high]))
    left, right = edges[:-1], edges[1:]
    size = max(1, CHUNK // (len(copies) * (ORDER + 1)))
    for halving in range(MOST_HALVINGS + 1):
        rough = np.zeros(len(left), bool)
        for first in range(0, len(left), size):
            part = slice(first, first + size)
            fine, coarse = _on_panels(marginals, copies, shifts, left[part], right[part])
            rough[part] = (np.abs(fine - coarse).max(axis=0) > TOLERANCE) & (halving < MOST_HALVINGS)
            total += fine[:, ~rough[part]].sum(axis=1)
        middle = 0.5 * (left[rough] + right[rough])
        left, right = np.concatenate([left[rough], middle]), np.concatenate([middle, right[rough]])
        if not len(left):
            break
    return total


def _on_panels(marginals: Marginals, copies: Array, shifts: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """(arms, panels): integrals by the finer and by the coarser rule."""
    points, fine, coarse = _rules()
    z = left[:, None] + 0.5 * (right - left)[:, None] * (1.0 + points)
    below = marginals.below(z[None] - shifts[:, None, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        log_below = np.log(below)
        log_all = np.einsum("a,apk->pk", copies, log_below)
        others = np.nan_to_num(np.exp(log_all - log_below))  # where an F is 0, arms are not the best
    half = slice(None, None, 2)
    by_coarse = np.einsum("apk,kl,apl->ap", others[..., half], coarse, below[..., half], optimize=True)
    return np.einsum("apk,kl,apl->ap", others, fine, below, optimize=True), by_coarse


@functools.cache
def _rules() -> tuple[Array, Array, Array]:
    """Chebyshev points on [-1, 1], and for two orders the matrix M with integral of G dF = G' M F."""
    points, fine = _rule(ORDER)
    return points, fine, _rule(ORDER // 2)[1]


def _rule(order: int) -> tuple[Array, Array]:
    points = -np.cos(np.pi * np.arange(order + 1) / order)
    degrees = np.eye(order + 1)
    values = np.polynomial.chebyshev.chebvander(points, order)
    slopes = np.polynomial.chebyshev.chebval(points, np.polynomial.chebyshev.chebder(degrees)).T
    integrals = np.polynomial.chebyshev.chebval(1.0, np.polynomial.chebyshev.chebint(degrees, lbnd=-1.0))
    weights = np.linalg.solve(values.T, integrals)
    return points, weights[:, None] * np.linalg.solve(values.T, slopes.T).T
