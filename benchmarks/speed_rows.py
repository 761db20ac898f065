"""Rows about the cost of a simulated round: against its noise, NumPy loops, other models, policies and threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import baselines
import bayesregret as br
import problems
import profiles
from baselines import draw_normals, numpy_gaussian, numpy_gaussian_one_index, numpy_linear, numpy_regret
from clock import Cost, side_by_side, timed
from problems import Size
from row import Row, Target, at_least, at_most, ns, number

BAYES_UCB = br.BayesUCB()


def simulation(bandit: br.Bandit, policy: br.Policy, size: Size, **options: Any) -> Cost:
    """The cost of one simulated round, everything that `simulate` does included."""
    asked = {"horizon": size.horizon, "runs": size.runs, "threads": size.threads} | options
    work = partial(br.simulate, bandit, policy, seed=7, progress=False, **asked)
    return timed(work, asked["horizon"] * asked["runs"])


def control(size: Size) -> Iterator[Row]:
    costs = side_by_side(size.repetitions, *[simulation(problems.gaussian(), BAYES_UCB, size)] * 4)
    measured = ", ".join(map(number, costs)) + " ns a round"
    yield Row("control: the same work timed four times, highest against lowest", measured, max(costs) / min(costs))


def gaussian(size: Size) -> Iterator[Row]:
    bandit = problems.gaussian()
    why = partial(profiles.gaussian, size)
    here, floor = side_by_side(
        size.repetitions,
        simulation(bandit, BAYES_UCB, size),
        timed(lambda: draw_normals(runs=size.runs, draws=size.horizon, threads=size.threads), size.rounds),
    )
    work = "Gaussian BayesUCB, K=10, against "
    yield Row(work + "drawing one normal", ns(here, floor), here / floor, target=at_most(1.5), why=why)
    loops = (numpy_gaussian, numpy_gaussian_one_index)
    here, every_index, one_index = _beside_numpy(bandit, size, *loops)
    numpy = partial(_against_numpy, bandit, size, here)
    yield numpy(work + "a NumPy loop on one thread", numpy_gaussian, every_index, at_least(30.0), why)
    yield numpy(work + "one that renews only the pulled arm's index", numpy_gaussian_one_index, one_index)


def bernoulli(size: Size) -> Iterator[Row]:
    here, gaussian = side_by_side(
        size.repetitions,
        simulation(problems.bernoulli(), BAYES_UCB, size),
        simulation(problems.gaussian(), BAYES_UCB, size),
    )
    work = "Bernoulli BayesUCB, K=10, against Gaussian"
    why = partial(profiles.bernoulli, size)
    yield Row(work, ns(here, gaussian), here / gaussian, target=at_most(1.5), why=why)


def linear(size: Size) -> Iterator[Row]:
    bandit = problems.linear()
    why = partial(profiles.linear, size)
    here, gaussian = side_by_side(
        size.repetitions, simulation(bandit, BAYES_UCB, size), simulation(problems.gaussian(), BAYES_UCB, size)
    )
    work = "linear BayesUCB, K=30, d=10, against "
    yield Row(work + "Gaussian", ns(here, gaussian), here / gaussian, target=at_most(2.5), why=why)
    here, rank_one = _beside_numpy(bandit, size, numpy_linear)
    work += "a NumPy loop on one thread that updates by rank one"
    yield _against_numpy(bandit, size, here, work, numpy_linear, rank_one, at_least(50.0), why)


def ucb1(size: Size) -> Iterator[Row]:
    bandit = problems.gaussian()
    here, bayes_ucb = side_by_side(
        size.repetitions, simulation(bandit, br.UCB1(), size), simulation(bandit, BAYES_UCB, size)
    )
    work = "UCB1 against BayesUCB, Gaussian, K=10"
    why = partial(profiles.ucb1, size)
    yield Row(work, ns(here, bayes_ucb), here / bayes_ucb, target=at_most(1.0), why=why)


def threads(size: Size) -> Iterator[Row]:
    one, two = side_by_side(
        size.repetitions,
        *[simulation(problems.gaussian(), BAYES_UCB, size, threads=threads) for threads in (1, 2)],
    )
    work = "two threads against one, Gaussian BayesUCB, K=10"
    why = partial(profiles.threads, size)
    yield Row(work, ns(two, one), one / two, "times faster", at_least(1.8), why)


def _beside_numpy(bandit: br.Bandit, size: Size, *loops: Callable[..., Any]) -> list[float]:
    costs = [timed(lambda loop=loop: _play(loop, bandit, size), size.runs * size.numpy_rounds) for loop in loops]
    return side_by_side(size.slow_repetitions, simulation(bandit, BAYES_UCB, size), *costs)


def _play(loop: Callable[..., Any], bandit: br.Bandit, size: Size) -> baselines.Regret:
    return numpy_regret(loop(bandit, runs=size.runs, rounds=size.numpy_rounds, horizon=size.horizon))


def _against_numpy(
    bandit: br.Bandit,
    size: Size,
    here: float,
    work: str,
    loop: Callable[..., Any],
    there: float,
    target: Target | None = None,
    why: Callable[[], list[str]] | None = None,
) -> Row:
    """How many times faster than a NumPy loop, with both regrets as evidence that both did the same work."""
    theirs = _play(loop, bandit, size)
    result = br.simulate(
        bandit,
        BAYES_UCB,
        horizon=size.horizon,
        runs=size.runs,
        seed=7,
        checkpoints=[size.numpy_rounds],
        progress=False,
    )
    curve = result["bayes-ucb"].curve
    ours, stderr = curve.mean[0], curve.stderr[0]
    if abs(ours - theirs.mean) > 6.0 * (stderr + theirs.stderr):
        raise RuntimeError(f"not the same work: regret {ours:.1f} and {theirs.mean:.1f} at round {size.numpy_rounds}")
    measured = f"{ns(here, there)} (regret at round {size.numpy_rounds}: {ours:.1f} and {theirs.mean:.1f})"
    return Row(work, measured, there / here, "times faster", target, why)
