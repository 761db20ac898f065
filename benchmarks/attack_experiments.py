"""Attack the store of experiments: kills at random moments, crashes of the server, and processes that disturb another.

python benchmarks/attack_experiments.py                  1,000 kills, half of them with SQLite, half with PostgreSQL
python benchmarks/attack_experiments.py --kills 100      fewer
python benchmarks/attack_experiments.py --concurrency    8 processes and 100,000 events, with each database

Three processes at a time decide and reward in one experiment; what they acknowledge they report through a pipe. After
the kills every acknowledged decision and reward must be in the log, once, and the state must be that of a replay of the
log, bit for bit, and that of an agent that was fed with the log and never saw a store. The server of PostgreSQL crashes
now and then, too. Under --concurrency each process asks for most of the keys in an order of its own, several times, and
rewards late, several times, and wrongly. PostgreSQL is left out where its binaries are not installed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import postgres
from killed_experiments import NAME, Acknowledged, check, disturb, kill_writers, start

PROCESSES = 3
LONGEST = 2.0  # seconds until the last of the processes is killed
ROUNDS = 20  # of kills between two checks
POLICIES = ("bayes-ucb", "thompson")


@contextmanager
def databases(kind: str) -> Iterator[tuple[Callable[[str], str], Callable[[], None]]]:
    """Functions that make an empty database, and that crash the server if there is one."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield lambda name: f"sqlite:///{folder}/{name}.db", lambda: None
        return
    with postgres.running_server() as server:

        def crash() -> None:
            server.stop("immediate")
            server.start()

        yield server.new_database, crash


def attack_by_kills(kind: str, kills: int, draw: random.Random) -> None:
    done = events = crashes = said = 0
    began = time.monotonic()
    with databases(kind) as (make, crash):
        for place, policy in enumerate(POLICIES):
            url = make(f"kills_{place}")
            start(url, policy)
            got = Acknowledged(set(), set())
            mine = 0
            while mine < kills / len(POLICIES):
                rounds = min(ROUNDS, -(-(kills // len(POLICIES) - mine) // PROCESSES))
                mine += kill_writers(url, rounds, PROCESSES, LONGEST, draw, got, f"{mine}-")
                check(url, got)
                if kind == "postgresql":
                    crash()
                    check(url, got)
                    crashes += 1
            done, said = done + mine, said + len(got.decisions) + len(got.rewards)
            events += check(url, got)
    print(
        f"{kind}: {done:,} kills and {crashes} crashes of the server, {events:,} events, {said:,} acknowledged: none "
        f"lost, none counted twice, every state equal to a replay; {time.monotonic() - began:,.0f} s",
        flush=True,
    )


def attack_by_disturbance(kind: str, events: int, processes: int) -> None:
    with databases(kind) as (make, _):
        url = make("disturbed")
        start(url)
        began = time.monotonic()
        refused = disturb(url, processes, events // 2)
        seconds = time.monotonic() - began
        found = check(url)
        assert found == events, (found, events)
    print(
        f"{kind}: {processes} processes, {events:,} events in {seconds:,.0f} s, {refused:,} other rewards refused: the "
        f"fold of {NAME} is one agent's",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--concurrency", action="store_true")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    kinds = ["sqlite"] + ["postgresql"] * (postgres.binaries() is not None)
    for kind in kinds:
        if given.concurrency:
            attack_by_disturbance(kind, given.events, given.processes)
        else:
            attack_by_kills(kind, -(-given.kills // len(kinds)), random.Random(given.seed))


if __name__ == "__main__":
    main()
