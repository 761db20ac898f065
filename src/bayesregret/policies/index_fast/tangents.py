"""Indices that are concave in time: their tangents are upper bounds in all later rounds.

Each arm has a tangent of its index, which need not touch the index now: one that touches it at the height of the other
arms' upper bounds shows whether the arm leads, often without computing its index. The leader has a lease as long as no
other tangent exceeds a lower bound on its index, and its rewards cannot lower that bound.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import choose_arm, rising_index
from bayesregret.contracts.fast import (
    follows_belief,
    index_rise,
    index_tangent,
    index_time,
    keeps_lead,
    never_lowers,
    take_lead,
)
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import log

U = np.uint64
# The leader's index is tested at this fraction of the way from the others' upper bounds to its own.
CAUTION = 0.5
# Arms whose upper bounds differ by a smaller fraction are compared by their indices.
CLOSE = 1e-6
# Relative rounding errors of indices, and of their slopes.
ROUNDING, ROUNDING_OF_RISE = 1e-12, 1e-8
STEEPEST = 1e300  # in place of an infinite slope, which times 0 would be nan
LOWEST = -1e300  # upper bound of a missing arm; sums with -inf could be nan


class HighestByTangents(NamedTuple):
    """A policy with a `rising_index` and an `index_rise`. `scratch` can be computed again at any time, and changes no
    decision."""

    policy: Any


class TangentLease(NamedTuple):
    """The leader's data, with which it leads up to a round."""

    until: Any  # a round
    count: Any
    total: Any


# Layout of `scratch`: the leader plus 1, or 0 if there is none; the number of rewards received when it was found, the
# leader's among them, and their sum; the last round in which the others are below a lower bound on the leader's index,
# and that bound. After that each arm's tangent: its height and slope at a time, that time, and its count plus 1.
LEADER, RECEIVED, COUNT, TOTAL, UNTIL, LOWER, HEAD = range(7)
HEIGHT, SLOPE, TIME, STAMP, ROW = U(0), U(1), U(2), U(3), U(4)


def scratch_for_tangents(arms: int) -> int:
    return HEAD + int(ROW) * arms


@choose_arm.implement(HighestByTangents)
def choose_by_tangents(policy, model, stats, round_, stream):
    scratch = stats.scratch
    leader = int(scratch[LEADER]) - 1
    only_leader_updated = stats.received[0] - scratch[RECEIVED] == stats.counts[leader] - scratch[COUNT] and leader >= 0
    if only_leader_updated and round_ <= scratch[UNTIL]:
        lease = TangentLease(scratch[UNTIL], scratch[COUNT], scratch[TOTAL])
        if keeps_lead(policy, model, lease, round_, U(leader), stats.counts[leader], stats.totals[leader]):
            return leader, stream
    updated = U(leader) if only_leader_updated else U(stats.counts.shape[0])
    arm, lease, stream = take_lead(policy, model, stats, updated, round_, stream)
    scratch[LEADER], scratch[RECEIVED] = arm + 1.0, stats.received[0]
    scratch[COUNT], scratch[TOTAL] = lease.count, lease.total
    return np.int64(arm), stream


@keeps_lead.implement(HighestByTangents)
def is_not_lower(policy, model, lease, round_, arm, count, total):
    return follows_belief(policy.policy) and never_lowers(model, count - lease.count, total - lease.total)


@take_lead.implement(HighestByTangents)
def take_lead_by_tangents(policy, model, stats, updated, round_, stream):
    scratch, leader = stats.scratch, updated
    if not still_leads(policy.policy, model, stats, updated, round_):
        leader, scratch[UNTIL], scratch[LOWER] = find_leader(policy.policy, model, stats, updated, round_)
    return leader, TangentLease(int(scratch[UNTIL]), stats.counts[leader], stats.totals[leader]), stream


@jitable
def still_leads(policy, model, stats, updated, round_):
    """Whether the leader is the only arm with new data and keeps its lease. Also update the tangents of arms with new
    data."""
    arms = stats.counts.shape[0]
    if updated < U(arms):
        return (
            update_tangent(policy, model, stats, updated, round_, stats.scratch[LOWER])
            and round_ <= stats.scratch[UNTIL]
        )
    for arm in range(U(arms)):
        if stats.scratch[row_of(arm) + STAMP] != stats.counts[arm] + 1.0:
            update_tangent(policy, model, stats, arm, round_, stats.scratch[LOWER])
    return False


