"""Draw a table: simulated and exact regrets, bounds, or sorted differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bayesregret.plotting import labels
from bayesregret.plotting.legend import add_legend
from bayesregret.plotting.marks import RATHER_WIDE, draw_bars, draw_exact, draw_marks, marker_style
from bayesregret.plotting.scales import drawable, set_up_axes, y_limits
from bayesregret.plotting.style import COLUMN, GREY, PAPER, RED, Look, Size, looks, paper_style
from bayesregret.reproduction.table import Table, Trend

Numbers = NDArray[np.float64]
EDGE = 0.018  # distance between the end of the y axis and the marks of values beyond it, relative to its height
INCHES_PER_LETTER = 0.055  # of 8 point letters, rounded up


def draw(table: Table, size: Size = COLUMN, *, legend: bool = True) -> Figure:
    """Return a figure of the table, of this size plus the legend below; change no global state.

    Values that a log axis cannot show break the line and are marked at the edge. The group ids of trend i's artists
    begin with trend-i.
    """
    table = as_drawn(table)
    with paper_style():
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        set_up_axes(axes, table)
        axes.set_xlabel(_lines(table.x.label, 0.85 * size.width), linespacing=1.0)
        axes.set_ylabel(_lines(table.y.label, 0.7 * size.height), linespacing=1.0)
        points = np.asarray(table.points, dtype=float)
        x = np.where(np.isfinite(points) & ((points > 0.0) | (table.x.scale == "linear")), points, np.nan)
        styles = looks(table.trends, table.front)
        for i in _drawing_order(table):
            _draw_trend(axes, table, i, styles[i], x, size)
        for mark in edge_marks(table):
            _draw_edge_mark(axes, mark, table.trends[mark.trend], styles[mark.trend], x)
        _draw_reference_line(axes, table)
        if legend:
            add_legend(figure, table, {mark.marker for mark in edge_marks(table)})
        # The layout is fixed now, so that PDF, PNG and the points in the report agree.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def _drawing_order(table: Table) -> list[int]:
    """Indices of the trends, the one in front last."""
    return sorted(range(len(table.trends)), key=lambda i: table.trends[i].name == table.front)


def _marker_distance(table: Table) -> float | None:
    """Distance between the markers of a line, relative to the figure; None for a marker at every point."""
    # Where one trend is in front the lines matter, and their markers only distinguish them.
    return None if table.front is None else 0.14


def as_drawn(table: Table) -> Table:
    """Return the table with the values of each trend in the order in which they are drawn."""
    return replace(table, trends=tuple(map(_ranked, table.trends))) if table.ranked else table


def _ranked(trend: Trend) -> Trend:
    """Sort the values and drop their errors, which ignore the noise in the order itself."""
    return replace(trend, values=tuple(trend.values[i] for i in trend.in_order()), errors=None)


def is_difference(table: Table) -> bool:
    return any(trend.kind == "difference" for trend in table.trends)


class EdgeMark(NamedTuple):
    """Marks for the values of a trend that are beyond the y axis."""

    trend: int
    marker: str  # v below the axis, ^ above
    where: NDArray[np.bool_]  # which values are beyond the axis
    height: float  # of the marks, from 0 at the bottom to 1


def edge_marks(table: Table) -> list[EdgeMark]:
    """Return a row of marks for each trend that needs one, so that none hides another."""
    marks: list[EdgeMark] = []
    bottom = y_limits(table)[0]
    for i, trend in enumerate(table.trends):
        values = np.asarray(trend.values, dtype=float)
        for marker, where in (("v", values < bottom), ("^", np.isposinf(values))):
            if where.any():
                row = EDGE * (1 + 2 * sum(mark.marker == marker for mark in marks))
                marks.append(EdgeMark(i, marker, where, row if marker == "v" else 1.0 - row))
    return marks


def _lines(label: str, inches: float) -> str:
    """Break the label into lines of at most this length."""
    return "\n".join(map(labels.for_figure, labels.wrapped(label, int(inches / INCHES_PER_LETTER))))


def _draw_trend(axes: Axes, table: Table, i: int, look: Look, x: Numbers, size: Size) -> None:
    name, trend = f"trend-{i}", table.trends[i]
    y = drawable(trend.values, axes.get_ylim(), axes.get_yscale())
    if trend.exact is not None:
        draw_exact(axes, f"{name}-exact", x, trend.exact, look)
    if trend.kind == "difference":
        # Differences of zero or below are red.
        for part, where, colour in (("up", y > 0.0, look.colour), ("down", y <= 0.0, RED)):
            shown = np.where(where, y, np.nan)
            draw_marks(axes, f"{name}-{part}", trend, x, shown, look._replace(colour=colour), size)
    elif trend.form == "bars":
        draw_bars(axes, f"{name}-bars", x, y, look, base=table.y.mark or axes.get_ylim()[0])
    elif trend.form == "marks" or trend.exact is not None:
        draw_marks(axes, f"{name}-marks", trend, x, y, look, size)
    else:
        if trend.errors is not None:
            _draw_band(axes, name, x, y, np.asarray(trend.errors, dtype=float), look)
        _draw_line(axes, name, x, y, look, size, _marker_distance(table))


def _draw_edge_mark(axes: Axes, mark: EdgeMark, trend: Trend, look: Look, x: Numbers) -> None:
    """Draw marks at the edge, filled for simulated values, hollow for bounds."""
    heights = np.full(int(mark.where.sum()), mark.height)
    face = look.colour if trend.errors is not None else PAPER
    style: dict[str, Any] = {"ms": 3.5, "mfc": face, "mec": look.colour, "mew": 0.8, "clip_on": False, "zorder": 4.0}
    edge, gid = axes.get_xaxis_transform(), f"trend-{mark.trend}-edge"
    axes.plot(x[mark.where], heights, mark.marker, transform=edge, gid=gid, **style)


def _draw_line(axes: Axes, name: str, x: Numbers, y: Numbers, look: Look, size: Size, every: float | None) -> None:
    style: dict[str, Any] = {
        "color": look.colour,
        "ls": look.line_style,
        "lw": look.line_width,
        "dash_capstyle": "butt",
        "markevery": every,
    }
    markers = {"marker": look.marker or None} | marker_style(look, 3.2 if size.width < RATHER_WIDE else 4.0)
    axes.plot(x, y, gid=f"{name}-line", zorder=3.0 if look.marker else 2.5, **style, **markers)
    isolated = _isolated(y)
    if not look.marker and isolated.any():
        # A point between two breaks gives no line, and would be invisible.
        axes.plot(x[isolated], y[isolated], "_", color=look.colour, ms=6.0, mew=1.2, gid=f"{name}-alone", zorder=2.5)


def _isolated(y: Numbers) -> NDArray[np.bool_]:
    padded = np.concatenate(([np.nan], y, [np.nan]))
    isolated: NDArray[np.bool_] = np.isfinite(y) & np.isnan(padded[:-2]) & np.isnan(padded[2:])
    return isolated


def _draw_band(axes: Axes, name: str, x: Numbers, y: Numbers, errors: Numbers, look: Look) -> None:
    low = y - errors
    if axes.get_yscale() == "log":
        low = np.where(low > 0.0, low, 0.5 * axes.get_ylim()[0])
    where = np.isfinite(x) & np.isfinite(y) & np.isfinite(errors)
    band = axes.fill_between(x, low, y + errors, where=where, color=look.colour, alpha=0.25, lw=0.0, zorder=2.0)
    band.set_gid(f"{name}-band")


def _draw_reference_line(axes: Axes, table: Table) -> None:
    """Draw a line at zero for differences, otherwise at the axis's mark."""
    mark = 0.0 if is_difference(table) and table.y.scale == "linear" else table.y.mark
    if mark is not None:
        axes.axhline(mark, color=GREY, lw=0.8, zorder=2.2, gid="across")
