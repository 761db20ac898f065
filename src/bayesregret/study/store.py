"""Store of finished points, found by their settings."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Self

from bayesregret import checks
from bayesregret.study.files import COLUMNS, StudyError, check_row, open_file, readable_errors
from bayesregret.study.points import Row, StudyEntry, make_row, point_key

INSERT = f"INSERT INTO points ({COLUMNS}) VALUES ({', '.join('?' for _ in Row._fields)})"


class Study:
    """Finished points in one file; `Study.open(path)` opens or creates it.

    Several processes may use one file at the same time, each with its own `Study`; a `Study` belongs to the thread that
    opened it.
    """

    def __init__(self, name: str, database: sqlite3.Connection, *, write: bool) -> None:
        self.name = name  # of the file, in messages
        self._database = database
        self._write = write

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, create: bool = True, write: bool = True) -> Study:
        """Open the study in a file; create it if there is none. Every bit of an existing file is checked.

        With `write=False` the file is never changed, and may be read-only.
        """
        name, database = open_file(path, create=create, write=write)
        return cls(name, database, write=write)

    def close(self) -> None:
        """Close the file; the last process to close it removes the log beside it."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def result(self, settings: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the result that this version of the package saved for these settings; None if there is none."""
        with readable_errors(self.name):
            row = self._row(point_key(settings))
        return None if row is None else row.entry().result

    def save(self, settings: Mapping[str, Any], result: Mapping[str, Any], *, seconds: float) -> None:
        """Save a finished point; on return it is safely on disk.

        Saving the same point again with the same result does nothing; with another result it is an error.
        """
        row = make_row(settings, result, seconds)
        with self._transaction():
            self._add(row, self.name)

    def entries(self) -> Iterator[StudyEntry]:
        """Yield every point, in the order in which they were finished."""
        for row in self._rows("ORDER BY finished, number"):
            yield row.entry()

    def find(self, beginning: str) -> StudyEntry:
        """Return the only point whose key begins like this."""
        wanted = beginning.lower()
        found = [row for row in self._rows("ORDER BY key") if row.key.startswith(wanted)]
        if len(found) != 1:
            may_be = "the first characters of one point's key"
            begins = f"begins {len(found)} keys" if found else "begins none"
            raise StudyError(f"{self.name}: key must be {may_be}, got {checks.shown(beginning)}, which {begins}")
        return found[0].entry()

    def __len__(self) -> int:
        with readable_errors(self.name):
            return int(self._database.execute("SELECT count(*) FROM points").fetchone()[0])

    def merge(self, *others: str | os.PathLike[str]) -> int:
        """Copy all points that are missing here from other studies, or none on error; return the number copied."""
        with ExitStack() as opened:
            studies = [opened.enter_context(Study.open(other, write=False)) for other in others]
            with self._transaction():
                return sum(self._add(row, other.name) for other in studies for row in other._rows("ORDER BY number"))

    def _row(self, key: str) -> Row | None:
        found = self._database.execute(f"SELECT {COLUMNS} FROM points WHERE key = ?", (key,)).fetchone()
        return None if found is None else check_row(self.name, Row(*found))

    def _rows(self, order: str) -> list[Row]:
        with readable_errors(self.name):
            found = self._database.execute(f"SELECT {COLUMNS} FROM points {order}").fetchall()
            return [check_row(self.name, Row(*row)) for row in found]

    def _add(self, row: Row, source: str) -> bool:
        """Insert the row if it is missing; return whether it was."""
        there = self._row(row.key)
        if there is None:
            self._database.execute(INSERT, row)
            return True
        if not there.agrees_with(row):
            also = f" and {source}" if source != self.name else ""
            raise StudyError(
                f"{self.name}{also}: the point {row.key[:10]} has two different results "
                f"(settings {checks.shown(row.entry().settings)}); the first is kept"
            )
        return False

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit everything or nothing; wait while another process writes."""
        if not self._write:
            raise StudyError(f"{self.name}: was opened for reading only")
        with readable_errors(self.name):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # the original error is the one to report
                    if self._database.in_transaction:
                        self._database.execute("ROLLBACK")
                raise
