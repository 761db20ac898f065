"""Where the time goes: printed below the table for a row that misses its target."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace

import numpy as np

import baselines
import bayesregret as br
import fresh
import problems
import speed_rows
from baselines import lead_changes
from clock import Cost, side_by_side, timed
from problems import Size
from row import number

# Changes of lead are counted by the NumPy loops, so that the count does not depend on what is being explained.
COUNTED_RUNS = 500


def gaussian(size: Size) -> list[str]:
    bandit = problems.gaussian()
    changes = lead_changes(baselines.numpy_gaussian_one_index(bandit, **_counted(size)))
    costs = {
        "drawing the noise alone": _floor(size),
        "the instances, on one thread": _instances(bandit, size),
        "stay on the leader (prior gap 100, the lead never changes)": _simulation(problems.gaussian(gap=100.0), size),
        "lead changes, no checkpoint but the horizon": _simulation(bandit, size, checkpoints=[size.horizon]),
        "all of it": _simulation(bandit, size),
    }
    return [*_lines(size, costs), f"changes of lead in a run: {number(changes)}"]


def bernoulli(size: Size) -> list[str]:
    bandit = problems.bernoulli()
    settled = br.BernoulliBandit(alpha=[1e6] + [1.0] * 9, beta=[1.0] + [1e6] * 9)
    costs = {
        "the instances, on one thread": _instances(bandit, size),
        "stay on the leader (priors settle it, the lead never changes)": _simulation(settled, size),
        "lead changes, no checkpoint but the horizon": _simulation(bandit, size, checkpoints=[size.horizon]),
        "all of it": _simulation(bandit, size),
    }
    return _lines(size, costs)


def linear(size: Size) -> list[str]:
    bandit = problems.linear()
    settled = br.LinearBandit(np.eye(10), prior_mean=[100.0] + [0.0] * 9, prior_width=1.0, reward_noise=1.0)
    streaks = 1.0 + lead_changes(baselines.numpy_linear(bandit, **_counted(size)))
    costs = {
        "drawing the noise alone": _floor(size),
        "the instances, on one thread": _instances(bandit, size),
        "one streak (prior gap 100, K=10)": _simulation(settled, size),
        "all streaks, no checkpoint but the horizon": _simulation(bandit, size, checkpoints=[size.horizon]),
        "all of it": _simulation(bandit, size),
    }
    return [*_lines(size, costs), f"streaks in a run: {number(streaks)}"]


def ucb1(size: Size) -> list[str]:
    """The code is BayesUCB's: what differs is how often the lead changes, and a change costs more than a round."""
    loop, bandit = baselines.numpy_gaussian_one_index, problems.gaussian()
    bayes_ucb = lead_changes(loop(bandit, **_counted(size)))
    ucb1 = lead_changes(loop(bandit, **_counted(size), prior=False))
    return [f"changes of lead in a run: {number(ucb1)} with UCB1, {number(bayes_ucb)} with BayesUCB"]


def arms(size: Size) -> list[str]:
    lines = []
    for arms in (size.many_arms[0], size.many_arms[-1]):
        bandit = problems.gaussian(arms)
        runs = size.rounds_with_many_arms // (10 * arms)
        (cost,) = side_by_side(size.slow_repetitions, _instances(bandit, size, horizon=10 * arms, runs=runs))
        lines.append(f"K={arms:,}: the instances, on one thread: {number(cost)} ns a round")
    for arms in (10, 1_000):
        rounds = 10 * arms
        loop = baselines.numpy_gaussian_one_index(problems.gaussian(arms), runs=20, rounds=rounds, horizon=rounds)
        lines.append(f"K={arms:,}: changes of lead in a round: {number(lead_changes(loop) / rounds)}")
    return lines


def set_up(size: Size) -> list[str]:
    """What a call costs before its first round."""
    (cost,) = side_by_side(size.repetitions, _simulation(problems.gaussian(), size, horizon=1, runs=1))
    return [f"a call for one round of one run: {cost / 1e6:.2f} ms"]


def long_horizon(size: Size) -> list[str]:
    """Without changes of lead: a step shows where an arm's pulls outgrow the engine's table and need the formula."""
    settled = problems.gaussian(gap=100.0)
    rounds = size.long_horizons[-1] * size.runs_at_longest_horizon
    costs = {
        f"stay on the leader, n={horizon:,}": _simulation(
            settled, size, horizon=horizon, runs=rounds // horizon, threads=1
        )
        for horizon in size.long_horizons
    }
    return _lines(replace(size, repetitions=size.slow_repetitions), costs)


def threads(size: Size) -> list[str]:
    one, two = side_by_side(size.repetitions, _floor(size, threads=1), _floor(size, threads=2))
    return [f"drawing the noise alone, which shares nothing: two threads are {number(one / two)} times one"]


def imports() -> list[str]:
    """The slowest imports, each with all that it imports in turn."""
    _, done = fresh.run(sys.executable, "-X", "importtime", "-c", "import bayesregret")
    lines = [line.split("|") for line in done.stderr.splitlines() if line.count("|") == 2 and "cumulative" not in line]
    slowest = sorted(((int(total), name.strip()) for _, total, name in lines), reverse=True)[:8]
    return [f"import {name}: {total / 1e6:.2f} s" for total, name in slowest]


def first(code: str) -> list[str]:
    steps = ("pass", "import bayesregret", "import bayesregret, numba")
    costs = {step: fresh.seconds(sys.executable, "-c", step) for step in steps}
    with tempfile.TemporaryDirectory() as cache:
        costs["all of it, cold"] = fresh.seconds(sys.executable, "-c", code, NUMBA_CACHE_DIR=cache)
        costs["all of it, cached"] = fresh.seconds(sys.executable, "-c", code, NUMBA_CACHE_DIR=cache)
    return [f"{step}: {seconds:.2f} s" for step, seconds in costs.items()]


def _lines(size: Size, costs: dict[str, Cost]) -> list[str]:
    lowest = side_by_side(size.repetitions, *costs.values())
    return [f"{part}: {number(cost)} ns a round" for part, cost in zip(costs, lowest, strict=True)]


def _simulation(bandit: br.Bandit, size: Size, **options: object) -> Cost:
    return speed_rows.simulation(bandit, br.BayesUCB(), size, **options)


def _floor(size: Size, threads: int | None = None) -> Cost:
    asked = {"runs": size.runs, "draws": size.horizon, "threads": threads or size.threads}
    return timed(lambda: baselines.draw_normals(**asked), size.rounds)


def _instances(bandit: br.Bandit, size: Size, horizon: int | None = None, runs: int | None = None) -> Cost:
    runs = runs or size.runs
    return timed(lambda: bandit.draw_means(runs, seed=7), runs * (horizon or size.horizon))


def _counted(size: Size) -> dict[str, int]:
    return {"runs": COUNTED_RUNS, "rounds": size.horizon, "horizon": size.horizon}
