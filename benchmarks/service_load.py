"""Decisions and rewards a second that a service makes durable, and how long a client waits for one.

    python benchmarks/service_load.py [--clients 64] [--seconds 20] [--no-postgres]

A real `bayesregret serve` with synchronous writes, and clients on keep-alive connections, each of which asks for a
decision and then gives its reward. Before and after it, on the same disk, a bare loop that inserts one row and commits:
what a log of one's own does with one process. Then the same with PostgreSQL, if its programs are found. Everything runs
on this machine, the clients among it: they take processor time, too.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import bayesregret as br
from postgres import binaries, running_server
from service.load import load
from service.servers import serving

ARMS = 10
ROW = (1, "decide", None, "user-17", 3, None, 1.7e9, None, "0123456789abcdef")
TARGETS = {"SQLite": 1000, "PostgreSQL": 500}  # events a second
SLOWEST = 0.1  # seconds, of 99 percent


class Bare(NamedTuple):
    """Rows a second of a loop that inserts one row and commits, and the 99th percentile of a commit's time."""

    rate: float
    slow: float


def bare_sqlite(folder: str, seconds: float) -> Bare:
    """With the same settings as the store."""
    with sqlite3.connect(f"{folder}/bare.db", isolation_level=None) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE IF NOT EXISTS log (a, b, c, d, e, f, g, h, i)")
        return _rate(seconds, lambda: database.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ROW))


def bare_postgres(url: str, seconds: float) -> Bare:
    import psycopg

    with psycopg.connect(url, autocommit=True) as database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS log (a int, b text, c int, d text, e int, f float, g float, h text, i text)"
        )
        return _rate(
            seconds, lambda: database.execute("INSERT INTO log VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)", ROW)
        )


def _rate(seconds: float, insert: Callable[[], object]) -> Bare:
    times = [time.perf_counter()]
    while times[-1] - times[0] < seconds:
        insert()
        times.append(time.perf_counter())
    took = sorted(after - before for before, after in itertools.pairwise(times))
    return Bare(len(took) / (times[-1] - times[0]), took[int(0.99 * len(took))])


class Measured(NamedTuple):
    """Events a second, the median and the 99th percentile of an answer's time, and processor time of the server."""

    rate: float
    median: float
    slow: float
    processor: float  # seconds for each event
    waited: float  # fraction of the time that the server's main thread waited for a processor


def processor_time(process: int) -> tuple[float, float]:
    """Seconds of processor time that a process has used, and those that its main thread waited for it (Linux only)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used, 1e-9 * int(Path(f"/proc/{process}/schedstat").read_text().split()[1])


def measure(url: str, clients: int, seconds: float) -> Measured:
    bandit = br.BernoulliBandit([1] * ARMS, [1] * ARMS)
    with br.experiments(url) as store:
        store.start("load", bandit, "bayes-ucb", horizon=10**7)
    with serving(url) as server:
        asyncio.run(load(server.port, "load", clients, min(3.0, seconds)))  # compiles, and fills caches
        start, before = time.perf_counter(), processor_time(server.process.pid)
        waits = sorted(asyncio.run(load(server.port, "load", clients, seconds)))
        took, after = time.perf_counter() - start, processor_time(server.process.pid)
        status, errors = server.stop()
        assert (status, errors) == (0, "")
    with br.experiments(url) as store:
        store.experiment("load").replay()
    used, waited = (later - earlier for later, earlier in zip(after, before, strict=True))
    median, slow = waits[len(waits) // 2], waits[int(0.99 * len(waits))]
    return Measured(len(waits) / took, median, slow, used / len(waits), waited / took)


def report(name: str, bare: list[Bare], found: Measured) -> bool:
    loop, slow = (sum(each) / len(bare) for each in zip(*bare, strict=True))
    reached = found.rate >= TARGETS[name] and found.slow < SLOWEST
    print(
        f"{name}: {found.rate:,.0f} durable events a second (at least {TARGETS[name]:,}), {1e3 * found.median:.0f} ms "
        f"in the median, {1e3 * found.slow:.0f} ms for 99 percent (at most {1e3 * SLOWEST:.0f}): "
        f"{'met' if reached else 'missed'}\n"
        f"  {1e6 * found.processor:.0f} us of processor time each, {100 * found.waited:.0f} percent of the time "
        f"waiting for a processor; a bare loop: {loop:,.0f} rows a second, {1e3 * slow:.0f} ms for 99 percent; ratio "
        f"{found.rate / loop:.2f}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--no-postgres", action="store_true")
    asked = parser.parse_args()
    bare = min(5.0, asked.seconds)
    print(f"{asked.clients} clients, {os.cpu_count()} processors, load before {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        before = bare_sqlite(folder, bare)
        found = measure(f"sqlite:///{folder}/load.db", asked.clients, asked.seconds)
        reached = report("SQLite", [before, bare_sqlite(folder, bare)], found)
    if not asked.no_postgres and binaries() is not None:
        with running_server() as server:
            url = server.new_database("load")
            before = bare_postgres(url, bare)
            found = measure(url, asked.clients, asked.seconds)
            reached &= report("PostgreSQL", [before, bare_postgres(url, bare)], found)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
