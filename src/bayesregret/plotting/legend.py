"""Legends below the axes, in as many columns as fit."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from bayesregret.plotting import labels
from bayesregret.plotting.marks import marker_style
from bayesregret.plotting.style import GREY, PAPER, Look, looks
from bayesregret.reproduction.table import Table

LETTERS_PER_INCH = 20.0
SAMPLE = 8  # width of a line's sample, in letters
EXACT, SIMULATED = "exact", "simulated, ± standard error"
BEYOND = {"v": "below the axis", "^": "infinite"}  # meaning of the marks at the edges


class Note(NamedTuple):
    """A legend entry that explains a mark."""

    text: str
    look: Look
    form: Literal["line", "bar", "edge"]


def notes(table: Table, edge_markers: set[str]) -> list[Note]:
    """Return the entries besides the trends' names; grey if trends have several colours."""
    trend_looks = looks(table.trends, table.front)
    found = []
    if any(trend.exact is not None for trend in table.trends):
        look = trend_looks[0] if len(trend_looks) == 1 else Look(GREY, marker="o", hollow=True)
        found += [Note(EXACT, look, "line"), Note(SIMULATED, look, "bar")]
    if table.y.mark is not None:
        found.append(Note(table.y.mark_label, Look(GREY), "line"))
    found += [
        Note(text, Look(GREY, marker=marker), "edge") for marker, text in BEYOND.items() if marker in edge_markers
    ]
    return found


def add_legend(figure: Figure, table: Table, edge_markers: set[str]) -> None:
    """Add a legend and the height it needs; a single trend has no entry, since the figure's name says it."""
    named = zip(table.trends, looks(table.trends, table.front), strict=True) if len(table.trends) > 1 else ()
    entries: list[tuple[str, Any]] = [(trend.label, _sample(look)) for trend, look in named]
    entries += [(note.text, _note_sample(note)) for note in notes(table, edge_markers)]
    if not entries:
        return
    width, height = figure.get_size_inches()
    for columns, letters in _layouts(width):
        legend = _make(figure, entries, columns, letters)
        extent = legend.get_window_extent()
        if extent.width <= figure.bbox.width or columns == 1:
            figure.set_size_inches(width, height + extent.height / figure.dpi)
            return
        legend.remove()


def _layouts(width: float) -> list[tuple[int, int]]:
    """Return numbers of columns and of letters per line, best first: two columns of broken labels before one column."""
    letters = int(LETTERS_PER_INCH * width)
    return [(4, letters), (3, letters), (2, letters), (2, letters // 2 - SAMPLE), (1, letters - SAMPLE)]


def _make(figure: Figure, entries: list[tuple[str, Any]], columns: int, letters: int) -> Legend:
    layout: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "frameon": False}
    spacing: dict[str, Any] = {
        "handlelength": 3.0,
        "columnspacing": 1.2,
        "labelspacing": 0.25,
        "borderpad": 0.1,
        "borderaxespad": 0.1,
    }
    handles = [handle for _, handle in entries]
    # Labels are set afterwards, because matplotlib leaves out those that begin with an underscore.
    legend: Legend = figure.legend(handles, ["-"] * len(handles), **layout, **spacing)
    for text, (label, _) in zip(legend.get_texts(), entries, strict=True):
        text.set_linespacing(0.95)
        text.set_text("\n".join(map(labels.for_figure, labels.wrapped(label, letters))))
    return legend


def _sample(look: Look) -> Line2D:
    markers = {"marker": look.marker or None} | marker_style(look, 3.6)
    return Line2D([], [], color=look.colour, ls=look.line_style, lw=look.line_width, alpha=look.opacity, **markers)


def _note_sample(note: Note) -> Any:
    colour, marker = note.look.colour, note.look.marker
    if note.form == "line":
        return _sample(note.look._replace(marker=""))
    if note.form == "edge":
        return Line2D([], [], ls="none", marker=marker, ms=3.5, mfc=PAPER, mec=colour, mew=0.8)
    bar = Line2D([], [], ls="none", marker="|", ms=8.0, mew=0.9, color=colour, alpha=0.6)
    return bar, Line2D([], [], ls="none", marker=marker, **marker_style(note.look, 3.6))
