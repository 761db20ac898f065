"""Highest index wins: how policies that are an index choose, round by round, the lowest number on ties."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import arm_index, choose_arm, mean_plus_width, rising_index
from bayesregret.dispatch import jitable

# Ceilings of rising indices are good for so many rounds: this many, or a share of all rounds so far.
FEWEST_ROUNDS, SHARE_OF_ROUNDS = 8, 8
ROUNDING = 1e-12


class MeanPlusWidth(NamedTuple):
    """A policy with a `confidence_width`, as one with an `arm_index`."""

    policy: Any


@arm_index.implement(MeanPlusWidth)
def index_of_width(policy, model, arm, count, total):
    return mean_plus_width(policy.policy, model, arm, count, total)


class HighestIndex(NamedTuple):
    """A policy with an `arm_index`."""

    policy: Any


@choose_arm.implement(HighestIndex)
def choose_highest(policy, model, known, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(known.counts.shape[0]):
        index = arm_index(policy.policy, model, arm, known.counts[arm], known.totals[arm])
        if index > highest:
            best, highest = arm, index
    return best, stream


class HighestRising(NamedTuple):
    """A policy with a `rising_index`: computed for a later round, it is a ceiling until then, so most arms need not be
    looked at. `scratch` holds each arm's ceiling, nan if there is none; the count it was computed for, plus 1; and the
    round until which ceilings are good."""

    policy: Any


def scratch_for_ceilings(arms: int) -> int:
    return 2 * arms + 1


@choose_arm.implement(HighestRising)
def choose_highest_rising(policy, model, known, round_, stream):
    arms = known.counts.shape[0]
    ceilings, stamps = known.scratch[:arms], known.scratch[arms : 2 * arms]
    if round_ > known.scratch[2 * arms]:
        known.scratch[2 * arms] = float(round_ + max(FEWEST_ROUNDS, round_ // SHARE_OF_ROUNDS))
        for arm in range(arms):
            ceilings[arm] = math.nan
    until = int(known.scratch[2 * arms])
    best, highest = 0, -math.inf
    # Arms with new data: most often the last one pulled, which may well be pulled again and then needs no ceiling.
    for arm in range(arms):
        if stamps[arm] != known.counts[arm] + 1.0:
            stamps[arm] = -known.counts[arm] - 1.0  # looked at in this round
            ceilings[arm] = math.nan
            index = rising_index(policy.policy, model, known, arm, round_)
            if index > highest:
                best, highest = arm, index
    for arm in range(arms):
        if stamps[arm] < 0.0:
            stamps[arm] = -stamps[arm]
            continue
        if math.isnan(ceilings[arm]):
            ceilings[arm] = rising_index(policy.policy, model, known, arm, until)
        if ceilings[arm] >= slightly_below(highest):
            index = rising_index(policy.policy, model, known, arm, round_)
            if index > highest or (index == highest and arm < best):
                best, highest = arm, index
    return best, stream


@jitable
def slightly_below(index):
    """A ceiling may be off by rounding."""
    return index if math.isinf(index) else index - ROUNDING * abs(index)
