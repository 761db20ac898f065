"""Kernel for policies that choose anew in every round, on independent arms with immediate rewards.

delayed.py does the same for late rewards. Here checkpoints, regret and the arm's stream are updated only when the arm
changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import Stats, choose_arm, draw_means, draw_reward, empty_stats
from bayesregret.contracts.statistics import learn, reset_stats
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.run import add_pulls, best_arm, is_wrong, mark_checkpoints, play_run

U = np.uint64


class EveryRoundState(NamedTuple):
    means: NDArray[np.float64]
    stats: Stats
    streams: NDArray[np.uint64]  # (arms, 4)


def make_every_round_state(arms: int, memory: int, scratch: int) -> EveryRoundState:
    return EveryRoundState(np.empty(arms), empty_stats(arms, memory, scratch), np.empty((arms, 4), np.uint64))


@play_run.implement(EveryRoundState)
def play_every_round(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    stats = state.stats
    reset_stats(stats)
    for arm in range(state.means.shape[0]):
        write_stream(state.streams, arm, open_stream(key, start, REWARD + U(arm)))
    choices = open_stream(key, start, POLICY)

    # Start a streak of arm 0, which may have no rounds.
    taken, before, rounds, marked = 0, 0, 0, 0
    stream, mean = read_stream(state.streams, 0), state.means[0]
    regret = 0.0
    while rounds < plan.horizon and not plan.stop[0]:
        arm, choices = choose_arm(policy, belief, stats, rounds + 1, choices)
        if is_wrong(plan, arm, state.means.shape[0]):
            break
        if arm != taken:
            write_stream(state.streams, taken, stream)
            gap = state.means[best] - mean
            marked = mark_checkpoints(plan, curve, marked, before, rounds - before, regret, gap)
            regret += (rounds - before) * gap
            taken, before = arm, rounds
            stream, mean = read_stream(state.streams, arm), state.means[arm]
        reward, stream = draw_reward(world, arm, mean, stream)
        learn(belief, stats, arm, reward)
        rounds += 1
    gap = state.means[best] - mean
    mark_checkpoints(plan, curve, marked, before, rounds - before, regret, gap)
    return regret + (rounds - before) * gap, best


@add_pulls.implement(EveryRoundState)
def add_counted_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += state.stats.counts[arm]
    return state.stats.counts[best]
