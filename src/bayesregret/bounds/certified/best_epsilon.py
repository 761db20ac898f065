"""Search for the epsilon with the smallest bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesregret.checks import Array

# The search grid, as fractions of the largest gap at which an arm is still pulled.
SMALLEST_FRACTION = 1e-15
CANDIDATES = 401
REFINEMENTS = 4


def best_epsilon(slope: Callable[[Array], Array], farthest: float) -> float:
    """Minimiser over [0, farthest] of a function with this slope; every epsilon is valid, so it may be approximate."""
    if farthest <= 0.0:
        return 0.0
    grid = farthest * np.geomspace(SMALLEST_FRACTION, 1.0, CANDIDATES)
    for _ in range(REFINEMENTS):
        slopes = slope(grid)
        rise = np.concatenate([[0.0], np.cumsum(0.5 * (slopes[1:] + slopes[:-1]) * np.diff(grid))])
        least = int(np.argmin(rise))
        best = float(grid[least])
        grid = np.linspace(grid[max(least - 1, 0)], grid[min(least + 1, CANDIDATES - 1)], CANDIDATES)
    return best
