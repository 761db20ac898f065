"""The page: everything gathered, put into the template, and written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from bayesregret.digits import counted
from bayesregret.experiments.table import Claim, Table
from bayesregret.plotting.drawing import edge_marks
from bayesregret.plotting.legend import notes
from bayesregret.plotting.numbers import cells, shown_exact, shown_point, shown_value
from bayesregret.plotting.saving import file_name, write_whole
from bayesregret.plotting.style import COLUMN, PAGE, looks
from bayesregret.report.picture import Picture, noted, picture, sample
from bayesregret.report.words import in_letters

Rows = Sequence[Sequence[str]]


class Entry(NamedTuple):
    """One line of a legend."""

    sample: Markup
    label: str


class Section(NamedTuple):
    """A figure as the template needs it."""

    name: str
    heading: str
    table: Table
    wide: Picture
    narrow: Picture  # for phones, where the wide one's letters would be too small
    legend: list[Entry]
    notes: list[Entry]
    rows: list[list[str]]
    claims: list[tuple[int, Claim]]
    data: dict[str, Any]


def write_report(
    path: str | os.PathLike[str],
    *,
    title: str,
    tables: Sequence[Table],
    claims: Sequence[Claim] = (),
    bounds: Sequence[tuple[str, Rows]] = (),
    about: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """One HTML file that needs nothing else: verdicts, figures with their numbers, bounds, and how it was made.

    `bounds` are tables of text, each a heading and rows of which the first has the columns' headings; `about` is
    sections of names with values. The file appears whole or not at all.
    """
    # Those that fail come first: nobody should have to look for them.
    numbered = list(enumerate(sorted(claims, key=lambda claim: claim.verdict == "holds"), start=1))
    names = _names(tables)
    page = template("report.html").render(
        title=title,
        claims=numbered,
        verdict=_verdict(claims),
        sections=[make_section(table, name, numbered) for table, name in zip(tables, names, strict=True)],
        anchors={table.figure: name for table, name in zip(tables, names, strict=True)},
        bounds=bounds,
        about=about or {},
        style=Markup(part("style.css")),
        script=Markup(part("script.js")),
    )
    return write_whole(Path(path), page.encode())


def heading(figure: str) -> str:
    """figure-1a as Figure 1a; other names as they are."""
    return figure.replace("figure-", "Figure ", 1) if figure.startswith("figure-") else figure


def word_columns(rows: Rows) -> list[bool]:
    """Which columns have words in them, and begin at the left."""
    columns = zip(*rows[1:], strict=True)
    return [any(cell[:1].isalpha() for cell in column) for column in columns] or [True] * len(rows[0])


def shown_setting(value: Any) -> str:
    """A setting in words."""
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
    """For ids: no two the same."""
    names: list[str] = []
    for table in tables:
        name = file_name(table)
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def make_section(table: Table, name: str, claims: Sequence[tuple[int, Claim]] = ()) -> Section:
    """A figure in both sizes, with its legend and numbers."""
    trends = ", ".join(in_letters(trend.label) for trend in table.trends)
    alt = f"{in_letters(table.title)}: {in_letters(table.y.label)} against {in_letters(table.x.label)} for {trends}"
    wide, narrow = (picture(table, size, f"{name}-{kind}", alt) for size, kind in ((PAGE, "wide"), (COLUMN, "narrow")))
    rows = cells(table)
    legend = [
        Entry(sample(look), in_letters(trend.label))
        for trend, look in zip(table.trends, looks(table.trends), strict=True)
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
    )


def _notes(table: Table) -> list[Entry]:
    """What the marks mean that are not the trends' own."""
    markers = {mark.marker for mark in edge_marks(table)}
    return [Entry(noted(note), note.text) for note in notes(table, markers)]


def _data(table: Table, wide: Picture, narrow: Picture) -> dict[str, Any]:
    """What the script shows for a point; every text as the table has it."""
    points = range(len(table.points))
    return {
        "x": in_letters(table.x.label),
        "points": [shown_point(point) for point in table.points],
        "names": table.point_names,
        "labels": [in_letters(trend.label) for trend in table.trends],
        "values": [[shown_value(trend, i) for i in points] for trend in table.trends],
        "exact": [trend.exact and [shown_exact(trend.exact, i) for i in points] for trend in table.trends],
        # Which point is at each place along a trend, where that is not the table's order.
        "order": [trend.in_order() for trend in table.trends] if table.ranked else None,
        "wide": wide.places,
        "narrow": narrow.places,
    }


def template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.loader = jinja2.FunctionLoader(part)
    environment.lstrip_blocks = True
    environment.filters |= {"letters": in_letters, "setting": shown_setting, "heading": heading, "words": word_columns}
    return environment.get_template(name)


def part(name: str) -> str:
    """A file that pages are made of."""
    return files("bayesregret.report").joinpath(name).read_text(encoding="utf-8")
