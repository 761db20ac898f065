"""Choosing the arm with the highest index, the lowest-numbered one on ties."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import (
    arm_index,
    choose_arm,
    choose_linear,
    confidence_width,
    current_mean,
    rising_index,
)
from bayesregret.contracts.fast import mean_plus_width, width_after
from bayesregret.dispatch import jitable

# In place of the arm, where an index is nan: nothing can be compared with it.
NO_ARM = -1


class MeanPlusWidth(NamedTuple):
    """A policy with a `confidence_width` or a `width_after`, as one with an `arm_index`."""

    policy: Any


@arm_index.implement(MeanPlusWidth)
def index_of_width(policy, model, arm, count, total):
    return mean_plus_width(policy.policy, model, arm, count, total)


class HighestIndex(NamedTuple):
    """A policy with an `arm_index`, as one with a `choose_arm`."""

    policy: Any


@choose_arm.implement(HighestIndex)
def choose_highest(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        index = arm_index(policy.policy, model, arm, stats.counts[arm], stats.totals[arm])
        if not index <= highest:
            if math.isnan(index):
                return NO_ARM, stream
            best, highest = arm, index
    return best, stream


def moves_with_time(settings: Any) -> bool:
    """Whether the order of arms that are not pulled may change."""
    return choose_arm.supports(settings) or rising_index.supports(settings) or choose_linear.supports(settings)


def is_mean_plus_width(settings: Any) -> bool:
    """Whether the index is the posterior mean plus a width that depends on the number of pulls alone; otherwise it must
    be an `arm_index`."""
    if confidence_width.supports(settings) or width_after.supports(settings):
        return True
    if arm_index.supports(settings):
        return False
    raise TypeError(
        f"{(kind := type(settings).__name__)} must implement confidence_width, arm_index, rising_index or choose_arm, "
        f"but implements none: write, for example, @confidence_width.implement({kind}) above the formula"
    )


def as_index(settings: Any) -> Any:
    """Settings with an `arm_index`: the given ones, or their width as an index."""
    return MeanPlusWidth(settings) if is_mean_plus_width(settings) else settings


@jitable
def leading_arm(model, stats):
    """Arm with the highest posterior mean, the lowest-numbered one on ties."""
    leader, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        mean = current_mean(model, stats, arm)
        if mean > highest:
            leader, highest = arm, mean
    return leader
