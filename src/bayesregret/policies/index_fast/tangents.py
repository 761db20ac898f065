"""Indices that rise ever more slowly with time: their tangents are ceilings for all later rounds.

An arm keeps a tangent of its index, which need not touch it at the present: the one that touches it where the index is
as high as the other arms reach tells by itself whether the arm leads, often without computing its index. The leader has
a lease for as long as no tangent of the others rises above what its index surely is, and its rewards cannot lower it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import (
    choose_arm,
    index_rise,
    index_tangent,
    index_time,
    keeps_lead,
    never_lowers,
    rising_index,
    take_lead,
)
from bayesregret.dispatch import jitable, rarely_called

U = np.uint64
# Of the way from the others' ceilings to the leader's, to what it surely reaches.
CAUTION = 0.5
# Arms whose ceilings are as close, relative to them, are compared by their indices.
CLOSE = 1e-6
# Indices may be off by rounding, and their slopes by more of it.
ROUNDING, ROUNDING_OF_RISE = 1e-12, 1e-8
STEEPEST = 1e300  # in place of an infinite slope, which times 0 would be no number
LOWEST = -1e300  # an arm that is not there; an infinite number would make nan of sums


class HighestByTangents(NamedTuple):
    """A policy with a `rising_index` and an `index_rise`. `scratch` can be computed again at any time, and changes no
    decision."""

    policy: Any


class Lease(NamedTuple):
    until: Any  # a round
    count: Any  # the leader's data with which it leads until then
    total: Any


# What `scratch` holds: the leader plus 1, or 0 if there is none; the rewards received when it was found, the leader's
# among them, and their sum; the last round in which the others stay below it, and below what. After that each arm's
# tangent: its height and slope at a time, that time, and the count it is for, plus 1.
LEADER, RECEIVED, COUNT, TOTAL, UNTIL, REACH, HEAD = range(7)
HEIGHT, SLOPE, TIME, STAMP, ROW = U(0), U(1), U(2), U(3), U(4)


def scratch_for_tangents(arms: int) -> int:
    return HEAD + int(ROW) * arms


@choose_arm.implement(HighestByTangents)
def choose_by_tangents(policy, model, stats, round_, stream):
    scratch = stats.scratch
    leader = int(scratch[LEADER]) - 1
    has_all_news = stats.received[0] - scratch[RECEIVED] == stats.counts[leader] - scratch[COUNT] and leader >= 0
    if has_all_news and round_ <= scratch[UNTIL]:
        lease = Lease(scratch[UNTIL], scratch[COUNT], scratch[TOTAL])
        if keeps_lead(policy, model, lease, round_, U(leader), stats.counts[leader], stats.totals[leader]):
            return leader, stream
    news = U(leader) if has_all_news else U(stats.counts.shape[0])
    arm, lease, stream = take_lead(policy, model, stats, news, round_, stream)
    scratch[LEADER], scratch[RECEIVED] = arm + 1.0, stats.received[0]
    scratch[COUNT], scratch[TOTAL] = lease.count, lease.total
    return np.int64(arm), stream


@keeps_lead.implement(HighestByTangents)
def has_not_been_lowered(policy, model, lease, round_, arm, count, total):
    return never_lowers(model, count - lease.count, total - lease.total)


@take_lead.implement(HighestByTangents)
def take_lead_by_tangents(policy, model, stats, news, round_, stream):
    scratch, leader = stats.scratch, news
    if not still_leads(policy.policy, model, stats, news, round_):
        leader, scratch[UNTIL], scratch[REACH] = find_leader(policy.policy, model, stats, news, round_)
    return leader, Lease(int(scratch[UNTIL]), stats.counts[leader], stats.totals[leader]), stream


@jitable
def still_leads(policy, model, stats, news, round_):
    """Whether the leader, if it alone has new data, keeps its lease with them. Tangents of arms with new data are made
    where that is seen."""
    arms = stats.counts.shape[0]
    if news < U(arms):
        return look_at(policy, model, stats, news, round_, stats.scratch[REACH]) and round_ <= stats.scratch[UNTIL]
    for arm in range(U(arms)):
        if stats.scratch[row_of(arm) + STAMP] != stats.counts[arm] + 1.0:
            look_at(policy, model, stats, arm, round_, stats.scratch[REACH])
    return False


@jitable
def find_leader(policy, model, stats, news, round_):
    """The arm with the highest index, the lowest number on ties; a round until which the others stay below what it
    surely reaches; and that."""
    if stats.scratch[REACH] == math.inf:  # arms never tried come first, one after the other
        for arm in range(news % U(stats.counts.shape[0]), U(stats.counts.shape[0])):
            if stats.scratch[row_of(arm) + HEIGHT] == math.inf:
                return arm, round_, math.inf
    time = index_time(policy, round_)
    while True:
        best, lead, second = look_at_all(stats, time)
        close = lead - CLOSE * abs(lead) if lead < math.inf else lead
        if second >= close and look_closely(policy, model, stats, round_, time, close):
            continue
        if is_exact(stats, best, time):
            return best, last_below(policy, stats, round_, time, best, lead), lead
        reach = second + CAUTION * (lead - second)
        if look_at(policy, model, stats, best, round_, reach):
            return best, last_below(policy, stats, round_, time, best, reach), reach


@jitable
def last_below(policy, stats, round_, time, best, reach):
    """A round until which the others stay below. Time mostly slows down: no step of it is longer than the first one."""
    if reach == math.inf:  # of an arm never tried: no belief, and falls with any reward
        return round_
    end = first_crossing(stats, best, reach - ROUNDING * abs(reach))
    steps = (end - time) / (index_time(policy, round_ + 1) - time)
    until = round_ + int(min(max(steps, 0.0), round_))
    return until if index_time(policy, until) <= end else round_


@index_time.otherwise
def logarithmic_time(policy, round_):
    return math.log(round_)


@index_tangent.otherwise
def tangent_at_present_instead(policy, model, stats, arm, round_, value):
    height, slope, time = tangent_at_present(policy, model, stats, arm, round_)
    return height, slope, time, height >= value


@jitable
def tangent_at_present(policy, model, stats, arm, round_):
    """Its height then is the index itself."""
    index = rising_index(policy, model, stats, arm, round_)
    slope = index_rise(policy, model, stats, arm, round_, index)
    return index, slope * (1.0 + ROUNDING_OF_RISE), index_time(policy, round_)


@rarely_called
def look_at(policy, model, stats, arm, round_, value):
    """A new tangent of an arm, best where its index is `value`, and whether it surely is that high now."""
    height, slope, time, reaches = index_tangent(policy, model, stats, arm, round_, value)
    keep_tangent(stats, arm, height, slope, time)
    return reaches


@rarely_called
def look_closely(policy, model, stats, round_, time, value):
    """Let no arm's ceiling but its index be as high as `value`: of all arms at once, as those of which nothing is known
    may be many. Whether there were any."""
    some = False
    for arm in range(U(stats.counts.shape[0])):
        if not (is_exact(stats, arm, time) or ceiling_at(stats, arm, time) < value):
            keep_tangent(stats, arm, *tangent_at_present(policy, model, stats, arm, round_))
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
    """Whether its ceiling is the index: one that does not rise is good for ever. With many arms that never failed, or
    were never tried, many have the highest index there is."""
    row = row_of(arm)
    return stats.scratch[row + SLOPE] == 0.0 or stats.scratch[row + TIME] == time


@jitable
def ceiling_at(stats, arm, time):
    scratch, row = stats.scratch, row_of(arm)
    return scratch[row + HEIGHT] + scratch[row + SLOPE] * (time - scratch[row + TIME])


@jitable
def look_at_all(stats, time):
    """The arm with the highest ceiling, that ceiling, and the highest of the others.

    Without branches: which arm is highest cannot be foretold.
    """
    best, lead, second = U(0), LOWEST, LOWEST
    for arm in range(U(stats.counts.shape[0])):
        ceiling = ceiling_at(stats, arm, time)
        best = U(arm) if ceiling > lead else best
        lead, second = max(lead, ceiling), max(second, min(lead, ceiling))
    return best, lead, second


@jitable
def first_crossing(stats, best, value):
    """When the first of the other arms' tangents rises to this value; those that do not rise never do."""
    scratch, first = stats.scratch, math.inf
    for arm in range(U(stats.counts.shape[0])):
        row = row_of(arm)
        if scratch[row + SLOPE] > 0.0 and arm != best:
            first = min(first, scratch[row + TIME] + (value - scratch[row + HEIGHT]) / scratch[row + SLOPE])
    return first
