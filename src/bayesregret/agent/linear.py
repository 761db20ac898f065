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
    LazyPosterior,
    add_linear_reward,
    begin_streak,
    linear_empty_stats,
    make_lazy_posterior,
    set_streak,
)
from bayesregret.models.linear_pending_posterior import count_missing, with_pending
from bayesregret.models.linear_posterior import (
    LinearPosterior,
    add_rewards,
    copy_posterior,
    count_missing_pulls,
    make_posterior,
    reset_posterior,
    set_target,
)
from bayesregret.policies import Policy
from bayesregret.rng import read_stream, write_stream
from bayesregret.simulation.kernels.select import Selection

LINEAR_STATE = ("counts", "surplus", "mean", "variance", "roots")


class LinearIndexAgent(Agent):
    """An index policy with a linear belief: one compiled rank-one update for each reward.

    While pulls are pending, a second posterior counts them too; it begins as a copy of the first.
    """

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._posterior = make_posterior(self.belief)
        self._formula = type(chosen.own)
        self._update = compile_kernel(_learn_and_index, self._formula, LinearModel)
        self._counts_pending = chosen.counts_pending
        self._counted = make_posterior(self.belief) if self._counts_pending else self._posterior
        self._is_counted = False  # whether `_counted` is in use
        self._stale = False  # whether indices must be computed again
        reset_posterior(self._posterior, self.belief)
        self._call(0, 0, 0.0)

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return self._posterior.counts[: self.bandit.arms].copy()

    def _choose(self) -> int:
        arm = super()._choose()
        self._stale = self._counts_pending
        return arm

    def _refresh_index(self) -> None:
        if not self._stale:
            return
        self._stale = False
        if not any(self._pending):
            self._is_counted = False
            self._call(0, 0, 0.0)
            return
        count = compile_kernel(_count_and_index, self._formula, LinearModel)
        both, pending = (self._posterior, self._counted), np.array(self._pending)
        count(*both, self.belief, self.settings, pending, not self._is_counted, self._index)
        self._is_counted = True

    def _learn(self, arm: int, reward: float) -> None:
        self._call(arm, 1, reward)
        self._stale = self._counts_pending and any(self._pending)
        self._is_counted = self._is_counted and self._stale

    def _forgotten(self, arm: int) -> None:
        self._stale, self._is_counted = self._counts_pending, False

    def _call(self, arm: int, pulls: int, reward: float) -> None:
        self._update(self._posterior, self.belief, self.settings, arm, pulls, reward, self._index)

    def _state(self) -> dict[str, Any]:
        arms = self.bandit.arms
        counted = {"counted": posterior_to_dict(self._counted, arms)} if self._is_counted else {}
        return posterior_to_dict(self._posterior, arms) | counted

    def _restore(self, state: dict[str, Any]) -> None:
        restore_posterior(self._posterior, self.bandit.arms, state)
        self._is_counted = self._counts_pending and "counted" in state
        if self._is_counted:
            restore_posterior(self._counted, self.bandit.arms, state["counted"])
        self._call(0, 0, 0.0)
        self._stale = self._counts_pending and any(self._pending)


def _learn_and_index(posterior: Any, model: Any, policy: Any, arm: int, pulls: int, reward: float, index: Any) -> None:
    if pulls > 0:
        set_target(posterior, arm)
        add_rewards(posterior, model, arm, pulls, reward - posterior.mean[arm])
    for other in range(index.shape[0]):
        index[other] = posterior.mean[other] + confidence_width(policy, posterior.variance[other])


def _count_and_index(
    received: Any, counted: Any, model: Any, policy: Any, pending: Any, anew: bool, index: Any
) -> None:
    if anew:
        copy_posterior(counted, received)
    count_missing_pulls(counted, model, received, pending)
    for arm in range(index.shape[0]):
        index[arm] = received.mean[arm] + confidence_width(policy, counted.variance[arm])


