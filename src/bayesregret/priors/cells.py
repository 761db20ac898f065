"""Numbers in the cells of a history: parsing, and the values that each column may have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.priors.row_report import Mask, Rows

LARGEST_COUNT = 10**15  # floats still represent every whole number up to this size
SMALLEST_EXPOSURE = 1e-15

# Text of missing numbers: spreadsheets, R, pandas and databases write these.
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"})
TRUTH_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


class Condition(NamedTuple):
    """A condition on the values of a column."""

    holds: Callable[[Array], Mask]
    may_be: str


class Kind(NamedTuple):
    """The values that a column may have."""

    conditions: tuple[Condition, ...]
    words: Mapping[str, float] = {}  # lower-case text that stands for numbers

    @property
    def may_be(self) -> str:
        return self.conditions[0].may_be


class Column(NamedTuple):
    """A numeric column of one block."""

    name: str  # for messages
    kind: Kind
    cells: Sequence[Any]
    values: Array  # nan where the cell is missing or unreadable
    unreadable: Mask | None  # None: all cells are numbers or missing


WHOLE = Kind(
    (
        Condition(
            lambda values: (values >= 0.0) & (values <= LARGEST_COUNT) & (values == np.floor(values)),
            f"a whole number, at least 0 and at most {LARGEST_COUNT:g}",
        ),
    )
)
EXPOSURE = Kind(
    (
        Condition(
            lambda values: (values == 0.0) | ((values >= SMALLEST_EXPOSURE) & (values <= LARGEST_COUNT)),
            f"0 or a number between {SMALLEST_EXPOSURE:g} and {LARGEST_COUNT:g}",
        ),
    )
)
REAL = Kind(
    (
        Condition(np.isfinite, "a finite number"),
        Condition(lambda values: np.abs(values) <= checks.LARGEST, f"at most {checks.LARGEST:g} either way"),
    )
)
NOT_NEGATIVE = Kind((*REAL.conditions, Condition(lambda values: values >= 0.0, "a number, at least 0")))
TRUTH = Kind(
    (Condition(lambda values: (values == 0.0) | (values == 1.0), "0 or 1, true or false, or yes or no"),), TRUTH_WORDS
)


def read_column(name: str, kind: Kind, cells: Sequence[Any]) -> Column:
    """Parse the cells of a column, without checking their values."""
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except (TypeError, ValueError, OverflowError):
        parsed = _parsed(cells, kind.words)
        unreadable = np.fromiter((value is None for value in parsed), dtype=np.bool_, count=len(cells))
        return Column(name, kind, cells, np.array(parsed, dtype=np.float64), unreadable)
    return Column(name, kind, cells, values, None)


def _parsed(cells: Sequence[Any], words: Mapping[str, float]) -> list[float | None]:
    """Numbers, nan for missing cells, None for unreadable ones."""
    try:  # equal cells are parsed once: columns of words or of counts have few different ones
        numbers = {cell: _number(cell, words) for cell in set(cells)}
    except TypeError:  # a cell that cannot be hashed
        return [_number(cell, words) for cell in cells]
    return [numbers[cell] for cell in cells]


def _number(cell: Any, words: Mapping[str, float]) -> float | None:
    try:
        return float(cell)
    except OverflowError:
        return None
    except (TypeError, ValueError):
        text = str(cell).strip().lower()
        return float("nan") if text in MISSING else words.get(text)


def check_columns(rows: Rows, columns: Iterable[tuple[Column, Mask]]) -> None:
    """Skip rows with missing cells or report them, then report cells that are no numbers, then values out of range.

    Each column comes with the mask of the rows in which it is needed.
    """
    columns = list(columns)
    for column, needed in columns:
        empty = np.isnan(column.values) & needed
        if column.unreadable is not None:
            empty &= ~column.unreadable
        rows.refuse_missing(empty, column.name, f"be {column.kind.may_be}")
    for column, needed in columns:
        if column.unreadable is not None:
            rows.refuse(column.unreadable & needed, _unreadable(column))
    for column, needed in columns:
        for condition in column.kind.conditions:
            refuse_values(rows, column, needed & ~condition.holds(column.values), condition.may_be)


def refuse_values(rows: Rows, column: Column, bad: Mask, may_be: str | Callable[[int], str]) -> None:
    """Report rows by their numbers; `may_be` may depend on the position in the block."""

    def message(at: int) -> str:
        allowed = may_be if isinstance(may_be, str) else may_be(at)
        value = float(column.values[at])
        is_rate = column.kind is WHOLE and 0.0 < value < 1.0
        return f"{column.name} must be {allowed}, got {_shown(value)}" + ": a rate? It must be a count" * is_rate

    rows.refuse(bad, message)


def _unreadable(column: Column) -> Callable[[int], str]:
    may_be = column.kind.may_be if column.kind.words else "a number"
    return lambda at: str(checks.fail(column.name, may_be, column.cells[at]))


def _shown(value: float) -> str:
    if value.is_integer() and abs(value) <= LARGEST_COUNT:
        return str(int(value))
    short = f"{value:.4g}"
    return str(value) if float(short).is_integer() else short  # rounding must not hide what is wrong
