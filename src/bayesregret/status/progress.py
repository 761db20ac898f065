"""Where a running experiment stands: the facts from which its status is computed."""

from __future__ import annotations

import functools
from dataclasses import dataclass

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
    pending: NDArray[np.int64] | None = None
    name: str = "experiment"
    arms: tuple[str, ...] = ()
    unit: str | None = None
    paused: tuple[int, ...] = ()
    equal_split: Array | None = None
    stopped: bool = False
    started: float | None = None
    last: float | None = None

    @functools.cached_property
    def active(self) -> NDArray[np.int64]:
        """Numbers of the arms that are not paused: `active[i]` is the agent's arm i."""
        return np.array([arm for arm in range(self.bandit.arms) if arm not in self.paused], np.int64)

    @functools.cached_property
    def sums(self) -> Sums:
        """Counts, totals and squares of the rewards of all arms, as `Bandit.after` takes them."""
        arms = self.bandit.arms
        counts = np.bincount(self.reward_arms, minlength=arms)
        totals = np.bincount(self.reward_arms, self.rewards, minlength=arms)
        means = totals / np.maximum(counts, 1)
        off = self.rewards - means[self.reward_arms]
        return Sums(counts, totals, np.bincount(self.reward_arms, off * off, minlength=arms))

    @property
    def done(self) -> int:
        """Number of decisions so far."""
        return int(np.sum(self.decisions))

    @property
    def left(self) -> int:
        """Number of rounds that are left."""
        return max(0, checks.rounds("horizon", self.horizon, 1) - self.done)
