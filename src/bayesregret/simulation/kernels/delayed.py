"""The kernel that lets the policy look at all arms in every round; here for independent arms.

For policies whose choice moves with time or chance, and for rewards that come late: one that is brought in round r is
known in round q if r <= batch * floor((q - 1) / batch) - delay, that is, `delay` rounds late and at ends of batches.
The k-th reward of an arm is the same as in every other kernel. What a state knows beside counts and totals, and how it
is asked for a choice, is its own: linear_rounds.py has a posterior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import Stats, add_reward, choose_arm, draw_means, draw_reward, empty_stats
from bayesregret.dispatch import contract, jitable
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.run import add_pulls, best_arm, mark_checkpoints, play_run

U = np.uint64


class RoundsState(NamedTuple):
    means: NDArray[np.float64]
    pulls: NDArray[np.int64]
    stats: Stats
    streams: NDArray[np.uint64]  # (arms, 4)
    late_arms: NDArray[np.int64]  # (delay + batch,): pulls whose rewards are not known yet, round after round
    late_rewards: NDArray[np.float64]


def make_rounds_state(arms: int, memory: int, scratch: int, late: int) -> RoundsState:
    return RoundsState(
        np.empty(arms),
        np.empty(arms, np.int64),
        empty_stats(arms, memory, scratch),
        np.empty((arms, 4), np.uint64),
        np.empty(late, np.int64),
        np.empty(late),
    )


@contract
def begin_run(state, belief):
    """Forget what the last run taught."""


@contract
def learn_late(state, belief, arm, reward):
    """Take in a reward that is known now."""


@contract
def choose_now(state, policy, belief, round_, stream):
    """The policy's arm, and the stream that comes after."""


@begin_run.implement(RoundsState)
def begin_with_nothing(state, belief):
    reset_stats(state.stats)


@learn_late.implement(RoundsState)
def take_in_late(state, belief, arm, reward):
    add_reward(state.stats, arm, reward)


@choose_now.implement(RoundsState)
def choose_of_known(state, policy, belief, round_, stream):
    return choose_arm(policy, belief, state.stats, round_, stream)


@play_run.implement(RoundsState)
def play_rounds(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    begin_run(state, belief)
    for arm in range(state.means.shape[0]):
        state.pulls[arm] = 0
        write_stream(state.streams, arm, open_stream(key, start, REWARD + U(arm)))
    choices = open_stream(key, start, POLICY)
    late = state.late_arms.shape[0]
    rounds, seen, place, seen_place, in_batch = 0, 0, 0, 0, 0
    regret = 0.0
    marked = 0
    while rounds < plan.horizon and not plan.stop[0]:
        due = rounds - in_batch - plan.delay
        while seen < due:
            learn_late(state, belief, state.late_arms[seen_place], state.late_rewards[seen_place])
            seen += 1
            seen_place = seen_place + 1 if seen_place + 1 < late else 0
        arm, choices = choose_now(state, policy, belief, rounds + 1, choices)
        reward, stream = draw_reward(world, arm, state.means[arm], read_stream(state.streams, arm))
        write_stream(state.streams, arm, stream)
        state.late_arms[place], state.late_rewards[place] = arm, reward
        place = place + 1 if place + 1 < late else 0
        state.pulls[arm] += 1
        gap = state.means[best] - state.means[arm]
        marked = mark_checkpoints(plan, curve, marked, rounds, 1, regret, gap)
        regret += gap
        rounds += 1
        in_batch = in_batch + 1 if in_batch + 1 < plan.batch else 0
    return regret, best


@jitable
def reset_stats(stats):
    stats.received[0] = 0
    for arm in range(stats.counts.shape[0]):
        stats.counts[arm] = 0
        stats.totals[arm] = 0.0
        stats.squares[arm] = 0.0
    for place in range(stats.memory.shape[0]):
        stats.memory[place] = 0.0
    for place in range(stats.scratch.shape[0]):
        stats.scratch[place] = 0.0


@add_pulls.implement(RoundsState)
def add_rounds_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += state.pulls[arm]
    return state.pulls[best]
