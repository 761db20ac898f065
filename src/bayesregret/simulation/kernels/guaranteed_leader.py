"""Kernel for time-varying policies that can guarantee their choice for several rounds, on independent arms.

Each choice comes with a lease. While it holds, a round costs one comparison, and the leader's data stay in registers.
As in index_leader.py, each arm's next reward is drawn before the arm is pulled. every_round.py does the same for
policies without leases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import Stats, draw_means, draw_reward, empty_stats
from bayesregret.contracts.fast import keeps_lead, take_lead
from bayesregret.contracts.statistics import reset_stats
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.every_round import add_counted_pulls
from bayesregret.simulation.kernels.run import add_pulls, best_arm, is_wrong, mark_checkpoints, play_run

U = np.uint64
# A streak ends after this many pulls, so that an interrupt is noticed.
LONGEST_STREAK = 1 << 22


class GuaranteedLeaderState(NamedTuple):
    means: NDArray[np.float64]
    stats: Stats  # without `squares`, which no such policy uses
    ahead: NDArray[np.float64]  # (arms,): the arm's next reward
    streams: NDArray[np.uint64]  # (arms, 4)


def make_guaranteed_leader_state(arms: int, memory: int, scratch: int) -> GuaranteedLeaderState:
    return GuaranteedLeaderState(
        np.empty(arms), empty_stats(arms, memory, scratch), np.empty(arms), np.empty((arms, 4), np.uint64)
    )


@play_run.implement(GuaranteedLeaderState)
def play_with_leases(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    stats = state.stats
    reset_stats(stats)
    for arm in range(state.means.shape[0]):
        stream = open_stream(key, start, REWARD + U(arm))
        state.ahead[arm], stream = draw_reward(world, arm, state.means[arm], stream)
        write_stream(state.streams, arm, stream)
    choices = open_stream(key, start, POLICY)

    rounds, marked = 0, 0
    updated = U(state.means.shape[0])
    regret = 0.0
    while rounds < plan.horizon and not plan.stop[0]:
        arm, lease, choices = take_lead(policy, belief, stats, updated, rounds + 1, choices)
        if is_wrong(plan, arm, state.means.shape[0]):
            break
        last = min(lease.until, plan.horizon, rounds + LONGEST_STREAK)
        before, mean = rounds, state.means[arm]
        count, total, reward = stats.counts[arm], stats.totals[arm], state.ahead[arm]
        stream = read_stream(state.streams, arm)
        while True:
            rounds += 1
            count += 1
            total += reward
            reward, stream = draw_reward(world, arm, mean, stream)
            if rounds >= last:
                break
            if not keeps_lead(policy, belief, lease, rounds + 1, arm, count, total):
                break
        pulls = rounds - before
        stats.counts[arm], stats.totals[arm], state.ahead[arm] = count, total, reward
        stats.received[0] += pulls
        write_stream(state.streams, arm, stream)
        gap = state.means[best] - mean
        marked = mark_checkpoints(plan, curve, marked, before, pulls, regret, gap)
        regret += pulls * gap
        updated = arm
    return regret, best


add_pulls.implement(GuaranteedLeaderState)(add_counted_pulls)
