"""Normal posteriors for Thompson sampling with near and far arms: prepared draws, tail bounds, and leases."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import choose_arm
from bayesregret.contracts.fast import centre_and_width, keeps_lead, take_lead
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import exp, log
from bayesregret.numerics.normal_tails import erfc
from bayesregret.policies.index_fast.scaled_widths import OneDeviation
from bayesregret.policies.thompson_fast.near_and_far import (
    HEAD,
    THRESHOLD,
    choose_given_event,
    choose_near_and_far,
    compare_with_far,
    draw_above,
    draw_event,
    lease_until,
    prepare_draws,
    prepared_draw,
    set_lease,
    tail_bound,
    take_near_and_far_lead,
    threshold_of,
)
from bayesregret.rng import normal, uniform

U = np.uint64
DENSITY_AT_0 = 1.0 / math.sqrt(2.0 * math.pi)  # of a standard normal variable


class NearAndFarNormal(NamedTuple):
    """Settings of near_and_far.py for normal posteriors."""

    reach: float  # the threshold is this many standard deviations below the highest mean
    near_probability: float
    alone_probability: float
    tail: float  # the leader's tail begins this many standard deviations below its mean
    tail_probability: float  # P(Z > tail)
    parts: Any = OneDeviation()  # or a table of posterior standard deviations


NEAR_AND_FAR_NORMAL = NearAndFarNormal(2.8, 0.03, 0.8, 2.2, 0.5 * erfc(2.2 / math.sqrt(2.0)))


class NormalLease(NamedTuple):
    """The lease holds while the threshold is in the leader's tail."""

    until: Any  # a round
    threshold: Any


# Layout of `scratch`: each arm's posterior mean and standard deviation.
PREPARED = 2

choose_arm.implement(NearAndFarNormal)(choose_near_and_far)
take_lead.implement(NearAndFarNormal)(take_near_and_far_lead)


def scratch_for_normal(arms: int) -> int:
    return PREPARED * arms


@centre_and_width.implement(NearAndFarNormal)
def mean_and_deviation(policy, model, arm, count, total):
    return centre_and_width(policy.parts, model, arm, count, total)


@prepare_draws.implement(NearAndFarNormal)
def prepare_normal_draws(policy, model, stats, arm):
    place = arm * U(PREPARED)
    stats.scratch[place], stats.scratch[place + U(1)] = centre_and_width(
        policy, model, arm, stats.counts[arm], stats.totals[arm]
    )


@prepared_draw.implement(NearAndFarNormal)
def prepared_normal_draw(policy, stats, arm, stream):
    mean, deviation = prepared_parts(stats, arm)
    z, stream = normal(stream)
    return mean + deviation * z, stream


@jitable
def prepared_parts(stats, arm):
    """Mean and standard deviation of the arm's posterior."""
    place = U(arm) * U(PREPARED)
    return stats.scratch[place], stats.scratch[place + U(1)]


@threshold_of.implement(NearAndFarNormal)
def normal_threshold(policy, model, stats, leader):
    mean, deviation = centre_and_width(policy, model, leader, stats.counts[leader], stats.totals[leader])
    return mean - policy.reach * deviation


@set_lease.implement(NearAndFarNormal)
def set_normal_lease(policy, model, stats, leader, threshold, lease):
    """The threshold is all that a lease needs."""


@lease_until.implement(NearAndFarNormal)
def normal_lease_until(policy, stats, until):
    return NormalLease(until, stats.memory[THRESHOLD])


@keeps_lead.implement(NearAndFarNormal)
def normal_is_likely_above(policy, model, lease, round_, arm, count, total):
    mean, deviation = centre_and_width(policy, model, arm, count, total)
    return mean - policy.tail * deviation > lease.threshold


@tail_bound.implement(NearAndFarNormal)
def bound_normal_tail(policy, model, stats, arm, value):
    """Use a tangent of the log density. The best point of contact is a root (Robert 1995); this one is close to it."""
    mean, deviation = prepared_parts(stats, arm)
    z = (value - mean) / deviation
    if not z > 0.0:
        return 1.0, 0.0
    rate = z + 1.0 / (1.0 + z)
    return DENSITY_AT_0 * exp(rate * (0.5 * rate - z)) / rate, rate / deviation


@draw_above.implement(NearAndFarNormal)
def draw_normal_above(policy, model, stats, arm, value, bound, rate, stream):
    """Draw an exponential variable, and keep it if it is also below the posterior density."""
    if bound >= 1.0:
        drawn, stream = prepared_draw(policy, stats, arm, stream)
        return (drawn if drawn > value else -math.inf), stream
    mean, deviation = prepared_parts(stats, arm)
    u, stream = uniform(stream)
    kept, stream = uniform(stream)
    waited = -log(1.0 - u)
    drawn = value + waited / rate
    z = (drawn - mean) / deviation
    is_kept = kept * bound * (rate * deviation) < DENSITY_AT_0 * exp(waited - 0.5 * z * z)
    return (drawn if is_kept else -math.inf), stream


@choose_given_event.implement(NearAndFarNormal)
@rarely_called
def choose_given_normal_event(policy, model, stats, stream):
    leader = U(stats.memory[HEAD])
    in_tail, u, stream = draw_event(policy, stats, stream)
    if in_tail:
        z, stream = normal_beyond(policy.tail, stream)
        z = -z
    else:
        z, stream = normal(stream)
        while z < -policy.tail:
            z, stream = normal(stream)
    mean, deviation = prepared_parts(stats, leader)
    return compare_with_far(policy, model, stats, u, leader, mean + deviation * z, stream)


@jitable
def normal_beyond(start, stream):
    """Draw a standard normal variable given that it exceeds `start` (Marsaglia 1964)."""
    while True:
        u, stream = uniform(stream)
        v, stream = uniform(stream)
        beyond = -log(1.0 - u) / start
        if -2.0 * log(1.0 - v) > beyond * beyond:
            return start + beyond, stream
