"""Kernel for late rewards: the policy chooses in every round, from the rewards that have arrived; independent arms.

The reward of round r is available in round q if r <= batch * floor((q - 1) / batch) - delay, that is, `delay` rounds
late and at ends of batches. The k-th reward of an arm is the same as in every other kernel. The state decides how it
learns and chooses: linear_every_round.py plays the same loop with a posterior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import Stats, choose_arm, draw_means, draw_reward, empty_stats
from bayesregret.contracts.statistics import learn, reset_stats
from bayesregret.dispatch import contract
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.run import add_pulls, best_arm, is_wrong, mark_checkpoints, play_run

U = np.uint64


class DelayedState(NamedTuple):
    means: NDArray[np.float64]
    pulls: NDArray[np.int64]
    stats: Stats
    streams: NDArray[np.uint64]  # (arms, 4)
    late_arms: NDArray[np.int64]  # (delay + batch,): pulls whose rewards have not arrived, in order
    late_rewards: NDArray[np.float64]


def make_delayed_state(arms: int, memory: int, scratch: int, late: int) -> DelayedState:
    return DelayedState(
        np.empty(arms),
        np.empty(arms, np.int64),
        empty_stats(arms, memory, scratch),
        np.empty((arms, 4), np.uint64),
        np.empty(late, np.int64),
        np.empty(late),
    )


@contract()
def begin_run(state, belief):
    """Reset what the last run learned."""


@contract()
def learn_late(state, belief, arm, reward):
    """Learn from a reward that has arrived."""


@contract(returns="arm, stream")
def choose_now(state, policy, belief, round_, stream):
    """Return the policy's arm and the next stream."""


@begin_run.implement(DelayedState)
def begin_with_nothing(state, belief):
    reset_stats(state.stats)


@learn_late.implement(DelayedState)
def take_in_late(state, belief, arm, reward):
    learn(belief, state.stats, arm, reward)


@choose_now.implement(DelayedState)
def choose_of_known(state, policy, belief, round_, stream):
    return choose_arm(policy, belief, state.stats, round_, stream)


@play_run.implement(DelayedState)
def play_delayed(state, world, policy, belief, key, run, plan, curve):
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
        if is_wrong(plan, arm, state.means.shape[0]):
            break
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


@add_pulls.implement(DelayedState)
def add_delayed_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += state.pulls[arm]
    return state.pulls[best]
