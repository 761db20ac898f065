"""Where a function that is known with errors crosses zero, and where it may do so."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from bayesregret.simulation.result import Estimate

# A normal variable is within so many standard errors of its mean in 95 of 100 cases.
SURE = 1.96


class Crossing(NamedTuple):
    """Where it crosses, and a 95 percent confidence interval; an end that was not found is the range's own."""

    at: float
    low: float
    high: float


class Sweep(NamedTuple):
    """What was found at each point that was looked at, in order."""

    points: tuple[float, ...]
    values: tuple[Estimate, ...]

    def crossing(self) -> Crossing | None:
        """Where the mean rises above zero for good; None if it is not above zero at the end, or above it everywhere."""
        at = self.rise(0.0)
        if at is None:
            return None
        late = self.rise(-SURE)
        return Crossing(at, min(self.earliest(), at), self.points[-1] if late is None else max(late, at))

    def earliest(self) -> float:
        """Where it may rise above zero already: at an end of what was looked at if that is not found."""
        if _plus(self.values[-1], SURE) <= 0.0:
            return self.points[-1]
        early = self.rise(SURE)
        return self.points[0] if early is None else early

    def rise(self, errors: float) -> float | None:
        """Where the mean plus so many standard errors rises above zero for good, linear between the points."""
        heights = [_plus(value, errors) for value in self.values]
        if heights[-1] <= 0.0 or all(height > 0.0 for height in heights):
            return None
        i = max(i for i, height in enumerate(heights) if height <= 0.0)
        share = -heights[i] / (heights[i + 1] - heights[i]) if math.isfinite(heights[i + 1]) else 1.0
        return self.points[i] + share * (self.points[i + 1] - self.points[i])


def surely_above(value: Estimate) -> bool:
    return _plus(value, -SURE) > 0.0


def _plus(value: Estimate, errors: float) -> float:
    return value.mean + errors * value.stderr if errors else value.mean


def _ends_surely_above(sweep: Sweep) -> bool:
    return len(sweep.values) > 1 and surely_above(sweep.values[-1])


def search(
    function: Callable[[float], Estimate],
    points: Iterable[float],
    steps: int,
    snap: Callable[[float], float] = float,
    is_enough: Callable[[Sweep], bool] = _ends_surely_above,
) -> Sweep:
    """The function at the rising points until that is enough, then so many steps closer to where it crosses last.

    It is enough where the function is surely above zero, unless another rule is given. Points in between are those that
    `snap` makes of the middles, whole numbers for example.
    """
    found: dict[float, Estimate] = {}
    for point in points:
        found[point] = function(point)
        if is_enough(_in_order(found)):
            break
    for _ in range(steps):
        closer = _between(_in_order(found))
        if closer is None or snap(closer) in found:
            break
        found[snap(closer)] = function(snap(closer))
    return _in_order(found)


def _in_order(found: dict[float, Estimate]) -> Sweep:
    points = sorted(found)
    return Sweep(tuple(points), tuple(found[point] for point in points))


def _between(sweep: Sweep) -> float | None:
    """The middle of the two points between which it crosses."""
    crossing = sweep.crossing()
    if crossing is None:
        return None
    pairs = itertools.pairwise(sweep.points)
    low, high = next((low, high) for low, high in pairs if low <= crossing.at <= high)
    return 0.5 * (low + high)
