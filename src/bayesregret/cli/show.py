"""Results on standard output: tables for people, strict JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from bayesregret.digits import PLUS_MINUS, with_error

if TYPE_CHECKING:
    from rich.table import Table

    from bayesregret.simulation.result import SimulationResult

# Rich would cut numbers short to fit a narrow window: a line that the terminal wraps can still be read.
ENDLESS = 10_000


def show_json(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(_strict(data), allow_nan=False) + "\n")


def _strict(value: Any) -> Any:
    """JSON has no infinity: it becomes the text "inf"."""
    if isinstance(value, dict):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def show_result(result: SimulationResult, *, curve: bool) -> None:
    """The table, the line that says what was run and, if wanted, the regret at the checkpoints."""
    show_tables([result.table(), *([_curve_rows(result)] if curve else [])], result.summary())


def show_tables(tables: list[list[list[str]]], summary: str, *, text: Collection[str] = ()) -> None:
    """Tables and the line that says what was run; columns of words are named in `text`, all others but the first are
    numbers."""
    from rich.console import Console

    in_terminal = sys.stdout.isatty()
    console = Console(highlight=False, markup=False, width=ENDLESS)
    for rows in tables:
        console.print(_dressed(rows, in_terminal, text))
        if not in_terminal:
            console.print()
    console.print(_writable(summary))


def _curve_rows(result: SimulationResult) -> list[list[str]]:
    curves = [policy.curve for policy in result.policies.values()]
    rows = [["round", *result.policies]]
    for i, round_ in enumerate(result.rounds.tolist()):
        rows.append([f"{round_:,}", *(with_error(float(c.mean[i]), float(c.stderr[i])) for c in curves)])
    return rows


def _dressed(rows: list[list[str]], in_terminal: bool, text: Collection[str]) -> Table:
    """Lines and bold type are for eyes; what goes into a pipe is plain columns."""
    from rich import box
    from rich.table import Column, Table

    words = {rows[0][0], *text}
    columns = [Column(name, justify="left" if name in words else "right", no_wrap=True) for name in rows[0]]
    table = Table(*columns, pad_edge=False)
    table.box = box.SIMPLE_HEAD if in_terminal else None
    table.padding = (0, 1, 0, 0) if in_terminal else (0, 1)
    table.header_style = "bold" if in_terminal else ""
    for row in rows[1:]:
        table.add_row(*map(_writable, row))
    return table


def _writable(text: str) -> str:
    """The text, in letters that standard output has."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return text.replace(PLUS_MINUS, "+-")
    return text
