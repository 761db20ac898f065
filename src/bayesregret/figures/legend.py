"""The legend: below the axes, never over data, in as many columns as fit."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from bayesregret.experiments.table import Table
from bayesregret.figures import labels
from bayesregret.figures.style import GREY, PAPER, Look, looks

LETTERS_AN_INCH = 20.0
SAMPLE = 8  # letters that a line's sample takes
BEYOND = {"v": "below the axis", "^": "infinite"}  # what the marks at the edges mean


def add_legend(figure: Figure, table: Table, edge_markers: set[str]) -> None:
    """Makes the figure as much higher as the legend is high."""
    entries = [(trend.label, _sample(look)) for trend, look in zip(table.trends, looks(table.trends), strict=True)]
    entries += [(text, _mark(marker)) for marker, text in BEYOND.items() if marker in edge_markers]
    width, height = figure.get_size_inches()
    for columns, letters in _layouts(width):
        legend = _make(figure, entries, columns, letters)
        extent = legend.get_window_extent()
        if extent.width <= figure.bbox.width or columns == 1:
            figure.set_size_inches(width, height + extent.height / figure.dpi)
            return
        legend.remove()


def _layouts(width: float) -> list[tuple[int, int]]:
    """Columns, and letters in a line of a label, best first: broken labels in two columns rather than one long list."""
    whole = int(LETTERS_AN_INCH * width)
    return [(4, whole), (3, whole), (2, whole), (2, whole // 2 - SAMPLE), (1, whole - SAMPLE)]


def _make(figure: Figure, entries: list[tuple[str, Line2D]], columns: int, letters: int) -> Legend:
    layout: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "frameon": False}
    spacing: dict[str, Any] = {
        "handlelength": 3.0,
        "columnspacing": 1.2,
        "labelspacing": 0.25,
        "borderpad": 0.1,
        "borderaxespad": 0.1,
    }
    handles = [handle for _, handle in entries]
    # Names go in later: one that begins with an underscore would be left out.
    legend: Legend = figure.legend(handles, ["-"] * len(handles), **layout, **spacing)
    for text, (label, _) in zip(legend.get_texts(), entries, strict=True):
        text.set_linespacing(0.95)
        text.set_text("\n".join(map(labels.for_figure, labels.wrapped(label, letters))))
    return legend


def _sample(look: Look) -> Line2D:
    markers: dict[str, Any] = {"marker": look.marker or None, "ms": 3.6, "mec": PAPER, "mew": 0.4}
    return Line2D([], [], color=look.colour, ls=look.line_style, lw=look.line_width, **markers)


def _mark(marker: str) -> Line2D:
    return Line2D([], [], ls="none", marker=marker, ms=3.5, mfc=PAPER, mec=GREY, mew=0.8)
