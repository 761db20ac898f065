"""Linear beliefs: the kernel that lets the policy look at the posterior in every round.

For policies whose choice moves with time or chance, and for rewards that come late: rounds.py has the rule when a
reward is known, and linear.py the kernel for all others. The k-th reward of an arm is the same in every kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import Known, choose_linear, draw_means, draw_reward, take_in
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_streak import LinearStreak, forget_streak, learn_one, linear_nothing_known, make_streak
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.rounds import forget_all
from bayesregret.simulation.runs import add_pulls, best_arm, mark_checkpoints, play_run


class LinearRoundsState(NamedTuple):
    means: Array  # (arms,)
    pulls: NDArray[np.int64]  # (arms,)
    known: Known
    posterior: LinearStreak
    streams: NDArray[np.uint64]  # (arms, 4)
    late_arms: NDArray[np.int64]  # (delay + batch,): pulls whose rewards are not known yet, round after round
    late_rewards: Array


def make_linear_rounds_state(model: LinearModel, memory: int, scratch: int, late: int) -> LinearRoundsState:
    return LinearRoundsState(
        means=np.empty(model.arms),
        pulls=np.empty(model.arms, np.int64),
        known=linear_nothing_known(model, memory, scratch),
        posterior=make_streak(model),
        streams=np.empty((model.arms, 4), np.uint64),
        late_arms=np.empty(late, np.int64),
        late_rewards=np.empty(late),
    )


@play_run.implement(LinearRoundsState)
def play_linear_rounds(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    known, posterior = state.known, state.posterior
    forget_all(known)
    forget_streak(posterior, belief)
    for arm in range(state.means.shape[0]):
        state.pulls[arm] = 0
        write_stream(state.streams, arm, open_stream(key, start, REWARD + np.uint64(arm)))
    choices = open_stream(key, start, POLICY)
    late = state.late_arms.shape[0]
    rounds, seen, place, seen_place = 0, 0, 0, 0
    regret = 0.0
    marked = 0
    while rounds < plan.horizon and not plan.stop[0]:
        due = rounds - rounds % plan.batch - plan.delay
        while seen < due:
            arm, reward = state.late_arms[seen_place], state.late_rewards[seen_place]
            take_in(known, arm, reward)
            learn_one(posterior, belief, arm, reward)
            seen += 1
            seen_place = seen_place + 1 if seen_place + 1 < late else 0
        arm, choices = choose_linear(policy, posterior, known, rounds + 1, choices)
        reward, stream = draw_reward(world, arm, state.means[arm], read_stream(state.streams, arm))
        write_stream(state.streams, arm, stream)
        state.late_arms[place], state.late_rewards[place] = arm, reward
        place = place + 1 if place + 1 < late else 0
        state.pulls[arm] += 1
        gap = state.means[best] - state.means[arm]
        marked = mark_checkpoints(plan, curve, marked, rounds, 1, regret, gap)
        regret += gap
        rounds += 1
    return regret, best


@add_pulls.implement(LinearRoundsState)
def add_linear_rounds_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += state.pulls[arm]
    return state.pulls[best]
