"""Bokeh figures of tables: the same numbers, colours and dashes as in the package's printed figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import panel as pn
from bokeh.layouts import column
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure

from bayesregret.digits import typeset_value, typeset_with_error
from bayesregret.exploring.live import themes
from bayesregret.plotting.scales import axis_limits
from bayesregret.plotting.style import Look, looks
from bayesregret.report.picture import NAMES
from bayesregret.reproduction.table import Axis, Table, Trend

MARKERS = {"o": "circle", "s": "square", "^": "triangle", "D": "diamond", "v": "inverted_triangle", "p": "star"}
WIDE, NARROW = 430, 300  # height in pixels
SHOWN_MARKERS = 25
DECADES = 6  # most decades of a live axis: with more of them regret and its bounds would be one line
FEW_DECADES = 3


class Screen(NamedTuple):
    """Where a figure is shown."""

    dark: bool = False
    narrow: bool = False


def on_screen(colour: str, screen: Screen) -> str:
    """Return a colour of the printed figures as the theme has it."""
    return themes()[1 if screen.dark else 0][NAMES[colour]]


def theme_colour(name: str, screen: Screen) -> str:
    return themes()[1 if screen.dark else 0][name]


def empty_figure(x: Axis, y: Axis, screen: Screen, **settings: Any) -> figure:
    """Return axes without data, in the colours of the page."""
    made = figure(
        sizing_mode="stretch_width",
        height=NARROW if screen.narrow else WIDE,
        x_axis_type=x.scale,
        y_axis_type=y.scale,
        x_range=Range1d(0.1, 1.0),
        y_range=Range1d(0.1, 1.0),
        x_axis_label=x.label,
        y_axis_label=y.label,
        toolbar_location=None,
        tools="",
        **settings,
    )
    made.background_fill_color = made.border_fill_color = None
    made.outline_line_color = None
    ink, soft, grid = (theme_colour(name, screen) for name in ("ink", "soft", "grid"))
    for axis, what in ((made.xaxis, x), (made.yaxis, y)):
        axis.axis_label_text_color, axis.major_label_text_color = ink, soft
        axis.axis_label_text_font_style, axis.axis_label_text_font_size = "normal", "13px"
        axis.major_label_text_font_size = "12px"
        axis.axis_line_color = axis.major_tick_line_color = soft
        axis.minor_tick_line_color = None
        axis.formatter = NumeralTickFormatter(format="0,0.[000]")
        axis.ticker = FixedTicker() if what.scale == "log" else BasicTicker()
    made.grid.grid_line_color = grid
    made.grid.minor_grid_line_color = None
    made.min_border_left, made.min_border_right = 50, 12
    return made


class Frame:
    """A place for a figure, whose figures are exchanged as Bokeh's own models.

    Panel would send a new figure apart from Bokeh's other changes, and the browser would hear of its numbers first.
    """

    def __init__(self) -> None:
        self.column = column([], sizing_mode="stretch_width")
        self.pane = pn.pane.Bokeh(self.column, sizing_mode="stretch_width", margin=0)

    def show(self, made: figure) -> None:
        """Show a figure in place of the one before."""
        if self.column.children != [made]:
            self.column.children = [made]


class Drawn:
    """A figure of tables of one structure, into which new numbers are put."""

    def __init__(self, table: Table, screen: Screen) -> None:
        self.screen = screen
        self.figure = empty_figure(table.x, table.y, screen)
        self.sources = [ColumnDataSource(_columns(table, trend)) for trend in table.trends]
        self.glyphs: dict[str, list[Any]] = {}
        self.here = Span(dimension="height", line_color=theme_colour("soft", screen), line_dash=[3, 3], visible=False)
        self.figure.add_layout(self.here)
        for trend, look, source in zip(table.trends, table_looks(table), self.sources, strict=True):
            self._add(trend, look, source)
        self._limits(table, ())

    def _add(self, trend: Trend, look: Look, source: ColumnDataSource) -> None:
        colour = on_screen(look.colour, self.screen)
        width, dash = look.line_width * 1.5, [round(part * look.line_width * 1.5) for part in look.dashes]
        parts: list[Any] = []
        if trend.errors is not None:
            parts.append(
                self.figure.varea(
                    "x", "low", "high", source=source, fill_color=colour, fill_alpha=0.25, level="underlay"
                )
            )
        line = self.figure.line("x", "line", source=source, line_color=colour, line_width=width, line_dash=dash)
        parts.append(line)
        if look.marker:
            marker = MARKERS.get(look.marker, "circle")
            mark = {"marker": marker, "size": 6, "line_color": colour, "fill_color": colour, "fill_alpha": "filled"}
            parts.append(self.figure.scatter("x", "mark", source=source, **mark))
        tips = f"<b>{trend.label}</b><br>@text<br>{self.figure.xaxis[0].axis_label}: @at"
        self.figure.add_tools(HoverTool(renderers=[line], tooltips=tips, mode="mouse", attachment="vertical"))
        self.glyphs[trend.label] = parts

    def update(self, table: Table, hidden: Sequence[str], here: float | None) -> None:
        """Show other numbers of the same structure."""
        for trend, source in zip(table.trends, self.sources, strict=True):
            source.data = _columns(table, trend)
        for trend in table.trends:
            for part in self.glyphs[trend.label]:
                part.visible = trend.name not in hidden
        self._limits(table, hidden)
        self.here.update(visible=here is not None, location=here)

    def _limits(self, table: Table, hidden: Sequence[str]) -> None:
        set_limits(self.figure.x_range, self.figure.xaxis[0], axis_limits(table.points, table.x.scale))
        low, high = axis_limits(_heights(table, hidden), table.y.scale, zero=True)
        low = max(low, high / 10.0**DECADES) if table.y.scale == "log" else low
        set_limits(self.figure.y_range, self.figure.yaxis[0], (low, high))


def set_limits(range_: Any, axis: Any, limits: tuple[float, float]) -> None:
    """Set the ends of an axis; a logarithmic one has its ticks at whole decades, and between them if there are few."""
    range_.update(start=limits[0], end=limits[1])
    if isinstance(axis.ticker, FixedTicker):
        first, last = math.floor(math.log10(limits[0])), math.ceil(math.log10(limits[1]))
        between = (1, 2, 5) if last - first <= FEW_DECADES else (1,)
        axis.ticker.ticks = [float(f"{m}e{k}") for k in range(first, last + 1) for m in between]


def structure(table: Table, screen: Screen) -> tuple[Any, ...]:
    """Return what two tables must have in common to be shown in the same figure."""
    trends = tuple((trend.name, trend.label, trend.kind, trend.errors is None) for trend in table.trends)
    return table.figure, table.x, table.y, trends, screen


def table_looks(table: Table) -> list[Look]:
    return looks(table.trends, table.front)


def _heights(table: Table, hidden: Sequence[str]) -> list[float]:
    """Values that the axis must show, without bands, which would move it while they narrow."""
    shown = [trend for trend in table.trends if trend.name not in hidden]
    return [value for trend in shown for value in trend.values if math.isfinite(value)]


def _columns(table: Table, trend: Trend) -> Mapping[str, Any]:
    x, y = np.asarray(table.points), np.asarray(trend.values)
    known = ~np.isnan(y)  # points that are not computed yet leave no gap
    x, y = x[known], y[known]
    errors = None if trend.errors is None else np.asarray(trend.errors)[known]
    exact = None if trend.exact is None else np.asarray(trend.exact.values)[known]
    width = np.zeros(len(y)) if errors is None else np.where(np.isfinite(errors), errors, 0.0)
    every = max(1, len(y) // SHOWN_MARKERS)
    marks = np.where(np.arange(len(y))[::-1] % every == 0, y, np.nan)
    low = y - width
    if table.y.scale == "log":
        low = np.maximum(low, 1e-3 * np.abs(y))
    return {
        "x": x,
        "y": y,
        "low": low,
        "high": y + width,
        "mark": marks,
        "line": y if exact is None else exact,
        "filled": np.full(len(y), 1.0 if exact is None else 0.0),  # so that the exact line is visible through marks
        "at": [f"{value:,g}" for value in x],
        "text": _texts(y, errors, exact),
    }


def _texts(y: Any, errors: Any, exact: Any) -> list[str]:
    shown = [None] * len(y) if errors is None else errors.tolist()
    plain = [typeset_with_error(value, error) for value, error in zip(y.tolist(), shown, strict=True)]
    if exact is None:
        return plain
    return [f"{text}; exact {typeset_value(value)}" for text, value in zip(plain, exact.tolist(), strict=True)]
