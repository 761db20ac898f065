"""What a simulation on many machines costs besides its rounds, and the memory of the process that adds up.

python benchmarks/scale.py                 # a few minutes on two cores
python benchmarks/scale.py --runs 1e7      # a rough answer

Costs are processor time, which a busy machine changes less than the clock. Runs are made up (instant_runs.py), so that
only what is around them is measured: adding up a run, sending it, a task, a point of a sweep. docs/explanation/scale.md
has the numbers, and what follows from them.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pickle
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import bayesregret as br
import problems
from bayesregret.reproduction import run_experiments
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.simulation.engines.choose import as_engine
from bayesregret.simulation.engines.cluster import engine as cluster
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.kernels.run import BLOCK, Record
from bayesregret.simulation.simulate import checkpoint_rounds
from bayesregret.simulation.simulation import Simulation
from bayesregret.simulation.tally import Tally
from bayesregret.study import Study
from instant_runs import InstantRuns

HORIZON, RUNS = 1_000, 20_000
CHECKPOINTS = len(checkpoint_rounds(None, HORIZON))
AT_ONCE = 2**19  # runs of one record
TASKS, POINTS = 2_000, 500
WORKERS = "local:2"
Row = tuple[str, str]


def instant(keep: bool = False) -> InstantRuns:
    at = checkpoint_rounds(None, HORIZON)
    return InstantRuns(problems.gaussian(), br.BayesUCB(), horizon=HORIZON, seed=1, checkpoints=at, keep=keep)


def processor_seconds(work: Callable[[], Any]) -> float:
    """Processor time of this process, with all its threads."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def rounds() -> Iterator[Row]:
    """A round, on one processor, everything that `simulate` does included."""
    asked: dict[str, Any] = {"horizon": HORIZON, "runs": RUNS, "threads": 1, "keep": "summary", "progress": False}
    for name, bandit in (("Gaussian", problems.gaussian()), ("Bernoulli", problems.bernoulli())):
        play = partial(br.simulate, bandit, "bayes-ucb", **asked)
        cost = min(processor_seconds(play) for _ in range(4))
        yield f"a round of BayesUCB, {name}, K=10", f"{cost / RUNS / HORIZON * 1e9:.2f} ns"


def runs_added() -> Iterator[Row]:
    """A run, where it is added up."""
    record = instant().play(0, AT_ONCE)
    tally = Tally(10, CHECKPOINTS, keep=False)
    tally.add(record)  # compiles
    cost = min(processor_seconds(lambda: tally.add(record)) for _ in range(10)) / AT_ONCE
    threads_cost = min(processor_seconds(lambda: tally.moments.add(record.final_regret)) for _ in range(10)) / AT_ONCE
    yield f"adding up a run, {CHECKPOINTS} checkpoints", f"{cost * 1e9:.1f} ns"
    yield "of it the exact sums, on up to 8 threads", f"{threads_cost * 1e9:.1f} ns"
    whole = record._replace(rows=record.rows[:0])
    yield "the results of a run, as they travel", f"{len(pickle.dumps(whole, 5)) / AT_ONCE:.1f} bytes"


def tasks() -> Iterator[Row]:
    """A task of one block, in the process that has the client and the scheduler."""
    made, engine = instant(), as_engine(WORKERS, None)
    of_one_block = mock.patch.object(cluster.Sizes, "runs", lambda sizes, left, threads: min(left, BLOCK))
    with of_one_block:
        made.run_until(100 * BLOCK, engine, ignored)
        begin = time.perf_counter()
        cost = processor_seconds(lambda: made.run_until((100 + TASKS) * BLOCK, engine, ignored))
    wall = time.perf_counter() - begin
    yield "a task, client and scheduler", f"{cost / TASKS * 1e3:.2f} ms ({wall / TASKS * 1e3:.2f} by the clock)"


def points() -> Iterator[Row]:
    """A point of a sweep, in the process that has the client, the scheduler and the study."""
    widths = [1.0 + n / POINTS for n in range(POINTS)]
    problem = {"common": "gaussian", "arms": 10}
    settings = {"horizon": 10, "runs": 64, "policies": ["bayes-ucb"], "problem": problem}
    sweep = sweep_experiments({**settings, "vary": {"prior_width": widths}})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.sqlite")
        with Study.open(path) as study:
            cost = processor_seconds(lambda: run_experiments(sweep, study, engine=WORKERS))
        size = path.stat().st_size
    yield "a point of a sweep, saved", f"{cost / POINTS * 1e3:.2f} ms, {size / POINTS:,.0f} bytes of the study"


def transport(runs: int) -> Iterator[Row]:
    """Runs that come from two workers and are added up."""
    made, engine = instant(), as_engine(WORKERS, None)
    made.run_until(runs // 10, engine, ignored)
    begin = time.perf_counter()
    cost = processor_seconds(partial(made.run_until, runs, engine, ignored))
    wall, each = time.perf_counter() - begin, 0.9 * runs / 1e9
    yield f"receiving and adding up a run, {runs:.0e} runs", f"{cost / each:.0f} ns ({wall / each:.0f} by the clock)"


def memory(runs: int) -> Iterator[Row]:
    """How the memory of the process that adds up grows, from a tenth of the runs on."""
    for keep, most in (("summary", runs), ("runs", runs // 10)):
        made = instant(keep == "runs")
        made.run_until(most // 10, Here(), ignored)
        early = peak_bytes()
        made.run_until(most, Here(), ignored)
        grown = f"{(peak_bytes() - early) / (0.9 * most):.2f} bytes a run"
        yield f'memory from {most // 10:.0e} to {most:.0e} runs, keep="{keep}"', grown
        assert made.tally.runs == most


class Here(Engine):
    """Plays runs on this thread."""

    name = "here"
    processors = 1

    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        for first in range(begin, end, AT_ONCE):
            yield simulation.play(first, min(AT_ONCE, end - first))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--runs", type=float, default=1e9, help="made-up runs that are added up; a tenth of them is sent"
    )
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}\n\n| what | cost |\n| --- | --- |")
    runs = int(given.runs)
    for what, cost in itertools.chain(rounds(), runs_added(), tasks(), points(), transport(runs // 10), memory(runs)):
        print(f"| {what} | {cost} |", flush=True)


def ignored(done: int) -> None:
    """Progress that nobody watches."""


if __name__ == "__main__":
    main()
