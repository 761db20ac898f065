"""Bad rows of a history in one message, and the number of rows skipped because a cell is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

MOST_SHOWN = 10
HINT = "--skip-missing (skip_missing= in Python) leaves out rows with missing cells"


class RowReport:
    """Counts bad and skipped rows over all blocks of a history, and keeps the messages of the first bad ones.

    Parameters
    ----------
    word : str
        Name of a row's number: "line" in a file, "row" elsewhere.
    skip_missing : bool
        Whether rows with missing cells are skipped rather than bad.
    """

    def __init__(self, word: str, skip_missing: bool = False) -> None:
        self.word, self.skip_missing = word, skip_missing
        self.skipped = 0
        self._bad = 0
        self._missing: list[int] = []  # the first rows with missing cells
        self._missing_rows = 0
        self._messages: dict[int, str] = {}  # by the row's number; the first MOST_SHOWN bad rows are among them

    def add(self, numbers: Sequence[int] | Index, message: Callable[[int], str], *, missing: bool = False) -> None:
        """Add rows, in ascending order, of which none was added before; `message` takes a position in `numbers`."""
        self._bad += len(numbers)
        if missing:
            self._missing_rows += len(numbers)
            self._missing = sorted([*self._missing, *map(int, numbers[:MOST_SHOWN])])[:MOST_SHOWN]
        for at, number in enumerate(numbers[:MOST_SHOWN]):
            self._messages[int(number)] = message(at)

    def raise_bad_rows(self) -> None:
        """Raise a ValueError if there are bad rows: one line for one, else their number and a line for each."""
        if self._bad == 0:
            return
        lines = [f"{self.word} {number}: {text}" for number, text in sorted(self._messages.items())[:MOST_SHOWN]]
        hint = [f"{HINT}: {self._missing_named()}"] if self._missing else []
        if self._bad == 1:
            raise ValueError("; ".join([*lines, *hint]))
        more = [f"and {self._bad - MOST_SHOWN:,} more"] if self._bad > MOST_SHOWN else []
        raise ValueError("\n".join([f"{self._bad:,} bad rows", *lines, *more, *hint]))

    def _missing_named(self) -> str:
        """The numbers of the rows with missing cells."""
        more = self._missing_rows - len(self._missing)
        words = self.word if self._missing_rows == 1 else f"{self.word}s"
        return f"{words} {', '.join(map(str, self._missing))}" + f" and {more:,} more" * (more > 0)


class Rows:
    """The rows of one block; `good` marks those that are neither bad nor skipped so far."""

    def __init__(self, numbers: Index, report: RowReport) -> None:
        self.numbers, self.report = numbers, report
        self.good: Mask = np.ones(len(numbers), dtype=np.bool_)

    def refuse(self, bad: Mask, message: Callable[[int], str], *, missing: bool = False) -> None:
        """Report rows that were good so far; `message` takes a position in the block."""
        if bad.any():
            where = np.flatnonzero(bad & self.good)
            self.report.add(self.numbers[where], lambda at: message(int(where[at])), missing=missing)
            self.good[where] = False

    def refuse_missing(self, empty: Mask, name: str, may_be: str) -> None:
        """Skip or report rows in which the cell of this column is missing."""
        if not self.report.skip_missing:
            self.refuse(empty, lambda at: f"{name} must {may_be}, got nothing", missing=True)
        elif empty.any():
            self.report.skipped += int((empty & self.good).sum())
            self.good &= ~empty
