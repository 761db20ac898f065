"""Open, check and create the database of a store; transactions; every error in one line that names the database."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from bayesregret import checks
from bayesregret.extras import require
from bayesregret.store import tables
from bayesregret.store.errors import StoreError, StoreWriteError

APPLICATION = 0x42524578  # "BREx", where SQLite files name their program
CREATION_LOCK = 0x42524578  # of PostgreSQL, while tables are made
PATIENCE = 60.0  # seconds to wait while another process writes
CONNECTIONS = 20
A_URL = "the URL of a database, such as sqlite:///experiments.db or postgresql://user@host/database"
SAFE = "what was acknowledged is safe"


class Database:
    """The database of a store, for the process that opened it.

    Attributes
    ----------
    name : str
        For messages: the URL without a password.
    """

    def __init__(self, url: str) -> None:
        parsed = _parsed(url)
        self.name = checks.one_line(parsed.render_as_string(hide_password=True))
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        self._process = os.getpid()
        self._is_closed = False
        self._turn = threading.Lock()  # SQLite lets one connection write; threads wait here, which is fair and quick
        with self.readable_errors():
            if self.is_sqlite:
                _check_file(self.name, Path(str(parsed.database)))
            self._engine = _engine(parsed, is_sqlite=self.is_sqlite)
            try:
                self._create_or_check()
            except BaseException:
                self._engine.dispose()
                raise

    def close(self) -> None:
        self._is_closed = True
        self._engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Begin a transaction that sees one state of the database."""
        self._check_usable()
        with self.readable_errors(), self._engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection
            connection.rollback()

    @contextmanager
    def write(self, experiment: int | None = None) -> Iterator[Connection]:
        """Begin a transaction that alone may write to an experiment; commit it, or nothing if an error is raised."""
        self._check_usable()
        with self.readable_errors(), self._one_writer(), self._engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            elif experiment is not None:
                chosen = select(tables.experiments.c.id).where(tables.experiments.c.id == experiment)
                connection.execute(chosen.with_for_update())
            yield connection
            connection.commit()

    @contextmanager
    def _one_writer(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield
            return
        with self._turn:
            yield

    def _check_usable(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self.name}: was closed")
        if os.getpid() != self._process:
            raise StoreError(f"{self.name}: must be opened in each process, but this one was forked after opening it")

    # --- tables ------------------------------------------------------------------------------------------------------

    def _create_or_check(self) -> None:
        if self.is_sqlite:
            self._use_write_ahead_log()
        with self.write() as connection:
            if not self.is_sqlite:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({CREATION_LOCK})")
            there = set(inspect(connection).get_table_names())
            ours = set(tables.metadata.tables)
            if not there & ours:
                self._create(connection, bool(there))
            elif not ours <= there:
                raise StoreError(f"{self.name}: has only some tables of a store of experiments")
            found = [row[0] for row in connection.execute(select(tables.store.c.format))]
        if found != [tables.FORMAT]:
            raise StoreError(
                f"{self.name}: has the format {' and '.join(map(str, found)) or 'of no store'}, but this bayesregret "
                f"reads format {tables.FORMAT} only"
            )

    def _create(self, connection: Connection, has_others: bool) -> None:
        if self.is_sqlite:
            if has_others:
                raise StoreError(f"{self.name}: is no store of experiments but an SQLite database of another program")
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
        tables.metadata.create_all(connection)
        connection.execute(insert(tables.store), [{"format": tables.FORMAT}])

    def _use_write_ahead_log(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self._engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                return
            except DBAPIError as error:  # SQLite does not wait here itself
                if _sqlite_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    # --- errors ------------------------------------------------------------------------------------------------------

    @contextmanager
    def readable_errors(self) -> Iterator[None]:
        """Replace errors of SQLAlchemy and the database by one line."""
        try:
            yield
        except NoConnectionError as error:
            raise StoreWriteError(f"{self.name}: all {CONNECTIONS} connections are busy; {SAFE}") from error
        except DBAPIError as error:
            raise _readable(self.name, error) from error
        except SQLAlchemyError as error:
            raise StoreError(f"{self.name}: {_first_line(error)}") from error


def _parsed(url: Any) -> URL:
    require("store", "A store of experiments")
    if not isinstance(url, str) or "://" not in url:
        hint = f"; for a file write sqlite:///{url}" if isinstance(url, str | os.PathLike) else ""
        raise ValueError(f"{checks.fail('url', A_URL, url)}{hint}")
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise checks.fail("url", A_URL, url.partition("://")[0] + "://...") from None
    scheme = parsed.drivername
    if scheme == "sqlite":
        if not parsed.database or parsed.database == ":memory:" or parsed.database.startswith("file:") or parsed.query:
            raise checks.fail("url", "that of a file, such as sqlite:///experiments.db", url)
        return parsed
    if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise ValueError(f"url must begin with sqlite:/// or postgresql://, got {checks.shown(scheme)}")
    require("postgres", "A store in PostgreSQL")
    return parsed.set(drivername="postgresql+psycopg")


def _engine(url: URL, *, is_sqlite: bool) -> Engine:
    if not is_sqlite:
        return create_engine(url, pool_size=CONNECTIONS, max_overflow=0, pool_pre_ping=False)
    made = create_engine(
        url,
        pool_size=CONNECTIONS,
        max_overflow=0,
        connect_args={"timeout": PATIENCE, "check_same_thread": False, "isolation_level": None},
    )

    @event.listens_for(made, "connect")
    def _synchronous(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA synchronous = FULL")  # otherwise a power failure may lose a commit

    return made


def _check_file(name: str, path: Path) -> None:
    """Raise an error unless the file is missing, empty or a store; never change a file of another program."""
    if path.is_dir():
        raise StoreError(f"{name}: is a folder")
    if not path.exists():
        if not path.absolute().parent.is_dir():
            raise StoreError(f"{name}: the folder it should be in does not exist")
        return
    if not os.access(path, os.R_OK | os.W_OK):
        raise StoreError(f"{name}: cannot be written: the file is read-only")
    if path.stat().st_size == 0:
        return
    try:
        # As immutable: otherwise SQLite would leave a log beside another program's file, or recover its transaction.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as database:
            database.execute("PRAGMA writable_schema = ON")  # reads the first page of a file that is being written
            application = database.execute("PRAGMA application_id").fetchone()[0]
            is_empty = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
    except sqlite3.DatabaseError:
        raise StoreError(f"{name}: is no store of experiments: it is not an SQLite database") from None
    if application != APPLICATION and not (application == 0 and is_empty):
        raise StoreError(f"{name}: is no store of experiments but an SQLite database of another program")


def _readable(name: str, error: DBAPIError) -> StoreError | StoreWriteError:
    code = _sqlite_code(error)
    match code:
        case sqlite3.SQLITE_FULL:
            return StoreWriteError(f"{name}: the disk is full; {SAFE}")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return StoreWriteError(f"{name}: another process has kept it busy for {PATIENCE:g} s; {SAFE}")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreWriteError(f"{name}: cannot be written: it or its folder is read-only")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreError(f"{name}: is damaged: {_first_line(error.orig)}")
    if isinstance(error, InterfaceError) or code is None or code == sqlite3.SQLITE_IOERR:
        return StoreWriteError(f"{name}: the database failed: {_first_line(error.orig)}; {SAFE}")
    return StoreError(f"{name}: {_first_line(error.orig)}")


def _sqlite_code(error: DBAPIError) -> int | None:
    """SQLite's primary error code, without the higher bits of the extended one; None of another database."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _first_line(error: Any) -> str:
    lines = str(error).strip().splitlines()
    return checks.one_line(lines[0]) if lines else type(error).__name__
