"""Where a running experiment stands: the facts from which its status is computed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent import Agent
from bayesregret.agent.remaining import Sums
from bayesregret.checks import Array
from bayesregret.models import Bandit


@dataclass(frozen=True, eq=False)
class Progress:
    """Where a running experiment stands: its prior, its agent, and its log of rewards.

    Arms are numbered from 0 over all arms that the experiment has ever had, paused and added ones among them. The agent
    knows those that are not paused, in the same order.

    Attributes
    ----------
    bandit : Bandit
        The prior of all arms, added ones included, before any reward.
    agent : Agent
        The agent that makes the next decision. Its problem has the arms that are not paused.
    horizon : int
        Number of rounds of the whole experiment.
    decisions : ndarray of int
        Number of decisions for each arm.
    reward_arms : ndarray of int
        Arm of each reward that has arrived, in the order of the log.
    rewards : ndarray of float
        These rewards. A missing reward that counts as 0 is one of them; one that is lost is not.
    tested : int, optional
        Number of rewards, from the first on, for the test of the prior; by default all. Where rewards of one size take
        longer than others, as where a missing reward counts as 0 after a while, the test is valid if `rewards` are in
        the order of their decisions and `tested` counts those before the first decision that still waits for one.
    pending : ndarray of int, optional
        Number of decisions for each arm whose reward may still arrive; by default those of the agent, if no arm is
        paused.
    name : str
        Name of the experiment.
    arms : tuple of str
        Names of all arms; by default those of the agent, if no arm is paused.
    unit : str, optional
        What a round is, such as "visitor".
    paused : tuple of int
        Arms that are paused.
    equal_split : ndarray of float, optional
        Decisions that each arm would have had if every decision had been split equally among the arms that were not
        paused then; by default an equal share of all decisions.
    stopped : bool
        Whether the experiment makes no more decisions.
    started, last : float, optional
        Times of the start and of the last event, in seconds since 1970 (UTC).
    """

    bandit: Bandit
    agent: Agent
    horizon: int
    decisions: NDArray[np.int64]
    reward_arms: NDArray[np.int64]
    rewards: Array
    tested: int | None = None
    pending: NDArray[np.int64] = None  # type: ignore[assignment]  # filled in below, as is `equal_split`
    name: str = "experiment"
    arms: tuple[str, ...] = ()
    unit: str | None = None
    paused: tuple[int, ...] = ()
    equal_split: Array = None  # type: ignore[assignment]
    stopped: bool = False
    started: float | None = None
    last: float | None = None

    def __post_init__(self) -> None:
        """Fill in the defaults, and check that the parts are about the same arms."""
        arms, known = self.bandit.arms, self.agent.arms
        self._keep("horizon", checks.rounds("horizon", self.horizon, 1))
        for name in ("decisions", "reward_arms"):
            self._keep(name, np.asarray(getattr(self, name), np.int64))
        self._keep("rewards", np.asarray(self.rewards, float))
        self._keep("paused", tuple(sorted(self.paused)))
        if self.agent.problem.arms != arms - len(self.paused):
            raise ValueError(
                f"agent must be one of the {arms - len(self.paused)} arms that are not paused, got "
                f"{self.agent.problem.arms}"
            )
        if not self.arms:
            self._keep("arms", known if not self.paused else tuple(map(str, range(arms))))
        if self.pending is None:
            pending = np.zeros(arms, np.int64)
            pending[self.active] = self.agent.pending
            self._keep("pending", pending)
        if self.equal_split is None:
            self._keep("equal_split", np.full(arms, self.done / arms))
        if len(self.reward_arms) != len(self.rewards):
            raise ValueError(
                f"rewards must have one entry for each of reward_arms, got {len(self.rewards)} for "
                f"{len(self.reward_arms)}"
            )
        if (self.lost < 0).any():
            raise ValueError("decisions must be at least the rewards and the pending pulls of each arm")

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @functools.cached_property
    def active(self) -> NDArray[np.int64]:
        """Numbers of the arms that are not paused: `active[i]` is the agent's arm i."""
        return np.array([arm for arm in range(self.bandit.arms) if arm not in self.paused], np.int64)

    @functools.cached_property
    def sums(self) -> Sums:
        """Counts, totals and squares of the rewards of all arms, as `Bandit.after` takes them."""
        arms = self.bandit.arms
        counts = np.bincount(self.reward_arms, minlength=arms)
        totals = self._total(self.rewards)
        off = self.rewards - (totals / np.maximum(counts, 1))[self.reward_arms]
        return Sums(counts, totals, self._total(off * off))

    def _total(self, values: Array) -> Array:
        return np.bincount(self.reward_arms, values, minlength=self.bandit.arms).astype(float)

    @functools.cached_property
    def posterior(self) -> Bandit:
        """The posterior of all arms, as a bandit of its own."""
        return self.bandit.after(*self.sums)

    @functools.cached_property
    def rest(self) -> Bandit:
        """The posterior of the arms that are not paused, by their own rewards where some are."""
        return self.agent.problem.after(*self.active_sums) if self.paused else self.posterior

    @property
    def active_sums(self) -> Sums:
        """The sums of the arms that are not paused."""
        counts, totals, squares = self.sums
        return Sums(counts[self.active], totals[self.active], None if squares is None else squares[self.active])

    @property
    def lost(self) -> NDArray[np.int64]:
        """(arms,): decisions whose reward will never arrive."""
        return np.asarray(self.decisions - self.sums.counts - self.pending)

    @property
    def done(self) -> int:
        """Number of decisions so far."""
        return int(np.sum(self.decisions))

    @property
    def left(self) -> int:
        """Number of rounds that are left."""
        return max(0, self.horizon - self.done)
