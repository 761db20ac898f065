"""Thompson sampling on normal posteriors: likely_highest.py, and that a leader is likely to stay above a level."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import centre_and_width, choose_arm, keeps_lead, take_lead
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.policies.likely_highest import (
    FAR_PULLS,
    FIRST_FAR,
    HEAD,
    LEVEL,
    NONE_ABOVE,
    bring_near,
    draw_far_arms,
    draw_what_failed,
    failed_coins,
    highest_of_near,
    lease_until,
    line_up,
    look_at_far_arms,
    sort_arms,
    take_likely_lead,
)
from bayesregret.policies.scaled_widths import OneDeviation
from bayesregret.rng import normal, uniform

U = np.uint64


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


@choose_arm.implement(LikelyHighestNormal)
def choose_likely_highest_normal(policy, model, known, round_, stream):
    """All that a lease needs is in `memory`."""
    arm, _, stream = take_lead(policy, model, known, U(known.counts.shape[0]), round_, stream)
    return np.int64(arm), stream


@take_lead.implement(LikelyHighestNormal)
def take_lead_by_normals(policy, model, known, news, round_, stream):
    if news < U(known.counts.shape[0]):
        renew(policy, model, known, news)
    else:
        for arm in range(known.counts.shape[0]):
            renew(policy, model, known, U(arm))
    return take_likely_lead(policy, model, known, round_, stream)


@jitable
def renew(policy, model, known, arm):
    place = arm * U(PER_ARM)
    known.scratch[place], known.scratch[place + U(1)] = centre_and_width(
        policy, model, arm, known.counts[arm], known.totals[arm]
    )


@jitable
def parts_of(known, arm):
    place = U(arm) * U(PER_ARM)
    return known.scratch[place], known.scratch[place + U(1)]


@centre_and_width.implement(LikelyHighestNormal)
def normal_parts(policy, model, arm, count, total):
    return centre_and_width(policy.parts, model, arm, count, total)


@lease_until.implement(LikelyHighestNormal)
def lease_by_level(policy, model, known, until):
    return Lease(until, known.memory[LEVEL])


@keeps_lead.implement(LikelyHighestNormal)
def is_likely_above(policy, model, lease, round_, arm, count, total):
    centre, width = centre_and_width(policy, model, arm, count, total)
    return centre - policy.tail * width > lease.level


@sort_arms.implement(LikelyHighestNormal)
def sort_normals(policy, model, known):
    leader, mean, deviation = 0, -math.inf, 0.0
    for arm in range(known.counts.shape[0]):
        centre, width = parts_of(known, arm)
        leader, mean, deviation = (arm, centre, width) if centre > mean else (leader, mean, deviation)
    if line_up(model, known, leader, mean - policy.reach * deviation) < policy.lone_chance:
        bring_near(known, policy.near_chance)
    look_at_far_arms(model, known)


@highest_of_near.implement(LikelyHighestNormal)
def highest_of_near_normals(policy, model, known, stream):
    memory = known.memory
    best, highest, near_pulls = 0, -math.inf, 0
    for place in range(HEAD, int(memory[FIRST_FAR])):
        arm = int(memory[place])
        near_pulls += known.counts[U(arm)]
        centre, width = parts_of(known, arm)
        z, stream = normal(stream)
        value = centre + width * z
        # Without a branch: which arm is highest cannot be foretold.
        best, highest = (arm if value > highest else best), max(highest, value)
    if known.received[0] - near_pulls != memory[FAR_PULLS]:
        look_at_far_arms(model, known)
    coin, stream = uniform(stream)
    if coin < memory[NONE_ABOVE] and highest > memory[LEVEL]:
        return best, stream
    return draw_far_arms(model, known, coin, best, highest, stream)


@draw_what_failed.implement(LikelyHighestNormal)
@rarely_called
def draw_failed_normal(policy, model, known, stream):
    memory = known.memory
    leader = int(memory[HEAD])
    in_tail, coin, stream = failed_coins(policy, known, stream)
    if in_tail:
        z, stream = normal_beyond(policy.tail, stream)
        z = -z
    else:
        z, stream = normal(stream)
        while z < -policy.tail:
            z, stream = normal(stream)
    centre, width = parts_of(known, leader)
    value = centre + width * z
    if coin < memory[NONE_ABOVE] and value > memory[LEVEL]:
        return leader, stream
    return draw_far_arms(model, known, coin, leader, value, stream)


@jitable
def normal_beyond(start, stream):
    """A standard normal draw given that it exceeds `start` (Marsaglia 1964)."""
    while True:
        u, stream = uniform(stream)
        v, stream = uniform(stream)
        beyond = -math.log(1.0 - u) / start
        if -2.0 * math.log(1.0 - v) > beyond * beyond:
            return start + beyond, stream
