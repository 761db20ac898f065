"""Databases that are no store, and stores that are damaged: one line, and nothing changes."""

import json
import os
import re
import sqlite3
import subprocess
import sys

import pytest
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

import bayesregret as br
from bayesregret.store import StoreError, StoreWriteError, UnknownError
from bayesregret.store.database import SAFE, _readable
from bayesregret.store.fold import Fold


def change(path, sql, *values):
    with sqlite3.connect(path) as database:
        database.execute(sql, values)
    database.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def kept(path, two_arms):
    """The path of a store with an experiment of 12 events and a snapshot."""
    with br.experiments(f"sqlite:///{path}") as store:
        experiment = store.start("checkout", two_arms, "bayes-ucb", horizon=100)
        for _ in range(6):
            experiment.reward(experiment.decide().id, 1.0)
    return path


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("runs.db", "got 'runs.db'; for a file write sqlite:///runs.db"),
        (
            7,
            "url must be the URL of a database, such as sqlite:///experiments.db or postgresql://user@host/",
        ),
        ("mysql://root@localhost/x", "url must begin with sqlite:/// or postgresql://, got 'mysql'"),
        (
            "postgresql+asyncpg://localhost/x",
            "url must begin with sqlite:/// or postgresql://, got 'postgresql+asyncpg'",
        ),
        ("sqlite://", "url must be that of a file, such as sqlite:///experiments.db, got 'sqlite://'"),
        ("sqlite:///:memory:", "url must be that of a file"),
        ("://x", "url must be the URL of a database"),
        ("postgresql://user:secret@host:port/x", "url must be the URL of a database"),
    ],
)
def test_a_wrong_url_is_refused_without_its_password(url, message):
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        br.experiments(url)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_server_that_does_not_answer_is_one_line_without_the_password(tmp_path):
    with pytest.raises(StoreWriteError) as refused:
        br.experiments(f"postgresql://user:secret@/runs?host={tmp_path}")
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "the database failed" in str(refused.value)


def test_other_files_are_refused_and_do_not_change(tmp_path):
    text, other, folder = tmp_path / "text.db", tmp_path / "other.db", tmp_path / "folder.db"
    text.write_text("no database" * 100)
    change(other, "CREATE TABLE mine (x)")
    study = tmp_path / "study.sqlite"
    with br_study(study):
        pass
    folder.mkdir()
    for path, message in [
        (text, "is no store of experiments: it is not an SQLite database"),
        (other, "is no store of experiments but an SQLite database of another program"),
        (study, "is no store of experiments but an SQLite database of another program"),
    ]:
        before = path.read_bytes()
        with pytest.raises(StoreError, match=f"^sqlite:///{path}: {message}$"):
            br.experiments(f"sqlite:///{path}")
        assert path.read_bytes() == before
    with pytest.raises(StoreError, match="is a folder"):
        br.experiments(f"sqlite:///{folder}")
    with pytest.raises(StoreError, match="the folder it should be in does not exist"):
        br.experiments(f"sqlite:///{tmp_path}/none/runs.db")


def br_study(path):
    from bayesregret.study import Study

    return Study.open(path)


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    with br.experiments(f"sqlite:///{path}") as store:
        assert store.names() == []


def test_another_format_is_refused(kept):
    change(kept, "UPDATE bayesregret_store SET format = 2")
    with pytest.raises(StoreError, match="has the format 2, but this bayesregret reads format 1 only"):
        br.experiments(f"sqlite:///{kept}")


def test_a_part_of_the_tables_is_refused(kept):
    change(kept, "DROP TABLE bayesregret_tokens")
    with pytest.raises(StoreError, match="has only some tables of a store of experiments"):
        br.experiments(f"sqlite:///{kept}")


DAMAGES = {
    "UPDATE bayesregret_events SET reward = 0 WHERE number = 4": "event 4 has changed since it was written",
    "UPDATE bayesregret_events SET arm = 1 - arm WHERE number = 5": "event 5 has changed since it was written",
    "UPDATE bayesregret_events SET time = time + 1e-3 WHERE number = 5": "event 5 has changed since it was written",
    "DELETE FROM bayesregret_events WHERE number = 3": "event 3 is missing",
    "UPDATE bayesregret_experiments SET created = 0, uuid = 'x'": "event 1 has changed since it was written",
}


