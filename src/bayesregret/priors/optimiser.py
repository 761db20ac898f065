"""The highest point of a likelihood, its curvature there, and how far it stays high."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from bayesregret.checks import Array

Function = Callable[[Array], float]

STEP = 1e-3  # of differences, where one unit matters: errors are of the order of its square
POLISHING_STEPS = 4
# A likelihood that loses no more than this at a limit has its highest point there.
FLAT = 1e-5
LEAST_LOSS = 1e-10  # that is told from rounding
HOPELESS = 10.0  # lost at a limit before the other coordinates move: they do not win that back
SETTLED = 1e-6
# Upper limits are told to two digits.
TOLD, LITTLE = 0.01, 0.01


class Optimum(NamedTuple):
    """Where a function of a few coordinates is highest, each within its limits."""

    x: Array
    value: float
    at_limit: NDArray[np.bool_]

    @property
    def free(self) -> list[int]:
        return np.flatnonzero(~self.at_limit).tolist()


def highest(function: Function, rough: Function, starts: Sequence[Array], limits: Array, may_vanish: int) -> Optimum:
    """From the best of several starts to the highest point; one coordinate is put at its lower limit where that is as
    high.

    `rough` is about the same function, and quicker. `limits` is (coordinates, 2).
    """
    x = _climb(rough, max(starts, key=rough), limits)
    fixed = _at_limit(x, limits)
    if not _is_curved(function, x, np.flatnonzero(~fixed).tolist()):
        # No top: where one direction is steep and another flat, the climb may have stopped on the way.
        x = _climb(function, x, limits, loss=LEAST_LOSS)
        fixed = _at_limit(x, limits)
    at_end = x.copy()
    at_end[may_vanish] = limits[may_vanish, 0]
    if not function(at_end) < function(x) - HOPELESS:
        at_end = _climb(function, at_end, limits, [i for i in range(len(x)) if i != may_vanish])
        if function(at_end) >= function(x) - FLAT:
            x, fixed[may_vanish] = at_end, True
    x = _polished(function, x, limits, np.flatnonzero(~fixed).tolist())
    return Optimum(x, function(x), fixed)


def _at_limit(x: Array, limits: Array) -> NDArray[np.bool_]:
    return (x - limits[:, 0] < STEP) | (limits[:, 1] - x < STEP)


def _is_curved(function: Function, x: Array, free: list[int]) -> bool:
    return not free or _is_positive(derivatives(function, x, free)[1])


def _climb(function: Function, start: Array, limits: Array, free: list[int] | None = None, loss: float = 1e-6) -> Array:
    """Uphill along the free coordinates, until a step wins no more than `loss`."""
    free = list(range(len(start))) if free is None else free
    x = np.clip(start, limits[:, 0], limits[:, 1])
    if not free:
        return x

    def less(part: Array) -> float:
        at = x.copy()
        at[free] = part
        return -function(at)

    share = loss / max(1.0, abs(function(x)))
    found = minimize(less, x[free], method="L-BFGS-B", bounds=limits[free], options={"ftol": share})
    x = x.copy()
    x[free] = found.x
    return x


def _polished(function: Function, x: Array, limits: Array, free: list[int]) -> Array:
    """Newton's steps, as long as they lead uphill: differences of first order leave the last digits to them."""
    for _ in range(POLISHING_STEPS if free else 0):
        slope, curvature = derivatives(function, x, free)
        if not _is_positive(curvature):
            return x
        moved = x.copy()
        moved[free] += np.linalg.solve(curvature, slope)
        moved = np.clip(moved, limits[:, 0], limits[:, 1])
        if not function(moved) >= function(x):
            return x
        settled = np.abs(moved - x).max() < SETTLED
        x = moved
        if settled:
            break
    return x


def derivatives(function: Function, x: Array, free: list[int]) -> tuple[Array, Array]:
    """The slope and the negative second derivatives along the free coordinates, by central differences."""

    def at(*moves: tuple[int, float]) -> float:
        moved = x.copy()
        for i, by in moves:
            moved[i] += by * STEP
        return function(moved)

    middle = at()
    slope, curvature = np.empty(len(free)), np.empty((len(free), len(free)))
    for row, i in enumerate(free):
        up, down = at((i, 1.0)), at((i, -1.0))
        slope[row] = (up - down) / (2.0 * STEP)
        curvature[row, row] = (2.0 * middle - up - down) / STEP**2
        for column, j in enumerate(free[:row]):
            same = at((i, 1.0), (j, 1.0)) + at((i, -1.0), (j, -1.0))
            opposite = at((i, 1.0), (j, -1.0)) + at((i, -1.0), (j, 1.0))
            curvature[row, column] = curvature[column, row] = (opposite - same) / (4.0 * STEP**2)
    return slope, curvature


def covariance(function: Function, optimum: Optimum) -> Array | None:
    """Inverse of the observed information of the free coordinates; None where the likelihood is not curved."""
    _, information = derivatives(function, optimum.x, optimum.free)
    return np.asarray(np.linalg.inv(information), dtype=np.float64) if _is_positive(information) else None


def _is_positive(matrix: Array) -> bool:
    return bool(np.isfinite(matrix).all() and (np.linalg.eigvalsh(matrix) > 1e-6).all())


def highest_likely(function: Function, optimum: Optimum, coordinate: int, limits: Array, loss: float) -> float:
    """How large a coordinate can be before the function, highest along all others, loses so much."""
    others = [i for i in optimum.free if i != coordinate]
    enough = function(optimum.x) - loss

    def left(value: float) -> float:
        at = optimum.x.copy()
        at[coordinate] = value
        return function(_climb(function, at, limits, others, LITTLE * loss)) - enough

    low, high = float(optimum.x[coordinate]), float(limits[coordinate, 1])
    return high if left(high) > 0.0 else float(brentq(left, low, high, xtol=TOLD))
