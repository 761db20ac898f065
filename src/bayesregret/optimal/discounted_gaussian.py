"""The discounted stopping problem of a Gaussian arm: give up for good at the best time, with discount 1 - 1/n.

With noise 1 and precision q (prior pseudo-count plus pulls), let c(x) be the margin, divided by n, of an arm whose
posterior mean is x above the charge. Far above the charge c(x) = x. One recursion from the last decision to the first
serves all charges and all means, because only their difference matters.

Decisions are for one pull each at first, later for blocks whose lengths grow with the pulls. The rewards of a block but
for its last are shown before the decision: the arm can only be worth more that way, so a bound from below on regret
stays one (docs/theory/certified-lower.md). After the last decision the arm is pulled forever or never again.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel
from bayesregret.optimal.gaussian_lattice import (
    BELOW,
    POINTS,
    REACH,
    SPARE,
    STENCIL,
    SURE,
    drop_every_other,
    end_rule,
    expected_margin,
    fill_kernel,
    fill_line,
    find_zero,
    last_zero,
    make_lattice,
    one_step_earlier,
    weight_end,
    weight_start,
)

# Discount after the last decision.
NEGLIGIBLE = 1e-8
# Blocks are at most this fraction of the pulls, the prior pseudo-count included up to this fraction of a horizon.
LONGEST_BLOCK, LONGEST_FOR_INDICES, START = 1e-3, 5e-4, 0.05
# Discrete stopping boundaries lie this many standard deviations of a step inside those of continuous time (Chernoff).
DISCRETE_SHIFT = 0.5826


class Schedule(NamedTuple):
    """Decisions from the first on: pulls made before each, and what it commits to."""

    pulls: Array
    lengths: Array  # pulls that a decision commits to
    discounts: Array  # over these pulls
    pays: Array  # 1 - discount: the payment of a mean 1 above the charge, divided by n

    @property
    def known(self) -> Array:
        """Rewards that each decision knows, none at the first: all but as many as that one commits to."""
        return np.asarray(self.pulls + (self.lengths - self.lengths[0]))


@dataclass(frozen=True, eq=False)
class DiscountedGaussian:
    """Solution of the stopping problem of an arm with noise 1.

    Attributes
    ----------
    pulls : ndarray
        Numbers of pulls at which `widths` are known, from 0.
    widths : ndarray
        The index minus the posterior mean after these pulls.
    neglected : float
        How much more the arm can be worth, divided by the horizon, if its mean is shown after the last decision.
    """

    pulls: Array
    widths: Array
    neglected: float
    _values: Array  # weighted margins at the second decision
    _place: tuple[int, int, float]  # first and last lattice point, spacing
    _step: tuple[float, float, float]  # deviation of the first step, pay and discount of the first decision

    def margin(self, x: Array) -> tuple[Array, Array]:
        """Return c(x) at the first decision and its slope, for means that are x above the charge."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        heights, slopes = np.empty_like(x), np.empty_like(x)
        compile_kernel(_margins)(x, self._values, *self._place, *self._step, heights, slopes)
        return heights, slopes


def make_schedule(pseudo_count: float, horizon: float, longest: float = LONGEST_BLOCK, whole: bool = True) -> Schedule:
    """Return decisions of one pull each, then of blocks, until the discount is negligible.

    A bound needs blocks of `whole` pulls, the first of one. But where such blocks get longer, widths have kinks, of up
    to two percent. Without `whole` they are smooth.
    """
    end = horizon * -math.log(NEGLIGIBLE)
    base = min(pseudo_count, START * horizon)
    starts, at = [0.0], 1.0 if whole else max(1.0, longest * base)
    while at < end:
        starts.append(at)
        length = max(1.0, longest * (base + at))
        at += math.floor(length) if whole else length
    pulls = np.array(starts)
    lengths = np.diff(np.append(pulls, at))
    logarithms = lengths * (math.log1p(-1.0 / horizon) if horizon > 1 else -math.inf)
    return Schedule(pulls, lengths, np.exp(logarithms), -np.expm1(logarithms))


