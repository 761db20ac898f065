"""Kernel that plays instances whose two best arms are tied, for the identity in docs/theory/thompson.md.

The policy is played as in guaranteed_leader.py. In place of regret, each round adds, for both tied arms, a weight over
the arm's real and imaginary pulls before the round.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import Stats, draw_reward, empty_stats
from bayesregret.contracts.fast import keeps_lead, take_lead
from bayesregret.contracts.statistics import reset_stats
from bayesregret.dispatch import jitable
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, uniform, write_stream
from bayesregret.simulation.kernels.every_round import add_counted_pulls
from bayesregret.simulation.kernels.guaranteed_leader import LONGEST_STREAK
from bayesregret.simulation.kernels.run import add_pulls, play_run

U = np.uint64


class TiedWorld(NamedTuple):
    """Instances of some runs, from `first_run` on."""

    model: Any
    means: NDArray[np.float64]  # (runs, arms)
    pairs: NDArray[np.int64]  # (runs, 2): the tied arms
    weights: NDArray[np.float64]  # (arms,)
    pseudo_counts: NDArray[np.float64]  # (arms,): imaginary pulls
    first_run: int


class TiedState(NamedTuple):
    stats: Stats
    ahead: NDArray[np.float64]  # (arms,): the arm's next reward
    streams: NDArray[np.uint64]  # (arms, 4)


def make_tied_state(arms: int, memory: int, scratch: int) -> TiedState:
    return TiedState(empty_stats(arms, memory, scratch), np.empty(arms), np.empty((arms, 4), np.uint64))


@play_run.implement(TiedState)
def play_tied(state, world, policy, belief, key, run, plan, curve):
    start, row, arms = run_word(key, run), run - world.first_run, world.means.shape[1]
    stats = state.stats
    reset_stats(stats)
    for arm in range(arms):
        stream = open_stream(key, start, REWARD + U(arm))
        state.ahead[arm], stream = draw_reward(world.model, arm, world.means[row, arm], stream)
        write_stream(state.streams, arm, stream)
    choices = open_stream(key, start, POLICY)

    rounds, updated = 0, U(arms)
    cost = 0.0
    while rounds < plan.horizon and not plan.stop[0]:
        arm, lease, choices = take_lead(policy, belief, stats, updated, rounds + 1, choices)
        last = min(lease.until, plan.horizon, rounds + LONGEST_STREAK)
        before, mean = rounds, world.means[row, arm]
        count, total, reward = stats.counts[arm], stats.totals[arm], state.ahead[arm]
        stream = read_stream(state.streams, arm)
        while True:
            rounds += 1
            count += 1
            total += reward
            reward, stream = draw_reward(world.model, arm, mean, stream)
            if rounds >= last:
                break
            if not keeps_lead(policy, belief, lease, rounds + 1, arm, count, total):
                break
        pulls = rounds - before
        cost += streak_cost(world, stats, row, 0, arm, pulls) + streak_cost(world, stats, row, 1, arm, pulls)
        stats.counts[arm], stats.totals[arm], state.ahead[arm] = count, total, reward
        stats.received[0] += pulls
        write_stream(state.streams, arm, stream)
        updated = arm
    curve[:] = cost
    return cost, world.pairs[row, 0]


@jitable
def streak_cost(world, stats, row, side, arm, pulls):
    """Cost of one of the tied arms in the next `pulls` rounds, all of which pull `arm`."""
    tied = world.pairs[row, side]
    at = world.pseudo_counts[tied] + stats.counts[tied]
    if U(tied) != U(arm):
        return world.weights[tied] * (pulls / at)
    cost = 0.0
    for more in range(pulls):
        cost += 1.0 / (at + more)
    return world.weights[tied] * cost


add_pulls.implement(TiedState)(add_counted_pulls)


def draw_uniforms(key, first_run, table):
    """Fill each row of a table with uniform draws of one run, in place of an instance."""
    for row in range(table.shape[0]):
        stream = open_stream(key, run_word(key, first_run + row), INSTANCE)
        for place in range(table.shape[1]):
            table[row, place], stream = uniform(stream)
