"""Gittins indices of a Gaussian arm.

With noise 1 and q pulls (prior pseudo-count plus actual pulls), the index is the posterior mean plus a width that
depends only on q and the rounds left, because indices shift with the mean. The next change of the mean is normal with
variance 1/(q(q + 1)). Let C(x) be the margin of a mean that is x above the charge, and W = max(0, C). With one more
round, C(x) = x + discount * E W(x + step). The width is minus the zero of C.

C is stored on a lattice with several points per standard deviation of the step. There sums equal integrals to high
accuracy except at the kink of W at the zero, where high-order end weights replace ones. Far above the zero, where the
arm will hardly be abandoned, W is a straight line.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable

POINTS = 6  # lattice points per standard deviation of a step: at least this, at most twice this
REACH = 8.5  # longest step, in its standard deviations
SURE = 7.5  # standard deviations of all future learning, beyond which an arm is not abandoned
STENCIL, BELOW = 8, 4  # interpolation points around the zero, and how many of them are below it
FARTHEST = 1  # in reaches of a step: largest fall of the zero from one round to the previous one
SPARE = 2 * BELOW + 2  # points kept below the zero: enough also after every other one is dropped
MOST_STEPS, LAST_STEP = 60, 1e-13


class EndRule(NamedTuple):
    """Weights for an integral that starts between lattice points, from values on the lattice."""

    from_a_point: Array  # (STENCIL,): weights of the first points, for the integral that starts at the first one
    nodes: Array  # Gauss rule on [0, 1], exact for polynomials through the stencil
    weights: Array


@functools.cache
def end_rule() -> EndRule:
    """Gregory's end weights, from the Euler-Maclaurin corrections of powers: sums exceed integrals by `excess`."""
    powers = np.arange(STENCIL)
    excess = np.array([1 / 2, -1 / 12, 0, 1 / 120, 0, -1 / 252, 0, 1 / 240])
    correction = np.linalg.solve(powers[None, :].astype(np.float64) ** powers[:, None], excess)
    nodes, weights = np.polynomial.legendre.leggauss(STENCIL // 2)
    return EndRule(1.0 - correction, 0.5 * (1.0 + nodes), 0.5 * weights)


class IndexLattice(NamedTuple):
    """Buffers for margins on a lattice, now and one round earlier; in the middle entry the mean equals the charge."""

    now: Array
    earlier: Array
    kernel: Array


def make_index_lattice(rounds: int, points: int) -> IndexLattice:
    longest = 2 * points * math.ceil(SURE * math.sqrt(rounds) + REACH + 1) + 4 * STENCIL
    return IndexLattice(np.empty(2 * longest + 1), np.empty(2 * longest + 1), np.empty(longest))


def gaussian_width(pulls: float, rounds: int, discount: float, points: int = POINTS) -> float:
    """Width of the index for noise 1; with a discount, after `rounds` the arm is pulled forever or never again."""
    width = np.full((1, 1), np.nan)
    fill_widths(np.array([pulls]), np.array([rounds]), width, discount, points)
    return float(width[0, 0])


def fill_widths(pulls: Any, rounds: Any, widths: Array, discount: float = 1.0, points: int = POINTS) -> None:
    """Fill the nan entries of (pulls, rounds left) with widths."""
    lattice = make_index_lattice(int(rounds.max()), points)
    # With a finite horizon, the last round has nothing left to learn for.
    steps, gain = (rounds - 1, 1.0) if discount == 1.0 else (rounds, 1.0 / (1.0 - discount))
    compile_kernel(_fill)(pulls, steps, widths, discount, gain, points, end_rule(), lattice)


def _fill(
    pulls: Any, steps: Any, widths: Any, discount: float, gain: float, points: int, rule: Any, lattice: Any
) -> None:
    for i in range(pulls.shape[0]):
        for j in range(steps.shape[0]):
            if math.isnan(widths[i, j]):
                widths[i, j] = _width(pulls[i], steps[j], discount, gain, points, rule, lattice)


@jitable
def _width(pulls, steps, discount, gain, points, rule, lattice):
    """Width after `steps` rounds with learning; `gain` is the slope of the margin after all of them."""
    if steps == 0:
        return 0.0
    now, earlier = lattice.now, lattice.earlier
    middle = now.shape[0] // 2
    last = pulls + steps  # pulls after the last step of learning
    spacing = _deviation(pulls + (steps - 1)) / points
    zero, top = 0.0, 0
    for i in range(-SPARE, 1):
        now[middle + i] = gain * spacing * i
    for step in range(1, steps):
        q = last - step
        if _deviation(q) >= 2 * points * spacing:
            spacing, zero, top = 2.0 * spacing, 0.5 * zero, top // 2
            _drop_every_other(now, middle, math.ceil(zero) - BELOW, top)
        reach = math.ceil(REACH * _deviation(q) / spacing)
        new_top = math.ceil(SURE * math.sqrt(step) / (math.sqrt(q) * math.sqrt(last)) / spacing)
        _fill_line(now, middle, top + 1, new_top + reach, gain * spacing)
        _weight_start(now, middle, zero, rule)
        _fill_kernel(lattice.kernel, reach, spacing / _deviation(q))
        first = _one_round_earlier(now, earlier, lattice.kernel, middle, zero, new_top, reach, spacing, discount)
        zero, top, gain = _find_zero(earlier, middle, first), new_top, 1.0 + discount * gain
        now, earlier = earlier, now
    end = max(top, math.ceil(zero) + 2 * STENCIL)
    _fill_line(now, middle, top + 1, end, gain * spacing)
    _weight_start(now, middle, zero, rule)
    for i in range(STENCIL):
        now[middle + end - i] *= rule.from_a_point[i]
    return -_last_zero(now, middle, math.ceil(zero) - BELOW, end, spacing, pulls, discount, gain)


@jitable
def _deviation(pulls):
    """Standard deviation of the next step of a mean after `pulls` pulls."""
    return 1.0 / (math.sqrt(pulls) * math.sqrt(pulls + 1.0))


@jitable
def _drop_every_other(values, middle, bottom, top):
    for i in range(1, top + 1):
        values[middle + i] = values[middle + 2 * i]
    for i in range(-1, bottom - 1, -1):
        values[middle + i] = values[middle + 2 * i]


@jitable
def _fill_line(values, middle, begin, end, slope):
    for i in range(begin, end + 1):
        values[middle + i] = slope * i


@jitable
def _fill_kernel(kernel, reach, ratio):
    """Write the normal density of the step at multiples of the spacing, times the spacing."""
    for i in range(reach + 1):
        kernel[i] = ratio * math.exp(-0.5 * (i * ratio) ** 2) / math.sqrt(2.0 * math.pi)


@jitable
def _weight_start(values, middle, zero, rule):
    """Multiply by weights that turn a sum into the integral from the zero on."""
    first = math.ceil(zero)
    part = first - zero
    for j in range(STENCIL - 1, -BELOW - 1, -1):
        weight = rule.from_a_point[j] if j >= 0 else 0.0
        if j < STENCIL - BELOW:
            for k in range(rule.nodes.shape[0]):
                weight += part * rule.weights[k] * _basis(j, -part * rule.nodes[k])
        values[middle + first + j] *= weight


@jitable
def _basis(j, x):
    """Lagrange polynomial at x that is 1 at j and 0 at all other points of the stencil."""
    product = 1.0
    for k in range(-BELOW, STENCIL - BELOW):
        if k != j:
            product *= (x - k) / (j - k)
    return product


@jitable
def _one_round_earlier(now, earlier, kernel, middle, zero, top, reach, spacing, discount):
    """Write the margins from the top down to some points below their zero; return the first point above the zero."""
    bottom = math.ceil(zero) - BELOW
    low = bottom - FARTHEST * reach - SPARE
    for i in range(low - reach, bottom):
        now[middle + i] = 0.0
    there = earlier[middle + low : middle + top + 1]
    for i in range(low, top + 1):
        there[i - low] = kernel[0] * now[middle + i]
    for far in range(1, reach + 1):  # the longer loop is inside, so that it is vectorised
        left, right = now[middle + low - far :], now[middle + low + far :]
        for i in range(there.shape[0]):
            there[i] += kernel[far] * (left[i] + right[i])
    first = top
    for i in range(top, low - 1, -1):
        there[i - low] = spacing * i + discount * there[i - low]
        if there[i - low] > 0.0:
            first = i
    return first


@jitable
def _find_zero(values, middle, first):
    """Zero of the polynomial through the stencil; within a cell its slope hardly changes."""
    slope = values[middle + first] - values[middle + first - 1]
    x = 0.0
    for _ in range(MOST_STEPS):
        height = 0.0
        for j in range(-BELOW, STENCIL - BELOW):
            height += values[middle + first + j] * _basis(j, x)
        x -= height / slope
        if abs(height) <= LAST_STEP * slope:
            break
    return first + min(0.0, max(-1.0, x))


@jitable
def _last_zero(values, middle, bottom, top, spacing, pulls, discount, gain):
    """Zero of the margin after the last step, by Newton's method: the margin is convex, and positive at 0."""
    deviation = _deviation(pulls)
    ratio = spacing / deviation
    x = 0.0
    for _ in range(MOST_STEPS):
        z = (spacing * top - x) / deviation
        beyond, density = 0.5 * math.erfc(z / math.sqrt(2.0)), math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        height = gain * (x * beyond + deviation * density)
        slope = gain * (beyond + spacing * top / deviation * density)
        for i in range(bottom, top + 1):
            u = (spacing * i - x) / deviation
            part = values[middle + i] * (ratio * math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi))
            height += part
            slope += part * u / deviation
        step = (x + discount * height) / (1.0 + discount * slope)
        x -= step
        if abs(step) <= LAST_STEP * abs(x):
            break
    return x
