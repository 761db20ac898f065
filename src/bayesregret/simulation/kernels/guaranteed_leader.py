"""Independent arms: the kernel for policies that look at all arms, but tell for how long they need not.

prompt.py plays the same where they do not tell. A look gives the leader a lease. While it lasts, a round is one
comparison, and all that is known of the leader stays at hand. As in arms.py each arm's next reward is drawn before it
is taken: whether the leader stays is then known before the draw that follows is done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import (
    Stats,
    draw_means,
    draw_reward,
    empty_stats,
    keeps_lead,
    take_lead,
)
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.delayed import reset_stats
from bayesregret.simulation.kernels.every_round import add_prompt_pulls
from bayesregret.simulation.kernels.run import add_pulls, best_arm, mark_checkpoints, play_run

U = np.uint64
# A streak is cut after so many pulls, to hear whether the user wants an end.
LONGEST_STREAK = 1 << 22


class StreaksState(NamedTuple):
    means: NDArray[np.float64]
    stats: Stats  # but for `squares`, which no such policy asks for
    ahead: NDArray[np.float64]  # (arms,): the next reward
    streams: NDArray[np.uint64]  # (arms, 4)


def make_streaks_state(arms: int, memory: int, scratch: int) -> StreaksState:
    return StreaksState(
        np.empty(arms), empty_stats(arms, memory, scratch), np.empty(arms), np.empty((arms, 4), np.uint64)
    )


@play_run.implement(StreaksState)
def play_streaks(state, world, policy, belief, key, run, plan, curve):
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
    news = U(state.means.shape[0])
    regret = 0.0
    while rounds < plan.horizon and not plan.stop[0]:
        arm, lease, choices = take_lead(policy, belief, stats, news, rounds + 1, choices)
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
        news = arm
    return regret, best


add_pulls.implement(StreaksState)(add_prompt_pulls)
