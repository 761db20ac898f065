"""Rows about a cluster: two local workers of one thread each against two threads of this process, in the same run."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bayesregret as br
import problems
from bayesregret.reproduction import Experiment, run_experiments
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.study import Study
from clock import Cost, side_by_side, timed
from problems import Size
from row import Row, at_least

THREADS = 2
WORKERS = f"local:{THREADS}"


def cluster(size: Size) -> Iterator[Row]:
    """The cluster is opened, and everything compiled, before anything is timed."""
    br.simulate(problems.gaussian(), "bayes-ucb", horizon=size.horizon, runs=1_000, engine=WORKERS, progress=False)
    yield _one_simulation(size)
    yield _many_points(size)


def _one_simulation(size: Size) -> Row:
    runs = size.cluster_rounds // size.horizon

    def cost(**place: Any) -> Cost:
        settings = {"horizon": size.horizon, "runs": runs, "keep": "summary", "progress": False} | place
        return timed(functools.partial(br.simulate, problems.gaussian(), "bayes-ucb", **settings), size.cluster_rounds)

    threads, workers = side_by_side(
        size.cluster_repetitions, cost(threads=THREADS), cost(engine=WORKERS), warm_up=False
    )
    measured = f"{workers:.2f} against {threads:.2f} ns a round, {size.cluster_rounds:.0e} rounds"
    work = "two local workers against two threads, Gaussian BayesUCB, K=10"
    return Row(work, measured, 100.0 * threads / workers, "percent", at_least(95.0, "percent"))


def _many_points(size: Size) -> Row:
    """A sweep of points that take two threads about 5 ms, and one about 10."""
    widths = [1.0 + n / size.cluster_points for n in range(size.cluster_points)]
    problem = {"common": "gaussian", "arms": 10}
    settings = {"horizon": 1_000, "runs": 2_000, "policies": ["bayes-ucb"], "problem": problem}
    experiments = sweep_experiments({**settings, "vary": {"prior_width": widths}})

    def cost(**place: Any) -> Cost:
        return timed(functools.partial(_sweep, experiments, **place), size.cluster_points * 1_000_000)

    threads, workers = side_by_side(1, cost(threads=THREADS), cost(engine=WORKERS), warm_up=False)
    measured = f"{workers:.2f} against {threads:.2f} ms a point, {size.cluster_points:,} points, saved in a study"
    work = "a sweep of many small points on two local workers, against two threads"
    return Row(work, measured, 100.0 * threads / workers, "percent", at_least(80.0, "percent"))


def _sweep(experiments: list[Experiment], **place: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, Study.open(Path(folder, "study.sqlite")) as study:
        run_experiments(experiments, study, **place)
