"""Rows about reproducing the paper: the whole command, and its simulations against NumPy loops."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import bayesregret as br
import fresh
from baselines import numpy_gaussian, numpy_linear, numpy_regret
from bayesregret.problem import problem_from_dict
from bayesregret.reproduction import PAPER
from problems import Size
from row import Row, at_least, at_most, number

ROUNDS = 20  # that the NumPy loops play of each kind of point; each round costs them the same


def reproduce(size: Size) -> Iterator[Row]:
    """Figures 1 to 3 at the paper's run counts, with compiled code from the disk."""
    runs = [] if size.repetitions > 5 else ["--runs", "100"]
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        fresh.seconds(fresh.program(), "reproduce", *runs, "--output", first)
        whole = fresh.seconds(fresh.program(), "reproduce", *runs, "--output", second)
        again = fresh.seconds(fresh.program(), "reproduce", *runs, "--output", second)
    work = "`bayesregret reproduce`, figures 1 to 3, "
    yield Row(work + "bounds and report included", "", whole, "s", at_most(30.0, "s"))
    yield Row(work + "again with nothing changed", "", again, "s", at_most(3.0, "s"))
    points = [point.settings for make in PAPER.values() for point in make(None, 7).points]
    here = _simulations(points)
    there = _numpy(points)
    measured = f"{number(here)} s against {number(there)} s, scaled from {ROUNDS} rounds of each kind of problem"
    yield Row(
        "the simulations of figures 1 to 3, all processors, against NumPy loops",
        measured,
        there / here,
        target=at_least(50.0),
    )
    yield Row(
        "the whole command against NumPy loops for the simulations alone", "no bounds, no report there", there / whole
    )


def _simulations(points: list[dict[str, Any]]) -> float:
    """Seconds for all of them."""
    begin = time.perf_counter()
    for settings in points:
        br.simulate(
            problem_from_dict(settings["problem"]),
            [{"bayes-ucb": br.BayesUCB(), "ucb1": br.UCB1()}[policy["name"]] for policy in settings["policies"]],
            horizon=settings["horizon"],
            runs=settings["runs"],
            seed=7,
            checkpoints=[settings["horizon"]],
            progress=False,
        )
    return time.perf_counter() - begin


def _numpy(points: list[dict[str, Any]]) -> float:
    """Seconds that NumPy loops would take: a round's cost for each size of problem, times all rounds and policies."""
    costs: dict[tuple[str, int, int], float] = {}
    total = 0.0
    for settings in points:
        bandit = problem_from_dict(settings["problem"])
        kind = (bandit.kind, bandit.arms, settings["runs"])
        if kind not in costs:
            costs[kind] = _cost_of_round(bandit, settings["runs"])
        total += costs[kind] * settings["horizon"] * len(settings["policies"])
    return total


def _cost_of_round(bandit: br.Bandit, runs: int) -> float:
    """Seconds of one round of all runs at once, the fastest of three."""
    loop: Any = numpy_linear if isinstance(bandit, br.LinearBandit) else numpy_gaussian
    found = []
    for _ in range(3):
        begin = time.perf_counter()
        numpy_regret(loop(bandit, runs=runs, rounds=ROUNDS, horizon=1_000))
        found.append((time.perf_counter() - begin) / ROUNDS)
    return min(found)
