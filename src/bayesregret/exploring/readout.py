"""The numbers beside a picture, as an HTML table that is also its legend."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from bayesregret.exploring.drawn import table_looks
from bayesregret.exploring.snapshot import Line, Reading, Snapshot
from bayesregret.plotting.style import Look
from bayesregret.report.picture import sample


def alert(message: str) -> str:
    """Return a line about what is wrong; nothing if nothing is."""
    return Markup("<div class=alert role=alert>{}</div>").format(message) if message else ""


def status(snapshot: Snapshot | None) -> str:
    """Return what goes on."""
    if snapshot is None:
        return Markup('<p class="status running" role=status>Computing; the first time here it is compiled, too.</p>')
    state = "done" if snapshot.done else "running"
    # Only the end is read aloud: a screen reader would talk all the time.
    live = Markup("role=status") if snapshot.done else Markup("aria-live=off")
    return Markup('<p class="status {}" {}>{}</p>').format(state, live, snapshot.status)


def readout(snapshot: Snapshot, hidden: Sequence[str], *, is_old: bool = False) -> str:
    """Return the table of a snapshot: a button in each row hides its trend. An old one is of the settings before."""
    looks = dict(zip((t.label for t in snapshot.table.trends), table_looks(snapshot.table), strict=True))
    headings = Markup("").join(Markup("<th scope=col>{}</th>").format(text) for text in snapshot.headings)
    rows = Markup("").join(_row(line, looks, hidden) for line in snapshot.lines)
    kind = "old" if is_old else "done" if snapshot.done else "running"
    return Markup(
        '<div class=scroll><table class="{}" data-done="{}"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(kind, "true" if kind == "done" else "false", headings, rows)


def _legend(line: Line, look: Look, hidden: Sequence[str]) -> Markup:
    """Return a button that shows and hides the trend."""
    return Markup(
        '<button class=legend name="hide:{0}" data-key="hide-{0}" aria-pressed="{1}" title="Show or hide">'
        "{2}{3}</button>"
    ).format(line.name, "false" if line.name in hidden else "true", sample(look), line.label)


def _row(line: Line, looks: Mapping[str, Look], hidden: Sequence[str]) -> Markup:
    first = Markup("{}").format(line.label) if line.label not in looks else _legend(line, looks[line.label], hidden)
    if line.note:
        cells = Markup("<td class=note colspan={}>{}</td>").format(len(line.readings), line.note)
    else:
        cells = Markup("").join(_cell(reading) for reading in line.readings)
    return Markup('<tr data-name="{}"><td>{}</td>{}</tr>').format(line.name, first, cells)


def _cell(reading: Reading) -> Markup:
    if math.isnan(reading.value):
        return Markup("<td>{}</td>").format(reading.text)
    error = "" if math.isnan(reading.error) else Markup(' data-error="{!r}"').format(reading.error)
    return Markup('<td data-value="{!r}"{}>{}</td>').format(float(reading.value), error, reading.text)
