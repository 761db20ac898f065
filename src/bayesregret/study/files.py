"""Open, check and create the file of a study, with one-line error messages.

A file that is damaged, belongs to another program or has a newer format is left unchanged, byte for byte.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from bayesregret import checks
from bayesregret.study.points import Row, package_version

APPLICATION = 0x42526567  # "BReg", where SQLite files name their program
FORMAT = 1
PATIENCE = 60.0  # seconds to wait while another process writes
SMALLEST_DATABASE = 512  # bytes; SQLite takes a shorter file for an empty database
COLUMNS = ", ".join(Row._fields)

TABLE = """CREATE TABLE points (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,
    result TEXT NOT NULL,
    version TEXT NOT NULL,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL,
    checksum TEXT NOT NULL
)"""
CREATE = f"""
BEGIN IMMEDIATE;
{TABLE};
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
COMMIT;
"""


class StudyError(ValueError):
    """The file cannot be used as a study, or the requested operation is impossible."""


class StudyWriteError(OSError):
    """The disk is full or fails. Points saved before are safe."""


def open_file(path: Any, *, create: bool, write: bool) -> tuple[str, sqlite3.Connection]:
    """Return the file's name for messages and a checked connection."""
    if not isinstance(path, str | os.PathLike) or "\0" in os.fsdecode(path):
        raise checks.fail("path", "the path of a study", path)
    name = checks.one_line(os.fsdecode(path))
    real = os.path.realpath(path)
    with readable_errors(name):
        create = create and write
        empty = _is_empty(name, real, create=create)
        if not empty:
            _check_header(name, real)
        if write:
            _check_writable(name, real)
        if not empty and write and _has_log(real):
            # A writing connection moves the log into the file when it closes, so a read-only one first checks for
            # damage.
            with closing(_connect(real, "mode=ro")) as reader:
                _check_points(name, reader)
        database = _connect(real, "mode=rwc" if create else _mode(real, write=write))
        return name, _checked(name, database, create=create, write=write)


def _checked(name: str, database: sqlite3.Connection, *, create: bool, write: bool) -> sqlite3.Connection:
    try:
        if _pragma(database, "page_count") == 0:
            if not create:  # the process that created it was killed
                raise _empty(name)
            _create(database)
        _check_points(name, database)
        if write:
            _use_log(database)
    except BaseException:
        database.close()
        raise
    return database


# --- before the database is opened ---------------------------------------------------------------------------------


def _is_empty(name: str, real: str, *, create: bool) -> bool:
    """Return whether the study must be created: there is no file, or an empty one, as a killed process may leave."""
    try:
        found = os.stat(real)
    except FileNotFoundError:
        if not create:
            raise StudyError(f"{name}: there is no such file") from None
        if not os.path.isdir(os.path.dirname(real)):
            raise StudyError(f"{name}: the folder it should be in does not exist") from None
        return True
    except OSError as error:
        raise StudyError(f"{name}: cannot be read: {error.strerror or error}") from None
    if not stat.S_ISREG(found.st_mode):
        raise StudyError(f"{name}: is not a study but {'a folder' if stat.S_ISDIR(found.st_mode) else 'a device'}")
    if not os.access(real, os.R_OK):
        raise StudyError(f"{name}: cannot be read: permission denied")
    if found.st_size == 0 and not create:
        raise _empty(name)
    return found.st_size == 0


def _check_header(name: str, real: str) -> None:
    """Raise an error unless the file is a study of this format; never change the file.

    Read through SQLite, because closing a file that this process opened directly would release its locks; as immutable,
    because otherwise SQLite would recover another program's interrupted transaction or leave a log beside its file.
    """
    no_database = StudyError(f"{name}: is not a study: it is not an SQLite database")
    if os.stat(real).st_size < SMALLEST_DATABASE:
        raise no_database
    try:
        with closing(_connect(real, "immutable=1")) as database:
            # While a process moves its log into the file, or if it was killed then, the file may be shorter than its
            # first page says; this setting makes SQLite read that page anyway.
            database.execute("PRAGMA writable_schema = ON")
            application, version = _pragma(database, "application_id"), _pragma(database, "user_version")
    except sqlite3.DatabaseError as error:
        if _code(error) == sqlite3.SQLITE_NOTADB:
            raise no_database from None
        raise
    if application != APPLICATION:
        raise StudyError(f"{name}: is not a study but an SQLite database of another program")
    if version != FORMAT:
        raise StudyError(
            f"{name}: has format {version}, but bayesregret {package_version()} reads format {FORMAT} only"
            + ("; a newer bayesregret may read it" if version > FORMAT else "")
        )


