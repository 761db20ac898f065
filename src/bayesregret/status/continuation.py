"""Simulation of the rounds that are left from the state of an agent, for policies that need more than a posterior.

UCB1 on the posterior would begin anew and pull each arm once; here it goes on with its counts, its round and whatever
it keeps in memory. Rewards of pending pulls arrive before the first round, later ones at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesregret.agent import Agent
from bayesregret.checks import Array
from bayesregret.contracts import Stats, choose_arm, empty_stats
from bayesregret.dispatch import compile_kernel
from bayesregret.models.linear import LinearModel
from bayesregret.rng import seed_key
from bayesregret.simulation.kernels.continued import play_on
from bayesregret.simulation.kernels.select import Selection, chooser_for, select
from bayesregret.status.progress import Progress


def can_continue(agent: Agent) -> bool:
    """Whether `continued_regrets` can play on with this agent."""
    return not isinstance(agent.belief, LinearModel)


def continued_regrets(progress: Progress, runs: int, seed: int) -> Array:
    """(runs,): regret of the agent's further decisions, each run on an instance drawn from the posterior."""
    agent, world = progress.agent, progress.rest.world()
    chosen = _chosen(agent)
    start = _stats_of(progress, chosen)
    scratch = empty_stats(agent.problem.arms, chosen.memory, chosen.scratch)
    regrets, means = np.empty(runs), np.empty(agent.problem.arms)
    pending = progress.pending[progress.active]
    play = compile_kernel(play_on, type(world), type(chosen.settings), type(chosen.belief))
    with np.errstate(all="ignore"):
        first = agent._decisions()
        play(
            world,
            chosen.settings,
            chosen.belief,
            start,
            scratch,
            means,
            pending,
            first,
            progress.left,
            seed_key(seed),
            regrets,
        )
    return regrets


def _chosen(agent: Agent) -> Selection:
    """Return the settings with which the policy chooses in every round."""
    chosen = select(agent.policy, agent.problem, agent.horizon)
    if choose_arm.supports(chosen.settings):
        return chosen
    chooser, memory, scratch = chooser_for(agent.policy, agent.problem, chosen.own)
    return chosen._replace(settings=chooser, memory=memory, scratch=scratch)


def _stats_of(progress: Progress, chosen: Selection) -> Stats:
    """Return what the agent has observed, with what it keeps in memory."""
    stats = empty_stats(progress.agent.problem.arms, chosen.memory, chosen.scratch)
    for kept, given in zip(stats[:3], progress.active_sums, strict=True):
        kept[...] = given  # type: ignore[assignment]  # squares are given
    stats.received[0] = stats.counts.sum()
    own: Any = getattr(progress.agent, "_stats", None)
    if own is not None and len(own.memory) == len(stats.memory):
        stats.memory[...] = own.memory
    return stats
