"""Agents with a linear belief."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent.agent import Agent
from bayesregret.agent.arms import EveryRoundAgent
from bayesregret.agent.saved import numbers
from bayesregret.contracts import Stats, choose_linear, confidence_width
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_lazy_posterior import (
    EXCESS,
    SETTLED,
    add_linear_reward,
    begin_streak,
    linear_empty_stats,
    make_lazy_posterior,
    set_streak,
)
from bayesregret.models.linear_posterior import (
    LinearPosterior,
    add_rewards,
    make_posterior,
    reset_posterior,
    set_target,
)
from bayesregret.policies import Policy
from bayesregret.rng import read_stream, write_stream
from bayesregret.simulation.kernels.select import Selection

LINEAR_STATE = ("counts", "surplus", "mean", "variance", "roots")


class LinearIndexAgent(Agent):
    """An index policy with a linear belief: one compiled rank-one update for each reward."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._posterior = make_posterior(self.belief)
        self._update = compile_kernel(_learn_and_index, chosen.formula, LinearModel)
        reset_posterior(self._posterior, self.belief)
        self._call(0, 0, 0.0)

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return self._posterior.counts[: self.bandit.arms].copy()

    def _learn(self, arm: int, reward: float) -> None:
        self._call(arm, 1, reward)

    def _call(self, arm: int, pulls: int, reward: float) -> None:
        self._update(self._posterior, self.belief, self.settings, arm, pulls, reward, self._index)

    def _state(self) -> dict[str, Any]:
        return posterior_to_dict(self._posterior, self.bandit.arms)

    def _restore(self, state: dict[str, Any]) -> None:
        restore_posterior(self._posterior, self.bandit.arms, state)
        self._call(0, 0, 0.0)


def _learn_and_index(posterior: Any, model: Any, policy: Any, arm: int, pulls: int, reward: float, index: Any) -> None:
    if pulls > 0:
        set_target(posterior, arm)
        add_rewards(posterior, model, arm, pulls, reward - posterior.mean[arm])
    for other in range(index.shape[0]):
        index[other] = posterior.mean[other] + confidence_width(policy, posterior.variance[other])


class LinearEveryRoundAgent(EveryRoundAgent):
    """A policy that chooses from a linear posterior in every round, by the compiled functions of the simulation."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._posterior = make_lazy_posterior(self.belief)
        self._update = compile_kernel(_learn_one, LinearModel)

    def _make_stats(self, chosen: Selection) -> Stats:
        return linear_empty_stats(self.belief, chosen.memory, chosen.scratch)

    def _compile_choice(self, chosen: Selection) -> Any:
        return compile_kernel(_choose_linear, chosen.formula, LinearModel)

    def _posterior_or_belief(self) -> Any:
        return self._posterior

    def _learn(self, arm: int, reward: float) -> None:
        super()._learn(arm, reward)
        self._update(self._posterior, self.belief, arm, reward)

    def _state(self) -> dict[str, Any]:
        streak, (arm, pulls) = self._posterior, self._posterior.target.tolist()
        kept = {"arm": arm, "pulls": pulls, "excess": streak.numbers[EXCESS], "information": streak.numbers[SETTLED]}
        return super()._state() | {"streak": kept, "posterior": posterior_to_dict(streak.start, self.bandit.arms)}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        streak, kept = self._posterior, state["streak"]
        restore_posterior(streak.start, self.bandit.arms, state["posterior"])
        begin_streak(streak, checks.whole("agent state's arm", kept["arm"], 0, self.bandit.arms - 1))
        if checks.whole("agent state's pulls", kept["pulls"], 0) > 0:
            set_streak(streak, self.belief, kept["pulls"], checks.real("agent state's excess", kept["excess"]))
        streak.numbers[SETTLED] = checks.at_least("agent state's information", kept["information"], 0.0)


def _choose_linear(settings: Any, posterior: Any, stats: Any, round_: int, streams: Any) -> Any:
    arm, stream = choose_linear(settings, posterior, stats, round_, read_stream(streams, 0))
    write_stream(streams, 0, stream)
    return arm


def _learn_one(posterior: Any, model: Any, arm: int, reward: float) -> None:
    add_linear_reward(posterior, model, arm, reward)


def posterior_to_dict(posterior: LinearPosterior, arms: int) -> dict[str, Any]:
    kept = {name: getattr(posterior, name)[..., :arms].tolist() for name in LINEAR_STATE}
    return {"updates": int(posterior.updates[0])} | kept


def restore_posterior(posterior: LinearPosterior, arms: int, state: dict[str, Any]) -> None:
    for name in LINEAR_STATE:
        kept = getattr(posterior, name)[..., :arms]
        kept[...] = numbers(state, name, kept.shape)
    posterior.updates[0] = checks.whole("agent state's updates", state["updates"], 0)
