"""Policies whose index is a centre plus a multiplier times a width, where time changes only the multiplier.

The multiplier is the same for all arms. An arm's centre and width are kept until it has new data, so that an index
costs a product and a sum. Most rounds need no index at all: as a function of the multiplier, the highest index of the
other arms is convex, so between two multipliers it lies below the line through its values there. While the leader is
above this line, it has a lease.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import choose_arm, confidence_width
from bayesregret.contracts.fast import centre_and_width, for_arm, index_multiplier, keeps_lead, take_lead
from bayesregret.dispatch import jitable, rarely_called

U = np.uint64
# Multipliers of at most this many rounds are computed in advance.
MULTIPLIERS_KEPT = 1 << 14
# A lease lasts at most as many rounds as there were so far; for multipliers not in the table, at most this fraction.
FRACTION_OF_ROUNDS = 8
# Relative to the largest terms of an index or of the line.
ROUNDING = 1e-13
LOWEST = -1e300  # index of a missing arm; sums with -inf could be nan


class OneDeviation(NamedTuple):
    """Width of one posterior standard deviation."""


@confidence_width.implement(OneDeviation)
def one_deviation(policy, variance):
    return math.sqrt(variance)


class HighestScaled(NamedTuple):
    """A policy with an `index_multiplier`. `scratch` can be computed again at any time."""

    policy: Any
    parts: Any = OneDeviation()  # or a table of widths


class LineLease(NamedTuple):
    """A line above the indices of all other arms, as a function of the multiplier."""

    until: Any  # a round
    early: Any  # multiplier at the start of the lease
    base: Any  # the other indices are below base + slope * (multiplier - early)
    slope: Any
    parts: Any  # of the leader


# Layout of `scratch`: the leader plus 1, or 0 if there is none; the number of rewards received when it was found, and
# the leader's among them; the lease; the largest finite width so far. After that each arm's centre and width.
LEADER, RECEIVED, COUNT, UNTIL, EARLY, BASE, SLOPE, WIDEST, HEAD = range(9)
CENTRE, WIDTH, ROW = U(0), U(1), U(2)


def scratch_for_scaled(arms: int) -> int:
    return HEAD + int(ROW) * arms


def multipliers_kept(horizon: int | None) -> int:
    return min(MULTIPLIERS_KEPT, horizon + 1) if horizon is not None else 0


@jitable
def scaled_index(policy, model, stats, arm, round_):
    """Index of one arm, with the same bits as below."""
    centre, width = centre_and_width(OneDeviation(), model, arm, stats.counts[arm], stats.totals[arm])
    return centre + index_multiplier(policy, round_) * width


@choose_arm.implement(HighestScaled)
def choose_highest_scaled(policy, model, stats, round_, stream):
    scratch = stats.scratch
    leader = int(scratch[LEADER]) - 1
    only_leader_updated = stats.received[0] - scratch[RECEIVED] == stats.counts[leader] - scratch[COUNT] and leader >= 0
    if only_leader_updated and round_ <= scratch[UNTIL]:
        parts = for_arm(policy.parts, U(leader))
        lease = LineLease(scratch[UNTIL], scratch[EARLY], scratch[BASE], scratch[SLOPE], parts)
        if keeps_lead(policy, model, lease, round_, U(leader), stats.counts[leader], stats.totals[leader]):
            return leader, stream
    updated = U(leader) if only_leader_updated else U(stats.counts.shape[0])
    arm, lease, stream = take_lead(policy, model, stats, updated, round_, stream)
    scratch[LEADER], scratch[RECEIVED], scratch[COUNT] = arm + 1.0, stats.received[0], stats.counts[arm]
    scratch[UNTIL], scratch[EARLY], scratch[BASE], scratch[SLOPE] = lease.until, lease.early, lease.base, lease.slope
    return np.int64(arm), stream


@keeps_lead.implement(HighestScaled)
def is_above_line(policy, model, lease, round_, arm, count, total):
    centre, width = centre_and_width(lease.parts, model, arm, count, total)
    multipliers = policy.policy.multipliers
    multiplier = multipliers[U(round_)] if round_ < multipliers.shape[0] else lease.early
    return centre + multiplier * width > lease.base + lease.slope * (multiplier - lease.early)


@take_lead.implement(HighestScaled)
def take_lead_by_line(policy, model, stats, updated, round_, stream):
    """Compare all arms, in this round and in a later one."""
    arms, kept = U(stats.counts.shape[0]), policy.policy.multipliers.shape[0]
    if updated < arms:
        update_parts(policy, model, stats, updated)
    else:
        for arm in range(arms):
            update_parts(policy, model, stats, arm)
    early = index_multiplier(policy.policy, round_)
    if round_ >= kept:
        best, until, base = lead_by_constant(policy.policy, stats, round_, early)
        return best, LineLease(until, early, base, 0.0, for_arm(policy.parts, best)), stream
    until = min(2 * round_, kept - 1)
    late = index_multiplier(policy.policy, until)
    inverse = 1.0 / (late - early) if late > early else 0.0  # computed here, in parallel with the comparison
    best, _, now, later = compare_all(stats, early, late)
    slope = (later - now) * inverse if later > now else 0.0
    base = now + ROUNDING * (abs(now) + abs(later) + late * stats.scratch[WIDEST])
    return best, LineLease(until, early, base, slope, for_arm(policy.parts, best)), stream


@rarely_called
def lead_by_constant(policy, stats, round_, early):
    """Lease beyond the table: compare the leader at the early multiplier with the other arms at the late one."""
    rounds = round_ // FRACTION_OF_ROUNDS
    best, lead, _, later = compare_all(stats, early, index_multiplier(policy, round_ + rounds))
    while later >= lead and rounds > 0:
        rounds //= 4
        best, lead, _, later = compare_all(stats, early, index_multiplier(policy, round_ + rounds))
    return best, round_ + rounds, later + ROUNDING * (abs(later) + early * stats.scratch[WIDEST])


@jitable
def update_parts(policy, model, stats, arm):
    scratch, row = stats.scratch, row_of(arm)
    centre, width = centre_and_width(policy.parts, model, arm, stats.counts[arm], stats.totals[arm])
    scratch[row + CENTRE], scratch[row + WIDTH] = centre, width
    scratch[WIDEST] = max(scratch[WIDEST], width if width < math.inf else 0.0)


@jitable
def row_of(arm):
    return U(HEAD) + ROW * U(arm)


@jitable
def index_at(stats, arm, multiplier):
    row = row_of(arm)
    return stats.scratch[row + CENTRE] + multiplier * stats.scratch[row + WIDTH]


@jitable
def compare_all(stats, early, late):
    """Return the arm with the highest index at the early multiplier, that index, and the highest index of the other
    arms at both multipliers.

    Without branches: the highest arm is unpredictable.
    """
    best, lead, lead_later = U(0), LOWEST, LOWEST
    second, second_later = LOWEST, LOWEST
    for arm in range(U(stats.counts.shape[0])):
        now, later = index_at(stats, arm, early), index_at(stats, arm, late)
        is_best = now > lead
        second, second_later = max(second, min(lead, now)), max(second_later, lead_later if is_best else later)
        best, lead, lead_later = U(arm) if is_best else best, max(lead, now), later if is_best else lead_later
    return best, lead, second, second_later
