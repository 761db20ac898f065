"""Kernel for late rewards with a linear belief, for policies whose widths count pending pulls.

It is that of linear_every_round.py with two posteriors: one learns rewards as they arrive, the other counts pulls as
they are made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import Stats, add_reward, choose_linear
from bayesregret.contracts.statistics import reset_stats
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_lazy_posterior import add_linear_reward, count_linear_pulls, reset_lazy_posterior
from bayesregret.models.linear_pending_posterior import PendingPosterior, with_pending
from bayesregret.simulation.kernels.delayed import (
    add_delayed_pulls,
    begin_run,
    choose_now,
    learn_late,
    play_delayed,
)
from bayesregret.simulation.kernels.linear_every_round import make_linear_every_round_state
from bayesregret.simulation.kernels.run import add_pulls, play_run


class LinearPendingState(NamedTuple):
    """The state of linear_every_round.py with another posterior."""

    means: Array
    pulls: NDArray[np.int64]
    stats: Stats
    posterior: PendingPosterior
    streams: NDArray[np.uint64]
    late_arms: NDArray[np.int64]
    late_rewards: Array


def make_linear_pending_state(model: LinearModel, memory: int, scratch: int, late: int) -> LinearPendingState:
    same = make_linear_every_round_state(model, memory, scratch, late)
    return LinearPendingState(**same._asdict() | {"posterior": with_pending(same.posterior, model)})


@begin_run.implement(LinearPendingState)
def begin_both_with_the_prior(state, belief):
    reset_stats(state.stats)
    reset_lazy_posterior(state.posterior.received, belief)
    reset_lazy_posterior(state.posterior.counted, belief)


@learn_late.implement(LinearPendingState)
def update_received(state, belief, arm, reward):
    add_reward(state.stats, arm, reward)
    add_linear_reward(state.posterior.received, belief, arm, reward)


@choose_now.implement(LinearPendingState)
def choose_and_count(state, policy, belief, round_, stream):
    arm, stream = choose_linear(policy, state.posterior, state.stats, round_, stream)
    if 0 <= arm < state.means.shape[0]:  # the caller refuses other choices
        count_linear_pulls(state.posterior.counted, belief, arm, 1)
    return arm, stream


play_run.implement(LinearPendingState)(play_delayed)
add_pulls.implement(LinearPendingState)(add_delayed_pulls)
