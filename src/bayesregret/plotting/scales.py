"""Limits and ticks of axes, and the values that an axis can show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.ticker
import numpy as np
from matplotlib.axes import Axes
from matplotlib.markers import TICKDOWN, TICKLEFT
from numpy.typing import NDArray

from bayesregret.plotting.style import GREY
from bayesregret.reproduction.table import Axis, Scale, Table

DECADES = 10  # most decades on an axis: a value like 1e-300 would press all others into a line
MINOR_DECADES = 6  # most decades with minor ticks
MARGIN = 0.04


def axis_limits(values: Iterable[float], scale: Scale, *, zero: bool = False) -> tuple[float, float]:
    """Return the limits of an axis for these values, ignoring those that the scale cannot show."""
    shown = [value for value in values if math.isfinite(value) and (scale == "linear" or value > 0.0)]
    if not shown:
        return (0.1, 1.0) if scale == "log" else (0.0, 1.0)
    low, high = min(shown), max(shown)
    if scale == "log":
        low = max(low, high / 10.0**DECADES)
        factor = (high / low) ** MARGIN if high > low else 1.5
        return low / factor, high * factor
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    margin = MARGIN * (high - low) if high > low else 0.5 * abs(high) or 0.5
    # An axis that starts at zero has no margin there.
    return (low if zero and low == 0.0 else low - margin), high + margin


def drawable(values: Sequence[float], limits: tuple[float, float], scale: str) -> NDArray[np.float64]:
    """Return the values, with NaN for infinite ones and, on a log axis, for those below its lower limit."""
    array = np.asarray(values, dtype=float)
    is_drawable = np.isfinite(array) & ((array >= limits[0]) | (scale == "linear"))
    return np.where(is_drawable, array, np.nan)


def y_limits(table: Table) -> tuple[float, float]:
    """Return the limits of the y axis."""
    return axis_limits(_y_values(table), table.y.scale, zero=True)


def set_up_axes(axes: Axes, table: Table) -> None:
    """Set scales, limits and ticks of both axes."""
    x_limits, limits = axis_limits(table.points, table.x.scale), y_limits(table)
    axes.set(xscale=table.x.scale, yscale=table.y.scale, xlim=x_limits, ylim=limits)
    _ticks(axes.xaxis, table.x, x_limits)
    _ticks(axes.yaxis, table.y, limits)


def _y_values(table: Table) -> list[float]:
    """Values that the y axis must show: the trends', the ends of their bands, and the axis's mark."""
    shown = [value for trend in table.trends for value in trend.values]
    shown += [] if table.y.mark is None else [table.y.mark]
    for trend in table.trends:
        pairs = list(zip(trend.values, trend.errors or (), strict=False))
        shown += [value + error for value, error in pairs]
        # On a log axis a band may extend below the axis.
        shown += [value - error for value, error in pairs if table.y.scale == "linear"]
        # So may an exact line.
        exact = () if trend.exact is None else trend.exact.values
        shown += exact if table.y.scale == "linear" else sorted(exact)[-1:]
    return shown


def _ticks(axis: Any, what: Axis, limits: tuple[float, float]) -> None:
    if what.scale == "log":
        _log_ticks(axis, limits)
    else:
        axis.set_major_locator(matplotlib.ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: plain(x)))


def _log_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Set ticks at every decade, also at 2 and 5 if there are few; as powers of ten if very small or large."""
    decades = math.log10(limits[1] / limits[0])
    subs = (1.0, 2.0, 3.0, 5.0) if decades < 1.4 else (1.0, 2.0, 5.0) if decades < 2.6 else (1.0,)
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=subs, numticks=12))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())
    if decades < MINOR_DECADES:
        _minor_ticks(axis, limits)
    write = plain if limits[0] >= 1e-3 and limits[1] < 3e4 else _power
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: write(x)))


def _minor_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Draw minor ticks as the markers of one line: matplotlib's, an artist each, take half of a figure's time."""
    between = matplotlib.ticker.LogLocator(subs=range(2, 10), numticks=99).tick_values(*limits)
    at = [tick for tick in between if limits[0] <= tick <= limits[1]]
    zeros = [0.0] * len(at)
    style: dict[str, Any] = {"ls": "none", "color": GREY, "ms": 1.5, "mew": 0.4, "clip_on": False}
    if axis.axis_name == "x":
        axis.axes.plot(at, zeros, marker=TICKDOWN, transform=axis.axes.get_xaxis_transform(), **style)
    else:
        axis.axes.plot(zeros, at, marker=TICKLEFT, transform=axis.axes.get_yaxis_transform(), **style)


def plain(number: float) -> str:
    """Return the number without an exponent where possible, with separators and a true minus sign."""
    text = f"{number:,.0f}" if abs(number) >= 1e3 and number == round(number) else f"{number:g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _power(number: float) -> str:
    exponent = math.floor(math.log10(number) + 1e-9)
    digit = round(number / 10.0**exponent)
    times = "" if digit == 1 else rf"{digit}\times"
    return rf"${times}10^{{{exponent}}}$"