@functools.lru_cache(maxsize=64)
def discounted_gaussian(
    pseudo_count: float, horizon: float, points: int = POINTS, longest: float = LONGEST_BLOCK, whole: bool = True
) -> DiscountedGaussian:
    """Solve the stopping problem with discount 1 - 1/horizon of an arm with noise 1 and this prior pseudo-count."""
    schedule = make_schedule(pseudo_count, horizon, longest, whole)
    known = schedule.known
    precisions = pseudo_count + known
    deviations = np.sqrt(np.diff(precisions) / (precisions[1:] * precisions[:-1]))
    learning = np.sqrt((precisions[-1] - precisions) / (precisions[-1] * precisions))
    widths = np.empty(len(precisions))
    lattice = make_lattice(_longest(learning, deviations, points))
    bottom, top, spacing, swapped = compile_kernel(_sweep_back)(
        learning,
        deviations,
        np.minimum.accumulate(deviations),
        schedule.pays,
        schedule.discounts,
        points,
        end_rule(),
        lattice,
        widths,
    )
    values = lattice.earlier if swapped else lattice.now
    middle = len(values) // 2
    first = (float(deviations[0]), float(schedule.pays[0]), float(schedule.discounts[0]))
    unit = 1.0 / np.sqrt(precisions * (precisions + 1.0))[:-1]
    widths[:-1] += DISCRETE_SHIFT * np.where(schedule.lengths[:-1] > 1, deviations - unit, 0.0)
    return DiscountedGaussian(
        known[:-1],
        widths[:-1],
        float(np.exp(-(schedule.pulls[-1] + schedule.lengths[-1]) / horizon) / np.sqrt(2.0 * np.pi * precisions[-1])),
        values[middle + bottom : middle + top + 1].copy(),
        (bottom, top, spacing),
        first,
    )


def solve_for_indices(pseudo_count: float, lifetime: float) -> DiscountedGaussian:
    """Solve the stopping problem for its widths, smooth in the pulls and within 0.02 percent."""
    return discounted_gaussian(pseudo_count, lifetime, longest=LONGEST_FOR_INDICES, whole=False)


def _longest(learning: Array, deviations: Array, points: int) -> int:
    """Lattice points on each side that suffice for all decisions."""
    least = np.minimum.accumulate(deviations)
    reach = math.ceil(REACH * float(np.max(deviations / least)) * 2 * points) + 1
    farthest = math.ceil(SURE * float(np.max(learning[:-1] / least)) * 2 * points)
    return farthest + 4 * reach + 4 * STENCIL + 2 * SPARE


def _sweep_back(
    learning: Array,
    deviations: Array,
    least: Array,
    pays: Array,
    discounts: Array,
    points: int,
    rule: Any,
    lattice: Any,
    widths: Any,
) -> Any:
    """Write the widths of all decisions; leave weighted margins at the second decision in one of the two buffers.

    `learning` is the standard deviation of all that is learned later, `least` that of the shortest step up to a
    decision: its lattice serves all earlier steps, too. Returns the first and last point, the spacing, and whether the
    margins are in the second buffer.
    """
    now, earlier = lattice.now, lattice.earlier
    middle = now.shape[0] // 2
    last = deviations.shape[0]
    spacing = least[last - 1] / points
    zero, top = 0.0, 0
    widths[last] = 0.0
    for i in range(-SPARE, 1):
        now[middle + i] = spacing * i
    for i in range(last - 1, 0, -1):
        if least[i] >= 2 * points * spacing:
            spacing, zero, top = 2.0 * spacing, 0.5 * zero, top // 2
            drop_every_other(now, middle, math.ceil(zero) - BELOW, top)
        reach = math.ceil(REACH * deviations[i] / spacing)
        new_top = math.ceil(SURE * learning[i] / spacing)
        fill_line(now, middle, top + 1, new_top + reach, spacing)
        weight_start(now, middle, zero, rule)
        fill_kernel(lattice.kernel, reach, spacing / deviations[i])
        first = one_step_earlier(
            now, earlier, lattice.kernel, middle, zero, new_top, reach, pays[i] * spacing, discounts[i]
        )
        zero, top = find_zero(earlier, middle, first), new_top
        widths[i] = -zero * spacing
        now, earlier = earlier, now
    end = max(top, math.ceil(zero) + 2 * STENCIL)
    fill_line(now, middle, top + 1, end, spacing)
    weight_start(now, middle, zero, rule)
    weight_end(now, middle, end, rule)
    bottom = math.ceil(zero) - BELOW
    widths[0] = -last_zero(now, middle, bottom, end, spacing, deviations[0], pays[0], discounts[0], 1.0)
    return bottom, end, spacing, (last - 1) % 2 == 1


def _margins(
    x: Array,
    values: Array,
    bottom: int,
    top: int,
    spacing: float,
    deviation: float,
    pay: float,
    discount: float,
    heights: Array,
    slopes: Array,
) -> None:
    for i in range(x.shape[0]):
        height, slope = expected_margin(values, -bottom, bottom, top, spacing, x[i], deviation, 1.0)
        heights[i] = pay * x[i] + discount * height
        slopes[i] = pay + discount * slope
