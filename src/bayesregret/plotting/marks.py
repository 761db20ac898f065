"""Draw simulated values as marks with error bars, exact ones as a line, and bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from bayesregret.plotting.style import PAPER, Look, Size
from bayesregret.reproduction.table import Exact, Trend

Numbers = NDArray[np.float64]
RATHER_WIDE = 5.0  # inches
BAR = 0.8  # width of a bar, relative to the distance between bars
POINTS_PER_INCH = 72.0


def mark_size(trend: Trend, size: Size) -> float:
    """Return the size of a trend's marks: small where they are many."""
    wide = size.width >= RATHER_WIDE
    if trend.kind == "difference" or trend.form == "marks":
        return 3.6 if wide else 2.4
    return 5.0 if wide else 4.0


def marker_style(look: Look, size: float) -> dict[str, Any]:
    if look.hollow:
        return {"ms": size, "mfc": "none", "mec": look.colour, "mew": 0.2 * size}
    return {"ms": size, "mfc": look.colour, "mec": PAPER, "mew": 0.1 * size}


def draw_marks(axes: Axes, name: str, trend: Trend, x: Numbers, y: Numbers, look: Look, size: Size) -> None:
    """Draw a mark for each finite y, with a bar of one standard error up and down."""
    where = np.isfinite(y)
    if not where.any():
        return
    ms = mark_size(trend, size)
    if trend.errors is not None:
        errors = np.asarray(trend.errors, dtype=float)[where]
        low, high = np.maximum(y[where] - errors, axes.get_ylim()[0]), y[where] + errors
        axes.vlines(x[where], low, high, color=look.colour, lw=0.25 * ms, alpha=0.6, gid=f"{name}-errors", zorder=2.5)
    axes.plot(x[where], y[where], look.marker, color=look.colour, gid=name, zorder=3.0, **marker_style(look, ms))


def draw_bars(axes: Axes, name: str, x: Numbers, y: Numbers, look: Look, *, base: float) -> None:
    """Draw a bar from the base to each finite y, as wide as the space between points allows."""
    where = np.isfinite(x) & np.isfinite(y)
    points_per_bar = axes.bbox.width / axes.figure.dpi * POINTS_PER_INCH / max(1, len(x))
    axes.vlines(
        x[where], base, y[where], color=look.colour, alpha=look.opacity, lw=BAR * points_per_bar, gid=name, zorder=2.0
    )


def draw_exact(axes: Axes, name: str, x: Numbers, exact: Exact, look: Look) -> None:
    """Draw a line, which leaves a log axis at the bottom where values are too small or within their numerical error."""
    y = np.asarray(exact.values, dtype=float)
    if axes.get_yscale() == "log":
        y = np.where(y > np.asarray(exact.errors), y, 1e-6 * axes.get_ylim()[0])
    axes.plot(x, y, color=look.colour, lw=look.line_width, gid=name, zorder=2.7)
