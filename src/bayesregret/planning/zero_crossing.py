"""Zero crossing of a function that is known with errors, and its confidence interval."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from bayesregret.simulation.estimates import Estimate

# A normal variable is within this many standard errors of its mean with probability 95 percent.
Z_95 = 1.96


class Crossing(NamedTuple):
    """A zero crossing and its 95 percent confidence interval; an end that was not found is the end of the range."""

    at: float
    low: float
    high: float


class SampledFunction(NamedTuple):
    """Estimates of a function at increasing points."""

    points: tuple[float, ...]
    values: tuple[Estimate, ...]

    def crossing(self) -> Crossing | None:
        """Last point at which the mean rises above zero; None if it is above zero everywhere or not at the end."""
        at = self.last_rise(0.0)
        if at is None:
            return None
        late = self.last_rise(-Z_95)
        return Crossing(at, min(self.earliest(), at), self.points[-1] if late is None else max(late, at))

    def earliest(self) -> float:
        """Lower end of the interval of the last rise; the first or last point if it is not within the range."""
        if _shifted_mean(self.values[-1], Z_95) <= 0.0:
            return self.points[-1]
        early = self.last_rise(Z_95)
        return self.points[0] if early is None else early

    def last_rise(self, errors: float) -> float | None:
        """Last point at which the mean plus this many standard errors rises above zero, linear between points."""
        heights = [_shifted_mean(value, errors) for value in self.values]
        if heights[-1] <= 0.0 or all(height > 0.0 for height in heights):
            return None
        i = max(i for i, height in enumerate(heights) if height <= 0.0)
        fraction = -heights[i] / (heights[i + 1] - heights[i]) if math.isfinite(heights[i + 1]) else 1.0
        return self.points[i] + fraction * (self.points[i + 1] - self.points[i])


def is_significantly_positive(value: Estimate) -> bool:
    return _shifted_mean(value, -Z_95) > 0.0


def _shifted_mean(value: Estimate, errors: float) -> float:
    return value.mean + errors * value.stderr if errors else value.mean


def _ends_significantly_positive(sampled: SampledFunction) -> bool:
    return len(sampled.values) > 1 and is_significantly_positive(sampled.values[-1])


def search(
    function: Callable[[float], Estimate],
    points: Iterable[float],
    steps: int,
    snap: Callable[[float], float] = float,
    is_enough: Callable[[SampledFunction], bool] = _ends_significantly_positive,
) -> SampledFunction:
    """Evaluate a function at increasing points until `is_enough`, then bisect around its last crossing.

    By default it is enough that the function is significantly positive. `snap` maps midpoints to points that may be
    evaluated, for example whole numbers.
    """
    found: dict[float, Estimate] = {}
    for point in points:
        found[point] = function(point)
        if is_enough(_sampled(found)):
            break
    for _ in range(steps):
        middle = _bisection_point(_sampled(found))
        if middle is None or snap(middle) in found:
            break
        found[snap(middle)] = function(snap(middle))
    return _sampled(found)


def _sampled(found: dict[float, Estimate]) -> SampledFunction:
    points = sorted(found)
    return SampledFunction(tuple(points), tuple(found[point] for point in points))


def _bisection_point(sampled: SampledFunction) -> float | None:
    """Midpoint of the two points that enclose the crossing."""
    crossing = sampled.crossing()
    if crossing is None:
        return None
    pairs = itertools.pairwise(sampled.points)
    low, high = next((low, high) for low, high in pairs if low <= crossing.at <= high)
    return 0.5 * (low + high)
