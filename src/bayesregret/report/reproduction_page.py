"""The page of a reproduction or sweep: claims, figures and bounds in an HTML template."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from bayesregret.bounds.bound import Formula
from bayesregret.digits import counted, typeset_setting
from bayesregret.plotting.drawing import edge_marks
from bayesregret.plotting.legend import notes
from bayesregret.plotting.saving import figure_files, file_name
from bayesregret.plotting.style import COLUMN, PAGE, looks
from bayesregret.plotting.table_cells import exact_cell, table_cells, value_cell
from bayesregret.report.picture import Picture, note_sample, picture, sample
from bayesregret.report.words import in_letters
from bayesregret.reproduction.table import Claim, Table
from bayesregret.writing import write_atomically

Rows = Sequence[Sequence[str]]
TextTable = tuple[str, Rows] | tuple[str, Rows, Sequence[str]]  # its title, its rows, and lines below it

FORM_NAMES = ("PDF", "PNG", "CSV", "LaTeX")  # in the order of figure_files
BOUND_PAGE = "reference/bounds.html#bayesregret.bounds."  # of the book, with an anchor for each name


class FigureEntry(NamedTuple):
    """One entry of a figure's legend."""

    sample: Markup
    label: str


class Section(NamedTuple):
    """A figure with everything that the template shows of it."""

    name: str
    heading: str
    table: Table
    wide: Picture
    narrow: Picture  # for phones, where the letters of the wide one would be too small
    legend: list[FigureEntry]
    notes: list[FigureEntry]
    rows: list[list[str]]
    claims: list[tuple[int, Claim]]
    data: dict[str, Any]
    files: list[tuple[str, str]]  # formats of the figure with links to its files
    front: int | None  # number of the trend in front of the others, which the page shows in grey


def write_report(
    path: str | os.PathLike[str],
    *,
    title: str,
    tables: Sequence[Table],
    claims: Sequence[Claim] = (),
    bounds: Sequence[TextTable] = (),
    about: Mapping[str, Mapping[str, Any]] | None = None,
    figures: str | None = None,
    book: str | None = None,
) -> Path:
    """Write one self-contained HTML file: figures with their numbers, claims, bounds, settings.

    `bounds` are tables of text, each with a title, rows, the first of which has the column headings, and perhaps lines
    below it; `about` has sections of names and values. Seen from the page, `figures` is the folder with the files of
    each figure, and `book` that of the built book: the page links to them. The whole file is written, or nothing.
    """
    # Claims that fail come first, so that nobody has to look for them.
    numbered = list(enumerate(sorted(claims, key=lambda claim: claim.verdict == "holds"), start=1))
    names = _names(tables)
    page = template("report.html").render(
        title=title,
        claims=numbered,
        verdict=_verdict(claims),
        sections=[make_section(table, name, numbered, figures) for table, name in zip(tables, names, strict=True)],
        anchors={table.figure: name for table, name in zip(tables, names, strict=True)},
        bounds=bounds,
        links={} if book is None else {name: f"{book}/{BOUND_PAGE}{name}" for name in Formula.every},
        about=about or {},
        style=Markup(part("style.css")),
        script=Markup(part("script.js")),
    )
    return write_atomically(Path(path), page.encode())


def heading(figure: str) -> str:
    """Return Figure 1a for figure-1a; other names unchanged."""
    return figure.replace("figure-", "Figure ", 1) if figure.startswith("figure-") else figure


def word_columns(rows: Rows) -> list[bool]:
    """Return for each column whether it contains words and is left-aligned."""
    columns = zip(*rows[1:], strict=True)
    return [any(cell[:1].isalpha() for cell in column) for column in columns] or [True] * len(rows[0])


def shown_setting(value: Any) -> str:
    """Return a setting as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown_setting(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(shown_setting, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)


def _verdict(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    failed = sum(claim.verdict == "fails" for claim in claims)
    if failed == 0:
        return "The one claim holds" if len(claims) == 1 else f"All {len(claims)} claims hold"
    some = f"{failed} of {counted(len(claims), 'claim')}"
    return f"{some} {'fails' if failed == 1 else 'fail'}, {len(claims) - failed} hold"


def _names(tables: Sequence[Table]) -> list[str]:
    """Return unique names for ids."""
    names: list[str] = []
    for table in tables:
        name = file_name(table.figure)
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def make_section(
    table: Table, name: str, claims: Sequence[tuple[int, Claim]] = (), folder: str | None = None
) -> Section:
    """Return a figure in both sizes, with its legend and numbers, and links to its files in a folder."""
    files = [] if folder is None else [f"{folder}/{file}" for file in figure_files(table.figure)]
    trends = ", ".join(in_letters(trend.label) for trend in table.trends)
    alt = f"{in_letters(table.title)}: {in_letters(table.y.label)} against {in_letters(table.x.label)} for {trends}"
    wide, narrow = (picture(table, size, f"{name}-{kind}", alt) for size, kind in ((PAGE, "wide"), (COLUMN, "narrow")))
    rows = table_cells(table)
    legend = [
        FigureEntry(sample(look), in_letters(trend.label))
        for trend, look in zip(table.trends, looks(table.trends, table.front), strict=True)
    ]
    return Section(
        name=name,
        heading=heading(table.figure),
        table=table,
        wide=wide,
        narrow=narrow,
        legend=legend,
        notes=_notes(table),
        rows=[list(map(in_letters, row)) if i == 0 else row for i, row in enumerate(rows)],
        claims=[(number, claim) for number, claim in claims if claim.figure == table.figure],
        data=_data(table, wide, narrow),
        files=list(zip(FORM_NAMES, files, strict=False)),
        front=next((i for i, trend in enumerate(table.trends) if trend.name == table.front), None),
    )


def _notes(table: Table) -> list[FigureEntry]:
    """Return legend entries for the marks that are not the trends' own."""
    markers = {mark.marker for mark in edge_marks(table)}
    return [FigureEntry(note_sample(note), note.text) for note in notes(table, markers)]


def _data(table: Table, wide: Picture, narrow: Picture) -> dict[str, Any]:
    """Return what the script shows for each point, with the texts of the table."""
    points = range(len(table.points))
    return {
        "x": in_letters(table.x.label),
        "points": [typeset_setting(point) for point in table.points],
        "names": table.point_names,
        "labels": [in_letters(trend.label) for trend in table.trends],
        "values": [[value_cell(trend, i) for i in points] for trend in table.trends],
        "exact": [trend.exact and [exact_cell(trend.exact, i) for i in points] for trend in table.trends],
        # The point at each place along a trend, where that differs from the table's order.
        "order": [trend.in_order() for trend in table.trends] if table.ranked else None,
        "wide": wide.places,
        "narrow": narrow.places,
    }


def template(name: str) -> jinja2.Template:
    """Load a template of this folder."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.loader = jinja2.FunctionLoader(part)
    environment.lstrip_blocks = True
    environment.filters |= {"letters": in_letters, "setting": shown_setting, "heading": heading, "words": word_columns}
    return environment.get_template(name)


def part(name: str) -> str:
    """Return the content of a template, style sheet or script of this folder."""
    return files("bayesregret.report").joinpath(name).read_text(encoding="utf-8")
