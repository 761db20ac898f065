"""Readers of histories in a CSV file, a table of columns or a list of rows, as blocks of columns."""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

import numpy as np

from bayesregret import checks
from bayesregret.priors.columns import Columns, headings, listed
from bayesregret.priors.row_report import Index, RowReport
from bayesregret.reading import open_file

LARGEST_FILE = 1_000_000_000  # bytes
LONGEST_LINE = 100_000  # characters: no table of counts has longer lines; a file without line ends must not fill memory
ROWS_AT_ONCE = 10_000  # larger blocks take longer: Python's garbage collector looks at every row
DELIMITERS = ",;\t"
LINE_END = re.compile(r"\r\n|\r|\n")


class Block(NamedTuple):
    """Some rows of a history, with all columns."""

    found: Sequence[Any]  # names of the columns as the user wrote them
    columns: Columns  # by normal name
    numbers: Index  # of the rows, ascending: lines of a file, elsewhere from 1


def column_blocks(history: Any, report: RowReport) -> Iterator[Block]:
    """Yield the history in blocks of rows; rows of the wrong form are reported and left out."""
    if isinstance(history, str | os.PathLike):
        yield from _blocks_of_file(os.fsdecode(history), report)
    elif isinstance(history, Mapping) or hasattr(history, "keys"):  # a pandas table has keys, too
        yield _table_block(history)
    elif isinstance(history, Iterable):
        yield _block_of_rows(list(history), report)
    else:
        raise checks.fail("history", "a CSV file, a table of columns or a list of rows", history)


def _table_block(table: Any) -> Block:
    names = list(table.keys())
    columns: Columns = dict(zip(headings(names), (_as_list(name, table[name]) for name in names), strict=True))
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"history must have columns of the same length, got {min(lengths)} and {max(lengths)} rows")
    return Block(names, columns, _numbered(1, max(lengths, default=0)))


def _as_list(name: Any, column: Any) -> list[Any]:
    try:
        return list(column)
    except TypeError:
        raise checks.fail(f"column {name}", "a list with an entry for each row", column) from None


def _block_of_rows(rows: list[Any], report: RowReport) -> Block:
    if not rows:
        return Block([], {}, _numbered(1, 0))
    fields = rows[0].keys() if isinstance(rows[0], Mapping) else {}
    good = np.array([isinstance(row, Mapping) and row.keys() == fields for row in rows], dtype=np.bool_)
    bad = np.flatnonzero(~good)
    report.add(bad + 1, lambda at: _wrong_fields(rows[bad[at]], fields))
    if not fields:
        report.raise_bad_rows()
    kept = list(itertools.compress(rows, good.tolist()))
    columns: Columns = dict(zip(headings(fields), ([row[name] for row in kept] for name in fields), strict=True))
    return Block(list(fields), columns, _numbered(1, len(rows))[good])


def _wrong_fields(row: Any, fields: Collection[Any]) -> str:
    if not isinstance(row, Mapping):
        return f"must be a table of named fields, got {checks.shown(row)}"
    return f"must have the fields of the first row, {listed(fields)}"


def _numbered(first: int, rows: int) -> Index:
    return np.arange(first, first + rows, dtype=np.intp)


# --- files ---------------------------------------------------------------------------------------------------------


def _blocks_of_file(name: str, report: RowReport) -> Iterator[Block]:
    try:
        with open_file(name) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_FILE:
                raise ValueError(f"is too large; a history has at most {LARGEST_FILE // 10**6} MB")
            with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:  # some editors write this mark
                yield from _blocks_of_text(text, report)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"is not CSV: {error}") from None


def _blocks_of_text(file: TextIO, report: RowReport) -> Iterator[Block]:
    """Headings, then rows; the delimiter of the headings is that of all rows."""
    lines = _lines(file)
    blank, first = next(((at, line) for at, line in enumerate(lines) if line.strip()), (0, ""))
    if not first:
        raise ValueError("is empty; its first line must name the columns")
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(itertools.chain([first], lines), delimiter=delimiter, skipinitialspace=True)
    found = next(reader)
    names = headings(found)
    yield Block(found, dict.fromkeys(names, ()), _numbered(1, 0))  # missing columns are reported before bad rows
    before = reader.line_num
    while rows := list(itertools.islice(reader, ROWS_AT_ONCE)):
        numbers = blank + _line_numbers(rows, before, reader.line_num - before)
        before = reader.line_num
        rows, numbers = _of_width(len(names), rows, numbers, report)
        columns = zip(*rows, strict=True) if rows else itertools.repeat((), len(names))
        yield Block(found, dict(zip(names, columns, strict=True)), numbers)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise ValueError(f"has a line of more than {LONGEST_LINE} characters; a history has one line for each row")
        yield line


def _line_numbers(rows: list[list[str]], before: int, lines: int) -> Index:
    """The line on which each row begins; rows with line ends in quoted cells are longer than one."""
    if lines == len(rows):
        return _numbered(before + 1, lines)
    lengths = np.array([1 + sum(len(LINE_END.findall(cell)) for cell in row) for row in rows], dtype=np.intp)
    return before + 1 + np.cumsum(lengths) - lengths


def _of_width(width: int, rows: list[list[str]], numbers: Index, report: RowReport) -> tuple[list[list[str]], Index]:
    """Drop blank lines, and report rows with too few or too many cells."""
    widths = np.fromiter(map(len, rows), dtype=np.intp, count=len(rows))
    good = widths == width
    if good.all():
        return rows, numbers
    spaces = [at for at in np.flatnonzero(widths == 1) if not rows[at][0].strip()]
    widths[spaces] = 0
    bad = np.flatnonzero(~good & (widths > 0))
    report.add(numbers[bad], lambda at: f"must have {width} cells, one for each column, got {widths[bad[at]]}")
    return list(itertools.compress(rows, good.tolist())), numbers[good]
