"""The accelerated policies as plain compiled loops: every index or draw of every arm, in every round.

An accelerator of the package must be at least three times faster than these at K = 10, or it goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import bayesregret as br
from bayesregret.contracts import choose_arm, rising_index
from bayesregret.policies.linear_selection import HighestLinear
from bayesregret.policies.selection import HighestIndex, as_index
from bayesregret.policies.thompson import HighestDraw


class EveryRisingIndex(NamedTuple):
    policy: Any


@choose_arm.implement(EveryRisingIndex)
def choose_rising(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        index = rising_index(policy.policy, model, stats, arm, round_)
        if index > highest:
            best, highest = arm, index
    return best, stream


@dataclass(frozen=True)
class PlainLoop(br.Policy):
    """Another policy, played by a plain loop."""

    name = "plain-loop"
    policy: br.Policy

    def settings(self, bandit: br.Bandit, horizon: int | None) -> Any:
        if isinstance(self.policy, br.Thompson):
            return HighestDraw()
        settings = self.policy.settings(bandit, horizon)
        if isinstance(bandit, br.LinearBandit):
            return HighestLinear(settings)
        return EveryRisingIndex(settings) if rising_index.supports(settings) else HighestIndex(as_index(settings))

    def belief(self, bandit: br.Bandit) -> Any:
        return self.policy.belief(bandit)
