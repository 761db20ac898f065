"""Print tables and strict JSON on standard output."""

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
    from bayesregret.simulation.estimates import Estimate
    from bayesregret.simulation.exact_comparison import ExactComparison
    from bayesregret.simulation.result import SimulationResult

# In a narrow terminal Rich would truncate numbers; it is better that the terminal wraps the line.
UNLIMITED_WIDTH = 10_000


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


@contextmanager
def spinner(description: str, progress: bool | None = None) -> Iterator[None]:
    """Show a spinner on standard error during the block: in a terminal by default, always or never if given."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(description):
        yield


def show_result(
    result: SimulationResult,
    *,
    curve: bool,
    against: ExactComparison | None = None,
    optimum: OptimalRegret | None = None,
    ratios: Mapping[str, Estimate] | None = None,
) -> None:
    """Print the table of a simulation, with the regret at checkpoints and comparisons if there are any."""
    tables, summary = [result.table(ratios)], result.summary()
    if optimum is not None:
        summary = f"{summary}\nno policy has less regret than {exact_digits(optimum.regret, optimum.error)}"
    if curve:
        tables.append(_curve_rows(result))
    if against is not None:
        tables.append(against.table())
        summary = f"{summary}\n{against.summary()}"
    show_tables(tables, summary)


def show_tables(tables: list[list[list[str]]], summary: str, *, text: Collection[str] = ()) -> None:
    """Print tables and a summary. The first column and those in `text` are text, all others are numbers."""
    from rich.console import Console

    in_terminal = sys.stdout.isatty()
    console = Console(highlight=False, markup=False, width=UNLIMITED_WIDTH)
    for rows in tables:
        console.print(_rich_table(rows, in_terminal, text))
        if not in_terminal:
            console.print()
    console.print(_writable(summary))


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
    columns = [Column(name, justify="left" if name in left else "right", no_wrap=True) for name in rows[0]]
    table = Table(*columns, pad_edge=False)
    table.box = box.SIMPLE_HEAD if in_terminal else None
    table.padding = (0, 1, 0, 0) if in_terminal else (0, 1)
    table.header_style = "bold" if in_terminal else ""
    for row in rows[1:]:
        table.add_row(*map(_writable, row))
    return table


def _writable(text: str) -> str:
    """Return the text in characters that standard output can encode."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return text.replace(PLUS_MINUS, "+-")
    return text