@pytest.mark.parametrize("sql", DAMAGES)
@pytest.mark.parametrize("snapshot", ["snapshot", "no snapshot"])
def test_a_damaged_log_is_found_by_a_replay(kept, sql, snapshot):
    change(kept, sql)
    if snapshot == "no snapshot":
        change(kept, "DELETE FROM bayesregret_snapshots")
    with br.experiments(f"sqlite:///{kept}") as store:
        message = f"sqlite:///{kept}: the log of checkout is damaged: {DAMAGES[sql]}"
        with pytest.raises(StoreError, match=re.escape(message)):
            store.experiment("checkout").replay()


def test_an_event_too_many_is_found(kept):
    """With the right checksum: it was written by somebody who knows how, but the policy would not have chosen it."""
    from bayesregret.store.events import chained

    with sqlite3.connect(kept) as database:
        (before,) = database.execute("SELECT checksum FROM bayesregret_events WHERE number = 12").fetchone()
        (now, chosen) = database.execute("SELECT time, arm FROM bayesregret_events WHERE number = 11").fetchone()
        with br.experiments(f"sqlite:///{kept}") as store:
            chosen = store.experiment("checkout").agent().select()
        fields = (13, "decide", None, None, 1 - chosen, None, now, None)
        row = (1, *fields, chained(before, fields))
        database.execute(f"INSERT INTO bayesregret_events VALUES ({', '.join('?' * len(row))})", row)
    database.close()
    with br.experiments(f"sqlite:///{kept}") as store:
        experiment = store.experiment("checkout")
        message = f"event 13 is a decision for arm {1 - chosen}, but the policy chose {chosen}"
        for ask in (experiment.decide, experiment.replay, experiment.agent):
            with pytest.raises(StoreError, match=message):
                ask()


@pytest.mark.parametrize("column", ["state", "checksum"])
def test_a_damaged_snapshot_costs_time_but_no_data(kept, column):
    with br.experiments(f"sqlite:///{kept}") as store:
        state = store.experiment("checkout").state()
    change(kept, f"UPDATE bayesregret_snapshots SET {column} = replace({column}, '1', '2')")
    with br.experiments(f"sqlite:///{kept}") as store:
        experiment = store.experiment("checkout")
        assert experiment.state() == state
        experiment.replay()


def test_a_snapshot_of_another_version_is_not_read(kept, monkeypatch):
    with br.experiments(f"sqlite:///{kept}") as store:
        state = store.experiment("checkout").state()
    reads = []
    restore = Fold.restore
    monkeypatch.setattr(Fold, "restore", lambda fold, text: reads.append(text) or restore(fold, text))
    for version, many in ((br.__version__, 1), ("another", 0)):
        monkeypatch.setattr("bayesregret.store.log.__version__", version)
        reads.clear()
        with br.experiments(f"sqlite:///{kept}") as store:
            assert store.experiment("checkout").state() == state
        assert len(reads) == many


@pytest.mark.parametrize("setup", ["{}", "no json", json.dumps({"policy": {"name": "own"}, "problem": {}, "arms": []})])
def test_a_damaged_setup_is_one_line(kept, setup):
    change(kept, "UPDATE bayesregret_experiments SET setup = ?", setup)
    with br.experiments(f"sqlite:///{kept}") as store:
        with pytest.raises(StoreError, match=f"^sqlite:///{kept}: the experiment checkout cannot be read: .*$"):
            store.experiment("checkout")
        with pytest.raises(UnknownError):
            store.experiment("other")


def test_the_database_refuses_what_must_not_be_twice(kept):
    insert = "INSERT INTO bayesregret_events SELECT experiment, 99, kind, decision, key, arm, reward, time, data, 'x'"
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        change(kept, f"{insert} FROM bayesregret_events WHERE number = 2")


