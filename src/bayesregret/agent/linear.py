"""Agents with a linear belief."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from bayesregret.agent.agent import Agent
from bayesregret.agent.arms import EveryRoundAgent
from bayesregret.agent.remaining import Sums
from bayesregret.agent.states import (
    LazyState,
    PosteriorState,
    SavedLinearEveryRoundState,
    SavedLinearIndexState,
    StreakState,
    checked_counts,
    of_length,
)
from bayesregret.contracts import Stats, choose_linear, confidence_width
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_consistency import check_posterior, check_streak
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
    UPDATES_UNTIL_REFRESH,
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

SUM_ROUNDING = 1e-12  # relative, of sums of rewards that are computed from a posterior
LINEAR_STATE = ("counts", "surplus", "mean", "variance", "roots")


class LinearIndexAgent(Agent):
    """An index policy with a linear belief: one compiled rank-one update for each reward.

    While pulls are pending, a second posterior counts them too; it begins as a copy of the first.
    """

    schema: ClassVar[type[Struct]] = SavedLinearIndexState

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
            return self._posterior.counts[: self.problem.arms].copy()

    def _sums(self) -> Sums:
        arms = self.problem.arms
        counts, expected = self._posterior.counts[:arms].copy(), self.belief.offset[:arms]
        totals = self._posterior.surplus[:arms] + counts * expected
        # Whole numbers where rounding alone makes them others: they may count successes.
        whole, rounding = np.rint(totals), SUM_ROUNDING * counts * (1.0 + np.abs(expected))
        return Sums(counts, np.where(np.abs(totals - whole) <= rounding, whole, totals), None)

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

    def _expected(self, arm: int) -> None:
        self._stale = self._counts_pending

    def _forgotten(self, arm: int) -> None:
        self._stale, self._is_counted = self._counts_pending, False

    def _call(self, arm: int, pulls: int, reward: float) -> None:
        self._update(self._posterior, self.belief, self.settings, arm, pulls, reward, self._index)

    def _state(self) -> SavedLinearIndexState:
        arms = self.problem.arms
        counted = PosteriorState(**posterior_to_dict(self._counted, arms)) if self._is_counted else UNSET
        return SavedLinearIndexState(**posterior_to_dict(self._posterior, arms), counted=counted)

    def _restore(self, state: SavedLinearIndexState, version: int) -> None:
        checked_counts(state.counts, self.problem.arms)
        restore_posterior(self._posterior, self.belief, state)
        self._is_counted = state.counted is not UNSET
        if state.counted is not UNSET:
            if not self._counts_pending:
                raise ValueError(f"counted must be missing for {self.policy.name}, which does not count pending pulls")
            restore_posterior(self._counted, self.belief, state.counted)
            check_counted(self._counted.counts, self._posterior.counts, self._pending)
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

    schema: ClassVar[type[Struct]] = SavedLinearEveryRoundState

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

    def _state(self) -> SavedLinearEveryRoundState:
        counted: LazyState | UnsetType = UNSET
        if self._with_pending is not None and self._is_counted:
            counted = LazyState(**lazy_to_dict(self._with_pending.counted, self.problem.arms))
        kept = super()._state()
        return SavedLinearEveryRoundState(
            **{name: getattr(kept, name) for name in kept.__struct_fields__},
            **lazy_to_dict(self._posterior, self.problem.arms),
            counted=counted,
        )

    def _restore(self, state: Any, version: int) -> None:
        restore_lazy(self._posterior, self.belief, state.streak, state.posterior)
        super()._restore(state, version)
        if not np.array_equal(pulls_of(self._posterior, self.problem.arms), self._stats.counts):
            raise ValueError("counts must be those of the posterior and its streak")
        self._is_counted = state.counted is not UNSET
        if state.counted is not UNSET:
            if self._with_pending is None:
                raise ValueError(f"counted must be missing for {self.policy.name}, which does not count pending pulls")
            counted = self._with_pending.counted
            restore_lazy(counted, self.belief, state.counted.streak, state.counted.posterior)
            check_counted(pulls_of(counted, self.problem.arms), self._stats.counts, self._pending)


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


def restore_posterior(posterior: LinearPosterior, model: LinearModel, state: PosteriorState) -> None:
    for name in LINEAR_STATE:
        kept, given = getattr(posterior, name)[..., : model.arms], getattr(state, name)
        if name == "roots":
            for row in of_length("roots", given, len(kept)):
                of_length("roots", row, model.arms)
        kept[...] = of_length(name, given, len(kept)) if len(kept) else 0.0
    if state.updates >= UPDATES_UNTIL_REFRESH:
        raise ValueError(f"updates must be below {UPDATES_UNTIL_REFRESH}, got {state.updates}")
    posterior.updates[0] = state.updates
    check_posterior(posterior, model)


def lazy_to_dict(streak: LazyPosterior, arms: int) -> dict[str, Any]:
    arm, pulls = streak.target.tolist()
    kept = StreakState(arm, pulls, float(streak.numbers[EXCESS]), float(streak.numbers[SETTLED]))
    return {"streak": kept, "posterior": PosteriorState(**posterior_to_dict(streak.start, arms))}


def restore_lazy(streak: LazyPosterior, model: LinearModel, kept: StreakState, posterior: PosteriorState) -> None:
    if kept.arm >= model.arms:
        raise ValueError(f"arm must be at most {model.arms - 1}, got {kept.arm}")
    restore_posterior(streak.start, model, posterior)
    check_streak(streak.start, model, kept.arm, kept.pulls, kept.excess, kept.information)
    begin_streak(streak, kept.arm)
    if kept.pulls > 0:
        set_streak(streak, model, kept.pulls, kept.excess)
    streak.numbers[SETTLED] = kept.information


def pulls_of(streak: LazyPosterior, arms: int) -> NDArray[np.int64]:
    """(arms,): pulls of the posterior and of its streak."""
    counts = streak.start.counts[:arms].copy()
    counts[streak.target[0]] += streak.target[1]
    return counts


def check_counted(counted: NDArray[np.int64], received: NDArray[np.int64], pending: list[int]) -> None:
    """Raise ValueError if a posterior counts pulls that are neither received nor pending."""
    arms = len(pending)
    if (counted[:arms] > received[:arms] + np.array(pending)).any():
        raise ValueError("counted must count no pulls but those received or pending")
