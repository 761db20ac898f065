"""Indices that rise ever more slowly in the logarithm of time: their tangents are ceilings for all later rounds.

An index is computed for an arm with new data, or whose tangent reaches as high as the highest index. As long as no
tangent of the others reaches the leader's index, and the leader's rewards cannot lower it, no arm is looked at.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import choose_arm, index_exceeds, index_rise, never_lowers, rising_index
from bayesregret.dispatch import jitable

# How far ahead the others are looked at: a share of the rounds so far, or so many.
SHARE_OF_ROUNDS, FEWEST_ROUNDS = 4, 4
# Of the time in which a tangent reaches the leader, this share.
CAUTION = 0.5
# Indices may be off by rounding, and their slopes by more of it.
ROUNDING, ROUNDING_OF_RISE = 1e-12, 1e-8
STEEPEST = 1e300  # in place of an infinite slope, which times 0 would be no number
FOR_EVER = 1e300  # in place of an infinite time


class HighestByTangents(NamedTuple):
    """A policy with a `rising_index` and an `index_rise`. `scratch` can be computed again at any time, and changes no
    decision."""

    policy: Any


# What `scratch` holds: the leader plus 1, or 0 if there is none; the last round in which the others stay below it, and
# below what; the rewards received before that was found, the leader's among them, and their sum. After that each arm's
# index when it was last computed, its slope, the logarithm of that round or FOR_EVER if it does not rise, and the count
# it is for, plus 1.
LEADER, GOOD_UNTIL, TOP, RECEIVED, COUNT, TOTAL, HEAD = range(7)


def scratch_for_tangents(arms: int) -> int:
    return HEAD + 4 * arms


@choose_arm.implement(HighestByTangents)
def choose_by_tangents(policy, model, known, round_, stream):
    scratch = known.scratch
    leader = int(scratch[LEADER]) - 1
    if leader >= 0 and round_ <= scratch[GOOD_UNTIL]:
        pulls = known.counts[leader] - scratch[COUNT]
        if known.received[0] - scratch[RECEIVED] == pulls:  # of the leader alone
            if never_lowers(model, pulls, known.totals[leader] - scratch[TOTAL]):
                return leader, stream
            if index_exceeds(policy.policy, model, known, leader, round_, scratch[TOP]):
                remember(known, leader)
                return leader, stream
    return find_leader(policy.policy, model, known, round_), stream


@jitable
def find_leader(policy, model, known, round_):
    """The arm with the highest index, and the round until which it has it unless it does badly."""
    scratch, time = known.scratch, math.log(round_)
    look_at_news(policy, model, known, round_, time)
    best, lead = highest_index(policy, model, known, round_, time)
    if lead == math.inf:  # of an arm never tried: no belief, and falls with any reward
        scratch[LEADER] = 0.0
        return best
    later = round_ + max(FEWEST_ROUNDS, round_ // SHARE_OF_ROUNDS)
    _, top = highest_ceiling(known, math.log(later), best)
    if top > lead:
        _, second = highest_ceiling(known, time, best)
        share = CAUTION * (lead - second) / (top - second) if top > second else 0.0
        later = round_ + int((later - round_) * share)
        _, top = highest_ceiling(known, math.log(later), best)
    # An arm that ties does not rise, as tangents are above their indices; then it ties now, and comes after the leader.
    scratch[LEADER] = best + 1.0 if top <= lead and later > round_ else 0.0
    scratch[GOOD_UNTIL], scratch[TOP] = later, top
    remember(known, best)
    return best


@jitable
def remember(known, leader):
    """The data with which the leader is known to lead."""
    scratch = known.scratch
    scratch[RECEIVED], scratch[COUNT], scratch[TOTAL] = known.received[0], known.counts[leader], known.totals[leader]


@jitable
def look_at_news(policy, model, known, round_, time):
    arms = known.counts.shape[0]
    stamps = known.scratch[HEAD + 3 * arms :]
    for arm in range(arms):
        if stamps[arm] != known.counts[arm] + 1.0:
            stamps[arm] = known.counts[arm] + 1.0
            look_at(policy, model, known, arm, round_, time)


@jitable
def highest_index(policy, model, known, round_, time):
    """The arm whose index is highest, the lowest number on ties, and that index: no other arm's ceiling is above it."""
    arms = known.counts.shape[0]
    indices, times = known.scratch[HEAD:], known.scratch[HEAD + 2 * arms :]
    while True:
        best, lead = highest_ceiling(known, time, -1)
        if times[best] >= time:
            return best, lead
        look_at(policy, model, known, best, round_, time)
        for arm in range(arms):  # at once, as arms of which nothing is known may be many
            if times[arm] < time and ceiling_at(known, arm, time) >= indices[best]:
                look_at(policy, model, known, arm, round_, time)


@jitable
def look_at(policy, model, known, arm, round_, time):
    """The index of an arm in this round, and the tangent there. One that does not rise is good for ever: with many arms
    that never failed, or were never tried, many have the highest index there is."""
    scratch, arms = known.scratch, known.counts.shape[0]
    index = rising_index(policy, model, known, arm, round_)
    rise = index_rise(policy, model, known, arm, round_, index)
    scratch[HEAD + arm], scratch[HEAD + 2 * arms + arm] = index, (time if rise > 0.0 else FOR_EVER)
    scratch[HEAD + arms + arm] = rise * (1.0 + ROUNDING_OF_RISE) if rise < STEEPEST else STEEPEST


@jitable
def ceiling_at(known, arm, time):
    """The index of an arm that is looked at then, or does not rise; otherwise its tangent, raised by rounding, so that
    an equal index is looked at before it is passed over."""
    arms = known.counts.shape[0]
    index, since = known.scratch[HEAD + arm], time - known.scratch[HEAD + 2 * arms + arm]
    rise = known.scratch[HEAD + arms + arm] * since
    return index + rise + ROUNDING * (abs(index) + rise) if since > 0.0 else index


@jitable
def highest_ceiling(known, time, besides):
    """The arm with the highest ceiling at a time, and that ceiling."""
    best, highest = 0, -math.inf
    for arm in range(known.counts.shape[0]):
        ceiling = ceiling_at(known, arm, time)
        if ceiling > highest and arm != besides:
            best, highest = arm, ceiling
    return best, highest
