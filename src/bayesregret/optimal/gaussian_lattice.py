"""Margins of a Gaussian arm on a lattice: the building blocks of backward recursions over its posterior mean.

The margin C(x) is the value of going on with an arm whose posterior mean is x above the charge; W = max(0, C). One step
earlier, C(x) = pay * x + discount * E W(x + step), with a normal step. C is stored on a lattice with several points per
standard deviation of the step. There sums equal integrals to high accuracy except at the kink of W at the zero of C,
where high-order end weights replace ones. Far above the zero, where the arm will hardly be abandoned, W is a straight
line.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import jitable

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
    """Buffers for margins on a lattice, now and one step earlier; in the middle entry the mean equals the charge."""

    now: Array
    earlier: Array
    kernel: Array


def make_lattice(longest: int) -> IndexLattice:
    """Return buffers for `longest` points on each side of the middle."""
    return IndexLattice(np.empty(2 * longest + 1), np.empty(2 * longest + 1), np.empty(longest))


@jitable
def drop_every_other(values, middle, bottom, top):
    for i in range(1, top + 1):
        values[middle + i] = values[middle + 2 * i]
    for i in range(-1, bottom - 1, -1):
        values[middle + i] = values[middle + 2 * i]


@jitable
def fill_line(values, middle, begin, end, slope):
    for i in range(begin, end + 1):
        values[middle + i] = slope * i


@jitable
def fill_kernel(kernel, reach, ratio):
    """Write the normal density of the step at multiples of the spacing, times the spacing."""
    for i in range(reach + 1):
        kernel[i] = ratio * math.exp(-0.5 * (i * ratio) ** 2) / math.sqrt(2.0 * math.pi)


@jitable
def weight_start(values, middle, zero, rule):
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
def weight_end(values, middle, end, rule):
    """Multiply by weights that turn a sum into the integral up to the last point."""
    for i in range(STENCIL):
        values[middle + end - i] *= rule.from_a_point[i]


@jitable
def _basis(j, x):
    """Lagrange polynomial at x that is 1 at j and 0 at all other points of the stencil."""
    product = 1.0
    for k in range(-BELOW, STENCIL - BELOW):
        if k != j:
            product *= (x - k) / (j - k)
    return product


@jitable
def one_step_earlier(now, earlier, kernel, middle, zero, top, reach, pay, discount):
    """Write the margins from the top down to some points below their zero; return the first point above the zero.

    `pay` is the payment of a mean one spacing above the charge.
    """
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
        there[i - low] = pay * i + discount * there[i - low]
        if there[i - low] > 0.0:
            first = i
    return first


@jitable
def find_zero(values, middle, first):
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
def expected_margin(values, middle, bottom, top, spacing, x, deviation, gain):
    """E W(x + step) and its slope in x, from weighted values up to `top`, and a line of slope `gain` beyond."""
    ratio = spacing / deviation
    z = (spacing * top - x) / deviation
    beyond, density = 0.5 * math.erfc(z / math.sqrt(2.0)), math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    height = gain * (x * beyond + deviation * density)
    slope = gain * (beyond + spacing * top / deviation * density)
    for i in range(bottom, top + 1):
        u = (spacing * i - x) / deviation
        part = values[middle + i] * (ratio * math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi))
        height += part
        slope += part * u / deviation
    return height, slope


@jitable
def last_zero(values, middle, bottom, top, spacing, deviation, pay, discount, gain):
    """Zero of the margin one step earlier, by Newton's method: the margin is convex, and positive at 0."""
    x = 0.0
    for _ in range(MOST_STEPS):
        height, slope = expected_margin(values, middle, bottom, top, spacing, x, deviation, gain)
        step = (pay * x + discount * height) / (pay + discount * slope)
        x -= step
        if abs(step) <= LAST_STEP * abs(x):
            break
    return x
