"""All rewards of an experiment as arrays, for its status: each is read from the log once."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.store.log import Log


class Ordered(NamedTuple):
    arms: NDArray[np.int64]
    rewards: Array
    tested: int | None


class Rewards:
    """The rewards until now, those of 0 for a missing one among them."""

    def __init__(self) -> None:
        self._last = 0  # event
        self._decisions, self._arms, self._rewards = array("q"), array("q"), array("d")

    def catch_up(self, log: Log, settled: int, has_window: bool) -> Ordered:
        """Return arms and rewards in the order of the log.

        Under a window after which a missing reward counts as 0, or is lost, rewards of one size take longer than
        others. They are then in the order of their decisions, and `tested` is the number of those before the first
        decision that still waits; all decisions until event `settled` do not.
        """
        for number, decision, arm, reward in log.rewards(self._last):
            self._last = number
            self._decisions.append(decision)
            self._arms.append(arm)
            self._rewards.append(reward)
        arms, rewards = np.array(self._arms, np.int64), np.array(self._rewards, float)
        if not has_window:
            return Ordered(arms, rewards, None)
        decisions = np.array(self._decisions, np.int64)
        order = np.argsort(decisions)
        waiting = log.first_unsettled(settled)
        tested = len(order) if waiting is None else int(np.searchsorted(decisions[order], waiting))
        return Ordered(arms[order], rewards[order], tested)