class LinearEveryRoundAgent(EveryRoundAgent):
    """A policy that chooses from a linear posterior in every round, by the compiled functions of the simulation."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._posterior = make_lazy_posterior(self.belief)
        self._update = compile_kernel(_learn_one, LinearModel)
        self._with_pending = with_pending(self._posterior, self.belief) if chosen.counts_pending else None
        self._is_counted = False  # whether `_with_pending` is in use

    def _make_stats(self, chosen: Selection) -> Stats:
        return linear_empty_stats(self.belief, chosen.memory, chosen.scratch)

    def _compile_choice(self, chosen: Selection) -> Any:
        return compile_kernel(_choose_linear, type(chosen.own), LinearModel)

    def _posterior_or_belief(self) -> Any:
        if self._with_pending is None or not any(self._pending):
            self._is_counted = False
            return self._posterior
        count = compile_kernel(_count, LinearModel)
        count(self._with_pending, self.belief, np.array(self._pending), not self._is_counted)
        self._is_counted = True
        return self._with_pending

    def _learn(self, arm: int, reward: float) -> None:
        super()._learn(arm, reward)
        self._update(self._posterior, self.belief, arm, reward)

    def _forgotten(self, arm: int) -> None:
        self._is_counted = False

    def _state(self) -> dict[str, Any]:
        saved = super()._state() | lazy_to_dict(self._posterior, self.bandit.arms)
        if self._with_pending is not None and self._is_counted:
            saved["counted"] = lazy_to_dict(self._with_pending.counted, self.bandit.arms)
        return saved

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        restore_lazy(self._posterior, self.belief, state)
        self._is_counted = False
        if self._with_pending is not None and "counted" in state:
            restore_lazy(self._with_pending.counted, self.belief, state["counted"])
            self._is_counted = True


def _choose_linear(settings: Any, posterior: Any, stats: Any, round_: int, streams: Any) -> Any:
    arm, stream = choose_linear(settings, posterior, stats, round_, read_stream(streams, 0))
    write_stream(streams, 0, stream)
    return arm


def _learn_one(posterior: Any, model: Any, arm: int, reward: float) -> None:
    add_linear_reward(posterior, model, arm, reward)


def _count(posterior: Any, model: Any, pending: Any, anew: bool) -> None:
    count_missing(posterior, model, pending, anew)


def posterior_to_dict(posterior: LinearPosterior, arms: int) -> dict[str, Any]:
    kept = {name: getattr(posterior, name)[..., :arms].tolist() for name in LINEAR_STATE}
    return {"updates": int(posterior.updates[0])} | kept


def restore_posterior(posterior: LinearPosterior, arms: int, state: dict[str, Any]) -> None:
    for name in LINEAR_STATE:
        kept = getattr(posterior, name)[..., :arms]
        kept[...] = numbers(state, name, kept.shape)
    posterior.updates[0] = checks.whole("agent state's updates", state["updates"], 0)


def lazy_to_dict(streak: LazyPosterior, arms: int) -> dict[str, Any]:
    arm, pulls = streak.target.tolist()
    kept = {"arm": arm, "pulls": pulls, "excess": streak.numbers[EXCESS], "information": streak.numbers[SETTLED]}
    return {"streak": kept, "posterior": posterior_to_dict(streak.start, arms)}


def restore_lazy(streak: LazyPosterior, belief: LinearModel, state: dict[str, Any]) -> None:
    kept = state["streak"]
    restore_posterior(streak.start, belief.arms, state["posterior"])
    begin_streak(streak, checks.whole("agent state's arm", kept["arm"], 0, belief.arms - 1))
    if checks.whole("agent state's pulls", kept["pulls"], 0) > 0:
        set_streak(streak, belief, kept["pulls"], checks.real("agent state's excess", kept["excess"]))
    streak.numbers[SETTLED] = checks.at_least("agent state's information", kept["information"], 0.0)
