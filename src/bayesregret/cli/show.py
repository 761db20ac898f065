"""Print tables and strict JSON on standard output."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesregret.cli.spelling import as_typed
from bayesregret.digits import PLUS_MINUS, with_error

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from bayesregret.simulation.exact_comparison import ExactComparison
    from bayesregret.simulation.over_optimal import OverOptimal
    from bayesregret.simulation.result import SimulationResult

UNLIMITED_WIDTH = 10_000
NO_BREAK = "\N{NO-BREAK SPACE}"
NARROWEST = 40  # columns; the terminal wraps what needs more
ROOMY = 120  # columns; from here on headings and text wrap before a column leaves
HEADING = 12  # characters of a heading that stay in one line


def show_json(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(_strict(data), allow_nan=False) + "\n")


def _strict(value: Any) -> Any:
    """Replace infinities, which JSON does not have, by "inf" and "-inf"."""
    if isinstance(value, dict):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def show_result(
    result: SimulationResult,
    *,
    curve: bool,
    against: ExactComparison | None = None,
    ratios: OverOptimal | None = None,
    wide: bool = False,
) -> None:
    """Print the table of a simulation, with the regret at checkpoints and comparisons if there are any."""
    tables, summary = [result.table(ratios)], result.summary()
    if ratios is not None:
        summary = f"{summary}\n{ratios.summary()}"
    if curve:
        tables.append(_curve_rows(result))
    if against is not None:
        tables.append(against.table())
        summary = f"{summary}\n{against.summary()}"
    show_tables(tables, summary, wide=wide)


def show_tables(
    tables: list[list[list[str]]],
    summary: str,
    *,
    text: Collection[str] = (),
    least: Sequence[str] = (),
    kept: Sequence[str] = (),
    code: str = "",
    wide: bool = False,
) -> None:
    """Print tables, a summary and code, no wider than the terminal unless `wide`.

    The first column and those in `text` are text, all others are numbers. In a narrow terminal columns leave: those in
    `least`, in this order, then numbers from the right but those in `kept`; what is left of text wraps between words.
    In a `ROOMY` one headings and text wrap first. Code is as it is.
    """
    from rich.console import Console

    in_terminal, width = sys.stdout.isatty(), None if wide else output_width()
    console = Console(highlight=False, markup=False, width=width or UNLIMITED_WIDTH)
    left_out: list[str] = []
    for rows in tables:
        fitting, gone = _fitting(rows, console, in_terminal, text, _leaving(rows[0], text, least, kept))
        left_out += [name for name in gone if name not in left_out]
        with console.capture() as printed:
            console.print(_rich_table(fitting, in_terminal, text))
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in printed.get().splitlines()) + "\n")
    lines = [
        *as_typed(summary).splitlines(),
        *([f"left out: {', '.join(left_out)}; --wide shows all"] if left_out else []),
    ]
    wrapped = [wrapped_line for line in lines for wrapped_line in _wrapped(line, width)]
    sys.stdout.write(_writable("\n".join([*wrapped, *([code] if code else [])])) + "\n")


def output_width() -> int | None:
    """Columns of the terminal, or those that COLUMNS says; None for a file or a pipe."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(shutil.get_terminal_size().columns, NARROWEST)
    return None


def _wrapped(line: str, width: int | None) -> list[str]:
    if width is None or len(line) <= width:
        return [line]
    together = re.sub(" ([±=]) ", rf"{NO_BREAK}\1{NO_BREAK}", line)  # a number and its error
    wrapped = textwrap.wrap(together, width, break_long_words=False, break_on_hyphens=False)
    return [part.replace(NO_BREAK, " ") for part in wrapped]


def _leaving(headings: list[str], text: Collection[str], least: Sequence[str], kept: Collection[str]) -> list[str]:
    """Return the names of the columns that may leave, the first one first."""
    numbers = [name for name in reversed(headings[2:]) if name not in {*text, *least, *kept}]
    return [name for name in (*least, *numbers) if name in headings]


def _fitting(
    rows: list[list[str]], console: Console, in_terminal: bool, text: Collection[str], order: list[str]
) -> tuple[list[list[str]], list[str]]:
    """Return the rows without the columns for which there is no room, and the names of these columns."""
    gone: list[str] = []
    wraps = ROOMY <= console.width < _width(rows, console, in_terminal, text)
    while order and _width(_wrapped_cells(rows, text) if wraps else rows, console, in_terminal, text) > console.width:
        gone.append(order.pop(0))
        place = rows[0].index(gone[-1])
        rows = [[*row[:place], *row[place + 1 :]] for row in rows]
    return [_wrapped_headings(rows, text), *rows[1:]] if wraps else rows, gone


def _wrapped_headings(rows: list[list[str]], text: Collection[str]) -> list[str]:
    """Return the headings, those of numbers broken between words where the cells below are narrower."""
    columns = zip(*rows, strict=True)
    return [name if name in text else _narrow(name, max(HEADING, *map(len, cells))) for name, *cells in columns]


def _wrapped_cells(rows: list[list[str]], text: Collection[str]) -> list[list[str]]:
    """Return the rows as narrow as they may become: text no narrower than half of what it needs in one line."""
    columns = [
        [_narrow(cell, max(map(len, cells)) // 2) if name in text else cell for cell in cells]
        for name, *cells in zip(*rows, strict=True)
    ]
    return [_wrapped_headings(rows, text), *map(list, zip(*columns, strict=True))]


def _narrow(cell: str, width: int) -> str:
    """Return a cell in lines of this width, or of its longest word."""
    longest = max([width, *map(len, cell.split())])
    return "\n".join(textwrap.wrap(cell, longest, break_on_hyphens=False))


def _width(rows: list[list[str]], console: Console, in_terminal: bool, text: Collection[str]) -> int:
    """Width of a table whose text is not wrapped."""
    unlimited = console.options.update(width=UNLIMITED_WIDTH)
    return console.measure(_rich_table(rows, in_terminal, text), options=unlimited).maximum


def _curve_rows(result: SimulationResult) -> list[list[str]]:
    curves = {name: policy.curve for name, policy in result.policies.items()}
    cells = {name: map(with_error, curve.mean.tolist(), curve.stderr.tolist()) for name, curve in curves.items()}
    return curve_rows(result.rounds.tolist(), cells)


def curve_rows(rounds: Iterable[int], cells: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return headings and one row per round, with one cell per policy."""
    lines = zip(*cells.values(), strict=True)
    return [["round", *cells], *([f"{round_:,}", *line] for round_, line in zip(rounds, lines, strict=True))]


def _rich_table(rows: list[list[str]], in_terminal: bool, text: Collection[str]) -> Table:
    """Return a table with lines and bold headings for a terminal, with plain columns for a pipe."""
    from rich import box
    from rich.table import Column, Table

    left = {rows[0][0], *text}
    columns = [Column(name, **_layout(name in left, name in text)) for name in rows[0]]
    table = Table(*columns, pad_edge=False, show_edge=False)
    table.box = box.SIMPLE_HEAD if in_terminal else None
    table.padding = (0, 1, 0, 0) if in_terminal else (0, 1)
    table.header_style = "bold" if in_terminal else ""
    for row in rows[1:]:
        table.add_row(*map(_writable, row))
    return table


def _layout(is_left: bool, wraps: bool) -> dict[str, Any]:
    return {"justify": "left" if is_left else "right", "no_wrap": not wraps, "overflow": "fold"}


def _writable(text: str) -> str:
    """Return the text in characters that standard output can encode."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return text.replace(PLUS_MINUS, "+-")
    return text
