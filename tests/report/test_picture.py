"""Figures inside the page."""

import re

import numpy as np
import pytest

from bayesregret.plotting import COLUMN, PAGE, draw
from bayesregret.plotting.legend import Note
from bayesregret.plotting.style import Look
from bayesregret.report.picture import note_sample, picture, sample
from bayesregret.reproduction.table import Trend
from plotting.samples import difference_table, width_table


def ids(svg):
    return set(re.findall(r' id="([^"]+)"', svg))


def test_pictures_on_one_page_share_no_ids_and_find_their_own():
    first, second = (picture(width_table(), PAGE, name, "alt").svg for name in ("one", "two"))
    assert ids(first)
    assert not ids(first) & ids(second)
    for svg in (first, second):
        used = set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))
        assert used <= ids(svg)


def test_every_trend_can_be_found():
    svg = picture(width_table(), PAGE, "one", "alt").svg
    assert set(re.findall(r'data-trend="(\d+)"', svg)) == {"0", "1", "2", "3"}


def test_colours_can_be_changed_by_the_page():
    svg = picture(width_table(), PAGE, "one", "alt").svg
    assert "var(--blue,#0072b2)" in svg
    bare = re.sub(r"var\(--\w+,#[0-9a-f]{6}\)", "", svg)
    assert re.findall(r"#[0-9a-f]{6}\b", bare) == []


def test_the_description_is_escaped():
    assert 'aria-label="&lt;b&gt; &amp; &#34;x&#34;"' in picture(width_table(), PAGE, "one", '<b> & "x"').svg


@pytest.mark.parametrize("size", [COLUMN, PAGE])
def test_places_are_where_the_markers_are(size):
    """The SVG's own markers, which matplotlib put there, are the witnesses."""
    table = difference_table()
    shown = picture(table, size, "one", "alt")
    marks = re.findall(r'<use href="#[^"]+" x="([\d.]+)" y="([\d.]+)" style="fill: var\(--(?:blue|red)', shown.svg)
    drawn = sorted((float(x), float(y)) for x, y in marks)
    assert np.array(sorted(shown.places[0])) == pytest.approx(np.array(drawn), abs=0.06)


def test_values_beyond_the_axis_are_at_its_edge():
    trends = (Trend("b", "b", "printed", (-1.0, 5.0, np.inf, np.nan)),)
    table = width_table(trends=trends)
    below, inside, above, missing = picture(table, PAGE, "one", "alt").places[0]
    figure = draw(table, PAGE, legend=False)
    height = figure.bbox.height / figure.dpi * 72.0
    assert missing is None
    assert 0.0 < above[1] < inside[1] < below[1] < height


def test_points_left_of_a_log_axis_have_no_place():
    assert picture(width_table(points=(0.0, 0.3, 1.0, 3.0)), PAGE, "one", "alt").places[0][0] is None


def test_samples_show_line_and_marker():
    assert sample(Look("#0072b2", marker="s")).count("<path") == 2
    dashed = sample(Look("#0072b2", (5.0, 2.0), line_width=2.0))
    assert 'stroke-dasharray="10.00 4.00"' in dashed
    assert dashed.count("<path") == 1


def test_samples_of_notes():
    look = Look("#0072b2", marker="o", hollow=True)
    line, bar, edge = (note_sample(Note("what", look, form)) for form in ("line", "bar", "edge"))
    assert (line.count("<path"), bar.count("<path"), edge.count("<path")) == (1, 2, 1)
    assert "M1 6H35" in line
    assert "M18 0V12" in bar
    assert 'fill="none"' in edge
    assert 'fill="none"' in sample(look)
