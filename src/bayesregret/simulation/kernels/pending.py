"""Kernel for late rewards on independent arms, for policies whose index counts pending pulls.

delayed.py has the loop. An index is computed again only when its arm is pulled or has a new reward.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import Stats, empty_stats
from bayesregret.contracts.statistics import learn, reset_stats
from bayesregret.policies.pending import has_no_mean, pending_index
from bayesregret.policies.selection import NO_ARM
from bayesregret.simulation.kernels.delayed import (
    add_delayed_pulls,
    begin_run,
    choose_now,
    learn_late,
    play_delayed,
)
from bayesregret.simulation.kernels.run import add_pulls, play_run


class PendingState(NamedTuple):
    means: Array
    pulls: NDArray[np.int64]
    stats: Stats
    streams: NDArray[np.uint64]  # (arms, 4)
    late_arms: NDArray[np.int64]  # (delay + batch,): pulls whose rewards have not arrived, in order
    late_rewards: Array
    pending: NDArray[np.int64]  # (arms,): how many of these pulls are of each arm
    indices: Array
    stale: NDArray[np.bool_]  # (arms,): whether the index must be computed again


def make_pending_state(arms: int, late: int) -> PendingState:
    return PendingState(
        means=np.empty(arms),
        pulls=np.empty(arms, np.int64),
        stats=empty_stats(arms),
        streams=np.empty((arms, 4), np.uint64),
        late_arms=np.empty(late, np.int64),
        late_rewards=np.empty(late),
        pending=np.empty(arms, np.int64),
        indices=np.empty(arms),
        stale=np.empty(arms, np.bool_),
    )


@begin_run.implement(PendingState)
def begin_with_nothing_pending(state, belief):
    reset_stats(state.stats)
    for arm in range(state.pending.shape[0]):
        state.pending[arm] = 0
        state.stale[arm] = True


@learn_late.implement(PendingState)
def take_from_pending(state, belief, arm, reward):
    learn(belief, state.stats, arm, reward)
    state.pending[arm] -= 1
    state.stale[arm] = True


@choose_now.implement(PendingState)
def choose_with_pending(state, policy, belief, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(state.indices.shape[0]):
        if state.stale[arm]:
            state.indices[arm] = pending_index(policy, belief, state.stats, arm, state.pending[arm])
            state.stale[arm] = has_no_mean(belief, state.stats, arm)
        if not state.indices[arm] <= highest:
            if math.isnan(state.indices[arm]):
                return NO_ARM, stream
            best, highest = arm, state.indices[arm]
    state.pending[best] += 1
    state.stale[best] = True
    return best, stream


play_run.implement(PendingState)(play_delayed)
add_pulls.implement(PendingState)(add_delayed_pulls)
