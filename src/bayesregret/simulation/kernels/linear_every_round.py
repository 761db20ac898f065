"""Kernel for linear beliefs with a choice in every round: for time-varying and random policies, and for late rewards.

delayed.py has the loop and the rule for when a reward arrives; linear_index.py plays all other policies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import Stats, add_reward, choose_linear
from bayesregret.contracts.statistics import reset_stats
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_lazy_posterior import (
    LazyPosterior,
    add_linear_reward,
    linear_empty_stats,
    make_lazy_posterior,
    reset_lazy_posterior,
)
from bayesregret.simulation.kernels.delayed import (
    add_delayed_pulls,
    begin_run,
    choose_now,
    learn_late,
    play_delayed,
)
from bayesregret.simulation.kernels.run import add_pulls, play_run


class LinearEveryRoundState(NamedTuple):
    means: Array  # (arms,)
    pulls: NDArray[np.int64]  # (arms,)
    stats: Stats
    posterior: LazyPosterior
    streams: NDArray[np.uint64]  # (arms, 4)
    late_arms: NDArray[np.int64]  # (delay + batch,): pulls whose rewards have not arrived, in order
    late_rewards: Array


def make_linear_every_round_state(model: LinearModel, memory: int, scratch: int, late: int) -> LinearEveryRoundState:
    return LinearEveryRoundState(
        means=np.empty(model.arms),
        pulls=np.empty(model.arms, np.int64),
        stats=linear_empty_stats(model, memory, scratch),
        posterior=make_lazy_posterior(model),
        streams=np.empty((model.arms, 4), np.uint64),
        late_arms=np.empty(late, np.int64),
        late_rewards=np.empty(late),
    )


@begin_run.implement(LinearEveryRoundState)
def begin_with_the_prior(state, belief):
    reset_stats(state.stats)
    reset_lazy_posterior(state.posterior, belief)


@learn_late.implement(LinearEveryRoundState)
def update_late(state, belief, arm, reward):
    add_reward(state.stats, arm, reward)
    add_linear_reward(state.posterior, belief, arm, reward)


@choose_now.implement(LinearEveryRoundState)
def choose_by_posterior(state, policy, belief, round_, stream):
    return choose_linear(policy, state.posterior, state.stats, round_, stream)


play_run.implement(LinearEveryRoundState)(play_delayed)
add_pulls.implement(LinearEveryRoundState)(add_delayed_pulls)
