"""Simulated values as marks with error bars, and the exact ones as a line through them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from bayesregret.experiments.table import Exact, Trend
from bayesregret.plotting.style import PAPER, Look, Size

Numbers = NDArray[np.float64]
RATHER_WIDE = 5.0  # inches


def mark_size(trend: Trend, size: Size) -> float:
    """Differences are many, and their marks small."""
    wide = size.width >= RATHER_WIDE
    if trend.kind == "difference":
        return 3.6 if wide else 2.4
    return 5.0 if wide else 4.0


def marker_style(look: Look, size: float) -> dict[str, Any]:
    if look.hollow:
        return {"ms": size, "mfc": "none", "mec": look.colour, "mew": 0.2 * size}
    return {"ms": size, "mfc": look.colour, "mec": PAPER, "mew": 0.1 * size}


def draw_marks(axes: Axes, name: str, trend: Trend, x: Numbers, y: Numbers, look: Look, size: Size) -> None:
    """A mark for each number in y, with a bar of a standard error up and down."""
    where = np.isfinite(y)
    if not where.any():
        return
    ms = mark_size(trend, size)
    if trend.errors is not None:
        errors = np.asarray(trend.errors, dtype=float)[where]
        low, high = np.maximum(y[where] - errors, axes.get_ylim()[0]), y[where] + errors
        axes.vlines(x[where], low, high, color=look.colour, lw=0.25 * ms, alpha=0.6, gid=f"{name}-errors", zorder=2.5)
    axes.plot(x[where], y[where], look.marker, color=look.colour, gid=name, zorder=3.0, **marker_style(look, ms))


def draw_exact(axes: Axes, name: str, x: Numbers, exact: Exact, look: Look) -> None:
    """A line that runs off a log axis where the values are too small, or nothing but numerical error."""
    y = np.asarray(exact.values, dtype=float)
    if axes.get_yscale() == "log":
        y = np.where(y > np.asarray(exact.errors), y, 1e-6 * axes.get_ylim()[0])
    axes.plot(x, y, color=look.colour, lw=look.line_width, gid=name, zorder=2.7)
