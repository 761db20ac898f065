"""Simulation that also estimates the probability that a round is on the best arm, for some rounds.

A run's regret curve is constant over a round on the best arm. So the regret is recorded before and after each of these
rounds, and the kernel counts the runs in which it did not grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.estimates import Estimate, estimate, standard_error
from bayesregret.simulation.simulate import checkpoint_rounds
from bayesregret.simulation.simulation import Simulation

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


def tracked_simulation(
    bandit: Bandit,
    policy: Policy,
    *,
    horizon: int,
    seed: int,
    delay: int = 0,
    batch: int = 1,
    epsilon: float = 0.0,
) -> tuple[Simulation, NDArray[np.int64], NDArray[np.int64]]:
    """Make a simulation that counts the runs in which a round is on the best arm.

    Return also the rounds, and the place of each among the simulation's checkpoints.
    """
    rounds = checkpoint_rounds(None, horizon)
    before_and_after = np.unique(np.concatenate([rounds - 1, rounds])[1:])
    simulation = Simulation(
        bandit,
        policy,
        horizon=horizon,
        seed=seed,
        checkpoints=before_and_after,
        delay=delay,
        batch=batch,
        epsilon=epsilon,
    )
    return simulation, rounds, np.searchsorted(before_and_after, rounds)


def track(
    bandit: Bandit,
    policy: Policy,
    *,
    horizon: int,
    runs: int,
    seed: int,
    engine: Engine,
    on_progress: Callable[[int], None],
    delay: int = 0,
    batch: int = 1,
    epsilon: float = 0.0,
) -> TrackedRuns:
    """Simulate a policy; `on_progress` is called with numbers of finished runs."""
    simulation, rounds, places = tracked_simulation(
        bandit, policy, horizon=horizon, seed=seed, delay=delay, batch=batch, epsilon=epsilon
    )
    simulation.run_until(runs, engine, on_progress)
    tally = simulation.tally
    on_best, near_best = (counted[places] / runs for counted in (tally.on_best, tally.near_best))
    return TrackedRuns(
        tally.each_run.final_regret,
        rounds,
        tally.curve_mean[places],
        standard_error(tally.curve_squares, runs)[places],
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
