"""Readers of histories in a CSV file, a table of columns or a list of rows, as blocks of columns."""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from bayesregret import checks

Columns = dict[str, Sequence[Any]]

LARGEST_FILE = 1_000_000_000  # bytes
LONGEST_LINE = 100_000  # characters: no table of counts has longer lines; a file without line ends must not fill memory
ROWS_AT_ONCE = 100_000
DELIMITERS = ",;\t"


def column_blocks(history: Any) -> Iterator[Columns]:
    """Yield the history in blocks of rows; every block has all columns, by name."""
    if isinstance(history, str | os.PathLike):
        yield from _blocks_of_file(os.fsdecode(history))
    elif isinstance(history, Mapping) or hasattr(history, "keys"):  # a pandas table has keys, too
        names = list(history.keys())
        columns = zip(_headings(names), (_as_list(name, history[name]) for name in names), strict=True)
        yield _of_equal_length(dict(columns))
    elif isinstance(history, Iterable):
        yield _columns_from_rows(list(history))
    else:
        raise checks.fail("history", "a CSV file, a table of columns or a list of rows", history)


def _headings(names: Iterable[Any]) -> list[str]:
    """Normalise column names: case and surrounding spaces do not matter."""
    headings = [str(name).strip().lower() for name in names]
    repeated = next((heading for heading in headings if headings.count(heading) > 1 and heading), None)
    if repeated is not None:
        raise ValueError(f"{checks.shown(repeated)} is the name of two columns")
    return headings


def _as_list(name: Any, column: Any) -> list[Any]:
    try:
        return list(column)
    except TypeError:
        raise checks.fail(f"column {name}", "a list with an entry for each row", column) from None


def _of_equal_length(columns: Columns) -> Columns:
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"history must have columns of the same length, got {min(lengths)} and {max(lengths)} rows")
    return columns


def _columns_from_rows(rows: list[Any]) -> Columns:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise checks.fail(f"row {number}", "a table of named fields", row)
        if row.keys() != rows[0].keys():
            raise ValueError(f"row {number}: must have the fields of the first row, {', '.join(map(str, rows[0]))}")
    if not rows:
        return {}
    return dict(zip(_headings(rows[0]), ([row[name] for row in rows] for name in rows[0]), strict=True))


# --- files ---------------------------------------------------------------------------------------------------------


def _blocks_of_file(name: str) -> Iterator[Columns]:
    try:
        if os.path.getsize(name) > LARGEST_FILE:
            raise ValueError(f"is too large; a history has at most {LARGEST_FILE // 10**6} MB")
        with open(name, encoding="utf-8-sig", newline="") as file:  # some editors begin with a byte order mark
            yield from _blocks_of_text(file)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"is not CSV: {error}") from None


def _blocks_of_text(file: TextIO) -> Iterator[Columns]:
    """Headings, then rows; the delimiter of the headings is that of all rows."""
    lines = _lines(file)
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise ValueError("is empty; its first line must name the columns")
    delimiter = max(DELIMITERS, key=first.count)
    headings = _headings(next(csv.reader([first], delimiter=delimiter)))
    rows = (row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row)  # no blank lines
    yield dict.fromkeys(headings, ())  # so that missing columns are reported before wrong rows
    before = 0
    while block := list(itertools.islice(rows, ROWS_AT_ONCE)):
        _check_widths(block, len(headings), before)
        yield dict(zip(headings, zip(*block, strict=True), strict=True))
        before += len(block)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise ValueError(f"has a line of more than {LONGEST_LINE} characters; a history has one line for each row")
        yield line


def _check_widths(block: list[list[str]], width: int, before: int) -> None:
    if set(map(len, block)) != {width}:
        at, row = next((at, row) for at, row in enumerate(block, before + 1) if len(row) != width)
        raise ValueError(f"row {at}: must have {width} cells, one for each column, got {len(row)}")
