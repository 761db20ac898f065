"""Agents on independent arms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent.agent import Agent
from bayesregret.agent.saved import numbers
from bayesregret.checks import Array
from bayesregret.contracts import Stats, add_reward, arm_index, choose_arm, empty_stats, rising_index
from bayesregret.contracts.statistics import learn
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.policies.pending import has_no_mean, pending_index
from bayesregret.rng import POLICY, open_stream, read_stream, run_word, seed_key, write_stream
from bayesregret.simulation.kernels.select import Selection

SAVED_STATS = ("counts", "totals", "squares", "memory")


class IndexAgent(Agent):
    """A policy whose index moves only when its arm is pulled: an update computes one index."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._count = [0] * bandit.arms
        self._total = [0.0] * bandit.arms
        self._compute_all()

    @property
    def pulls(self) -> NDArray[np.int64]:
        return np.array(self._count)

    def _learn(self, arm: int, reward: float) -> None:
        count, total = self._count[arm] + 1, self._total[arm] + reward
        index = arm_index(self.settings, self.belief, arm, count, total)
        self._count[arm], self._total[arm], self._index[arm] = count, total, index

    def _compute_all(self) -> None:
        for arm in range(self.bandit.arms):
            self._index[arm] = arm_index(self.settings, self.belief, arm, self._count[arm], self._total[arm])

    def _state(self) -> dict[str, Any]:
        return {"counts": list(self._count), "totals": list(self._total)}

    def _restore(self, state: dict[str, Any]) -> None:
        self._count = [int(number) for number in numbers(state, "counts", (self.bandit.arms,))]
        self._total = numbers(state, "totals", (self.bandit.arms,)).tolist()
        self._compute_all()


class PendingIndexAgent(Agent):
    """A policy whose index counts pending pulls: a decision and its reward compute one index."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self.settings = chosen.own
        self._uses_squares = rising_index.supports(self.settings)  # a quantile; other indices need counts and totals
        arms = bandit.arms
        self._set_stats([0] * arms, [0.0] * arms, [0.0] * arms)

    def _set_stats(self, counts: list[int], totals: list[float], squares: list[float]) -> None:
        # Lists: for one number at a time they are faster than arrays.
        lists: list[Any] = [counts, totals, squares, [], [], [sum(counts)], []]
        self._stats = Stats(*lists)
        self._stale = set(range(len(counts)))  # arms whose index must be computed again

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return np.array(self._stats.counts)

    def _choose(self) -> int:
        if self._stale:
            self._refresh_index()
        arm = int(self._index.argmax())
        self._stale.add(arm)
        return arm

    def _refresh_index(self) -> None:
        settings, belief, stats = self.settings, self.belief, self._stats
        stale, self._stale = self._stale, set()
        for arm in stale:
            self._index[arm] = pending_index(settings, belief, stats, arm, self._pending[arm])
            if stats.counts[arm] == 0 and has_no_mean(belief, stats, arm):
                self._stale.add(arm)

    def _learn(self, arm: int, reward: float) -> None:
        self._stale.add(arm)
        if self._uses_squares:
            add_reward(self._stats, arm, reward)
            return
        self._stats.counts[arm] += 1
        self._stats.totals[arm] += reward
        self._stats.received[0] += 1

    def _forgotten(self, arm: int) -> None:
        self._stale.add(arm)

    def _state(self) -> dict[str, Any]:
        stats = self._stats
        saved: dict[str, Any] = {"counts": list(stats.counts), "totals": list(stats.totals)}
        return saved | {"squares": list(stats.squares)} if self._uses_squares else saved

    def _restore(self, state: dict[str, Any]) -> None:
        shape = (self.bandit.arms,)
        counts = [int(number) for number in numbers(state, "counts", shape)]
        squares = numbers(state, "squares", shape).tolist() if self._uses_squares else [0.0] * self.bandit.arms
        self._set_stats(counts, numbers(state, "totals", shape).tolist(), squares)


class EveryRoundAgent(Agent):
    """A policy that chooses anew in every round, by the compiled function of the simulation."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._stats = self._make_stats(chosen)
        self._decide = self._compile_choice(chosen)
        self._rounds = 0
        key = seed_key(seed)
        self._stream = np.empty((1, 4), np.uint64)
        with np.errstate(over="ignore"):
            write_stream(self._stream, 0, open_stream(key, run_word(key, 0), POLICY))

    def _make_stats(self, chosen: Selection) -> Stats:
        return empty_stats(self.bandit.arms, chosen.memory, chosen.scratch)

    def _compile_choice(self, chosen: Selection) -> Any:
        return compile_kernel(_choose, type(chosen.own), type(self.belief))

    def _posterior_or_belief(self) -> Any:
        """Return what the compiled choice reads beside the statistics."""
        return self.belief

    def _choose(self) -> int:
        """Return the arm to pull; every call is a round."""
        with np.errstate(all="ignore"):
            self._rounds += 1
            return int(
                self._decide(self.settings, self._posterior_or_belief(), self._stats, self._rounds, self._stream)
            )

    @property
    def index(self) -> Array:
        raise AttributeError(f"{self.policy.name} has no index: its choices depend on time or on random draws")

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return self._stats.counts.copy()

    def _learn(self, arm: int, reward: float) -> None:
        learn(self.belief, self._stats, arm, reward)

    def _state(self) -> dict[str, Any]:
        kept = {name: getattr(self._stats, name).tolist() for name in SAVED_STATS}
        return {"rounds": self._rounds, "stream": self._stream[0].tolist()} | kept

    def _restore(self, state: dict[str, Any]) -> None:
        for name in SAVED_STATS:
            kept = getattr(self._stats, name)
            if kept.size > 0:
                kept[...] = numbers(state, name, kept.shape)
            elif state[name] != []:  # states of earlier versions hold memory that this policy no longer needs
                numbers(state, name, (len(state[name]),))
        self._stats.scratch[...] = 0.0
        self._stats.received[0] = self._stats.counts.sum()
        self._rounds = checks.whole("agent state's rounds", state["rounds"], 0)
        words = [checks.whole("agent state's stream", word, 0, 2**64 - 1) for word in state["stream"]]
        self._stream[0] = words


def _choose(settings: Any, belief: Any, stats: Any, round_: int, streams: Any) -> Any:
    arm, stream = choose_arm(settings, belief, stats, round_, read_stream(streams, 0))
    write_stream(streams, 0, stream)
    return arm
