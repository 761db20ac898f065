"""Thompson sampling on normal posteriors, where not even the leader's draw is made in most rounds.

If the leader is far ahead, all others are far, and its own draw, too, has a known chance to be so many deviations or
more below its mean. While this is above the level, one coin a round tells whether any arm does what is unlikely; if
none does, the leader is taken. The coins of many rounds are one draw: that of the round in which one fails. This is the
leader's lease. It is over as soon as the leader has come too close to the level, or the coin has other chances.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import centre_and_width, choose_arm, keeps_lead, take_lead
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.policies.likely_highest import (
    FAILS_AT,
    FAR_PULLS,
    FIRST_FAR,
    HEAD,
    LEVEL,
    NONE_ABOVE,
    SORT_AT,
    bring_near,
    draw_far_arms,
    highest_of_all,
    line_up,
    look_at_far_arms,
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
BY_NORMALS = LikelyHighestNormal(2.8, 0.03, 0.75, 2.2, 0.5 * math.erfc(2.2 / math.sqrt(2.0)))


class Lease(NamedTuple):
    until: Any  # a round
    level: Any


@choose_arm.implement(LikelyHighestNormal)
def choose_likely_highest_normal(policy, model, known, round_, stream):
    """All that a lease needs is in `memory`."""
    arm, _, stream = take_lead(policy, model, known, U(0), round_, stream)
    return np.int64(arm), stream


@take_lead.implement(LikelyHighestNormal)
def take_lead_by_chance(policy, model, known, news, round_, stream):
    memory = known.memory
    if known.received[0] >= memory[SORT_AT]:
        sort_normals(policy, model, known)
    if memory[FIRST_FAR] == HEAD + 1:
        leader = U(memory[HEAD])
        if known.received[0] - known.counts[leader] != memory[FAR_PULLS]:
            look_at_far_arms(model, known)
        centre, width = centre_and_width(policy, model, leader, known.counts[leader], known.totals[leader])
        is_likely = keeps_lead(policy, Lease(round_, memory[LEVEL]), round_, centre, width)
        if is_likely and memory[NONE_ABOVE] >= policy.lone_chance:
            return lead_alone(policy, model, known, round_, stream)
        if memory[FAILS_AT] > 0.0:  # it had a lease: the level is too high now
            memory[FAILS_AT], memory[SORT_AT] = 0.0, 0.0
    arm, stream = highest_of_near(policy, model, known, stream)
    return U(arm), Lease(round_, memory[LEVEL]), stream


@keeps_lead.implement(LikelyHighestNormal)
def is_likely_above(policy, lease, round_, centre, width):
    return centre - policy.tail * width > lease.level


@centre_and_width.implement(LikelyHighestNormal)
def normal_parts(policy, model, arm, count, total):
    return centre_and_width(policy.parts, model, arm, count, total)


@jitable
def sort_normals(policy, model, known):
    """Set the level, and tell near arms from far ones."""
    leader, mean, deviation = 0, -math.inf, 0.0
    for arm in range(known.counts.shape[0]):
        centre, width = centre_and_width(policy, model, arm, known.counts[arm], known.totals[arm])
        leader, mean, deviation = (arm, centre, width) if centre > mean else (leader, mean, deviation)
    if line_up(model, known, leader, mean - policy.reach * deviation) < policy.lone_chance:
        bring_near(known, policy.near_chance)
    look_at_far_arms(model, known)


@jitable
def highest_of_near(policy, model, known, stream):
    """The arm with the highest draw, when near ones are drawn."""
    memory, counts = known.memory, known.counts
    best, highest, near_pulls = 0, -math.inf, 0
    for place in range(HEAD, int(memory[FIRST_FAR])):
        arm = int(memory[place])
        near_pulls += counts[arm]
        centre, width = centre_and_width(policy, model, arm, counts[arm], known.totals[arm])
        z, stream = normal(stream)
        value = centre + width * z
        # Without a branch: which arm is highest cannot be foretold.
        best, highest = (arm if value > highest else best), max(highest, value)
    return highest_of_all(model, known, near_pulls, best, highest, stream)


@jitable
def lead_alone(policy, model, known, round_, stream):
    """The leader with a lease, or what is taken in the round in which the coin fails."""
    memory = known.memory
    leader = U(memory[HEAD])
    if memory[FAILS_AT] < round_:
        u, stream = uniform(stream)
        waited = math.log1p(-u) / math.log((1.0 - policy.tail_chance) * memory[NONE_ABOVE])
        memory[FAILS_AT] = round_ + math.floor(waited)
    if memory[FAILS_AT] > round_:
        sorted_in = round_ + memory[SORT_AT] - known.received[0]
        return leader, Lease(int(min(memory[FAILS_AT], sorted_in)) - 1, memory[LEVEL]), stream
    memory[FAILS_AT] = 0.0
    arm, stream = draw_what_failed(policy, model, known, stream)
    return U(arm), Lease(round_, memory[LEVEL]), stream


@rarely_called
def draw_what_failed(policy, model, known, stream):
    """The arm with the highest draw, given that the leader's is in its tail or a far arm may exceed the level."""
    memory = known.memory
    leader = int(memory[HEAD])
    none_above = memory[NONE_ABOVE]
    u, stream = uniform(stream)
    coin, stream = uniform(stream)
    if u * (1.0 - (1.0 - policy.tail_chance) * none_above) < policy.tail_chance:
        z, stream = normal_beyond(policy.tail, stream)
        z = -z
    else:
        coin = none_above + (1.0 - none_above) * coin
        z, stream = normal(stream)
        while z < -policy.tail:
            z, stream = normal(stream)
    centre, width = centre_and_width(policy, model, leader, known.counts[leader], known.totals[leader])
    value = centre + width * z
    if coin < none_above and value > memory[LEVEL]:
        return leader, stream
    return draw_far_arms(model, known, coin, leader, value, stream)


@jitable
def normal_beyond(start, stream):
    """A standard normal draw given that it exceeds `start` (Marsaglia 1964)."""
    while True:
        u, stream = uniform(stream)
        v, stream = uniform(stream)
        beyond = -math.log1p(-u) / start
        if -2.0 * math.log1p(-v) > beyond * beyond:
            return start + beyond, stream
