"""The two best of many straight lines, and integrals of their gap against the normal density.

Along a line of instances the mean rewards are `intercept + slope t` with t standard normal, so the gap between the best
arm and the next is linear between crossings. Integrating each piece separately removes the 1/gap singularity: a cutoff
of 1e-7 is as easy as one of 0.1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bayesregret.checks import Array

Indices = NDArray[np.intp]

# Finished lines are dropped when less than this fraction is left.
COMPACT_BELOW = 0.6
# Arms whose slopes differ by less are parallel.
TINY = float(np.finfo(float).tiny)
# A narrower piece is integrated by its Taylor series at the midpoint; the difference of two tails would cancel.
NARROW = 0.01
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


class Pieces(NamedTuple):
    """Intervals of t on which one arm is best and one is second best, `gap + slope t` apart."""

    start: Array
    stop: Array
    gap: Array
    slope: Array
    top: Indices
    second: Indices


def top_two_pieces(intercept: Array, slope: Array, reach: float) -> Pieces:
    """All pieces of the lines `intercept + slope t`, both (lines, arms), from -reach to reach.

    All lines are swept from left to right together: the next event is the earliest crossing of the second arm, with a
    steeper one from below or with the first. If arms are equal at -reach, the least steep must come first.
    """
    top, second = _two_highest(intercept - reach * slope)
    now = np.full(len(intercept), -reach)
    found: list[tuple[Array, Array, Array, Array, Indices, Indices]] = []
    while len(intercept):
        rows = np.arange(len(intercept))
        rival, overtaken = _next_from_below(intercept, slope, top, second)
        gap, opening = intercept[rows, top] - intercept[rows, second], slope[rows, top] - slope[rows, second]
        closes = opening < -TINY
        swap = np.where(closes, gap / np.where(closes, -opening, 1.0), np.inf)
        event = np.minimum(np.maximum(np.minimum(overtaken, swap), now), reach)
        found.append((now, event, gap, opening, top, second))
        swaps = swap <= overtaken
        top, second = np.where(swaps, second, top), np.where(swaps, top, rival)
        now, left = event, event < reach
        if left.mean() < COMPACT_BELOW:
            intercept, slope, top, second, now = intercept[left], slope[left], top[left], second[left], now[left]
    joined = [np.concatenate(column) for column in zip(*found, strict=True)]
    wide = joined[1] > joined[0]
    return Pieces(*(column[wide] for column in joined))


def _next_from_below(intercept: Array, slope: Array, top: Indices, second: Indices) -> tuple[Indices, Array]:
    """The arm that next overtakes the second one on each line, and the t at which it does."""
    rows = np.arange(len(intercept))
    steeper = slope - slope[rows, second][:, None]
    overtakes = steeper > TINY
    overtakes[rows, top] = False
    times = np.full(intercept.shape, np.inf)
    np.divide(intercept[rows, second][:, None] - intercept, steeper, out=times, where=overtakes)
    rival = np.argmin(times, axis=1)
    return rival, times[rows, rival]


def _two_highest(value: Array) -> tuple[Indices, Indices]:
    rows = np.arange(len(value))
    top = np.argmax(value, axis=1)
    value[rows, top] = -np.inf
    return top, np.argmax(value, axis=1)


def trimmed(pieces: Pieces, limit: float) -> Pieces:
    """Parts of the pieces on which the gap is at most the limit."""
    flat = np.abs(pieces.slope) <= TINY
    with np.errstate(over="ignore"):
        reached = (limit - pieces.gap) / np.where(flat, 1.0, pieces.slope)
    start = np.where(~flat & (pieces.slope < 0.0), np.maximum(pieces.start, reached), pieces.start)
    stop = np.where(~flat & (pieces.slope > 0.0), np.minimum(pieces.stop, reached), pieces.stop)
    kept = (start < stop) & (~flat | (pieces.gap < limit))
    return Pieces(start[kept], stop[kept], *(column[kept] for column in pieces[2:]))  # type: ignore[arg-type]


def mass_of(pieces: Pieces) -> Array:
    """Normal probability of each piece."""
    return _mass(pieces.start, pieces.stop - pieces.start)


def inverse_gap_integral(pieces: Pieces, weight: Array, cutoff: float, order: int, panel: float) -> float:
    """Weighted sum over pieces of int phi(t) / max(gap, cutoff) dt; the rule has this order, on panels this long."""
    falls = pieces.slope < 0.0
    start, stop = np.where(falls, -pieces.stop, pieces.start), np.where(falls, -pieces.start, pieces.stop)
    slope = np.abs(pieces.slope)  # phi is even: reflect pieces with falling gaps
    low, high = np.maximum(pieces.gap + slope * start, 0.0), np.maximum(pieces.gap + slope * stop, 0.0)
    flat = slope * (stop - start) <= 0.0
    safe_slope = np.where(flat, 1.0, slope)
    # Widths are computed from the gap: near its zero they may be far smaller than the last digit of t.
    near_width = np.where(
        flat, np.where(low < cutoff, stop - start, 0.0), (np.minimum(high, cutoff) - low) / safe_slope
    )
    near_width = np.clip(near_width, 0.0, stop - start)
    total = float(np.sum(weight * _mass(start, near_width))) / cutoff
    far = (stop - start > near_width) & (high > cutoff)
    far_start = np.minimum(start + near_width, stop)[far]
    far_low = np.maximum(low, cutoff)[far]
    return total + _beyond_cutoff(far_start, stop[far], far_low, slope[far], weight[far], order, panel)


def _mass(start: Array, width: Array) -> Array:
    """Normal probability of [start, start + width]."""
    middle = start + 0.5 * width
    narrow = width * np.exp(-0.5 * middle**2) / ROOT_TWO_PI * (1.0 + width**2 * (middle**2 - 1.0) / 24.0)
    side = np.where(middle > 0.0, -1.0, 1.0)  # ndtr is accurate for small values, in the left tail
    wide = np.abs(ndtr(side * start) - ndtr(side * (start + width)))
    return np.where(width < NARROW, narrow, wide)


def _beyond_cutoff(
    start: Array, stop: Array, low: Array, slope: Array, weight: Array, order: int, panel: float
) -> float:
    """Weighted sum of int phi(t) / (low + slope (t - start)) dt over [start, stop]; low > 0, slope >= 0.

    If the zero of the gap is closer than 1, the value of phi at the zero is subtracted from phi, which leaves a smooth
    integrand; the integral of the subtracted part is a logarithm.
    """
    close = low < slope
    safe_slope = np.where(close, slope, 1.0)
    back = np.where(close, low / safe_slope, 0.0)  # from the start of the piece back to the zero
    zero = np.where(close, start - back, 0.0)
    scale = weight * np.where(close, np.exp(-0.5 * zero**2), 1.0) / ROOT_TWO_PI
    ratio = np.where(close, slope * (stop - start) / low, 0.0)
    total = float(np.sum(scale / safe_slope * np.log1p(ratio)))
    parts = np.maximum(1, np.ceil((stop - start) / panel)).astype(np.intp)
    which = np.repeat(np.arange(len(start)), parts)
    step = ((stop - start) / parts)[which]
    begin = (np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)) * step  # measured from `start`
    low, slope, start, zero, scale = (column[which] for column in (low, slope, start, zero, scale))
    close = close[which]
    for node, node_weight in zip(*np.polynomial.legendre.leggauss(order), strict=True):
        beyond = begin + 0.5 * (1.0 + node) * step
        t = start + beyond
        exponent = 0.5 * (zero - t) * (zero + t)
        shape = np.where(close, np.expm1(exponent), np.exp(exponent))
        total += 0.5 * node_weight * float(np.sum(step * scale * shape / (low + slope * beyond)))
    return total


def top_integral(pieces: Pieces, intercept: Array, slope: Array) -> float:
    """Sum over pieces of one line of int phi(t) (mean of the best arm at t) dt."""
    mass = mass_of(pieces)
    moment = (np.exp(-0.5 * pieces.start**2) - np.exp(-0.5 * pieces.stop**2)) / ROOT_TWO_PI
    return float(np.sum(intercept[pieces.top] * mass + slope[pieces.top] * moment))
