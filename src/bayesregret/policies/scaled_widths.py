"""Policies whose index is a centre plus a level times a width: the clock moves the level alone, the same for all arms.

An arm's centre and width are kept until it has new data, so a look at all arms is a product and a sum for each. And not
even that is needed as long as the leader is above a line: as a function of the level, the highest index of the others
is convex, so between two levels it is nowhere above the line that joins its values there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import centre_and_width, choose_arm, confidence_width, index_level, keeps_lead, take_lead
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
    base: Any  # the others' indices are below base + slope * level
    slope: Any


# What `scratch` holds: the leader plus 1, or 0 if there is none; the rewards received when it was found, and its own
# among them; the lease. After that each arm's centre, then its width.
LEADER, RECEIVED, COUNT, UNTIL, EARLY, BASE, SLOPE, HEAD = range(8)


def scratch_for_scaled(arms: int) -> int:
    return HEAD + 2 * arms


def levels_kept(horizon: int | None) -> int:
    return min(LEVELS_KEPT, horizon + 1) if horizon is not None else 0


@jitable
def scaled_index(policy, model, known, arm, round_):
    """The index of one arm, to the last bit."""
    centre, width = centre_and_width(OneDeviation(), model, arm, known.counts[arm], known.totals[arm])
    return centre + index_level(policy, round_) * width


@choose_arm.implement(HighestScaled)
def choose_highest_scaled(policy, model, known, round_, stream):
    scratch = known.scratch
    leader = int(scratch[LEADER]) - 1
    has_all_news = known.received[0] - scratch[RECEIVED] == known.counts[leader] - scratch[COUNT] and leader >= 0
    if has_all_news and round_ <= scratch[UNTIL]:
        lease = Lease(scratch[UNTIL], scratch[EARLY], scratch[BASE], scratch[SLOPE])
        if keeps_lead(policy, model, lease, round_, U(leader), known.counts[leader], known.totals[leader]):
            return leader, stream
    news = U(leader) if has_all_news else U(known.counts.shape[0])
    arm, lease, stream = take_lead(policy, model, known, news, round_, stream)
    scratch[LEADER], scratch[RECEIVED], scratch[COUNT] = arm + 1.0, known.received[0], known.counts[arm]
    scratch[UNTIL], scratch[EARLY], scratch[BASE], scratch[SLOPE] = lease
    return np.int64(arm), stream


@keeps_lead.implement(HighestScaled)
def is_above_the_line(policy, model, lease, round_, arm, count, total):
    centre, width = centre_and_width(policy, model, arm, count, total)
    levels = policy.policy.levels
    level = levels[U(round_)] if round_ < levels.shape[0] else lease.early
    return centre + level * width > lease.base + lease.slope * level


@take_lead.implement(HighestScaled)
def take_lead_by_look(policy, model, known, news, round_, stream):
    """A look at all arms, in this round and in one to come."""
    arms, kept = U(known.counts.shape[0]), policy.policy.levels.shape[0]
    if news < arms:
        renew(policy, model, known, news)
    else:
        for arm in range(arms):
            renew(policy, model, known, arm)
    early = index_level(policy.policy, round_)
    if round_ >= kept:
        best, lease = lead_by_flat_line(policy.policy, known, round_, early)
        return best, lease, stream
    until = min(2 * round_, kept - 1)
    late = index_level(policy.policy, until)
    best, _, now, later, widest = look_at_all(known, early, late)
    slope = (later - now) / (late - early) if later > now else 0.0
    base = now - slope * early + ROUNDING * (abs(now) + abs(later) + late * (slope + widest))
    return best, Lease(until, early, base, slope), stream


@rarely_called
def lead_by_flat_line(policy, known, round_, early):
    """Where levels are not kept: the leader stays at the early one, the others are at the late one all the time."""
    rounds = round_ // SHARE_OF_ROUNDS
    best, lead, _, later, widest = look_at_all(known, early, index_level(policy, round_ + rounds))
    while later >= lead and rounds > 0:
        rounds //= 4
        best, lead, _, later, _ = look_at_all(known, early, index_level(policy, round_ + rounds))
    return best, Lease(round_ + rounds, early, later + ROUNDING * (abs(later) + early * widest), 0.0)


@jitable
def parts_of_arms(known):
    arms = known.counts.shape[0]
    return known.scratch[HEAD : HEAD + arms], known.scratch[HEAD + arms :]


@jitable
def renew(policy, model, known, arm):
    centres, widths = parts_of_arms(known)
    centres[arm], widths[arm] = centre_and_width(policy, model, arm, known.counts[arm], known.totals[arm])


@jitable
def look_at_all(known, early, late):
    """The arm with the highest index at the early level, that index, the highest of the others at both levels, and the
    widest width.

    Without branches: which arm is highest cannot be foretold.
    """
    centres, widths = parts_of_arms(known)
    best, lead, second = U(0), LOWEST, LOWEST
    late_lead, late_second, widest = LOWEST, LOWEST, 0.0
    for arm in range(centres.shape[0]):
        now, later = centres[arm] + early * widths[arm], centres[arm] + late * widths[arm]
        best = U(arm) if now > lead else best
        lead, second = max(lead, now), max(second, min(lead, now))
        late_lead, late_second = max(late_lead, later), max(late_second, min(late_lead, later))
        widest = max(widest, widths[arm])
    leads_later = centres[best] + late * widths[best] >= late_lead
    return best, lead, second, (late_second if leads_later else late_lead), widest


@centre_and_width.implement(HighestScaled)
def scaled_parts(policy, model, arm, count, total):
    return centre_and_width(policy.parts, model, arm, count, total)
