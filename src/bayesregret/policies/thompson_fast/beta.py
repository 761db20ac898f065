"""Beta posteriors for Thompson sampling with near and far arms: prepared draws, tail bounds, and leases.

A Beta variable is below a threshold with probability at most its density there, divided by the rate at which the log
density falls farther down. That rate is linear in the leader's successes and failures, and the log density is concave
in them, so it stays below its tangent. Hence the probability is small as long as two linear functions are negative.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import choose_arm, current_mean
from bayesregret.contracts.fast import keeps_lead, pseudo_counts, take_lead
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import log
from bayesregret.numerics.beta_tails import beta_above, beta_tail_bound, density_bound, rate_of_fall
from bayesregret.policies.thompson_fast.beta_sampler import PREPARED, prepare_beta, prepared_beta
from bayesregret.policies.thompson_fast.near_and_far import (
    ANY_ABOVE,
    HEAD,
    LEASE,
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

U = np.uint64
# A lease requires the log density to fall at this fraction, or more, of its rate when the threshold was set.
RATE_KEPT = 0.75
# Bounds on the probability of the tail, over that of a lease, beyond which there is nothing but rounding error.
# Pseudo-counts of 1e30 lead there.
SMALLEST_RATIO, LARGEST_RATIO = 1e-100, 1e100


class NearAndFarBeta(NamedTuple):
    """Settings of near_and_far.py for Beta posteriors."""

    reach: float  # the threshold is this many standard deviations below the highest mean
    near_probability: float
    alone_probability: float
    tail_probability: float


NEAR_AND_FAR_BETA = NearAndFarBeta(3.0, 0.22, 0.65, 0.02)


class BetaLease(NamedTuple):
    """Two linear functions of an arm's pulls and successes; the lease holds while neither is positive."""

    until: Any  # a round
    density: Any
    density_by_pull: Any
    density_by_success: Any
    fall: Any
    fall_by_pull: Any
    fall_by_success: Any


choose_arm.implement(NearAndFarBeta)(choose_near_and_far)
take_lead.implement(NearAndFarBeta)(take_near_and_far_lead)


def scratch_for_beta(arms: int) -> int:
    return PREPARED * arms


@prepare_draws.implement(NearAndFarBeta)
def prepare_beta_draws(policy, model, stats, arm):
    a, b = pseudo_counts(model, stats, arm)
    prepare_beta(a, b, stats.scratch, arm * U(PREPARED))


@prepared_draw.implement(NearAndFarBeta)
def prepared_beta_draw(policy, stats, arm, stream):
    return prepared_beta(stats.scratch, U(arm) * U(PREPARED), stream)


@tail_bound.implement(NearAndFarBeta)
def bound_beta_tail(policy, model, stats, arm, value):
    a, b = pseudo_counts(model, stats, arm)
    return beta_tail_bound(a, b, value)


@draw_above.implement(NearAndFarBeta)
def draw_beta_above(policy, model, stats, arm, value, bound, rate, stream):
    a, b = pseudo_counts(model, stats, arm)
    return beta_above(a, b, value, bound, rate, stream)


@threshold_of.implement(NearAndFarBeta)
def beta_threshold(policy, model, stats, leader):
    mean = current_mean(model, stats, leader)
    a, b = pseudo_counts(model, stats, leader)
    return mean - policy.reach * math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))


@keeps_lead.implement(NearAndFarBeta)
def beta_is_likely_above(policy, model, lease, round_, arm, count, total):
    density = lease.density + lease.density_by_pull * count + lease.density_by_success * total
    fall = lease.fall + lease.fall_by_pull * count + lease.fall_by_success * total
    return max(density, fall) <= 0.0


@lease_until.implement(NearAndFarBeta)
def beta_lease_until(policy, stats, until):
    memory = stats.memory
    return BetaLease(
        until,
        memory[LEASE],
        memory[LEASE + 1],
        memory[LEASE + 2],
        memory[LEASE + 3],
        memory[LEASE + 4],
        memory[LEASE + 5],
    )


@set_lease.implement(NearAndFarBeta)
def set_beta_lease(policy, model, stats, leader, threshold, lease):
    a, b = pseudo_counts(model, stats, leader)
    if a >= 1.0 and b >= 1.0 and 0.0 < threshold < 1.0:
        set_tangent(policy, stats, leader, a, b, threshold, lease)


@rarely_called
def set_tangent(policy, stats, leader, a, b, threshold, lease):
    """Write the lease's linear functions, which show whether the leader's draw is likely to exceed the threshold, for
    its current data and for later data. Where rounding has left nothing of the density, there is no lease."""
    least_fall = RATE_KEPT * rate_of_fall(b, a, 1.0 - threshold)
    if least_fall <= 0.0:
        return
    ratio = density_bound(a, b, threshold) / (policy.tail_probability * least_fall)
    if not SMALLEST_RATIO <= ratio <= LARGEST_RATIO:
        return
    pulls, successes = stats.counts[leader], stats.totals[leader]
    by_success = log(threshold) + digamma_rise(a, a + b)
    by_failure = log(1.0 - threshold) + digamma_rise(b, a + b)
    lease[1], lease[2] = by_failure, by_success - by_failure
    lease[0] = log(ratio)
    lease[0] -= lease[1] * pulls + lease[2] * successes
    lease[4], lease[5] = 1.0 / (1.0 - threshold), -1.0 / (threshold * (1.0 - threshold))
    lease[3] = least_fall * (1.0 - 1.0 / RATE_KEPT) - (lease[4] * pulls + lease[5] * successes)


@jitable
def digamma_rise(x, y):
    """Upper bound on digamma(y) - digamma(x), from the asymptotic series, whose errors have known signs."""
    return log(y / x) - 0.5 / y + 0.5 / x + 1.0 / (12.0 * x * x)


@rarely_called
def draw_below(model, stats, arm, value, bound, stream):
    """With probability P(arm < value) / bound, draw the arm's mean reward given that it is below `value`; otherwise
    return inf. Also return the next stream."""
    a, b = pseudo_counts(model, stats, arm)
    rate = rate_of_fall(b, a, 1.0 - value)
    short, stream = beta_above(b, a, 1.0 - value, bound, rate, stream)
    return 1.0 - short, stream


@choose_given_event.implement(NearAndFarBeta)
@rarely_called
def choose_given_beta_event(policy, model, stats, stream):
    leader, threshold = U(stats.memory[HEAD]), stats.memory[THRESHOLD]
    in_tail, u, stream = draw_event(policy, stats, stream)
    value = math.inf
    if in_tail:
        value, stream = draw_below(model, stats, leader, threshold, policy.tail_probability, stream)
    if value > threshold:  # the tail has less probability than its bound
        if u >= stats.memory[ANY_ABOVE]:
            return leader, stream
        value = 0.0
        while value <= threshold:
            value, stream = prepared_draw(policy, stats, leader, stream)
    return compare_with_far(policy, model, stats, u, leader, value, stream)
