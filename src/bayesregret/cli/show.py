"""Results on standard output: tables for people, strict JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from bayesregret.simulation.result import Estimate, SimulationResult

# Rich would cut numbers short to fit a narrow window: a line that the terminal wraps can still be read.
ENDLESS = 10_000


def show_json(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(_strict(data), allow_nan=False) + "\n")


def _strict(value: Any) -> Any:
    """JSON has no infinity: it becomes the text "inf"."""
    if isinstance(value, dict):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_strict(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def show_result(result: SimulationResult, *, curve: bool) -> None:
    """The table, the line that says what was run and, if wanted, the regret at the checkpoints."""
    from rich.console import Console

    in_terminal = sys.stdout.isatty()
    console = Console(highlight=False, markup=False, emoji=False, width=ENDLESS)
    for table in [_regret_table(result), *([_curve_table(result)] if curve else [])]:
        _dress(table, in_terminal)
        console.print(table)
        if not in_terminal:
            console.print()
    console.print(f"{result.bandit.kind} bandit, {result.summary()}; {_plus_minus()} one standard error")


def _regret_table(result: SimulationResult) -> Table:
    from rich.table import Column, Table

    baseline, *others = result.policies
    headings = ["Bayes regret", *([f"minus {baseline}"] if others else []), "median", "5% to 95%", "best arm"]
    table = Table("policy", *(Column(heading, justify="right") for heading in headings))
    for name, policy in result.policies.items():
        difference = [_signed(result.paired(name, baseline)) if name != baseline else ""] if others else []
        spread = f"{_brief(policy.quantile(0.05))} to {_brief(policy.quantile(0.95))}"
        share = f"{policy.best_share:.1%}"
        table.add_row(
            name, _with_error(policy.mean, policy.stderr), *difference, _brief(policy.quantile(0.5)), spread, share
        )
    return table


def _curve_table(result: SimulationResult) -> Table:
    from rich.table import Column, Table

    table = Table(Column("round", justify="right"), *(Column(name, justify="right") for name in result.policies))
    for i, round_ in enumerate(result.rounds.tolist()):
        curves = [policy.curve for policy in result.policies.values()]
        table.add_row(f"{round_:,}", *(_with_error(float(c.mean[i]), float(c.stderr[i])) for c in curves))
    return table


def _dress(table: Table, in_terminal: bool) -> None:
    """Lines and bold type are for eyes; what goes into a pipe is plain columns."""
    from rich import box

    table.box = box.SIMPLE_HEAD if in_terminal else None
    table.padding = (0, 1, 0, 0) if in_terminal else (0, 1)
    table.pad_edge = False
    table.header_style = "bold" if in_terminal else ""
    for column in table.columns:
        column.no_wrap = True


def _signed(difference: Estimate) -> str:
    sign = "+" if difference.mean > 0.0 else ""
    return sign + _with_error(difference.mean, difference.stderr)


def _with_error(mean: float, stderr: float) -> str:
    """A mean with as many digits as its standard error gives meaning to."""
    decimals = _decimals(stderr, 2) if 0.0 < stderr < math.inf else _decimals(mean, 4)
    return f"{_fixed(mean, decimals)} {_plus_minus()} {_fixed(stderr, decimals)}"


def _brief(value: float) -> str:
    return _fixed(value, _decimals(value, 4))


def _decimals(value: float, significant: int) -> int:
    """Decimals that show so many significant digits."""
    return max(0, significant - 1 - math.floor(math.log10(abs(value)))) if value != 0.0 else 0


def _fixed(value: float, decimals: int) -> str:
    """Without an exponent as long as that is short."""
    return f"{value:.{decimals}f}" if decimals <= 6 and abs(value) < 1e7 else f"{value:.4g}"


def _plus_minus() -> str:
    try:
        "±".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return "+-"
    return "±"
