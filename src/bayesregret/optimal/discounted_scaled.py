"""Discounted stopping problems of arms whose posteriors differ in location and scale alone.

After k pulls all that matters is t = (m - y) / s, where s is the posterior's scale: W = s w_k(t). The next mean and
scale are m + s * shift and s * factor, where the law of (shift, factor) depends on k alone. For every stopping rule, as
a function of shifts and factors, the payoff is linear in (m - y, s). So W is convex and homogeneous in both, and
W(p + q) <= W(p) + W(q).

Between points W is replaced by straight lines, and the law of (shift, factor) by masses at points. Both only raise it.
Values are multiplied by 1 - g. Far above 0, w(t) is at most t plus a constant.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from bayesregret.checks import Array
from bayesregret.optimal.discounted_stages import Stage, make_stages

LINEAR = 2.0  # deviations around 0 in which points are nearly even; farther out they are in geometric progression
FARTHEST = 1e12  # in deviations
NEGLIGIBLE = 1e-13  # of a deviation


class Steps(NamedTuple):
    """Points that spread the law of the next mean and scale, and what is left out of it.

    What is beyond the last points adds at most the sum of `rest` times w(rest_at).
    """

    weights: Array
    shifts: Array
    factors: Array
    rest: Array
    rest_at: Array


class ScaledArm(Protocol):
    """One arm of a location-scale family; everything is in units of the posterior's scale."""

    pseudo_count: float

    def deviation(self, pulls: float) -> float:
        """Typical deviation of the mean reward from its posterior mean after these pulls."""
        ...

    def excess(self, pulls: float, t: Array) -> tuple[Array, Array]:
        """E(theta - y)^+ and E(y - theta)^+, where the posterior mean is t above y."""
        ...

    def steps(self, pulls: float, length: int, fineness: int) -> list[Steps]:
        """What the next `length` rewards do to mean and scale, in independent parts; `fineness` points per deviation.

        Every part but the first multiplies the scale alone, by at least 1.
        """
        ...


class Accuracy(NamedTuple):
    """All these may be refined independently; every choice overestimates W."""

    growth: float = 0.05  # of the pseudo-count in a block
    points: int = 72  # per deviation
    fineness: int = 30  # points per deviation of a step

    def coarser(self, times: float) -> Accuracy:
        return Accuracy(self.growth * times, round(self.points / times), round(self.fineness / times))


class ScaledSurplus(NamedTuple):
    """(1 - g) w as a function of t: straight lines between points, of slope 1 beyond the last; at least 0."""

    points: Array
    values: Array

    def __call__(self, t: Array) -> Array:
        beyond = np.maximum(t - self.points[-1], 0.0)
        return np.asarray(np.maximum(np.interp(t, self.points, self.values) + beyond, 0.0))


def solve_scaled(arm: ScaledArm, horizon: int, accuracy: Accuracy) -> ScaledSurplus:
    """Return (1 - g) w before the first pull; negative values, where stopping is better, count as 0."""
    stages = make_stages(horizon, arm.pseudo_count, accuracy.growth)
    later: ScaledSurplus | None = None
    for number in range(len(stages) - 1, -1, -1):
        stage = stages[number]
        points = _points(arm, stage, accuracy.points)
        ahead, under = arm.excess(stage.revealed, points)
        if later is not None:
            length = stages[number + 1].revealed - stage.revealed
            ahead = _ahead(later, points, arm.steps(stage.revealed, length, accuracy.fineness))
        values = stage.gain * points + stage.discount * ahead
        values[-1] = points[-1] + under[-1]  # the mean itself is known there
        later = _with_zero(points, values)
    assert later is not None
    return later


def _points(arm: ScaledArm, stage: Stage, per_deviation: int) -> Array:
    """From where the arm is never pulled, even if all is revealed after the block, to where it is never given up."""
    unit = arm.deviation(stage.revealed)

    def place(step: Array) -> Array:
        return unit * LINEAR * np.sinh(step / (LINEAR * per_deviation))

    last = math.ceil(LINEAR * per_deviation * math.asinh(FARTHEST / LINEAR))
    coarse = np.unique(np.append(np.arange(0, last, max(1, per_deviation // 4)), last)).astype(np.float64)
    far = place(coarse)
    dead = stage.discount * arm.excess(stage.revealed, -far)[0] <= stage.gain * far
    sure = arm.excess(stage.revealed, far)[1] <= NEGLIGIBLE * unit
    low, high = (int(coarse[np.argmax(hits)]) if hits.any() else last for hits in (dead, sure))
    return place(np.arange(-low, high + 1, dtype=np.float64))


def _ahead(later: ScaledSurplus, points: Array, steps: list[Steps]) -> Array:
    """Expected value at the next decision."""
    for part in steps[:0:-1]:
        wider = np.append(later.points[0] * part.factors[::-1], later.points)  # nothing is lost at the low end
        wider = np.unique(wider)
        later = ScaledSurplus(wider, _expected(later, wider, part))
    return _expected(later, points, steps[0])


def _expected(later: ScaledSurplus, points: Array, step: Steps) -> Array:
    found = later((points[:, None] + step.shifts) / step.factors) @ (step.weights * step.factors)
    return np.asarray(found + step.rest @ later(step.rest_at))


def _with_zero(points: Array, values: Array) -> ScaledSurplus:
    """Add the point where the straight lines cross 0, so that max(0, .) has its kink at a point."""
    first = int(np.searchsorted(values > 0.0, True))
    if first == 0:
        return ScaledSurplus(points, values)
    left, right = values[first - 1], values[first]
    zero = points[first - 1] - (points[first] - points[first - 1]) * left / (right - left)
    return ScaledSurplus(np.insert(points, first, zero), np.insert(values, first, 0.0))
