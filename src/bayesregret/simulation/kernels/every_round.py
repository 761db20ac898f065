"""Independent arms: the kernel for policies that look at all arms in every round, where every reward comes at once.

rounds.py plays the same for rewards that come late. Here what a run knows is all that happened, and checkpoints, regret
and the arm's stream are looked at only when the arm changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import Stats, add_reward, choose_arm, draw_means, draw_reward, empty_stats
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.delayed import reset_stats
from bayesregret.simulation.kernels.run import add_pulls, best_arm, mark_checkpoints, play_run

U = np.uint64


class PromptState(NamedTuple):
    means: NDArray[np.float64]
    stats: Stats
    streams: NDArray[np.uint64]  # (arms, 4)


def make_prompt_state(arms: int, memory: int, scratch: int) -> PromptState:
    return PromptState(np.empty(arms), empty_stats(arms, memory, scratch), np.empty((arms, 4), np.uint64))


@play_run.implement(PromptState)
def play_prompt(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    stats = state.stats
    reset_stats(stats)
    for arm in range(state.means.shape[0]):
        write_stream(state.streams, arm, open_stream(key, start, REWARD + U(arm)))
    choices = open_stream(key, start, POLICY)

    # A streak of arm 0 begins, which may be of no rounds.
    taken, before, rounds, marked = 0, 0, 0, 0
    stream, mean = read_stream(state.streams, 0), state.means[0]
    regret = 0.0
    while rounds < plan.horizon and not plan.stop[0]:
        arm, choices = choose_arm(policy, belief, stats, rounds + 1, choices)
        if arm != taken:
            write_stream(state.streams, taken, stream)
            gap = state.means[best] - mean
            marked = mark_checkpoints(plan, curve, marked, before, rounds - before, regret, gap)
            regret += (rounds - before) * gap
            taken, before = arm, rounds
            stream, mean = read_stream(state.streams, arm), state.means[arm]
        reward, stream = draw_reward(world, arm, mean, stream)
        add_reward(stats, arm, reward)
        rounds += 1
    gap = state.means[best] - mean
    mark_checkpoints(plan, curve, marked, before, rounds - before, regret, gap)
    return regret + (rounds - before) * gap, best


@add_pulls.implement(PromptState)
def add_prompt_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += state.stats.counts[arm]
    return state.stats.counts[best]