@jitable
def find_leader(policy, model, stats, updated, round_):
    """Return the arm with the highest index, the lowest-numbered one on ties; a round until which the others stay below
    a lower bound on this index; and the bound."""
    if stats.scratch[LOWER] == math.inf:  # unpulled arms come first, one after the other
        for arm in range(updated % U(stats.counts.shape[0]), U(stats.counts.shape[0])):
            if stats.scratch[row_of(arm) + HEIGHT] == math.inf:
                return arm, round_, math.inf
    time = index_time(policy, round_)
    while True:
        best, lead, second = compare_uppers(stats, time)
        close = lead - CLOSE * abs(lead) if lead < math.inf else lead
        if second >= close and compute_close_indices(policy, model, stats, round_, time, close):
            continue
        if is_exact(stats, best, time):
            return best, last_below(policy, stats, round_, time, best, lead), lead
        lower = second + CAUTION * (lead - second)
        if update_tangent(policy, model, stats, best, round_, lower):
            return best, last_below(policy, stats, round_, time, best, lower), lower


@jitable
def last_below(policy, stats, round_, time, best, lower):
    """Return a round until which the others stay below. Time usually slows down: if no later step is longer than the
    first, the round is right; otherwise it is this one."""
    if lower == math.inf:  # of an unpulled arm: falls with any reward
        return round_
    end = first_crossing(stats, best, lower - ROUNDING * abs(lower))
    steps = (end - time) / (index_time(policy, round_ + 1) - time)
    until = round_ + int(min(max(steps, 0.0), round_))
    return until if index_time(policy, until) <= end else round_


@index_time.otherwise
def logarithmic_time(policy, round_):
    return log(round_)


@index_tangent.otherwise
def tangent_now_instead(policy, model, stats, arm, round_, value):
    height, slope, time = tangent_now(policy, model, stats, arm, round_)
    return height, slope, time, height >= value


@jitable
def tangent_now(policy, model, stats, arm, round_):
    """Return the tangent in this round, whose height is the index."""
    index = rising_index(policy, model, stats, arm, round_)
    slope = index_rise(policy, model, stats, arm, round_, index)
    return index, slope * (1.0 + ROUNDING_OF_RISE), index_time(policy, round_)


@rarely_called
def update_tangent(policy, model, stats, arm, round_, value):
    """Store a tangent of an arm, tightest where its index is `value`; return whether the index is surely as high."""
    height, slope, time, reaches = index_tangent(policy, model, stats, arm, round_, value)
    keep_tangent(stats, arm, height, slope, time)
    return reaches


@rarely_called
def compute_close_indices(policy, model, stats, round_, time, value):
    """Compute the index of every arm whose upper bound reaches `value`; return whether there are any.

    All arms at once: unpulled arms, which are equal, may be many.
    """
    some = False
    for arm in range(U(stats.counts.shape[0])):
        if not (is_exact(stats, arm, time) or upper_at(stats, arm, time) < value):
            keep_tangent(stats, arm, *tangent_now(policy, model, stats, arm, round_))
            some = True
    return some


@jitable
def row_of(arm):
    return U(HEAD) + ROW * arm


@jitable
def keep_tangent(stats, arm, height, slope, time):
    scratch, row = stats.scratch, row_of(arm)
    scratch[row + HEIGHT], scratch[row + SLOPE], scratch[row + TIME] = height, min(slope, STEEPEST), time
    scratch[row + STAMP] = stats.counts[arm] + 1.0


@jitable
def is_exact(stats, arm, time):
    """Whether the arm's upper bound is its index: one that does not rise is exact in all rounds.

    Many arms share the highest possible index if many never failed, or were never pulled.
    """
    row = row_of(arm)
    return stats.scratch[row + SLOPE] == 0.0 or stats.scratch[row + TIME] == time


@jitable
def upper_at(stats, arm, time):
    scratch, row = stats.scratch, row_of(arm)
    return scratch[row + HEIGHT] + scratch[row + SLOPE] * (time - scratch[row + TIME])


@jitable
def compare_uppers(stats, time):
    """Return the arm with the highest upper bound, that bound, and the highest of the others.

    Without branches: the highest arm is unpredictable.
    """
    best, lead, second = U(0), LOWEST, LOWEST
    for arm in range(U(stats.counts.shape[0])):
        upper = upper_at(stats, arm, time)
        best = U(arm) if upper > lead else best
        lead, second = max(lead, upper), max(second, min(lead, upper))
    return best, lead, second


@jitable
def first_crossing(stats, best, value):
    """Return the time at which the first rising tangent of the other arms reaches this value."""
    scratch, first = stats.scratch, math.inf
    for arm in range(U(stats.counts.shape[0])):
        row = row_of(arm)
        if scratch[row + SLOPE] > 0.0 and arm != best:
            first = min(first, scratch[row + TIME] + (value - scratch[row + HEIGHT]) / scratch[row + SLOPE])
    return first
