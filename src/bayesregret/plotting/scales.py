"""Axes: what a scale can show, how far it reaches, and its ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.ticker
import numpy as np
from matplotlib.axes import Axes
from matplotlib.markers import TICKDOWN, TICKLEFT
from numpy.typing import NDArray

from bayesregret.experiments.table import Axis, Scale, Table
from bayesregret.plotting.style import GREY

DECADES = 10  # the most that an axis shows: a value like 1e-300 would press all others into a line
MINOR_DECADES = 6  # more would be a blur
MARGIN = 0.04


def reach(values: Iterable[float], scale: Scale, *, zero: bool = False) -> tuple[float, float]:
    """From where to where an axis goes that shows these values; those that it cannot show do not count."""
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
    # An axis that starts at zero starts there.
    return (low if zero and low == 0.0 else low - margin), high + margin


def drawable(values: Sequence[float], limits: tuple[float, float], scale: str) -> NDArray[np.float64]:
    """The values, with a break in the line where one is infinite or, on a log axis, below its end."""
    array = np.asarray(values, dtype=float)
    can = np.isfinite(array) & ((array >= limits[0]) | (scale == "linear"))
    return np.where(can, array, np.nan)


def y_reach(table: Table) -> tuple[float, float]:
    return reach(_ends(table), table.y.scale, zero=True)


def set_up(axes: Axes, table: Table) -> None:
    """Scales, limits and ticks of both axes."""
    across, up = reach(table.points, table.x.scale), y_reach(table)
    axes.set(xscale=table.x.scale, yscale=table.y.scale, xlim=across, ylim=up)
    _ticks(axes.xaxis, table.x, across)
    _ticks(axes.yaxis, table.y, up)


def _ends(table: Table) -> list[float]:
    """What y has to show: all values, the bands of those with errors, and the axis' own mark."""
    ends = [value for trend in table.trends for value in trend.values]
    ends += [] if table.y.mark is None else [table.y.mark]
    for trend in table.trends:
        pairs = list(zip(trend.values, trend.errors or (), strict=False))
        ends += [value + error for value, error in pairs]
        # On a log axis a band may run off below: its value counts, not where it ends.
        ends += [value - error for value, error in pairs if table.y.scale == "linear"]
        # And so may an exact line.
        exact = () if trend.exact is None else trend.exact.values
        ends += exact if table.y.scale == "linear" else sorted(exact)[-1:]
    return ends


def _ticks(axis: Any, what: Axis, limits: tuple[float, float]) -> None:
    if what.scale == "log":
        _log_ticks(axis, limits)
    else:
        axis.set_major_locator(matplotlib.ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: plain(x)))


def _log_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Every decade, or also 2 and 5 where there are few; written out unless they are very small or large."""
    decades = math.log10(limits[1] / limits[0])
    subs = (1.0, 2.0, 3.0, 5.0) if decades < 1.4 else (1.0, 2.0, 5.0) if decades < 2.6 else (1.0,)
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=subs, numticks=12))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())
    if decades < MINOR_DECADES:
        _minor_ticks(axis, limits)
    write = plain if limits[0] >= 1e-3 and limits[1] < 3e4 else _power
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: write(x)))


def _minor_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Drawn as the markers of one line: matplotlib's own are an artist each, and half of a figure's time."""
    between = matplotlib.ticker.LogLocator(subs=range(2, 10), numticks=99).tick_values(*limits)
    at = [tick for tick in between if limits[0] <= tick <= limits[1]]
    zeros = [0.0] * len(at)
    style: dict[str, Any] = {"ls": "none", "color": GREY, "ms": 1.5, "mew": 0.4, "clip_on": False}
    if axis.axis_name == "x":
        axis.axes.plot(at, zeros, marker=TICKDOWN, transform=axis.axes.get_xaxis_transform(), **style)
    else:
        axis.axes.plot(zeros, at, marker=TICKLEFT, transform=axis.axes.get_yaxis_transform(), **style)


def plain(number: float) -> str:
    text = f"{number:,.0f}" if abs(number) >= 1e3 and number == round(number) else f"{number:g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _power(number: float) -> str:
    exponent = math.floor(math.log10(number) + 1e-9)
    digit = round(number / 10.0**exponent)
    times = "" if digit == 1 else rf"{digit}\times"
    return rf"${times}10^{{{exponent}}}$"
