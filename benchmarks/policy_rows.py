"""Rows about policies that look at all arms in every round, against NumPy loops that do the same work."""

from __future__ import annotations

from collections.abc import Iterator

import bayesregret as br
import problems
from baselines import Regret, numpy_regret
from clock import side_by_side, timed
from policy_baselines import numpy_policy
from problems import Size
from row import Row, at_least, ns
from speed_rows import simulation

POLICIES = (br.Thompson(), br.QuantileUCB(), br.KLUCB())


def policies(size: Size) -> Iterator[Row]:
    for bandit in (problems.gaussian(), problems.bernoulli()):
        for policy in POLICIES:
            yield _against_numpy(bandit, policy, size)


def _against_numpy(bandit: br.Bandit, policy: br.Policy, size: Size) -> Row:
    """How many times faster than the loop, with both regrets as evidence that both did the same work."""

    def loop() -> Regret:
        return numpy_regret(numpy_policy(bandit, policy, runs=size.runs, rounds=size.numpy_rounds))

    there_alone = timed(loop, size.runs * size.numpy_rounds)
    here, there = side_by_side(size.slow_repetitions, simulation(bandit, policy, size), there_alone)
    ours, theirs = _regret_here(bandit, policy, size), loop()
    if abs(ours.mean - theirs.mean) > 6.0 * (ours.stderr + theirs.stderr):
        raise RuntimeError(f"not the same work: regret {ours.mean:.1f} and {theirs.mean:.1f}")
    work = f"{bandit.kind} {policy.name}, K=10, against a NumPy loop on one thread"
    measured = f"{ns(here, there)} (regret at round {size.numpy_rounds}: {ours.mean:.1f} and {theirs.mean:.1f})"
    return Row(work, measured, there / here, "times faster", at_least(20.0))


def _regret_here(bandit: br.Bandit, policy: br.Policy, size: Size) -> Regret:
    result = br.simulate(bandit, policy, horizon=size.numpy_rounds, runs=size.runs, seed=7, progress=False)[policy.name]
    return Regret(result.mean, result.stderr)
