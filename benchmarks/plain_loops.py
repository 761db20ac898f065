"""The accelerated policies as plain compiled loops: every index or draw of every arm, in every round.

An accelerator of the package must be at least three times faster than these at K = 10, or it goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import bayesregret as br
from bayesregret.contracts import (
    arm_index,
    choose_arm,
    choose_linear,
    mean_now,
    means_at,
    posterior_draw,
    rising_index,
    variance_now,
)
from bayesregret.contracts.policy import confidence_width
from bayesregret.policies.linear_selection import draw_normals, first_highest
from bayesregret.policies.selection import as_index


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


class EveryArmIndex(NamedTuple):
    policy: Any


@choose_arm.implement(EveryArmIndex)
def choose_index(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        index = arm_index(policy.policy, model, arm, stats.counts[arm], stats.totals[arm])
        if index > highest:
            best, highest = arm, index
    return best, stream


class EveryDraw(NamedTuple):
    """Thompson sampling."""


@choose_arm.implement(EveryDraw)
def choose_draw(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        value, stream = posterior_draw(model, stats, arm, stream)
        if value > highest:
            best, highest = arm, value
    return best, stream


@choose_linear.implement(EveryDraw)
def choose_linear_draw(policy, posterior, stats, round_, stream):
    rank, columns = posterior.roots.shape
    means, xi = stats.scratch[:columns], stats.scratch[columns : columns + rank]
    stream = draw_normals(xi, stream)
    means_at(posterior, xi, means)
    return first_highest(means), stream


class EveryLinearIndex(NamedTuple):
    policy: Any


@choose_linear.implement(EveryLinearIndex)
def choose_linear_index(policy, posterior, stats, round_, stream):
    indices = stats.scratch[: posterior.mean.shape[0]]
    for arm in range(indices.shape[0]):
        indices[arm] = mean_now(posterior, arm) + confidence_width(policy.policy, variance_now(posterior, arm))
    return first_highest(indices), stream


@dataclass(frozen=True)
class PlainLoop(br.Policy):
    """Another policy, played by a plain loop."""

    name = "plain-loop"
    policy: br.Policy

    def settings(self, bandit: br.Bandit, horizon: int | None) -> Any:
        if isinstance(self.policy, br.Thompson):
            return EveryDraw()
        settings = self.policy.settings(bandit, horizon)
        if isinstance(bandit, br.LinearBandit):
            return EveryLinearIndex(settings)
        return EveryRisingIndex(settings) if rising_index.supports(settings) else EveryArmIndex(as_index(settings))

    def belief(self, bandit: br.Bandit) -> Any:
        return self.policy.belief(bandit)
