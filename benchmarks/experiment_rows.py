"""Rows about the store of experiments: durable decisions and rewards against a bare loop of INSERT on the same disk.

The loop writes rows of the same size to a table of its own, and commits each; it and the store take turns.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import bayesregret as br
import postgres
from problems import Size
from row import Row, at_least, at_most

CLIENTS = 64
ARMS = 10
BARE = "CREATE TABLE IF NOT EXISTS bare (number INTEGER PRIMARY KEY, kind TEXT, arm INTEGER, time REAL, checksum TEXT)"
LEAST = {"SQLite": 1_000, "PostgreSQL": 500}  # events a second
SLOWEST = 100.0  # ms

Insert = Callable[[int], None]


def experiments(size: Size) -> Iterator[Row]:
    for name, opened in (("SQLite", sqlite), ("PostgreSQL", postgresql)):
        if name == "PostgreSQL" and postgres.binaries() is None:
            continue
        with opened() as (url, insert):
            yield from _rows(name, url, insert, size)


@contextmanager
def sqlite() -> Iterator[tuple[str, Insert]]:
    with tempfile.TemporaryDirectory() as folder, closing(_bare(f"{folder}/bare.db")) as bare:
        row = "INSERT INTO bare (kind, arm, time, checksum) VALUES ('decide', 3, ?, '0123456789abcdef')"
        yield f"sqlite:///{folder}/runs.db", lambda number: bare.execute(row, (float(number),)) and None


def _bare(path: str) -> sqlite3.Connection:
    made = sqlite3.connect(path, isolation_level=None)
    for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", BARE):
        made.execute(line)
    return made


@contextmanager
def postgresql() -> Iterator[tuple[str, Insert]]:
    import psycopg

    with postgres.running_server() as server:
        url = server.new_database("runs")
        with psycopg.connect(url, autocommit=True) as bare:
            bare.execute(BARE.replace("INTEGER PRIMARY KEY", "SERIAL PRIMARY KEY"))
            row = "INSERT INTO bare (kind, arm, time, checksum) VALUES ('decide', 3, %s, '0123456789abcdef')"
            yield url, lambda number: bare.execute(row, (float(number),)) and None


def _rows(name: str, url: str, insert: Insert, size: Size) -> Iterator[Row]:
    events = size.decisions
    with br.experiments(url) as store:
        bandit = br.BernoulliBandit(alpha=[1] * ARMS, beta=[1] * ARMS)
        experiment = store.start("speed", bandit, "bayes-ucb", horizon=10**7)
        bare, alone, many, waits = [], [], [], []
        for _ in range(3):
            bare.append(_seconds(lambda: [insert(number) for number in range(events // 40)]) / (events // 40))
            alone.append(_seconds(lambda: _client(experiment, events // 80, [])) / (2 * (events // 80)))
            taken, calls = _clients(experiment, events // 2 // CLIENTS)
            many.append(taken / len(calls))
            waits.append(1e3 * float(np.quantile(calls, 0.99)))
        experiment.replay()
    loop = f"a bare loop of INSERT and COMMIT takes {1e3 * min(bare):.2f} ms"
    work = f"{name}, K={ARMS}, BayesUCB, every commit on the disk"
    yield Row(
        f"{work}: {CLIENTS} threads decide and reward",
        f"{1.0 / min(bare):,.0f} rows a second by a bare loop",
        1.0 / min(many),
        "events a second",
        at_least(LEAST[name], "events a second"),
    )
    yield Row(f"{work}: {CLIENTS} threads against a bare loop", loop, min(bare) / min(many), "times as many")
    yield Row(f"{work}: 99th percentile of a call", f"{CLIENTS} threads", min(waits), "ms", at_most(SLOWEST, "ms"))
    yield Row(f"{work}: one thread against a bare loop", loop, min(alone) / min(bare), "times its time")


def _clients(experiment: br.Experiment, decisions: int) -> tuple[float, list[float]]:
    """Seconds that all clients took together, and those of each call."""
    waits: list[float] = []
    threads = [threading.Thread(target=_client, args=(experiment, decisions, waits)) for _ in range(CLIENTS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began, waits


def _client(experiment: br.Experiment, decisions: int, waits: list[float]) -> None:
    """Decide and reward; note how long each call takes."""
    for number in range(decisions):
        began = time.perf_counter()
        decision = experiment.decide()
        decided = time.perf_counter()
        experiment.reward(decision.id, float(number % 2))
        waits += (decided - began, time.perf_counter() - decided)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
