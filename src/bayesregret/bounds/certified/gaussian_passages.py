"""Joint distribution of a Gaussian arm's mean and its index's first passage below thresholds.

first_passage_gaussian.py integrates these tables. All arms of a Gaussian bandit are one arm, shifted, so one table
serves them all. Lengths are in prior widths, thresholds are measured from the prior mean, and the arm's mean from the
threshold: for a fixed offset everything is smooth in the threshold on the scale of the prior; in the offset it is as
sharp as the last posterior.

After k pulls write x = (posterior mean - threshold) / posterior standard deviation. The next x is sqrt(1 + e) x +
sqrt(e) times a standard normal, e = 1 / (pseudo_count + k), and the index is below the threshold when x < -z. Heights
are x + z. As for the exact regret, expectations of functions of the height are propagated through their values at nodes
on panels. A step depends on e alone, smoothly, so its operator is computed for a few e and interpolated for all others,
which needs no compiled kernel.
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

# Normal variables are truncated at this many standard deviations: a mass of 5e-12.
TAIL = 6.8
SQRT_2PI = math.sqrt(2.0 * math.pi)
# Panels of heights: the first in units of a step's noise, the longest in posterior standard deviations.
FIRST_PANEL, PANEL = 1.5, 1.5
# Panels of thresholds: the first in standard deviations of the posterior mean after a pull, the others in prior widths.
FIRST_THRESHOLD_PANEL, THRESHOLD_PANEL = 1.8, 2.4
# Panels are renewed when the posterior pseudo-count has grown by this factor.
STRETCH = 2.0
# Far from the barrier, a trapezoidal rule with step TRAPEZOID up to REACH; nearer, a Gauss rule on each of PARTS parts.
REACH, TRAPEZOID, PARTS = 7.0, 0.7, 5
# Smaller expectations are set to 0: denormal numbers would slow every product down.
NEGLIGIBLE = 1e-30
BATCH = 8
# Least number of steps of the offset rule, divided by the step length: for posteriors hardly sharper than the prior.
FEWEST_STEPS = 27

Ints = NDArray[np.int64]


class Passages(NamedTuple):
    """Tables with thresholds as rows, at Chebyshev points of panels by depth below the first index, offsets as columns.

    T is the number of pulls after which the index is first below the threshold; "mean" stands for the event that the
    arm's mean is at most the threshold plus the offset.
    """

    horizon: int
    top: float  # the index before the first pull
    edges: Array  # of panels, as depths below `top`
    order: int
    offsets: Array
    weights: Array  # of a rule for integrals over the offset
    passed: Array  # P(T < horizon, mean)
    density: Array  # derivative of `passed` in the offset
    passed_overall: Array  # P(T < horizon), by threshold
    pulls: Array  # E[min(horizon, T); mean]


class Rules(NamedTuple):
    """Numbers of points of the component rules, by the requested order."""

    heights: int
    steps: int
    thresholds: int
    sums: int
    overshoots: int
    offsets: float  # the step of the rule

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
def passages(pseudo_count: float, z: float, horizon: int, order: int) -> Passages:
    """Tables of an arm with this prior pseudo-count, for an index of z posterior standard deviations."""
    rules = Rules.of(order)
    offsets, weights = _offset_rule(pseudo_count, z, horizon, rules.offsets)
    edges = graded_panels(min(FIRST_THRESHOLD_PANEL / math.sqrt(1.0 + pseudo_count), 1.5), THRESHOLD_PANEL, z + TAIL)
    thresholds = z - on_panels(edges, rules.thresholds)
    below = ndtr(thresholds[:, None] + offsets)
    found = Passages(
        horizon,
        z,
        edges,
        rules.thresholds,
        offsets,
        weights,
        np.zeros_like(below),
        np.zeros_like(below),
        np.zeros(len(thresholds)),
        np.where(offsets <= 0.0, 1.0, horizon) * below,
    )
    if horizon > 1:
        _first_pull(found, pseudo_count, thresholds, below)
        _later_pulls(found, pseudo_count, thresholds, rules)
    return found


def _offset_rule(pseudo_count: float, z: float, horizon: int, step: float) -> tuple[Array, Array]:
    """Offsets of the mean from the threshold, and the trapezoidal rule on them: as dense as the last posterior is sharp
    near 0, with spacing proportional to their size elsewhere."""
    sharpest = 0.7 * math.sqrt(pseudo_count / (pseudo_count + (horizon - 1.0)))
    stretch = z + 4.0
    low, high = (stretch * math.asinh(end / (stretch * sharpest)) for end in (-z - TAIL, max(0.0, TAIL - z)))
    u, h = np.linspace(low, high, 1 + max(math.ceil((high - low) / step), round(FEWEST_STEPS / step)), retstep=True)
    return stretch * sharpest * np.sinh(u / stretch), h * sharpest * np.cosh(u / stretch)


def _first_pull(found: Passages, pseudo_count: float, thresholds: Array, below: Array) -> None:
    """Add passages at the first pull: the reward and the mean are jointly normal (Owen 1956)."""
    root, z = math.sqrt(pseudo_count), found.top
    # In standard deviations of the first reward: below this value the index is below the threshold.
    reward = math.sqrt(1.0 + pseudo_count) * thresholds - z * root
    given_mean = (root * thresholds - z * math.sqrt(1.0 + pseudo_count))[:, None] - found.offsets / root
    given_reward = found.offsets * math.sqrt((1.0 + pseudo_count) / pseudo_count) + z
    mean, limit = _not_zero(thresholds[:, None] + found.offsets), _not_zero(reward[:, None])
    with np.errstate(over="ignore"):
        both = 0.5 * (below + ndtr(limit)) - owens_t(mean, given_mean / mean) - owens_t(limit, given_reward / limit)
    both = np.maximum(0.0, both - 0.5 * ((mean < 0.0) != (limit < 0.0)))
    found.passed[:] += both
    found.density[:] += np.exp(-0.5 * mean * mean) / SQRT_2PI * ndtr(given_mean)
    found.passed_overall[:] += ndtr(reward)
    found.pulls[:, found.offsets > 0.0] -= (found.horizon - 1.0) * both[:, found.offsets > 0.0]


def _not_zero(x: Array) -> Array:
    return np.where(x == 0.0, 1e-200, x)


def _later_pulls(found: Passages, pseudo_count: float, thresholds: Array, rules: Rules) -> None:
    """Add passages after two or more pulls, and the pulls made while the index is above the threshold.

    For offsets up to 0, E[min(horizon, T); mean] is summed pull by pull; for others, exits are subtracted from the
    total: so neither is a small difference of large numbers.
    """
    horizon, z, offsets = found.horizon, found.top, found.offsets
    mean_below = offsets <= 0.0
    every, weights = whole_sum_rule(1, horizon - 1, rules.sums, math.exp(min(0.9, 3.6 / max(z, 1.0))))
    weight = dict(zip(every.tolist(), weights.tolist(), strict=True)) | {horizon - 1: 1.0}
    for pulls, heights, means in _chain(pseudo_count, z, thresholds, horizon, rules):
        if pulls not in weight:
            continue
        sharpness = math.sqrt((pseudo_count + pulls) / pseudo_count)
        found.pulls[:, mean_below] += weight[pulls] * (
            means @ ndtr(offsets[mean_below] * sharpness + (z - heights.nodes)[:, None])
        )
        if pulls == horizon - 1:
            break
        scale, noise = _step(pseudo_count + pulls)
        drift = (scale - 1.0) * z
        points, point_weights = gauss_rule(np.linspace(0.0, TAIL + drift / noise, 3), rules.overshoots)
        off = points + ((scale * heights.nodes - drift) / noise)[:, None]
        mass = (means @ np.exp(-0.5 * off * off)) * (weight[pulls] / SQRT_2PI * point_weights)
        sharpness = math.sqrt((pseudo_count + pulls + 1.0) / pseudo_count)
        mean = offsets * sharpness + (z + noise * points)[:, None]
        passed = mass @ ndtr(mean)
        found.passed[:] += passed
        found.density[:] += mass @ np.exp(-0.5 * mean * mean) * (sharpness / SQRT_2PI)
        found.passed_overall[:] += mass.sum(axis=1)
        found.pulls[:, ~mean_below] -= (horizon - pulls - 1.0) * passed[:, ~mean_below]


def _step(posterior_count: float) -> tuple[float, float]:
    """Scale and noise of a step from a posterior with this pseudo-count."""
    return math.sqrt(1.0 + 1.0 / posterior_count), math.sqrt(1.0 / posterior_count)


def _chain(
    pseudo_count: float, z: float, thresholds: Array, horizon: int, rules: Rules
) -> Iterator[tuple[int, Heights, Array]]:
    """Yield, after 1, 2, ... pulls: panels of heights, and the expectations of their nodal functions, per threshold."""
    starts = [1]
    while starts[-1] < horizon:
        starts.append(min(horizon, max(starts[-1] + 1, int(STRETCH * (pseudo_count + starts[-1]) - pseudo_count))))
    heights, means = None, np.zeros((0, 0))
    for first, last in itertools.pairwise(starts):
        edges = graded_panels(FIRST_PANEL / math.sqrt(pseudo_count + last), PANEL, z + TAIL)
        before, heights = heights, Heights(edges, on_panels(edges, rules.heights), rules.heights)
        if before is None:
            scale, noise = _step(pseudo_count)
            means = _operator(heights, z - scale * thresholds, noise)
        else:
            means = means @ _step_operator(heights, before.nodes, pseudo_count + first - 1.0, z)
        yield first, heights, means
        for pulls, operator in enumerate(_operators(heights, pseudo_count, z, first, last - 1, rules.steps), first + 1):
            means = means @ operator
            if pulls % BATCH == 0:
                means[np.abs(means) < NEGLIGIBLE] = 0.0
            yield pulls, heights, means


def _operators(heights: Heights, pseudo_count: float, z: float, first: int, last: int, order: int) -> Iterator[Array]:
    """Yield the operators of the steps after first, ..., last - 1 pulls."""
    nodes = heights.nodes
    if last - first <= order:
        for pulls in range(first, last):
            yield _step_operator(heights, nodes, pseudo_count + pulls, z)
        return
    low, high = math.log(pseudo_count + first), math.log(pseudo_count + last)
    at = np.exp(low + 0.5 * (high - low) * (1.0 + chebyshev_nodes(order)[0]))
    sampled = np.stack([_step_operator(heights, nodes, posterior_count, z).ravel() for posterior_count in at.tolist()])
    positions = 2.0 * (np.log(pseudo_count + np.arange(first, last)) - low) / (high - low) - 1.0
    coefficients = _nodal_functions(positions, order)
    for start in range(0, last - first, BATCH):
        yield from (coefficients[start : start + BATCH] @ sampled).reshape(-1, len(nodes), len(nodes))


def _step_operator(heights: Heights, start: Array, posterior_count: float, z: float) -> Array:
    scale, noise = _step(posterior_count)
    return _operator(heights, scale * start - (scale - 1.0) * z, noise)


def _operator(heights: Heights, centre: Array, noise: float) -> Array:
    """Rows: expectations of the nodal functions of centre + noise times a standard normal, where that is above 0."""
    operator = np.zeros((len(centre), len(heights.nodes)))
    if noise >= 1.0:
        points, weights = gauss_rule(heights.edges, heights.order + 4)
        off = (points - centre[:, None]) / noise
        masses = np.exp(-0.5 * off * off) * (weights / (SQRT_2PI * noise))
        _add_values(heights, np.arange(len(centre)), np.broadcast_to(points, off.shape), masses, operator)
        return operator
    far = centre > REACH * noise
    xi = np.linspace(-REACH, REACH, 1 + math.ceil(2.0 * REACH / TRAPEZOID))
    mass_shape = np.exp(-0.5 * xi * xi)
    rows = np.flatnonzero(far)
    _add_values(heights, rows, centre[rows, None] + noise * xi, mass_shape / mass_shape.sum(), operator)
    rows = np.flatnonzero(~far & (centre > -REACH * noise))
    low = np.maximum(-REACH, -centre[rows] / noise)[:, None]
    unit, weights = gauss_rule(np.linspace(0.0, 1.0, PARTS + 1), heights.order)
    xi = low + (REACH - low) * unit
    masses = (REACH - low) * weights * np.exp(-0.5 * xi * xi) / SQRT_2PI
    _add_values(heights, rows, centre[rows, None] + noise * xi, masses, operator)
    return operator


def _add_values(heights: Heights, rows: Ints, at: Array, masses: Array, operator: Array) -> None:
    """Add the nodal functions' values at heights, times their masses, one row of heights for each of `rows`; arms above
    the last edge never come back."""
    edges, order = heights.edges, heights.order
    panel = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)
    left, right = edges[panel], edges[panel + 1]
    values = _nodal_functions((2.0 * at - left - right) / (right - left), order)
    values *= np.where(at > edges[-1], 0.0, masses)[..., None]
    places = (rows[:, None] * operator.shape[1] + panel * order)[..., None] + np.arange(order)
    operator += np.bincount(places.ravel(), values.ravel(), minlength=operator.size).reshape(operator.shape)


def _nodal_functions(at: Array, order: int) -> Array:
    """Values of the nodal functions, along a last axis, at points from -1 to 1."""
    nodes, weights = chebyshev_nodes(order)
    off = np.clip(at, -1.0, 1.0)[..., None] - nodes
    off[off == 0.0] = 1e-200
    values = weights / off
    return values / values.sum(axis=-1, keepdims=True)


def whole_sum_rule(first: int, last: int, order: int, growth: float) -> tuple[Ints, Array]:
    """Whole numbers k and weights whose weighted sum of f(k) is f(first) + ... + f(last - 1), for f smooth in log k: on
    each block the rule is exact for polynomials, at the whole numbers nearest to the Gauss points."""
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
