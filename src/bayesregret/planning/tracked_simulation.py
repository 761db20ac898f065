"""Simulation that also estimates the probability that a round is on the best arm, for some rounds.

A run's regret curve is constant over a round on the best arm. So the regret is recorded before and after each of these
rounds, and each block of runs is examined before its curves are averaged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.simulation.engine import Simulation
from bayesregret.simulation.estimates import Estimate, estimate, standard_error
from bayesregret.simulation.kernels.run import BLOCK, Record
from bayesregret.simulation.simulate import checkpoint_rounds

# Simulates a policy and returns its final regrets, (runs,): on the same instances and noise for every policy.
SimulateRegrets = Callable[[Policy], Array]


class TrackedRuns(NamedTuple):
    """Simulated runs of one policy."""

    final_regret: Array  # (runs,)
    rounds: NDArray[np.int64]
    curve: Array  # (rounds,): mean regret after each of `rounds`
    curve_stderr: Array
    on_best: Array  # (rounds,): probability that the round is on the best arm
    on_best_stderr: Array
    near_best: Array  # (rounds,): probability that the round is on an arm within epsilon of the best
    near_best_stderr: Array
    delta: float | None


class TrackedSimulation(Simulation):
    """Simulation that counts the runs in which a round is on the best arm."""

    def __init__(
        self,
        bandit: Bandit,
        policy: Policy,
        *,
        horizon: int,
        seed: int,
        delay: int = 0,
        batch: int = 1,
        epsilon: float = 0.0,
    ) -> None:
        self.rounds = checkpoint_rounds(None, horizon)
        before_and_after = np.unique(np.concatenate([self.rounds - 1, self.rounds])[1:])
        super().__init__(
            bandit, policy, horizon=horizon, seed=seed, checkpoints=before_and_after, delay=delay, batch=batch
        )
        self.after = np.searchsorted(before_and_after, self.rounds)
        self.epsilon = epsilon
        # Numbers of runs on the best arm, and within epsilon of it; by first run of the block.
        self.hits: dict[int, NDArray[np.int64]] = {}
        self.near_hits: dict[int, NDArray[np.int64]] = {}

    def _tasks(self, begin: int, end: int, threads: int) -> Iterator[tuple[int, int]]:
        """One block per task: the next block overwrites its curves."""
        for first in range(begin, end, BLOCK):
            yield first, min(BLOCK, end - first)

    def _play(self, first_run: int, runs: int) -> Record:
        record = super()._play(first_run, runs)
        curves = np.column_stack([np.zeros(runs), record.rows[:runs]])
        gaps = curves[:, self.after + 1] - curves[:, self.after]
        self.hits[first_run] = np.count_nonzero(gaps == 0.0, axis=0)
        self.near_hits[first_run] = np.count_nonzero(gaps <= self.epsilon, axis=0)
        return record


def track(
    bandit: Bandit,
    policy: Policy,
    *,
    horizon: int,
    runs: int,
    seed: int,
    threads: int,
    on_progress: Callable[[int], None],
    delay: int = 0,
    batch: int = 1,
    epsilon: float = 0.0,
) -> TrackedRuns:
    """Simulate a policy; `on_progress` is called with numbers of finished runs."""
    simulation = TrackedSimulation(
        bandit, policy, horizon=horizon, seed=seed, delay=delay, batch=batch, epsilon=epsilon
    )
    simulation.run_until(runs, threads, on_progress)
    tally = simulation.tally
    on_best, near_best = (
        np.sum(list(hits.values()), axis=0) / runs for hits in (simulation.hits, simulation.near_hits)
    )
    return TrackedRuns(
        np.concatenate(tally.final_regret),
        simulation.rounds,
        tally.curve_mean[simulation.after],
        standard_error(tally.curve_squares, runs)[simulation.after],
        on_best,
        _binomial_error(on_best, runs),
        near_best,
        _binomial_error(near_best, runs),
        simulation.delta,
    )


def paired(first: Array, second: Array) -> Estimate:
    """Regret of the first policy minus the second's, on the runs that both have: the same instances and noise."""
    runs = min(len(first), len(second))
    return estimate(first[:runs] - second[:runs])


def _binomial_error(fraction: Array, runs: int) -> Array:
    """Standard errors of fractions of runs; Laplace's rule of succession keeps them above 0 where all runs agree."""
    likely = (fraction * runs + 1.0) / (runs + 2.0)
    return np.sqrt(likely * (1.0 - likely)) / math.sqrt(runs)
