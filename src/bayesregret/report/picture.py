"""Figures as inline SVG, with the places of their points."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.transforms import Affine2D

from bayesregret.plotting.drawing import as_drawn, draw, edge_marks
from bayesregret.plotting.legend import Note
from bayesregret.plotting.saving import rendered
from bayesregret.plotting.style import (
    BLUE,
    GREEN,
    GREY,
    GRID,
    INK,
    ORANGE,
    PAPER,
    PINK,
    RED,
    SKY,
    Look,
    Size,
)
from bayesregret.reproduction.table import Table

POINTS_PER_INCH = 72.0  # an SVG file's unit is a point
# The page's style sheet gives these names lighter values on a dark page.
NAMES = {
    BLUE: "blue",
    RED: "red",
    GREEN: "green",
    PINK: "pink",
    ORANGE: "orange",
    SKY: "sky",
    INK: "ink",
    GREY: "grey",
    GRID: "grid",
    PAPER: "paper",
}
SAMPLE_WIDTH, SAMPLE_HEIGHT = 36, 12

Place = tuple[float, float] | None


class Picture(NamedTuple):
    """A figure as SVG."""

    svg: Markup
    places: list[list[Place]]  # of each point of each trend, in the SVG's units


def picture(table: Table, size: Size, name: str, alt: str) -> Picture:
    """Draw a table. `name` distinguishes the ids inside from those of other pictures on the page."""
    table = as_drawn(table)
    figure = draw(table, size, legend=False)
    source = rendered(figure, "svg", metadata={"Date": None}).decode()
    return Picture(Markup(for_page(source, name, alt)), _places(figure, table))


def for_page(source: str, name: str, alt: str) -> str:
    """Return the SVG as part of a page, with unique ids and with colours that the page can change."""
    # The style element would apply to the whole page.
    body = re.sub(r"<(metadata|style)\b.*?</\1>", "", source[source.index("<svg") :], flags=re.DOTALL)
    view = re.search(r'viewBox="[^"]*"', body)
    assert view is not None
    opening = Markup('<svg {} role="img" aria-label="{}" focusable="false">').format(Markup(view[0]), alt)
    body = re.sub(r"^<svg[^>]*>", lambda _: str(opening), body).replace("xlink:href", "href")
    used = set(re.findall(r'href="#([^"]+)"', body)) | set(re.findall(r"url\(#([^)]+)\)", body))

    def identity(found: re.Match[str]) -> str:
        trend = re.match(r"trend-(\d+)", found[1])
        if trend is not None:
            return f' data-trend="{trend[1]}"'
        return f' id="{name}-{found[1]}"' if found[1] in used else ""

    body = re.sub(r' id="([^"]+)"', identity, body)
    body = body.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    return re.sub(r"\n\s*", "\n", _named_colours(body))


def _named_colours(source: str) -> str:
    for colour, name in NAMES.items():
        source = source.replace(colour, f"var(--{name},{colour})")
    return source


def _places(figure: Figure, table: Table) -> list[list[Place]]:
    places = [[_place(figure, x, y) for x, y in zip(table.points, t.values, strict=True)] for t in table.trends]
    for mark in edge_marks(table):
        height = figure.axes[0].transAxes.transform((0.0, mark.height))[1]
        for i in np.flatnonzero(mark.where):
            across = places[mark.trend][i]
            places[mark.trend][i] = None if across is None else (across[0], _down(figure, height))
    return places


def _place(figure: Figure, x: float, y: float) -> Place:
    axes = figure.axes[0]
    if not math.isfinite(x) or (axes.get_xscale() == "log" and x <= 0.0) or math.isnan(y):
        return None
    low, high = axes.get_ylim()
    across, up = axes.transData.transform((x, min(max(y, low), high)))
    return round(float(across) * POINTS_PER_INCH / figure.dpi, 1), _down(figure, up)


def _down(figure: Figure, up: float) -> float:
    """Return the distance from the top, in the SVG's units."""
    return round(float(figure.bbox.height - up) * POINTS_PER_INCH / figure.dpi, 1)


def sample(look: Look) -> Markup:
    """Return a piece of a trend's line, for the page's legend."""
    return _framed(_line(look) + (_mark(look) if look.marker else Markup("")))


def note_sample(note: Note) -> Markup:
    """Return the mark that a note in the page's legend explains."""
    if note.form == "line":
        return _framed(_line(note.look))
    if note.form == "edge":
        return _framed(_mark(note.look._replace(hollow=True)))
    bar = Markup('<path d="M18 0V12" stroke="{}" stroke-width="1.2" opacity="0.6"/>').format(note.look.colour)
    return _framed(bar + _mark(note.look))


def _line(look: Look) -> Markup:
    dashes = " ".join(f"{length * look.line_width:.2f}" for length in look.dashes)
    line: dict[str, Any] = {"width": look.line_width * 1.3, "dashes": dashes, "colour": look.colour}
    shape = '<path d="M1 6H35" stroke="{colour}" stroke-width="{width:.2f}" stroke-dasharray="{dashes}"'
    shape += ' opacity="{opacity:g}"/>' if look.opacity < 1.0 else "/>"
    return Markup(shape).format(**line, opacity=look.opacity)


def _mark(look: Look) -> Markup:
    filled, hollow = Markup('<path d="{}" fill="{}"/>'), Markup('<path d="{}" fill="none" stroke="{}"/>')
    return (hollow if look.hollow else filled).format(_marker(look.marker), look.colour)


def _framed(drawn: Markup) -> Markup:
    frame = '<svg class="sample" viewBox="0 0 {} {}" aria-hidden="true" focusable="false">{}</svg>'
    return Markup(_named_colours(Markup(frame).format(SAMPLE_WIDTH, SAMPLE_HEIGHT, drawn)))


def _marker(marker: str) -> str:
    """Return matplotlib's marker as an SVG path in the middle of the sample."""
    style = MarkerStyle(marker)
    to_sample = Affine2D().scale(7.0, -7.0).translate(0.5 * SAMPLE_WIDTH, 0.5 * SAMPLE_HEIGHT)
    path = style.get_path().transformed(style.get_transform() + to_sample)
    corners = np.asarray(path.to_polygons()[0])
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z"