def _check_writable(name: str, real: str) -> None:
    folder = os.path.dirname(real)
    if os.path.exists(real) and not os.access(real, os.W_OK):
        raise StudyError(f"{name}: cannot be written: the file is read-only")
    if not os.access(folder, os.W_OK | os.X_OK):  # the log is written beside the file
        raise StudyError(f"{name}: cannot be written: its folder is read-only")


def _has_log(real: str) -> bool:
    try:
        return os.stat(real + "-wal").st_size > 0
    except OSError:
        return False


def _mode(real: str, *, write: bool) -> str:
    if write:
        return "mode=rw"
    if _has_log(real):
        return "mode=ro"
    # A writable connection removes the empty log that every connection creates, and writes nothing else.
    both_writable = os.access(real, os.W_OK) and os.access(os.path.dirname(real), os.W_OK | os.X_OK)
    return "mode=rw" if both_writable else "immutable=1"


def _connect(real: str, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(real).as_uri()}?{mode}", uri=True, timeout=PATIENCE, isolation_level=None)


# --- inside the database -------------------------------------------------------------------------------------------


def _create(database: sqlite3.Connection) -> None:
    """Create the table in one transaction, before there is a log: if killed, the file is empty or a complete study."""
    try:
        database.executescript(CREATE)
    except sqlite3.OperationalError:
        if database.in_transaction:
            database.execute("ROLLBACK")
        if _pragma(database, "application_id") != APPLICATION:  # otherwise another process was faster
            raise


def _use_log(database: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; where the file system cannot, SQLite keeps its journal, which is equally safe."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")  # otherwise a power failure may lose a commit
            return
        except sqlite3.OperationalError as error:  # SQLite does not wait here itself
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _check_points(name: str, database: sqlite3.Connection) -> None:
    """Check the schema, every page and every point, so that nothing is added to a damaged study."""
    _check_schema(name, database)
    message = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if message != "ok":
        raise damaged(name, message)
    for row in database.execute(f"SELECT {COLUMNS} FROM points"):
        check_row(name, Row(*row))


def _check_schema(name: str, database: sqlite3.Connection) -> None:
    """Raise an error if there is more than our table: a view or a trigger could show or store other points."""
    for kind, called, sql in database.execute("SELECT type, name, sql FROM sqlite_schema"):
        ours = sql == TABLE or (str(called).startswith("sqlite_") and kind in ("index", "table"))
        if not ours:
            raise StudyError(f"{name}: has the {kind} {checks.shown(called)}, which bayesregret did not make")


def check_row(name: str, row: Row) -> Row:
    """Return the row; raise an error if it has changed since it was saved."""
    if not row.is_intact():
        raise damaged(name, f"the point {str(row.key)[:10]} has changed since it was saved")
    return row


def _pragma(database: sqlite3.Connection, which: str) -> int:
    return int(database.execute(f"PRAGMA {which}").fetchone()[0])


# --- error messages ------------------------------------------------------------------------------------------------


@contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """Replace SQLite's errors by one line that names the file."""
    try:
        yield
    except sqlite3.ProgrammingError:  # the caller's mistake: the study is closed, or belongs to another thread
        raise
    except sqlite3.Error as error:
        raise _readable(name, error) from error
    except UnicodeDecodeError as error:  # SQLite's message quotes the damaged file
        raise damaged(name, "it has text that is not UTF-8") from error


def _readable(name: str, error: sqlite3.Error) -> StudyError | StudyWriteError:
    match _code(error):
        case sqlite3.SQLITE_FULL:
            return StudyWriteError(f"{name}: cannot be written: the disk is full; points saved before are safe")
        case sqlite3.SQLITE_IOERR:
            return StudyWriteError(f"{name}: the disk fails or is full ({error}); points saved before are safe")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return StudyError(f"{name}: another process has kept it busy for {PATIENCE:g} s")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StudyError(f"{name}: cannot be opened: it or its folder is read-only ({error})")
    return damaged(name, str(error))


def damaged(name: str, how: str) -> StudyError:
    return StudyError(f"{name}: is damaged: {checks.one_line(' '.join(how.split()))}")


def _empty(name: str) -> StudyError:
    return StudyError(f"{name}: is empty and not a study")


def _code(error: sqlite3.Error) -> int | None:
    """Return SQLite's primary error code, without the higher bits of the extended code."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
