"""Agents on independent arms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from msgspec import UNSET, Struct
from numpy.typing import NDArray

from bayesregret.agent.agent import Agent
from bayesregret.agent.remaining import Sums
from bayesregret.agent.states import SavedEveryRoundState, SavedIndexState, checked_sums, of_length
from bayesregret.checks import MOST_ROUNDS, Array
from bayesregret.contracts import Stats, add_reward, arm_index, choose_arm, empty_stats, rising_index
from bayesregret.contracts.mixture import MixtureModel
from bayesregret.contracts.statistics import learn
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.models.mixture import check_mixture_memory
from bayesregret.policies import Policy
from bayesregret.policies.pending import has_no_mean, pending_index
from bayesregret.policies.thompson_fast.beta import NearAndFarBeta
from bayesregret.policies.thompson_fast.normal import NearAndFarNormal
from bayesregret.rng import POLICY, open_stream, read_stream, run_word, seed_key, write_stream
from bayesregret.simulation.kernels.select import Selection
from bayesregret.simulation.kernels.wrong_choice import highest_index, wrong_choice
from bayesregret.sources import is_outside

SAVED_STATS = ("counts", "totals", "squares", "memory")
# Plain Python, which is faster for one index, raises these where compiled code, as in simulations, gives inf or nan: at
# a division by zero, say. The agent then asks the compiled code.
REFUSED = (ArithmeticError, ValueError)


class IndexAgent(Agent):
    """A policy whose index moves only when its arm is pulled: an update computes one index."""

    schema: ClassVar[type[Struct]] = SavedIndexState

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._count = [0] * bandit.arms
        self._total = [0.0] * bandit.arms
        self._compute_all()

    @property
    def pulls(self) -> NDArray[np.int64]:
        return np.array(self._count)

    def _sums(self) -> Sums:
        return Sums(np.array(self._count), np.array(self._total), None)

    def _learn(self, arm: int, reward: float) -> None:
        count, total = self._count[arm] + 1, self._total[arm] + reward
        index = self._index_after(arm, count, total)
        self._count[arm], self._total[arm], self._index[arm] = count, total, index

    def _index_after(self, arm: int, count: int, total: float) -> Any:
        try:
            return arm_index(self.settings, self.belief, arm, count, total)
        except REFUSED:
            index = compile_kernel(_index, type(self._own), type(self.belief))
            return index(self.settings, self.belief, arm, count, total)

    def _compute_all(self) -> None:
        for arm in range(self.problem.arms):
            self._index[arm] = self._index_after(arm, self._count[arm], self._total[arm])

    def _state(self) -> SavedIndexState:
        return SavedIndexState(counts=list(self._count), totals=list(self._total))

    def _restore(self, state: SavedIndexState, version: int) -> None:
        if state.squares is not UNSET and version > 1:
            raise ValueError(f"squares must be missing for {self.policy.name}, which needs none")
        checked_sums(self.problem, state.counts, state.totals, UNSET)
        self._count, self._total = state.counts, state.totals
        self._compute_all()


class PendingIndexAgent(Agent):
    """A policy whose index counts pending pulls: a decision and its reward compute one index."""

    schema: ClassVar[type[Struct]] = SavedIndexState

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

    def _sums(self) -> Sums:
        stats = self._stats
        squares = np.array(stats.squares) if self._uses_squares else None
        return Sums(np.array(stats.counts), np.array(stats.totals), squares)

    def _choose(self) -> int:
        if self._stale:
            self._refresh_index()
        arm = highest_index(self._index, self._own, self.belief)
        self._stale.add(arm)
        return arm

    def _refresh_index(self) -> None:
        settings, belief, stats = self.settings, self.belief, self._stats
        stale, self._stale = self._stale, set()
        for arm in stale:
            try:
                self._index[arm] = pending_index(settings, belief, stats, arm, self._pending[arm])
            except REFUSED:
                self._index[arm] = self._compiled_index(arm)
            if stats.counts[arm] == 0 and has_no_mean(belief, stats, arm):
                self._stale.add(arm)

    def _compiled_index(self, arm: int) -> Any:
        stats = empty_stats(self.problem.arms)
        for kept, given in zip(stats[:3], self._stats[:3], strict=True):
            kept[...] = given
        stats.received[0] = stats.counts.sum()
        index = compile_kernel(_pending_index, type(self._own), type(self.belief))
        return index(self.settings, self.belief, stats, arm, self._pending[arm])

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

    _expected = _forgotten

    def _state(self) -> SavedIndexState:
        counts, totals, squares = map(list, self._stats[:3])
        return SavedIndexState(counts=counts, totals=totals, squares=squares if self._uses_squares else UNSET)

    def _restore(self, state: SavedIndexState, version: int) -> None:
        if (state.squares is not UNSET) != self._uses_squares and version > 1:
            needs = "given" if self._uses_squares else "missing"
            raise ValueError(f"squares must be {needs} for {self.policy.name} on {self.problem.a_kind} bandit")
        squares = state.squares if self._uses_squares else UNSET
        checked_sums(self.problem, state.counts, state.totals, squares)
        self._set_stats(state.counts, state.totals, [0.0] * self.problem.arms if squares is UNSET else squares)


class EveryRoundAgent(Agent):
    """A policy that chooses anew in every round, by the compiled function of the simulation."""

    schema: ClassVar[type[Struct]] = SavedEveryRoundState

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        super().__init__(policy, bandit, horizon, seed, chosen)
        self._may_be_wrong = is_outside((type(self._own), type(self.belief)))
        self._stats = self._make_stats(chosen)
        self._decide = self._compile_choice(chosen)
        self._rounds = 0
        key = seed_key(seed)
        self._stream = np.empty((1, 4), np.uint64)
        with np.errstate(over="ignore"):
            write_stream(self._stream, 0, open_stream(key, run_word(key, 0), POLICY))

    def _make_stats(self, chosen: Selection) -> Stats:
        return empty_stats(self.problem.arms, chosen.memory, chosen.scratch)

    def _compile_choice(self, chosen: Selection) -> Any:
        return compile_kernel(_choose, type(chosen.own), type(self.belief))

    def _posterior_or_belief(self) -> Any:
        """Return what the compiled choice reads beside the statistics."""
        return self.belief

    def _choose(self) -> int:
        """Return the arm to pull; every call is a round."""
        with np.errstate(all="ignore"):
            before = self._changing() if self._may_be_wrong else None
            round_ = min(self._rounds + 1, MOST_ROUNDS)
            arm = int(self._decide(self.settings, self._posterior_or_belief(), self._stats, round_, self._stream))
            if before is not None and not 0 <= arm < self.problem.arms:
                for kept, was in before:  # nobody chose
                    kept[...] = was
                raise wrong_choice(self._own, self.belief, arm, self.problem.arms)
            self._rounds = round_
            return arm

    def _changing(self) -> list[tuple[Any, Any]]:
        """Return all arrays that a choice may change, each with a copy."""
        return [(array, array.copy()) for array in (*self._stats, self._stream)]

    @property
    def index(self) -> Array:
        raise AttributeError(
            f"{self.policy.name} has no index here: its choices depend on time, on random draws or on all arms"
        )

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return self._stats.counts.copy()

    def _sums(self) -> Sums:
        stats = self._stats
        return Sums(stats.counts.copy(), stats.totals.copy(), stats.squares.copy())

    def _decisions(self) -> int:
        return self._rounds

    def _expected(self, arm: int) -> None:
        self._rounds = min(self._rounds + 1, MOST_ROUNDS)

    def _learn(self, arm: int, reward: float) -> None:
        learn(self.belief, self._stats, arm, reward)

    def _state(self) -> SavedEveryRoundState:
        kept = {name: getattr(self._stats, name).tolist() for name in SAVED_STATS}
        return SavedEveryRoundState(rounds=self._rounds, stream=tuple(self._stream[0].tolist()), **kept)

    def _restore(self, state: SavedEveryRoundState, version: int) -> None:
        stats = self._stats
        sums = checked_sums(self.problem, state.counts, state.totals, state.squares)
        for kept, given in zip(stats[:3], sums, strict=True):
            kept[...] = given  # type: ignore[assignment]  # squares are given
        stats.received[0] = stats.counts.sum()
        self._rounds = self._checked_rounds(state.rounds)
        if not all(0 <= word < 2**64 for word in state.stream):
            raise ValueError("stream must be whole numbers of 64 bits")
        self._stream[0] = state.stream
        self._restore_memory(state.memory, version)
        stats.scratch[...] = 0.0

    def _checked_rounds(self, rounds: int) -> int:
        if rounds < min(sum(self._pending), MOST_ROUNDS):
            raise ValueError(f"rounds must be at least the {sum(self._pending)} pending pulls, got {rounds}")
        return rounds

    def _restore_memory(self, memory: list[float], version: int) -> None:
        stats = self._stats
        # In version 1 some policies kept more, and Thompson sampling too little to be checked: it sorts its arms again.
        sorts = isinstance(self._own, NearAndFarBeta | NearAndFarNormal)
        if version == 1 and (sorts or len(memory) != len(stats.memory)):
            memory = [0.0] * len(stats.memory)
        stats.memory[...] = of_length("memory", memory, len(stats.memory))
        self.policy.check_memory(self._own, self.belief, stats, self._rounds)
        if isinstance(self.belief, MixtureModel):
            check_mixture_memory(self.belief, stats)


def _index(settings: Any, belief: Any, arm: int, count: int, total: float) -> Any:
    return arm_index(settings, belief, arm, count, total)


def _pending_index(settings: Any, belief: Any, stats: Any, arm: int, pending: int) -> Any:
    return pending_index(settings, belief, stats, arm, pending)


def _choose(settings: Any, belief: Any, stats: Any, round_: int, streams: Any) -> Any:
    arm, stream = choose_arm(settings, belief, stats, round_, read_stream(streams, 0))
    write_stream(streams, 0, stream)
    return arm
