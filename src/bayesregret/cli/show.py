"""Results on standard output: tables for people, strict JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bayesregret.digits import PLUS_MINUS, exact_digits, with_error

if TYPE_CHECKING:
    from rich.table import Table

    from bayesregret.optimal import OptimalRegret
    from bayesregret.simulation.exact_comparison import AgainstExact
    from bayesregret.simulation.result import Estimate, SimulationResult

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


@contextmanager
def at_work(on: str, wanted: bool | None = None) -> Iterator[None]:
    """Something that moves on standard error while work goes on, in a terminal or if it is wanted."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(on):
        yield


def show_result(
    result: SimulationResult,
    *,
    curve: bool,
    against: AgainstExact | None = None,
    least: OptimalRegret | None = None,
    ratios: Mapping[str, Estimate] | None = None,
) -> None:
    """The table, the line that says what was run and, if wanted, the regret at the checkpoints and the exact one."""
    tables, summary = [result.table(ratios)], result.summary()
    if least is not None:
        summary = f"{summary}\nno policy has less regret than {exact_digits(least.regret, least.error)}"
    if curve:
        tables.append(_curve_rows(result))
    if against is not None:
        tables.append(against.table())
        summary = f"{summary}\n{against.summary()}"
    show_tables(tables, summary)


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
    curves = {name: policy.curve for name, policy in result.policies.items()}
    told = {name: map(with_error, curve.mean.tolist(), curve.stderr.tolist()) for name, curve in curves.items()}
    return curve_rows(result.rounds.tolist(), told)


def curve_rows(rounds: Iterable[int], told: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Headings and a row for each round, with what is told of each policy there."""
    lines = zip(*told.values(), strict=True)
    return [["round", *told], *([f"{round_:,}", *line] for round_, line in zip(rounds, lines, strict=True))]


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
