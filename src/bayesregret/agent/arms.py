"""Agents on independent arms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent.agent import Agent
from bayesregret.agent.saved import numbers
from bayesregret.checks import Array
from bayesregret.contracts import add_reward, arm_index, choose_arm, empty_stats, mean_plus_width
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.policies.base import Policy, is_mean_plus_width, make_chooser
from bayesregret.rng import POLICY, open_stream, read_stream, run_word, seed_key, write_stream

SAVED_STATS = ("counts", "totals", "squares", "memory")


class ArmsAgent(Agent):
    """Independent arms: a count and a total each; an update costs one index."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> None:
        super().__init__(policy, bandit, horizon, seed)
        self._formula = mean_plus_width if is_mean_plus_width(self.settings) else arm_index
        self._count = [0] * bandit.arms
        self._total = [0.0] * bandit.arms
        self._look_at_all()

    @property
    def pulls(self) -> NDArray[np.int64]:
        return np.array(self._count)

    def _learn(self, arm: int, reward: float) -> None:
        count, total = self._count[arm] + 1, self._total[arm] + reward
        index = self._formula(self.settings, self.belief, arm, count, total)
        self._count[arm], self._total[arm], self._index[arm] = count, total, index

    def _look_at_all(self) -> None:
        for arm in range(self.bandit.arms):
            self._index[arm] = self._formula(self.settings, self.belief, arm, self._count[arm], self._total[arm])

    def _state(self) -> dict[str, Any]:
        return {"counts": self._count, "totals": self._total}

    def _restore(self, state: dict[str, Any]) -> None:
        self._count = [int(number) for number in numbers(state, "counts", (self.bandit.arms,))]
        self._total = numbers(state, "totals", (self.bandit.arms,)).tolist()
        self._look_at_all()


class RoundsAgent(Agent):
    """A policy that looks at all arms in every round: by the compiled function of the simulation."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> None:
        super().__init__(policy, bandit, horizon, seed)
        self._start_stats()
        self._rounds = 0
        key = seed_key(seed)
        self._stream = np.empty((1, 4), np.uint64)
        with np.errstate(over="ignore"):
            write_stream(self._stream, 0, open_stream(key, run_word(key, 0), POLICY))

    def _start_stats(self) -> None:
        chooser = make_chooser(self.policy, self.bandit, self.settings)
        self._chooser = chooser.settings
        self._stats = empty_stats(self.bandit.arms, chooser.memory, chooser.scratch)
        self._choose = compile_kernel(_choose, type(self.settings), type(self.belief))

    def select(self) -> int:
        with self._lock, np.errstate(all="ignore"):
            self._rounds += 1
            return int(self._choose(self._chooser, self.belief, self._stats, self._rounds, self._stream))

    @property
    def index(self) -> Array:
        raise AttributeError(f"index is not what {self.policy.name} goes by: its choices move with time or chance")

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return self._stats.counts.copy()

    def _learn(self, arm: int, reward: float) -> None:
        add_reward(self._stats, arm, reward)

    def _state(self) -> dict[str, Any]:
        kept = {name: getattr(self._stats, name).tolist() for name in SAVED_STATS}
        return {"rounds": self._rounds, "stream": self._stream[0].tolist()} | kept

    def _restore(self, state: dict[str, Any]) -> None:
        for name in SAVED_STATS:
            kept = getattr(self._stats, name)
            kept[...] = numbers(state, name, kept.shape)
        self._stats.scratch[...] = 0.0
        self._stats.received[0] = self._stats.counts.sum()
        self._rounds = checks.whole("agent state's rounds", state["rounds"], 0)
        words = [checks.whole("agent state's stream", word, 0, 2**64 - 1) for word in state["stream"]]
        self._stream[0] = words


def _choose(chooser: Any, belief: Any, stats: Any, round_: int, streams: Any) -> Any:
    arm, stream = choose_arm(chooser, belief, stats, round_, read_stream(streams, 0))
    write_stream(streams, 0, stream)
    return arm
