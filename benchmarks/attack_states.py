"""Attack saved agents: 100,000 changed states of every policy on every model, and 10,000 honest ones.

    python benchmarks/attack_states.py [--changed 100000] [--honest 10000] [--seed 0]

Each changed state, with its checksum made right, must be refused in one line, or be an agent that plays 50 rounds,
saves itself and goes on from what it saved. Each honest agent, with numbers from 1e-50 to 1e50, must be able to read
what it saved. Child processes do the work, so that a crash or an endless loop is found, too. Exit status 1 if anything
fails.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).parent.parent / "tests"
CHUNK = 10_000  # states in one child
LIMIT = 900.0  # seconds for a child, most of them for loading compiled code
CHANGED, HONEST = "changed", "honest"
CHILD = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
import numpy as np
from agent import state_attack
warnings.simplefilter("ignore")
kind, first, number = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
pool = state_attack.Pool() if kind == "changed" else None
for seed in range(first, first + number):
    print("begin", seed, flush=True)
    try:
        if pool is not None:
            print("end", state_attack.attack(pool, seed, slow_rounds=10))
        else:
            state_attack.check_honest(np.random.default_rng(seed), 100)
            print("end accepted")
    except Exception as error:
        print("end failed:", type(error).__name__, " ".join(str(error).split())[:200])
"""


def run(kind: str, first: int, number: int) -> collections.Counter[str]:
    """Attack with some seeds in a child process; what came of them, by name."""
    command = [sys.executable, "-c", CHILD, str(TESTS), kind, str(first), str(number)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        ended, text = f"crashed with status {done.returncode}", done.stdout
    except subprocess.TimeoutExpired as error:
        ended, text = "never ended", (error.stdout or b"").decode()
    found: collections.Counter[str] = collections.Counter()
    begun = None
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "begin":
            begun = int(rest)
            continue
        found[rest.partition(":")[0]] += 1
        if rest.startswith("failed"):
            print(f"  {kind} state {begun} {rest}", flush=True)
    if found.total() < number:
        found["failed"] += 1
        print(f"  {kind} state {begun}: {ended}", flush=True)
        left = first + number - 1 - (begun if begun is not None else first)
        if left > 0:
            found += run(kind, first + number - left, left)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", type=int, default=100_000)
    parser.add_argument("--honest", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    asked = parser.parse_args()
    failed = 0
    for kind, number in ((CHANGED, asked.changed), (HONEST, asked.honest)):
        found: collections.Counter[str] = collections.Counter()
        start = time.monotonic()
        for first in range(asked.seed, asked.seed + number, CHUNK):
            found += run(kind, first, min(CHUNK, asked.seed + number - first))
        counts = ", ".join(f"{count:,} {name}" for name, count in sorted(found.items()))
        print(f"{kind}: {counts} ({time.monotonic() - start:.0f} s)", flush=True)
        failed += found["failed"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
