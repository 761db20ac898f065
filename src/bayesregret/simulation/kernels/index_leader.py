"""Kernel that stays on the leader, for independent arms and policies whose index moves only when its arm is pulled.

A run stays with the leading arm and compares one number per round with the runner-up's index. It looks at the other
arms only when the lead changes, by a tournament in O(log K).

The k-th reward of an arm comes from the arm's own stream, so it is the same for every policy and at any time: policies
see the same noise, and the difference of two of them is far less noisy than either. It also lets the kernel draw each
arm's next reward before the arm is pulled: whether the leader stays is then known before the following draw is done,
and the processor need not wait for it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import arm_index, draw_means, draw_reward
from bayesregret.dispatch import jitable
from bayesregret.policies.selection import NO_ARM
from bayesregret.rng import INSTANCE, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.run import add_pulls, best_arm, mark_checkpoints, play_run, refuse
from bayesregret.simulation.kernels.tournament import Tournament, make_tournament, play_all, seat, swap_leader

U = np.uint64
ONE = U(1)
# A streak ends after this many pulls, so that an interrupt is noticed.
LONGEST_STREAK = U(1 << 22)


class IndexLeaderState(NamedTuple):
    """Data of each arm; `counts`, `totals` and `ahead` include the one reward drawn ahead."""

    means: NDArray[np.float64]
    counts: NDArray[np.uint64]
    totals: NDArray[np.float64]
    ahead: NDArray[np.float64]  # index of the arm after its next pull
    streams: NDArray[np.uint64]  # (arms, 4)
    tree: Tournament


def make_index_leader_state(arms: int) -> IndexLeaderState:
    return IndexLeaderState(
        np.empty(arms),
        np.empty(arms, np.uint64),
        np.empty(arms),
        np.empty(arms),
        np.empty((arms, 4), np.uint64),
        make_tournament(arms),
    )


@play_run.implement(IndexLeaderState)
def play_on_leader(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    for arm in range(state.means.shape[0]):
        index = arm_index(policy, belief, arm, 0, 0.0)
        if math.isnan(index):
            refuse(plan, NO_ARM)
            return 0.0, best
        seat(state.tree, arm, index)
        stream = open_stream(key, start, REWARD + U(arm))
        reward, stream = draw_reward(world, arm, state.means[arm], stream)
        keep(state, arm, ONE, reward, arm_index(policy, belief, arm, ONE, reward), stream)
    leader = play_all(state.tree)

    horizon = U(plan.horizon)
    rounds = U(0)
    regret = 0.0
    marked = 0
    while True:
        arm = leader
        before = state.counts[arm]
        mean = state.means[arm]
        runner_up = state.tree.indices[1]
        yields_ties = state.tree.arms[1] < arm
        last = before + min(horizon - rounds, LONGEST_STREAK)

        stream = read_stream(state.streams, arm)
        count = before
        total = state.totals[arm]
        index = state.ahead[arm]
        while True:
            # The reward drawn ahead arrives: the arm's index is now `index`. Draw the next one.
            reward, stream = draw_reward(world, arm, mean, stream)
            count += ONE
            total += reward
            ahead = arm_index(policy, belief, arm, count, total)
            if not index > runner_up:  # so that nan ends the streak, too
                if index != runner_up or yields_ties:
                    break
            if count >= last:
                break
            index = ahead

        if math.isnan(index):
            refuse(plan, NO_ARM)
            return regret, best
        pulls = count - before
        gap = state.means[best] - mean
        marked = mark_checkpoints(plan, curve, marked, np.int64(rounds), np.int64(pulls), regret, gap)
        regret += np.int64(pulls) * gap
        rounds += pulls
        keep(state, arm, count, total, ahead, stream)
        if rounds >= horizon or plan.stop[0]:
            return regret, best
        if index < runner_up or (index == runner_up and yields_ties):  # overtaken, not at the end of a cut streak
            leader = swap_leader(state.tree, arm, index)


@jitable
def keep(state, arm, count, total, ahead, stream):
    """Store an arm's data until it leads again."""
    state.counts[arm] = count
    state.totals[arm] = total
    state.ahead[arm] = ahead
    write_stream(state.streams, arm, stream)


@add_pulls.implement(IndexLeaderState)
def add_index_leader_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += np.int64(state.counts[arm] - ONE)
    return np.int64(state.counts[best] - ONE)
