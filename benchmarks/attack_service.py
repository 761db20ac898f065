"""Attack the service: kills of servers under load, and requests with every field fuzzed.

    python benchmarks/attack_service.py [--kills 300] [--requests 100000] [--seed 0]

Servers on SQLite and, if its programs are found, on PostgreSQL are killed with SIGKILL at random moments while 16
clients decide and reward over HTTP. After the kills every decision and reward that was acknowledged must be in the log,
once, and the state must be that of a replay, bit for bit. As a control a reward is added to those that were
acknowledged, which the check must find missing.

Then the application gets requests in which every field, the path, the headers and the token are fuzzed: each must be
answered with a success, or with a status from 400 to 422 and one line that names nothing of the database or the file
system; a refused request must leave the number of rows in every table as it was. Exit status 1 if anything fails.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from killed_experiments import check
from postgres import binaries, running_server
from service import fuzz, kills

CLIENTS = 16
CHUNK = 10_000  # requests to one store


def kill(name: str, url: str, number: int, seed: int) -> None:
    start = time.perf_counter()
    got = kills.attack(url, number, CLIENTS, random.Random(seed))
    took = time.perf_counter() - start
    print(
        f"{name}: {number} servers killed, {len(got.decisions):,} decisions and {len(got.rewards):,} rewards "
        f"acknowledged, none lost or doubled ({took:.0f} s)",
        flush=True,
    )
    decision, reward = next(iter(got.rewards))
    got.rewards.add((decision, 1.0 - reward))
    try:
        check(url, got)
    except AssertionError:
        return
    raise SystemExit("the control was not noticed")


def send(requests: int, seed: int) -> None:
    start, found = time.perf_counter(), Counter()
    for first in range(0, requests, CHUNK):
        with tempfile.TemporaryDirectory() as folder:
            found += fuzz.attack(folder, min(CHUNK, requests - first), seed + first)
    answers = ", ".join(f"{number:,} with {status}" for status, number in sorted(found.items()))
    print(f"{found.total():,} requests: {answers} ({time.perf_counter() - start:.0f} s)", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="of servers on each database")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if asked.kills:
        with tempfile.TemporaryDirectory() as folder:
            kill("SQLite", f"sqlite:///{folder}/kills.db", asked.kills, asked.seed)
        if binaries() is not None:
            with running_server() as server:
                kill("PostgreSQL", server.new_database("kills"), asked.kills, asked.seed)
    send(asked.requests, asked.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
