"""Policies whose index is a centre plus a level times a width: the clock moves the level alone, the same for all arms.

An arm's centre and width are kept until it has new data, so a look at all arms is a product and a sum for each. And not
even that is needed as long as the leader is above a line: as a function of the level, the highest index of the others
is convex, so between two levels it is nowhere above the line that joins its values there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import (
    centre_and_width,
    choose_arm,
    confidence_width,
    for_arm,
    index_level,
    keeps_lead,
    take_lead,
)
from bayesregret.dispatch import jitable, rarely_called

U = np.uint64
# Levels of so many rounds are computed beforehand, if the horizon is as long.
LEVELS_KEPT = 1 << 14
# A lease is for as many rounds as there were so far; where levels are not kept, for a share of them at most.
SHARE_OF_ROUNDS = 8
# Of the largest numbers that are added up in an index or on the line.
ROUNDING = 1e-13
LOWEST = -1e300  # an arm that is not there; an infinite number would make nan of sums


class OneDeviation(NamedTuple):
    """What the level is multiplied by."""


@confidence_width.implement(OneDeviation)
def one_deviation(policy, variance):
    return math.sqrt(variance)


class HighestScaled(NamedTuple):
    """A policy with an `index_level`. `scratch` can be computed again at any time."""

    policy: Any
    parts: Any = OneDeviation()  # or a table of them


class Lease(NamedTuple):
    until: Any  # a round
    early: Any  # the level when it begins
    base: Any  # the others' indices are below base + slope * (level - early)
    slope: Any
    parts: Any  # the leader's


# What `scratch` holds: the leader plus 1, or 0 if there is none; the rewards received when it was found, and its own
# among them; the lease; the widest of all widths that were finite. After that each arm's centre and width.
LEADER, RECEIVED, COUNT, UNTIL, EARLY, BASE, SLOPE, WIDEST, HEAD = range(9)
CENTRE, WIDTH, ROW = U(0), U(1), U(2)


def scratch_for_scaled(arms: int) -> int:
    return HEAD + int(ROW) * arms


def levels_kept(horizon: int | None) -> int:
    return min(LEVELS_KEPT, horizon + 1) if horizon is not None else 0


@jitable
def scaled_index(policy, model, stats, arm, round_):
    """The index of one arm, to the last bit."""
    centre, width = centre_and_width(OneDeviation(), model, arm, stats.counts[arm], stats.totals[arm])
    return centre + index_level(policy, round_) * width


@choose_arm.implement(HighestScaled)
def choose_highest_scaled(policy, model, stats, round_, stream):
    scratch = stats.scratch
    leader = int(scratch[LEADER]) - 1
    has_all_news = stats.received[0] - scratch[RECEIVED] == stats.counts[leader] - scratch[COUNT] and leader >= 0
    if has_all_news and round_ <= scratch[UNTIL]:
        parts = for_arm(policy.parts, U(leader))
        lease = Lease(scratch[UNTIL], scratch[EARLY], scratch[BASE], scratch[SLOPE], parts)
        if keeps_lead(policy, model, lease, round_, U(leader), stats.counts[leader], stats.totals[leader]):
            return leader, stream
    news = U(leader) if has_all_news else U(stats.counts.shape[0])
    arm, lease, stream = take_lead(policy, model, stats, news, round_, stream)
    scratch[LEADER], scratch[RECEIVED], scratch[COUNT] = arm + 1.0, stats.received[0], stats.counts[arm]
    scratch[UNTIL], scratch[EARLY], scratch[BASE], scratch[SLOPE] = lease.until, lease.early, lease.base, lease.slope
    return np.int64(arm), stream


@keeps_lead.implement(HighestScaled)
def is_above_the_line(policy, model, lease, round_, arm, count, total):
    centre, width = centre_and_width(lease.parts, model, arm, count, total)
    levels = policy.policy.levels
    level = levels[U(round_)] if round_ < levels.shape[0] else lease.early
    return centre + level * width > lease.base + lease.slope * (level - lease.early)


@take_lead.implement(HighestScaled)
def take_lead_by_look(policy, model, stats, news, round_, stream):
    """A look at all arms, in this round and in one to come."""
    arms, kept = U(stats.counts.shape[0]), policy.policy.levels.shape[0]
    if news < arms:
        renew(policy, model, stats, news)
    else:
        for arm in range(arms):
            renew(policy, model, stats, arm)
    early = index_level(policy.policy, round_)
    if round_ >= kept:
        best, until, base = lead_by_flat_line(policy.policy, stats, round_, early)
        return best, Lease(until, early, base, 0.0, for_arm(policy.parts, best)), stream
    until = min(2 * round_, kept - 1)
    late = index_level(policy.policy, until)
    share = 1.0 / (late - early) if late > early else 0.0  # known before the look is done, and not waited for
    best, _, now, later = look_at_all(stats, early, late)
    slope = (later - now) * share if later > now else 0.0
    base = now + ROUNDING * (abs(now) + abs(later) + late * stats.scratch[WIDEST])
    return best, Lease(until, early, base, slope, for_arm(policy.parts, best)), stream


@rarely_called
def lead_by_flat_line(policy, stats, round_, early):
    """Where levels are not kept: the leader stays at the early one, the others are at the late one all the time."""
    rounds = round_ // SHARE_OF_ROUNDS
    best, lead, _, later = look_at_all(stats, early, index_level(policy, round_ + rounds))
    while later >= lead and rounds > 0:
        rounds //= 4
        best, lead, _, later = look_at_all(stats, early, index_level(policy, round_ + rounds))
    return best, round_ + rounds, later + ROUNDING * (abs(later) + early * stats.scratch[WIDEST])


@jitable
def renew(policy, model, stats, arm):
    scratch, row = stats.scratch, row_of(arm)
    centre, width = centre_and_width(policy.parts, model, arm, stats.counts[arm], stats.totals[arm])
    scratch[row + CENTRE], scratch[row + WIDTH] = centre, width
    scratch[WIDEST] = max(scratch[WIDEST], width if width < math.inf else 0.0)


@jitable
def row_of(arm):
    return U(HEAD) + ROW * U(arm)


@jitable
def index_at(stats, arm, level):
    row = row_of(arm)
    return stats.scratch[row + CENTRE] + level * stats.scratch[row + WIDTH]


@jitable
def look_at_all(stats, early, late):
    """The arm with the highest index at the early level, that index, and the highest of the others at both levels.

    Without branches: which arm is highest cannot be foretold.
    """
    best, lead, lead_later = U(0), LOWEST, LOWEST
    second, second_later = LOWEST, LOWEST
    for arm in range(U(stats.counts.shape[0])):
        now, later = index_at(stats, arm, early), index_at(stats, arm, late)
        is_best = now > lead
        second, second_later = max(second, min(lead, now)), max(second_later, lead_later if is_best else later)
        best, lead, lead_later = U(arm) if is_best else best, max(lead, now), later if is_best else lead_later
    return best, lead, second, second_later
