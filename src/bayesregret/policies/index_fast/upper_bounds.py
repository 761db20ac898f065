"""Rising indices without computing them all: an index of a later round is an upper bound until then, one of an earlier
round a lower bound.

While the leader's lower bound exceeds the upper bounds of all other arms, no other index is computed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import choose_arm, rising_index
from bayesregret.contracts.fast import follows_belief, never_lowers
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.policies.selection import NO_ARM

# An upper bound is valid for this many times the rounds so far; one near the leader for this fraction of them, or for
# this number of rounds.
FAR, FRACTION_OF_ROUNDS, FEWEST_ROUNDS = 4, 8, 8
# Indices rise ever more slowly. Use this fraction of the time that an index rising steadily would take to the leader.
CAUTION = 0.5
ROUNDING = 1e-12


class HighestRising(NamedTuple):
    """A policy with a `rising_index`. `scratch` can be computed again at any time, and changes no decision."""

    policy: Any


# Layout of `scratch`: the leader plus 1, or 0 if there is none; the largest upper bound of the others, and the last
# round in which all of these are valid; the round of the leader's lower bound, the bound, and the leader's count and
# total then; the number of rewards received by then. After that, per arm, the upper bound, the last round in which it
# is valid, and the count that it is for, plus 1.
LEADER, TOP, VALID_UNTIL, LOWER_ROUND, LOWER, COUNT, TOTAL, RECEIVED, HEAD = range(9)


def scratch_for_upper_bounds(arms: int) -> int:
    return HEAD + 3 * arms


@choose_arm.implement(HighestRising)
def choose_highest_rising(policy, model, stats, round_, stream):
    scratch = stats.scratch
    leader = int(scratch[LEADER]) - 1
    if leader >= 0 and round_ <= scratch[VALID_UNTIL]:
        pulls = stats.counts[leader] - scratch[COUNT]
        if stats.received[0] - scratch[RECEIVED] == pulls:  # all of the leader
            # The infinite index of an arm never pulled is no belief, and falls with any reward.
            if scratch[LOWER] < math.inf and follows_belief(policy.policy):
                if never_lowers(model, pulls, stats.totals[leader] - scratch[TOTAL]):
                    return leader, stream
            keep_lower_bound(
                stats, leader, rising_index(policy.policy, model, stats, leader, int(scratch[LOWER_ROUND]))
            )
            if slightly_below(scratch[LOWER]) > scratch[TOP]:
                return leader, stream
    return find_leader(policy.policy, model, stats, round_), stream


@jitable
def keep_lower_bound(stats, leader, lower):
    scratch = stats.scratch
    scratch[LOWER], scratch[COUNT], scratch[TOTAL] = lower, stats.counts[leader], stats.totals[leader]
    scratch[RECEIVED] = stats.received[0]


@rarely_called
def find_leader(policy, model, stats, round_):
    """Return the arm with the highest index: compute indices of arms with new data, and where upper bounds reach it.

    Return NO_ARM if an index is nan.
    """
    scratch, arms = stats.scratch, stats.counts.shape[0]
    uppers, until = scratch[HEAD : HEAD + arms], scratch[HEAD + arms : HEAD + 2 * arms]
    stamps = scratch[HEAD + 2 * arms :]
    best, highest = 0, -math.inf
    for arm in range(arms):
        if stamps[arm] != stats.counts[arm] + 1.0:
            stamps[arm], until[arm] = stats.counts[arm] + 1.0, round_
            uppers[arm] = rising_index(policy, model, stats, arm, round_)
            if not uppers[arm] <= highest:
                if math.isnan(uppers[arm]):
                    return NO_ARM
                best, highest = arm, uppers[arm]
    for arm in range(arms):
        if until[arm] < round_:
            set_upper_bound(policy, model, stats, arm, round_, FAR * round_, uppers, until)
        if not uppers[arm] < slightly_below(highest):
            index = uppers[arm]
            if until[arm] > round_:
                index = rising_index(policy, model, stats, arm, round_)
                if math.isnan(index):
                    return NO_ARM
                lower_the_bound(policy, model, stats, arm, round_, index, highest, uppers, until)
            if index > highest or (index == highest and arm < best):
                best, highest = arm, index
    top, valid_until = -math.inf, math.inf
    for arm in range(arms):
        if arm != best:
            if until[arm] == round_ and uppers[arm] < highest:
                index = uppers[arm]
                later = round_ + max(FEWEST_ROUNDS, round_ // FRACTION_OF_ROUNDS)
                set_upper_bound(policy, model, stats, arm, round_, later, uppers, until)
                if uppers[arm] >= slightly_below(highest):
                    lower_the_bound(policy, model, stats, arm, round_, index, highest, uppers, until)
            top, valid_until = max(top, uppers[arm]), min(valid_until, until[arm])
    scratch[LEADER] = best + 1.0 if slightly_below(highest) > top else 0.0
    scratch[TOP], scratch[VALID_UNTIL], scratch[LOWER_ROUND] = top, valid_until, round_
    keep_lower_bound(stats, best, highest)
    return best


@rarely_called
def set_upper_bound(policy, model, stats, arm, round_, later, uppers, until):
    uppers[arm], until[arm] = rising_index(policy, model, stats, arm, later), later


@jitable
def lower_the_bound(policy, model, stats, arm, round_, index, highest, uppers, until):
    """Shorten the validity of an upper bound so that it likely stays below the highest index."""
    fraction = CAUTION * (highest - index) / (uppers[arm] - index) if uppers[arm] > index else 0.0
    later = round_ + int((until[arm] - round_) * min(max(fraction, 0.0), 1.0))
    if later > round_:
        set_upper_bound(policy, model, stats, arm, round_, later, uppers, until)
    else:
        uppers[arm], until[arm] = index, round_


@jitable
def slightly_below(index):
    """Leave room for rounding in upper and lower bounds."""
    return index if math.isinf(index) else index - ROUNDING * abs(index)
