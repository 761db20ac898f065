"""Highest index wins: how policies that are an index choose, round by round, the lowest number on ties."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import arm_index, choose_arm, current_mean, mean_plus_width, never_lowers, rising_index
from bayesregret.dispatch import jitable, rarely_called

# A ceiling of a rising index is good for this many times the rounds so far; one near the leader for a share of them, or
# for this many.
FAR, SHARE_OF_ROUNDS, FEWEST_ROUNDS = 4, 8, 8
# Indices rise ever more slowly: of the time in which one would rise to the leader's, were it steady, this share.
CAUTION = 0.5
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
def choose_highest(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        index = arm_index(policy.policy, model, arm, stats.counts[arm], stats.totals[arm])
        if index > highest:
            best, highest = arm, index
    return best, stream


class HighestRising(NamedTuple):
    """A policy with a `rising_index`: for a later round it is a ceiling until then, for an earlier one a floor.

    While the leader's floor is above the others' ceilings, no other arm is looked at. `scratch` can be computed again
    at any time, and changes no decision.
    """

    policy: Any


# What `scratch` holds: the leader plus 1, or 0 if there is none; the highest ceiling of the others, and the last round
# in which all are good; the round of the leader's floor, the floor, and the leader's data it is of; the rewards
# received by then. After that each arm's ceiling, the last round in which it is good, and the count it is for, plus 1.
LEADER, TOP, GOOD_UNTIL, FLOOR_ROUND, FLOOR, COUNT, TOTAL, RECEIVED, HEAD = range(9)


def scratch_for_ceilings(arms: int) -> int:
    return HEAD + 3 * arms


@choose_arm.implement(HighestRising)
def choose_highest_rising(policy, model, stats, round_, stream):
    scratch = stats.scratch
    leader = int(scratch[LEADER]) - 1
    if leader >= 0 and round_ <= scratch[GOOD_UNTIL]:
        pulls = stats.counts[leader] - scratch[COUNT]
        if stats.received[0] - scratch[RECEIVED] == pulls:  # of the leader alone
            # The infinite index of an arm never tried is no belief, and falls with any reward.
            if scratch[FLOOR] < math.inf and never_lowers(model, pulls, stats.totals[leader] - scratch[TOTAL]):
                return leader, stream
            keep_floor(stats, leader, rising_index(policy.policy, model, stats, leader, int(scratch[FLOOR_ROUND])))
            if slightly_below(scratch[FLOOR]) > scratch[TOP]:
                return leader, stream
    return find_leader(policy.policy, model, stats, round_), stream


@jitable
def keep_floor(stats, leader, floor):
    scratch = stats.scratch
    scratch[FLOOR], scratch[COUNT], scratch[TOTAL] = floor, stats.counts[leader], stats.totals[leader]
    scratch[RECEIVED] = stats.received[0]


@rarely_called
def find_leader(policy, model, stats, round_):
    """The arm with the highest index: those with new data are looked at, and those whose ceilings reach as high."""
    scratch, arms = stats.scratch, stats.counts.shape[0]
    ceilings, until = scratch[HEAD : HEAD + arms], scratch[HEAD + arms : HEAD + 2 * arms]
    stamps = scratch[HEAD + 2 * arms :]
    best, highest = 0, -math.inf
    for arm in range(arms):
        if stamps[arm] != stats.counts[arm] + 1.0:
            stamps[arm], until[arm] = stats.counts[arm] + 1.0, round_
            ceilings[arm] = rising_index(policy, model, stats, arm, round_)
            if ceilings[arm] > highest:
                best, highest = arm, ceilings[arm]
    for arm in range(arms):
        if until[arm] < round_:
            set_ceiling(policy, model, stats, arm, round_, FAR * round_, ceilings, until)
        if ceilings[arm] >= slightly_below(highest):
            index = ceilings[arm]
            if until[arm] > round_:
                index = rising_index(policy, model, stats, arm, round_)
                lower_ceiling(policy, model, stats, arm, round_, index, highest, ceilings, until)
            if index > highest or (index == highest and arm < best):
                best, highest = arm, index
    top, good_until = -math.inf, math.inf
    for arm in range(arms):
        if arm != best:
            if until[arm] == round_ and ceilings[arm] < highest:
                index = ceilings[arm]
                later = round_ + max(FEWEST_ROUNDS, round_ // SHARE_OF_ROUNDS)
                set_ceiling(policy, model, stats, arm, round_, later, ceilings, until)
                if ceilings[arm] >= slightly_below(highest):
                    lower_ceiling(policy, model, stats, arm, round_, index, highest, ceilings, until)
            top, good_until = max(top, ceilings[arm]), min(good_until, until[arm])
    scratch[LEADER] = best + 1.0 if slightly_below(highest) > top else 0.0
    scratch[TOP], scratch[GOOD_UNTIL], scratch[FLOOR_ROUND] = top, good_until, round_
    keep_floor(stats, best, highest)
    return best


@rarely_called
def set_ceiling(policy, model, stats, arm, round_, later, ceilings, until):
    ceilings[arm], until[arm] = rising_index(policy, model, stats, arm, later), later


@jitable
def lower_ceiling(policy, model, stats, arm, round_, index, highest, ceilings, until):
    """For a shorter time, so that it is likely to stay below the highest index; none if that is this round alone."""
    share = CAUTION * (highest - index) / (ceilings[arm] - index) if ceilings[arm] > index else 0.0
    later = round_ + int((until[arm] - round_) * min(max(share, 0.0), 1.0))
    if later > round_:
        set_ceiling(policy, model, stats, arm, round_, later, ceilings, until)
    else:
        ceilings[arm], until[arm] = index, round_


@jitable
def slightly_below(index):
    """Floors and ceilings may be off by rounding."""
    return index if math.isinf(index) else index - ROUNDING * abs(index)


@jitable
def leading_arm(model, stats):
    """The arm with the highest posterior mean, the lowest-numbered one on ties."""
    leader, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        mean = current_mean(model, stats, arm)
        if mean > highest:
            leader, highest = arm, mean
    return leader
