"""Maximum of a likelihood of a few coordinates, its curvature, and upper limits by profile likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from bayesregret.checks import Array

Function = Callable[[Array], float]

STEP = 1e-3  # of finite differences; coordinates have unit scale, so errors are of order STEP^2
NEWTON_STEPS = 4
# A likelihood that loses no more than this at a limit has its maximum there.
FLAT = 1e-5
SMALLEST_LOSS = 1e-10  # that differs from rounding
TOO_LARGE_LOSS = 10.0  # at a limit, before the other coordinates move: moving them does not win it back
SETTLED = 1e-6
# Upper limits are printed with two digits: tolerance of the coordinate, and of the loss, relative.
LIMIT_TOLERANCE, LOSS_TOLERANCE = 0.01, 0.01


class Optimum(NamedTuple):
    """Maximum of a function of a few coordinates, each within its limits."""

    x: Array
    value: float
    at_limit: NDArray[np.bool_]

    @property
    def free(self) -> list[int]:
        return np.flatnonzero(~self.at_limit).tolist()


def maximise(function: Function, rough: Function, starts: Sequence[Array], limits: Array, may_vanish: int) -> Optimum:
    """Maximise from the best of several starts.

    `rough` is a faster approximation of the function. `limits` is (coordinates, 2). The coordinate `may_vanish` is set
    to its lower limit if the function is as high there.
    """
    x = _climb(rough, max(starts, key=rough), limits)
    fixed = _at_limit(x, limits)
    if not _is_curved(function, x, np.flatnonzero(~fixed).tolist()):
        # Not a maximum: where one direction is steep and another flat, the climb may have stopped on the way.
        x = _climb(function, x, limits, loss=SMALLEST_LOSS)
        fixed = _at_limit(x, limits)
    at_end = x.copy()
    at_end[may_vanish] = limits[may_vanish, 0]
    if not function(at_end) < function(x) - TOO_LARGE_LOSS:
        at_end = _climb(function, at_end, limits, [i for i in range(len(x)) if i != may_vanish])
        if function(at_end) >= function(x) - FLAT:
            x, fixed[may_vanish] = at_end, True
    x = _newton(function, x, limits, np.flatnonzero(~fixed).tolist())
    return Optimum(x, function(x), fixed)


def _at_limit(x: Array, limits: Array) -> NDArray[np.bool_]:
    return (x - limits[:, 0] < STEP) | (limits[:, 1] - x < STEP)


def _is_curved(function: Function, x: Array, free: list[int]) -> bool:
    return not free or _is_positive(derivatives(function, x, free)[1])


def _climb(function: Function, start: Array, limits: Array, free: list[int] | None = None, loss: float = 1e-6) -> Array:
    """Climb along the free coordinates until a step gains no more than `loss`."""
    free = list(range(len(start))) if free is None else free
    x = np.clip(start, limits[:, 0], limits[:, 1])
    if not free:
        return x

    def negative(part: Array) -> float:
        at = x.copy()
        at[free] = part
        return -function(at)

    tolerance = loss / max(1.0, abs(function(x)))
    found = minimize(negative, x[free], method="L-BFGS-B", bounds=limits[free], options={"ftol": tolerance})
    x = x.copy()
    x[free] = found.x
    return x


def _newton(function: Function, x: Array, limits: Array, free: list[int]) -> Array:
    """Newton steps while they lead uphill: the climb's one-sided differences leave the last digits wrong."""
    for _ in range(NEWTON_STEPS if free else 0):
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
    """Gradient and negative Hessian along the free coordinates, by central differences."""

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
    """Inverse of the observed information of the free coordinates; None if it is not positive definite."""
    _, information = derivatives(function, optimum.x, optimum.free)
    return np.asarray(np.linalg.inv(information), dtype=np.float64) if _is_positive(information) else None


def _is_positive(matrix: Array) -> bool:
    return bool(np.isfinite(matrix).all() and (np.linalg.eigvalsh(matrix) > 1e-6).all())


def profile_upper_limit(function: Function, optimum: Optimum, coordinate: int, limits: Array, loss: float) -> float:
    """Largest value of a coordinate at which the function, maximised over the others, loses at most `loss`."""
    others = [i for i in optimum.free if i != coordinate]
    enough = function(optimum.x) - loss

    def above(value: float) -> float:
        at = optimum.x.copy()
        at[coordinate] = value
        return function(_climb(function, at, limits, others, LOSS_TOLERANCE * loss)) - enough

    low, high = float(optimum.x[coordinate]), float(limits[coordinate, 1])
    return high if above(high) > 0.0 else float(brentq(above, low, high, xtol=LIMIT_TOLERANCE))
