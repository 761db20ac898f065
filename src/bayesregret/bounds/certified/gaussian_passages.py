"""First passages of a Gaussian arm's index, together with the arm's mean: what `certified_first_passage` integrates.

All arms of a Gaussian bandit are one arm, shifted, so one table serves them all. Lengths are in prior widths, levels
are measured from the prior mean, and the mean from the level: for a fixed difference, `apart`, everything is smooth in
the level on the scale of the prior; in the difference it is as sharp as the last posterior.

After k pulls write x = (posterior mean - level) / posterior deviation. The next x is sqrt(1 + e) x + sqrt(e) times a
standard normal, e = 1 / (strength + k), and the index is below the level when x < -z. Heights are x + z. As for the
exact regret, means of smooth functions of the height are carried along by their values on panels. A step depends on e
alone, smoothly, so it is made for a few e and interpolated for all others: that needs no compiled kernel.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

from bayesregret.checks import Array
from bayesregret.exact.gaussian.chain import chebyshev_nodes, graded_panels, on_panels
from bayesregret.numerics.quadrature import gauss_rule

# A normal variable beyond this many deviations is left out: a share of 5e-12.
TAIL = 6.8
SQRT_2PI = math.sqrt(2.0 * math.pi)
# Panels of heights: the first in noises of a step, the longest in posterior deviations.
FIRST_PANEL, PANEL = 1.5, 1.5
# Panels of levels: the first in deviations of the posterior mean after a pull, the others in prior widths.
FIRST_LEVELS, LEVELS = 1.8, 2.4
# Steps of one set of panels: until the posterior is worth so many times as many pulls.
STRETCH = 2.0
# A trapezoidal rule for a normal variable, far from the barrier; nearer, Gauss's rules on so many parts.
REACH, TRAPEZOID, PARTS = 7.0, 0.7, 5
# Smaller means are no means: numbers near the smallest that there are slow every product down.
NOTHING = 1e-30
AT_ONCE = 8
# Steps of the rule for differences, if each were 1, where the last posterior is hardly sharper than the prior.
FEWEST = 27

Ints = NDArray[np.int64]


class Passages(NamedTuple):
    """Rows: levels at Chebyshev's points of panels, by their depth below the first index; columns: `apart`.

    For T the first pull after which the index is below the level, and an arm's mean less than `apart` above it:
    """

    horizon: int
    top: float  # the index before the first pull
    edges: Array  # of panels, as depths
    order: int
    apart: Array
    weights: Array  # of a rule for integrals over `apart`
    passed: Array  # P(T < horizon, mean)
    density: Array  # its slope in `apart`
    ever: Array  # P(T < horizon), by level
    pulls: Array  # E[min(horizon, T); mean]


class Rules(NamedTuple):
    """How many points the parts have, by the order that was asked for."""

    heights: int
    steps: int
    levels: int
    sums: int
    overshoots: int
    apart: float  # the step of the rule

    @classmethod
    def of(cls, order: int) -> Rules:
        two_thirds = 2 * order // 3
        return cls(
            (order + 7) // 2, (order + 1) // 2, two_thirds + 4, order // 3 + 7, two_thirds + 2, 1.15 - order / 30.0
        )


class Heights(NamedTuple):
    """Panels of heights above the barrier."""

    edges: Array
    nodes: Array
    order: int


@functools.lru_cache(maxsize=32)
def passages(strength: float, z: float, horizon: int, order: int) -> Passages:
    """The table of an arm whose prior is worth `strength` pulls, for an index of z posterior deviations."""
    rules = Rules.of(order)
    apart, weights = _apart(strength, z, horizon, rules.apart)
    edges = graded_panels(min(FIRST_LEVELS / math.sqrt(1.0 + strength), 1.5), LEVELS, z + TAIL)
    levels = z - on_panels(edges, rules.levels)
    below = ndtr(levels[:, None] + apart)
    found = Passages(
        horizon,
        z,
        edges,
        rules.levels,
        apart,
        weights,
        np.zeros_like(below),
        np.zeros_like(below),
        np.zeros(len(levels)),
        np.where(apart <= 0.0, 1.0, horizon) * below,
    )
    if horizon > 1:
        _first_pull(found, strength, levels, below)
        _later_pulls(found, strength, levels, rules)
    return found


def _apart(strength: float, z: float, horizon: int, step: float) -> tuple[Array, Array]:
    """Differences between mean and level, and the trapezoidal rule on them: as near as the last posterior is sharp at
    0, and in proportion to their size elsewhere."""
    sharpest = 0.7 * math.sqrt(strength / (strength + (horizon - 1.0)))
    many = z + 4.0
    low, high = (many * math.asinh(end / (many * sharpest)) for end in (-z - TAIL, max(0.0, TAIL - z)))
    u, h = np.linspace(low, high, 1 + max(math.ceil((high - low) / step), round(FEWEST / step)), retstep=True)
    return many * sharpest * np.sinh(u / many), h * sharpest * np.cosh(u / many)


def _first_pull(found: Passages, strength: float, levels: Array, below: Array) -> None:
    """The first reward alone: it and the mean are normal with a known correlation (Owen 1956)."""
    root, z = math.sqrt(strength), found.top
    reward = math.sqrt(1.0 + strength) * levels - z * root  # in its deviations: below this the index is below the level
    given_mean = (root * levels - z * math.sqrt(1.0 + strength))[:, None] - found.apart / root
    given_reward = found.apart * math.sqrt((1.0 + strength) / strength) + z
    mean, limit = _not_zero(levels[:, None] + found.apart), _not_zero(reward[:, None])
    with np.errstate(over="ignore"):
        both = 0.5 * (below + ndtr(limit)) - owens_t(mean, given_mean / mean) - owens_t(limit, given_reward / limit)
    both = np.maximum(0.0, both - 0.5 * ((mean < 0.0) != (limit < 0.0)))
    found.passed[:] += both
    found.density[:] += np.exp(-0.5 * mean * mean) / SQRT_2PI * ndtr(given_mean)
    found.ever[:] += ndtr(reward)
    found.pulls[:, found.apart > 0.0] -= (found.horizon - 1.0) * both[:, found.apart > 0.0]


def _not_zero(x: Array) -> Array:
    return np.where(x == 0.0, 1e-200, x)


def _later_pulls(found: Passages, strength: float, levels: Array, rules: Rules) -> None:
    """Exits after two pulls and more; pulls that are made while the index is above the level.

    Where the mean is below the level, E[min(horizon, T); mean] is summed up pull by pull, elsewhere it is what the
    exits leave of all: so neither is a small difference of large numbers.
    """
    horizon, z, apart = found.horizon, found.top, found.apart
    near = apart <= 0.0
    every, weights = whole_sum_rule(1, horizon - 1, rules.sums, math.exp(min(0.9, 3.6 / max(z, 1.0))))
    weight = dict(zip(every.tolist(), weights.tolist(), strict=True)) | {horizon - 1: 1.0}
    for pulls, heights, means in _chain(strength, z, levels, horizon, rules):
        if pulls not in weight:
            continue
        sharpness = math.sqrt((strength + pulls) / strength)
        found.pulls[:, near] += weight[pulls] * (means @ ndtr(apart[near] * sharpness + (z - heights.nodes)[:, None]))
        if pulls == horizon - 1:
            break
        scale, noise = _step(strength + pulls)
        drift = (scale - 1.0) * z
        points, point_weights = gauss_rule(np.linspace(0.0, TAIL + drift / noise, 3), rules.overshoots)
        off = points + ((scale * heights.nodes - drift) / noise)[:, None]
        mass = (means @ np.exp(-0.5 * off * off)) * (weight[pulls] / SQRT_2PI * point_weights)
        sharpness = math.sqrt((strength + pulls + 1.0) / strength)
        mean = apart * sharpness + (z + noise * points)[:, None]
        passed = mass @ ndtr(mean)
        found.passed[:] += passed
        found.density[:] += mass @ np.exp(-0.5 * mean * mean) * (sharpness / SQRT_2PI)
        found.ever[:] += mass.sum(axis=1)
        found.pulls[:, ~near] -= (horizon - pulls - 1.0) * passed[:, ~near]


def _step(worth: float) -> tuple[float, float]:
    """Scale and noise of a step from a posterior that is worth so many pulls."""
    return math.sqrt(1.0 + 1.0 / worth), math.sqrt(1.0 / worth)


def _chain(
    strength: float, z: float, levels: Array, horizon: int, rules: Rules
) -> Iterator[tuple[int, Heights, Array]]:
    """After 1, 2, ... pulls: panels of heights, and the means of their nodal functions from each level."""
    starts = [1]
    while starts[-1] < horizon:
        starts.append(min(horizon, max(starts[-1] + 1, int(STRETCH * (strength + starts[-1]) - strength))))
    heights, means = None, np.zeros((0, 0))
    for first, last in itertools.pairwise(starts):
        edges = graded_panels(FIRST_PANEL / math.sqrt(strength + last), PANEL, z + TAIL)
        before, heights = heights, Heights(edges, on_panels(edges, rules.heights), rules.heights)
        if before is None:
            scale, noise = _step(strength)
            means = _operator(heights, z - scale * levels, noise)
        else:
            means = means @ _step_operator(heights, before.nodes, strength + first - 1.0, z)
        yield first, heights, means
        for pulls, operator in enumerate(_operators(heights, strength, z, first, last - 1, rules.steps), first + 1):
            means = means @ operator
            if pulls % AT_ONCE == 0:
                means[np.abs(means) < NOTHING] = 0.0
            yield pulls, heights, means


def _operators(heights: Heights, strength: float, z: float, first: int, last: int, order: int) -> Iterator[Array]:
    """Operators of the steps after first, ..., last - 1 pulls."""
    nodes = heights.nodes
    if last - first <= order:
        for pulls in range(first, last):
            yield _step_operator(heights, nodes, strength + pulls, z)
        return
    low, high = math.log(strength + first), math.log(strength + last)
    at = np.exp(low + 0.5 * (high - low) * (1.0 + chebyshev_nodes(order)[0]))
    known = np.stack([_step_operator(heights, nodes, worth, z).ravel() for worth in at.tolist()])
    where = 2.0 * (np.log(strength + np.arange(first, last)) - low) / (high - low) - 1.0
    shares = _nodal_functions(where, order)
    for some in range(0, last - first, AT_ONCE):
        yield from (shares[some : some + AT_ONCE] @ known).reshape(-1, len(nodes), len(nodes))


def _step_operator(heights: Heights, start: Array, worth: float, z: float) -> Array:
    scale, noise = _step(worth)
    return _operator(heights, scale * start - (scale - 1.0) * z, noise)


def _operator(heights: Heights, centre: Array, noise: float) -> Array:
    """Row by row: the means of the nodal functions at centre + noise times a standard normal, where it is above 0."""
    made = np.zeros((len(centre), len(heights.nodes)))
    if noise >= 1.0:
        points, weights = gauss_rule(heights.edges, heights.order + 4)
        off = (points - centre[:, None]) / noise
        shares = np.exp(-0.5 * off * off) * (weights / (SQRT_2PI * noise))
        _add_values(heights, np.arange(len(centre)), np.broadcast_to(points, off.shape), shares, made)
        return made
    far = centre > REACH * noise
    xi = np.linspace(-REACH, REACH, 1 + math.ceil(2.0 * REACH / TRAPEZOID))
    share = np.exp(-0.5 * xi * xi)
    rows = np.flatnonzero(far)
    _add_values(heights, rows, centre[rows, None] + noise * xi, share / share.sum(), made)
    rows = np.flatnonzero(~far & (centre > -REACH * noise))
    low = np.maximum(-REACH, -centre[rows] / noise)[:, None]
    unit, weights = gauss_rule(np.linspace(0.0, 1.0, PARTS + 1), heights.order)
    xi = low + (REACH - low) * unit
    shares = (REACH - low) * weights * np.exp(-0.5 * xi * xi) / SQRT_2PI
    _add_values(heights, rows, centre[rows, None] + noise * xi, shares, made)
    return made


def _add_values(heights: Heights, rows: Ints, at: Array, shares: Array, made: Array) -> None:
    """Add shares of the nodal functions' values at heights, a row of them for each of `rows`; arms above the last edge
    never come back."""
    edges, order = heights.edges, heights.order
    panel = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)
    left, right = edges[panel], edges[panel + 1]
    values = _nodal_functions((2.0 * at - left - right) / (right - left), order)
    values *= np.where(at > edges[-1], 0.0, shares)[..., None]
    places = (rows[:, None] * made.shape[1] + panel * order)[..., None] + np.arange(order)
    made += np.bincount(places.ravel(), values.ravel(), minlength=made.size).reshape(made.shape)


def _nodal_functions(at: Array, order: int) -> Array:
    """Their values, along a last axis, at points from -1 to 1."""
    nodes, weights = chebyshev_nodes(order)
    off = np.clip(at, -1.0, 1.0)[..., None] - nodes
    off[off == 0.0] = 1e-200
    values = weights / off
    return values / values.sum(axis=-1, keepdims=True)


def whole_sum_rule(first: int, last: int, order: int, growth: float) -> tuple[Ints, Array]:
    """Whole numbers k and weights so that the weighted sum of f(k) is f(first) + ... + f(last - 1) for f that is smooth
    in log k: on each block the rule is exact for polynomials, at numbers next to those of Gauss's rule."""
    edges = [first]
    while edges[-1] < last:
        edges.append(min(last, max(edges[-1] + order, int(growth * edges[-1]))))
    numbers, weights = [np.zeros(0, np.int64)], [np.zeros(0)]
    for start, end in itertools.pairwise(edges):
        every = np.arange(start, end)
        here = every
        if len(every) > 2 * order:
            points, _ = gauss_rule(np.array([start - 0.5, end - 0.5]), order)
            here = np.unique(np.rint(points).astype(np.int64))
        legendre = [
            np.polynomial.legendre.legvander((2.0 * k - start - end + 1.0) / (end - start), len(here) - 1)
            for k in (here, every)
        ]
        numbers.append(here)
        weights.append(
            np.linalg.solve(legendre[0].T, legendre[1].sum(axis=0)) if here is not every else np.ones(len(here))
        )
    return np.concatenate(numbers), np.concatenate(weights)
