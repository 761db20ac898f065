"""Rows about growth: cost per round and memory as arms, runs and the horizon grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import fresh
import problems
import profiles
from clock import side_by_side
from problems import Size
from row import Row, at_most, ns, number, own_limit
from speed_rows import BAYES_UCB, simulation

# The requirement says "linear" and "constant" without a number; here that is growth by at most this from end to end.
CONSTANT_COST = 1.25
CONSTANT_MEMORY = 1.05


def arms(size: Size) -> Iterator[Row]:
    """Ten rounds for each arm and the same number of rounds in all, drawing the instances included."""
    rounds = size.rounds_with_many_arms
    costs = side_by_side(
        size.slow_repetitions,
        *[
            simulation(problems.gaussian(arms), BAYES_UCB, size, horizon=10 * arms, runs=rounds // (10 * arms))
            for arms in size.many_arms
        ],
    )
    few, fewest_cost = size.many_arms[0], costs[0]
    why = partial(profiles.arms, size)
    for arms, cost in list(zip(size.many_arms, costs, strict=True))[1:]:
        target = at_most(12.0) if arms == 10_000 else None
        work = f"K={arms:,} against K={few}, n=10 K"
        yield Row(work, ns(cost, fewest_cost), cost / fewest_cost, target=target, why=why)


def runs(size: Size) -> Iterator[Row]:
    horizon, steps = size.horizon_of_many_runs, size.many_runs
    costs = side_by_side(
        size.slow_repetitions,
        *[simulation(problems.gaussian(), BAYES_UCB, size, horizon=horizon, runs=runs) for runs in steps],
    )
    work = f"cost per round at {_list(steps)} runs, n={horizon:,}"
    why = partial(profiles.set_up, size)
    yield Row(work, _costs(costs), costs[-1] / costs[0], target=own_limit(CONSTANT_COST), why=why)

    peaks = [fresh.peak_of_simulation(horizon, runs, size.threads) for runs in steps]
    per_run = [
        2**20 * (peaks[step + 1] - peaks[step]) / (steps[step + 1] - steps[step]) for step in range(len(steps) - 1)
    ]
    work = f"memory of a further run, from {_list(steps)} runs"
    measured = f"{_list(per_run)} bytes; peaks {_list(peaks)} MB"
    yield Row(work, measured, per_run[-1] / per_run[0], target=own_limit(CONSTANT_COST))


def horizon(size: Size) -> Iterator[Row]:
    """On one thread, because a block of runs is the least that a second one could take."""
    steps, most_runs = size.long_horizons, size.runs_at_longest_horizon
    rounds = steps[-1] * most_runs
    costs = side_by_side(
        size.slow_repetitions,
        *[
            simulation(problems.gaussian(), BAYES_UCB, size, horizon=horizon, runs=rounds // horizon, threads=1)
            for horizon in steps
        ],
    )
    work = f"cost per round at n={_list(steps)}, one thread"
    why = partial(profiles.long_horizon, size)
    yield Row(work, _costs(costs), costs[-1] / costs[0], target=own_limit(CONSTANT_COST), why=why)

    peaks = [fresh.peak_of_simulation(horizon, most_runs, threads=1) for horizon in steps]
    work = f"peak memory at n={_list(steps)}"
    yield Row(work, f"{_list(peaks)} MB", peaks[-1] / peaks[0], target=own_limit(CONSTANT_MEMORY))


def _list(values: Sequence[float]) -> str:
    return " → ".join(map(number, values))


def _costs(costs: Sequence[float]) -> str:
    return f"{_list(costs)} ns a round"