def test_a_failed_commit_changes_nothing_and_the_next_request_succeeds(kept, monkeypatch):
    with br.experiments(f"sqlite:///{kept}") as store:
        experiment = store.experiment("checkout")
        before = experiment.state()
        change(
            kept, "CREATE TRIGGER full BEFORE INSERT ON bayesregret_events BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
        with pytest.raises((StoreError, StoreWriteError), match="no room"):
            experiment.decide("a")
        assert experiment.state() == before
        change(kept, "DROP TRIGGER full")
        assert experiment.decide("a").number == 13
        experiment.replay()


ERRORS = [
    (sqlite3.SQLITE_FULL, StoreWriteError, f"runs: the disk is full; {SAFE}"),
    (sqlite3.SQLITE_BUSY, StoreWriteError, f"runs: another process has kept it busy for 60 s; {SAFE}"),
    (sqlite3.SQLITE_READONLY, StoreWriteError, "runs: cannot be written: it or its folder is read-only"),
    (sqlite3.SQLITE_CORRUPT, StoreError, "runs: is damaged: the first line"),
    (sqlite3.SQLITE_IOERR | 10 << 8, StoreWriteError, f"runs: the database failed: the first line; {SAFE}"),
    (sqlite3.SQLITE_CONSTRAINT, StoreError, "runs: the first line"),
    (None, StoreWriteError, f"runs: the database failed: the first line; {SAFE}"),
]


@pytest.mark.parametrize(("code", "kind", "message"), ERRORS)
def test_errors_of_the_database_are_one_line(code, kind, message):
    error = sqlite3.OperationalError("the first line\nthe second")
    if code is not None:
        error.sqlite_errorcode = code
    found = _readable("runs", DBAPIError("INSERT", {}, error))
    assert (type(found), str(found)) == (kind, message)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (PoolTimeoutError("no"), StoreWriteError, "all 20 connections are busy; what was acknowledged is safe"),
        (SQLAlchemyError("odd\nmore"), StoreError, ": odd$"),
    ],
)
def test_too_many_connections_are_one_line(kept, monkeypatch, error, kind, message):
    def refuse():
        raise error

    with br.experiments(f"sqlite:///{kept}") as store:
        monkeypatch.setattr(store.database._engine, "connect", refuse)
        with pytest.raises(kind, match=message):
            store.names()


def test_a_file_that_nobody_may_write_is_refused(kept, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(StoreError, match="cannot be written: the file is read-only"):
        br.experiments(f"sqlite:///{kept}")


def test_a_closed_store_says_so(kept):
    store = br.experiments(f"sqlite:///{kept}")
    experiment = store.experiment("checkout")
    store.close()
    for use in (store.names, experiment.decide, experiment.agent):
        with pytest.raises(StoreError, match=f"^sqlite:///{kept}: was closed$"):
            use()


def test_a_store_belongs_to_the_process_that_opened_it(kept):
    """In a process of its own, which has no threads that a fork would lose."""
    code = f"""
import os, sys, bayesregret as br
store = br.experiments("sqlite:///{kept}")
if os.fork() == 0:
    try:
        store.names()
    except ValueError as error:
        print(error)
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.endswith("must be opened in each process, but this one was forked after opening it\n")


def test_a_server_that_crashes_loses_nothing_and_the_store_goes_on(server, two_arms):
    with br.experiments(server.new_database("crashed")) as store:
        experiment = store.start("checkout", two_arms, "bayes-ucb", horizon=10)
        before = experiment.decide("a")
        server.stop("immediate")
        for _ in range(2):
            with pytest.raises(StoreWriteError, match="what was acknowledged is safe") as failed:
                experiment.decide("b")
            assert "\n" not in str(failed.value)
        server.start()
        assert experiment.decide("a") == before
        assert experiment.decide("b").number == 2
        experiment.replay()


def test_databases_of_postgresql_may_have_other_tables(server, two_arms):
    import sqlalchemy

    url = server.new_database("shared")
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE experiments (x integer)")
    engine.dispose()
    with br.experiments(url) as store:
        store.start("checkout", two_arms, "bayes-ucb", horizon=10).decide()
    with br.experiments(url) as store:
        assert store.names() == ["checkout"]
