"""Linear beliefs: the kernel that lets the policy look at the posterior in every round.

For policies whose choice moves with time or chance, and for rewards that come late: rounds.py has the loop and the rule
when a reward is known, and linear.py the kernel for all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import Stats, add_reward, choose_linear
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_lazy_posterior import (
    LazyPosterior,
    learn_one,
    linear_empty_stats,
    make_lazy_posterior,
    reset_lazy_posterior,
)
from bayesregret.simulation.kernels.delayed import (
    add_rounds_pulls,
    begin_run,
    choose_now,
    learn_late,
    play_rounds,
    reset_stats,
)
from bayesregret.simulation.kernels.run import add_pulls, play_run


class LinearRoundsState(NamedTuple):
    means: Array  # (arms,)
    pulls: NDArray[np.int64]  # (arms,)
    stats: Stats
    posterior: LazyPosterior
    streams: NDArray[np.uint64]  # (arms, 4)
    late_arms: NDArray[np.int64]  # (delay + batch,): pulls whose rewards are not known yet, round after round
    late_rewards: Array


def make_linear_rounds_state(model: LinearModel, memory: int, scratch: int, late: int) -> LinearRoundsState:
    return LinearRoundsState(
        means=np.empty(model.arms),
        pulls=np.empty(model.arms, np.int64),
        stats=linear_empty_stats(model, memory, scratch),
        posterior=make_lazy_posterior(model),
        streams=np.empty((model.arms, 4), np.uint64),
        late_arms=np.empty(late, np.int64),
        late_rewards=np.empty(late),
    )


@begin_run.implement(LinearRoundsState)
def begin_with_the_prior(state, belief):
    reset_stats(state.stats)
    reset_lazy_posterior(state.posterior, belief)


@learn_late.implement(LinearRoundsState)
def update_late(state, belief, arm, reward):
    add_reward(state.stats, arm, reward)
    learn_one(state.posterior, belief, arm, reward)


@choose_now.implement(LinearRoundsState)
def choose_by_posterior(state, policy, belief, round_, stream):
    return choose_linear(policy, state.posterior, state.stats, round_, stream)


play_run.implement(LinearRoundsState)(play_rounds)
add_pulls.implement(LinearRoundsState)(add_rounds_pulls)
