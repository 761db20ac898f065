"""Independent arms: the kernel that lets the policy look at all arms in every round.

For policies whose choice moves with time or chance, and for rewards that come late: one that is brought in round r is
known in round q if r <= batch * floor((q - 1) / batch) - delay, that is, `delay` rounds late and at ends of batches.
The k-th reward of an arm is the same as in every other kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import Known, choose_arm, draw_means, draw_reward, nothing_known, take_in
from bayesregret.dispatch import jitable
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.runs import add_pulls, best_arm, mark_checkpoints, play_run

U = np.uint64


class RoundsState(NamedTuple):
    means: NDArray[np.float64]
    pulls: NDArray[np.int64]
    known: Known
    streams: NDArray[np.uint64]  # (arms, 4)
    late_arms: NDArray[np.int64]  # (delay + batch,): pulls whose rewards are not known yet, round after round
    late_rewards: NDArray[np.float64]


def make_rounds_state(arms: int, memory: int, scratch: int, late: int) -> RoundsState:
    return RoundsState(
        np.empty(arms),
        np.empty(arms, np.int64),
        nothing_known(arms, memory, scratch),
        np.empty((arms, 4), np.uint64),
        np.empty(late, np.int64),
        np.empty(late),
    )


@play_run.implement(RoundsState)
def play_rounds(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    forget_all(state.known)
    for arm in range(state.means.shape[0]):
        state.pulls[arm] = 0
        write_stream(state.streams, arm, open_stream(key, start, REWARD + U(arm)))
    choices = open_stream(key, start, POLICY)
    known, late = state.known, state.late_arms.shape[0]
    rounds, seen, place, seen_place, in_batch = 0, 0, 0, 0, 0
    regret = 0.0
    marked = 0
    while rounds < plan.horizon and not plan.stop[0]:
        due = rounds - in_batch - plan.delay
        while seen < due:
            take_in(known, state.late_arms[seen_place], state.late_rewards[seen_place])
            seen += 1
            seen_place = seen_place + 1 if seen_place + 1 < late else 0
        arm, choices = choose_arm(policy, belief, known, rounds + 1, choices)
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
def forget_all(known):
    known.received[0] = 0
    for arm in range(known.counts.shape[0]):
        known.counts[arm] = 0
        known.totals[arm] = 0.0
        known.squares[arm] = 0.0
    for place in range(known.memory.shape[0]):
        known.memory[place] = 0.0
    for place in range(known.scratch.shape[0]):
        known.scratch[place] = 0.0


@add_pulls.implement(RoundsState)
def add_rounds_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += state.pulls[arm]
    return state.pulls[best]
