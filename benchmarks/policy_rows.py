"""Rows about policies that look at all arms in every round, against NumPy loops that do the same work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import bayesregret as br
import problems
from baselines import Regret, numpy_regret
from clock import fastest_of, side_by_side, timed
from policy_baselines import numpy_policy, numpy_policy_by_tables
from problems import Size
from row import Row, at_least, ns
from speed_rows import simulation

POLICIES = (br.Thompson(), br.QuantileUCB(), br.KLUCB())


def policies(size: Size) -> Iterator[Row]:
    for bandit in (problems.gaussian(), problems.bernoulli()):
        for policy in POLICIES:
            yield from _against_numpy(bandit, policy, size)


def _against_numpy(bandit: br.Bandit, policy: br.Policy, size: Size) -> Iterator[Row]:
    """How many times faster than a loop, with both regrets as evidence that both did the same work."""
    work = f"{bandit.kind} {policy.name}, K=10, against "
    loops = {work + "a NumPy loop on one thread": (numpy_policy, at_least(20.0))}
    if isinstance(bandit, br.GaussianBandit):
        loops[work + "one that renews only the pulled arm's mean and deviation"] = (numpy_policy_by_tables, None)
    costs = [timed(partial(_play, loop, bandit, policy, size), _rounds(size)) for loop, _ in loops.values()]
    ours = fastest_of(size.repetitions // size.slow_repetitions, simulation(bandit, policy, size))
    here, *theres = side_by_side(size.slow_repetitions, ours, *costs)
    regret = _regret_here(bandit, policy, size)
    for (name, (loop, target)), there in zip(loops.items(), theres, strict=True):
        theirs = _play(loop, bandit, policy, size)
        if abs(regret.mean - theirs.mean) > 6.0 * (regret.stderr + theirs.stderr):
            raise RuntimeError(f"not the same work: regret {regret.mean:.1f} and {theirs.mean:.1f}")
        measured = f"{ns(here, there)} (regret at round {size.numpy_rounds}: {regret.mean:.1f} and {theirs.mean:.1f})"
        yield Row(name, measured, there / here, "times faster", target)


def _rounds(size: Size) -> int:
    return size.runs * size.numpy_rounds


def _play(loop: Callable[..., Any], bandit: br.Bandit, policy: br.Policy, size: Size) -> Regret:
    return numpy_regret(loop(bandit, policy, runs=size.runs, rounds=size.numpy_rounds))


def _regret_here(bandit: br.Bandit, policy: br.Policy, size: Size) -> Regret:
    result = br.simulate(bandit, policy, horizon=size.numpy_rounds, runs=size.runs, seed=7, progress=False)[policy.name]
    return Regret(result.mean, result.stderr)
