"""Thompson sampling on normal posteriors: likely_highest.py, and that a leader is likely to stay above a level."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import centre_and_width, choose_arm, keeps_lead, take_lead
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.policies.index_fast.scaled_widths import OneDeviation
from bayesregret.policies.thompson_fast.near_and_far import (
    HEAD,
    LEVEL,
    bring_near,
    choose_likely_highest,
    draw_above,
    draw_what_failed,
    failed_coins,
    lease_until,
    line_up,
    look_at_far_arms,
    prepare_draws,
    prepared_draw,
    settle,
    sort_arms,
    tail_bound,
    take_likely_lead,
)
from bayesregret.rng import normal, uniform

U = np.uint64
DENSITY_AT_0 = 1.0 / math.sqrt(2.0 * math.pi)  # of a standard normal variable


class LikelyHighestNormal(NamedTuple):
    reach: float  # the level is so many deviations below the highest mean
    near_chance: float  # an arm is near if it exceeds the level with more than this chance
    lone_chance: float  # none but the leader is near if no other exceeds the level with at least this chance
    tail: float  # a draw so many deviations below the mean is unlikely
    tail_chance: float
    parts: Any = OneDeviation()  # or a table of them


# A near arm costs a draw in every round that is not leased, a failing coin all that is done then.
BY_NORMALS = LikelyHighestNormal(2.8, 0.03, 0.8, 2.2, 0.5 * math.erfc(2.2 / math.sqrt(2.0)))


class Lease(NamedTuple):
    until: Any  # a round
    level: Any


# What `scratch` holds of each arm: the centre of its posterior, and its width.
PER_ARM = 2


choose_arm.implement(LikelyHighestNormal)(choose_likely_highest)
take_lead.implement(LikelyHighestNormal)(take_likely_lead)


@prepare_draws.implement(LikelyHighestNormal)
def keep_parts(policy, model, stats, arm):
    place = arm * U(PER_ARM)
    stats.scratch[place], stats.scratch[place + U(1)] = centre_and_width(
        policy, model, arm, stats.counts[arm], stats.totals[arm]
    )


@jitable
def parts_of(stats, arm):
    place = U(arm) * U(PER_ARM)
    return stats.scratch[place], stats.scratch[place + U(1)]


@centre_and_width.implement(LikelyHighestNormal)
def normal_parts(policy, model, arm, count, total):
    return centre_and_width(policy.parts, model, arm, count, total)


@lease_until.implement(LikelyHighestNormal)
def lease_by_level(policy, model, stats, until):
    return Lease(until, stats.memory[LEVEL])


@keeps_lead.implement(LikelyHighestNormal)
def is_likely_above(policy, model, lease, round_, arm, count, total):
    centre, width = centre_and_width(policy, model, arm, count, total)
    return centre - policy.tail * width > lease.level


@sort_arms.implement(LikelyHighestNormal)
@rarely_called
def sort_normals(policy, model, stats):
    leader, mean, deviation = 0, -math.inf, 0.0
    for arm in range(stats.counts.shape[0]):
        centre, width = parts_of(stats, arm)
        leader, mean, deviation = (arm, centre, width) if centre > mean else (leader, mean, deviation)
    if line_up(policy, model, stats, U(leader), mean - policy.reach * deviation) > 1.0 - policy.lone_chance:
        bring_near(stats, policy.near_chance)
    look_at_far_arms(policy, model, stats)


@tail_bound.implement(LikelyHighestNormal)
def normal_tail_bound(policy, model, stats, arm, value):
    """The tangent of the density's logarithm, where it is nearly best for the bound: about as far out as Robert (1995)
    has it, whose own place is a root."""
    centre, width = parts_of(stats, arm)
    z = (value - centre) / width
    if not z > 0.0:
        return 1.0, 0.0
    rate = z + 1.0 / (1.0 + z)
    return DENSITY_AT_0 * math.exp(rate * (0.5 * rate - z)) / rate, rate / width


@draw_above.implement(LikelyHighestNormal)
def normal_above(policy, model, stats, arm, value, bound, rate, stream):
    """An exponential draw is kept if it is below the density, too."""
    if bound >= 1.0:
        drawn, stream = prepared_draw(policy, stats, arm, stream)
        return (drawn if drawn > value else -math.inf), stream
    centre, width = parts_of(stats, arm)
    u, stream = uniform(stream)
    kept, stream = uniform(stream)
    waited = -math.log(1.0 - u)
    drawn = value + waited / rate
    z = (drawn - centre) / width
    is_kept = kept * bound * (rate * width) < DENSITY_AT_0 * math.exp(waited - 0.5 * z * z)
    return (drawn if is_kept else -math.inf), stream


@prepared_draw.implement(LikelyHighestNormal)
def prepared_normal_draw(policy, stats, arm, stream):
    centre, width = parts_of(stats, arm)
    z, stream = normal(stream)
    return centre + width * z, stream


@draw_what_failed.implement(LikelyHighestNormal)
@rarely_called
def draw_failed_normal(policy, model, stats, stream):
    leader = U(stats.memory[HEAD])
    in_tail, coin, stream = failed_coins(policy, stats, stream)
    if in_tail:
        z, stream = normal_beyond(policy.tail, stream)
        z = -z
    else:
        z, stream = normal(stream)
        while z < -policy.tail:
            z, stream = normal(stream)
    centre, width = parts_of(stats, leader)
    return settle(policy, model, stats, coin, leader, centre + width * z, stream)


@jitable
def normal_beyond(start, stream):
    """A standard normal draw given that it exceeds `start` (Marsaglia 1964)."""
    while True:
        u, stream = uniform(stream)
        v, stream = uniform(stream)
        beyond = -math.log(1.0 - u) / start
        if -2.0 * math.log(1.0 - v) > beyond * beyond:
            return start + beyond, stream
