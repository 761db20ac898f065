"""Interrupt the first compilation of `bayesregret simulate` many times: does each process end cleanly?

python benchmarks/attack_interrupts.py                  200 interrupts, about 20 minutes
python benchmarks/attack_interrupts.py --tries 20       a quick look
python benchmarks/attack_interrupts.py --early          interrupts before the package is reached, which Python answers

Each process has an empty folder for compiled code. It is interrupted at a random time, spread evenly from its first
import of the package to the end of an undisturbed run. Times are the processor's, as Linux counts them: on a busy
machine they tell better than a clock where in the program a process is.

A process must exit within ten seconds with status 130 and one line on standard error, and leave no partly written file.
Then the same command with the same folder must give the same output as ever. The exit status is 0 if all do.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import fresh

SIZE = ("--policy", "bayes-ucb", "--horizon", "20", "--runs", "20")
COMMAND = (fresh.program(), "simulate", "gaussian", *SIZE, "--json")
LINE = "bayesregret: interrupted\n"
INTERRUPTED = 130
PATIENCE = 10.0
POLL_SECONDS = 0.0005
LEARNING_RUNS = 3

# Python imports this at its start. It tells through a pipe when the package loads its first large module.
WATCHER = """
import os, sys

class Watcher:
    def find_spec(name, path=None, target=None):
        if name == "bayesregret.agent":
            os.write({pipe}, b"x")
            sys.meta_path.remove(Watcher)

sys.meta_path.insert(0, Watcher)
"""


@dataclass(frozen=True)
class Ending:
    """How an interrupted process ended."""

    status: int | None  # None: it did not end
    errors: str
    output: str
    left_over: int  # partly written files
    was_shown: bool  # the output had been written when the interrupt was sent

    def verdict(self, expected: str) -> str:
        if self.status == 0 and self.was_shown and self.output == expected and not self.errors:
            return "finished"
        if self.status is None or (self.status == 0 and not self.errors):
            return "lost"
        if "Traceback" in self.errors:
            return "traceback"
        if self.status < 0:
            return "crashed"
        if self.left_over:
            return "partly written file"
        whole_or_nothing = self.output in ("", expected)
        return "clean" if whole_or_nothing and (self.status, self.errors) == (INTERRUPTED, LINE) else "other"


@contextmanager
def started(cache: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command as a process, and a pipe that can be read from when it has reached the package."""
    reader, writer = os.pipe()
    cache.mkdir(exist_ok=True)
    (cache.parent / "sitecustomize.py").write_text(WATCHER.format(pipe=writer))
    paths = [str(cache.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(paths)}
    process = subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, pass_fds=[writer]
    )
    os.close(writer)
    try:
        yield process, reader
    finally:
        os.close(reader)
        process.kill()
        process.communicate()


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """Processor time of the main thread so far."""
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9


def processor_seconds_of_ended() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def undisturbed(cache: Path) -> tuple[float, float, str]:
    """Seconds before the package is reached, seconds from there to the end, and the output."""
    begin = processor_seconds_of_ended()
    with started(cache) as (process, reader):
        os.read(reader, 1)
        before = processor_seconds(process)
        output, errors = process.communicate(timeout=120)
    if process.returncode or errors:
        raise RuntimeError(f"exit status {process.returncode}: {errors}")
    return before, processor_seconds_of_ended() - begin - before, output


def interrupted(cache: Path, moment: float, early: bool) -> Ending | None:
    """Interrupt a process at this moment; None if it ended before."""
    with started(cache) as (process, reader):
        if not early:
            os.read(reader, 1)
            moment += processor_seconds(process)
        while processor_seconds(process) < moment:
            if process.poll() is not None:
                return None
            time.sleep(POLL_SECONDS)
        was_shown = bool(select.select([process.stdout], [], [], 0)[0])
        process.send_signal(signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=PATIENCE)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            output = errors = ""
            status = None
    return Ending(status, errors, output, len(list(cache.rglob("*.tmp.*"))), was_shown)


def one_try(moment: float, early: bool, expected: str) -> tuple[str, str] | None:
    """The verdict on one interrupt, with what was said; None if the process ended before it."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        ending = interrupted(cache, moment, early)
        if ending is None:
            return None
        verdict = ending.verdict(expected)
        try:
            sound = undisturbed(cache)[2] == expected
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            sound = False
            print(error, flush=True)
        said = f"status {ending.status}, {len(ending.output)} characters of output: {ending.errors.strip()}"
        return (verdict if sound else f"{verdict}, broken cache"), said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--early", action="store_true")
    asked = parser.parse_args()

    learned = []
    for _ in range(LEARNING_RUNS):
        with tempfile.TemporaryDirectory() as folder:
            learned.append(undisturbed(Path(folder) / "cache"))
    before, after = (statistics.median(values) for values in list(zip(*learned, strict=True))[:2])
    expected = learned[0][2]
    print(f"{before:.3f} s until the package is reached, {after:.2f} s from there to the end", flush=True)

    rng = random.Random(asked.seed)
    span = before if asked.early else after
    verdicts: Counter[str] = Counter()
    ended_before = finished = 0
    for part in rng.sample(range(asked.tries), asked.tries):
        found = None
        while found is None or found[0] == "finished":
            moment = span * (part + rng.random()) / asked.tries
            found = one_try(moment, asked.early, expected)
            if found is None or found[0] == "finished":  # try again
                ended_before += found is None
                finished += found is not None
                part = rng.randrange(asked.tries)
        verdicts[found[0]] += 1
        if found[0] != "clean":
            print(f"--- {found[0]} at {moment:.3f} s, {found[1]}", flush=True)
        if verdicts.total() % 10 == 0:
            print(f"{verdicts.total()} interrupts: {dict(verdicts)}", flush=True)
    print(f"{verdicts['clean']} of {verdicts.total()} clean")
    print(f"not counted: {ended_before} ended before the interrupt, {finished} after all output, with status 0")
    return 0 if set(verdicts) == {"clean"} else 1


if __name__ == "__main__":
    sys.exit(main())
