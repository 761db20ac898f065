"""Thompson sampling on Beta posteriors: likely_highest.py, and that a leader is likely to stay above a level.

The chance that a Beta variable is below a level is at most its density there over the rate at which the density's
logarithm falls farther down. That rate is linear in the leader's successes and failures, and the logarithm of the
density is concave in them: it stays below its tangent. So two linear functions tell how long the chance is small.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts import choose_arm, current_mean, keeps_lead, pseudo_counts, take_lead
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.numerics.beta_tails import beta_above, beta_tail_bound, density_bound, rate_of_fall
from bayesregret.policies.thompson_fast.beta_sampler import PREPARED, prepare_beta, prepared_beta
from bayesregret.policies.thompson_fast.near_and_far import (
    HEAD,
    LEVEL,
    LIKELY,
    SOME_ABOVE,
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

U = np.uint64


class LikelyHighestBeta(NamedTuple):
    reach: float  # the level is so many deviations below the highest mean
    near_chance: float  # an arm is near if it exceeds the level with more than this chance
    lone_chance: float  # none but the leader is near if no other exceeds the level with at least this chance
    tail_chance: float  # a leader with a lease is below the level at most with this chance


# A near arm costs a draw in every round that is not leased, a failing coin all that is done then.
BY_BETAS = LikelyHighestBeta(3.0, 0.22, 0.65, 0.02)
# The logarithm of a density shall fall with at least this share of the rate that it had when the level was set.
RATE_KEPT = 0.75


class Lease(NamedTuple):
    """Two linear functions of an arm's pulls and successes; none may be positive."""

    until: Any  # a round
    density: Any
    density_by_pull: Any
    density_by_success: Any
    fall: Any
    fall_by_pull: Any
    fall_by_success: Any


choose_arm.implement(LikelyHighestBeta)(choose_likely_highest)
take_lead.implement(LikelyHighestBeta)(take_likely_lead)


@prepare_draws.implement(LikelyHighestBeta)
def prepare_beta_draws(policy, model, stats, arm):
    a, b = pseudo_counts(model, stats, arm)
    prepare_beta(a, b, stats.scratch, arm * U(PREPARED))


@lease_until.implement(LikelyHighestBeta)
def lease_by_tangent(policy, model, stats, until):
    memory = stats.memory
    return Lease(
        until,
        memory[LIKELY],
        memory[LIKELY + 1],
        memory[LIKELY + 2],
        memory[LIKELY + 3],
        memory[LIKELY + 4],
        memory[LIKELY + 5],
    )


@keeps_lead.implement(LikelyHighestBeta)
def is_likely_above(policy, model, lease, round_, arm, count, total):
    density = lease.density + lease.density_by_pull * count + lease.density_by_success * total
    fall = lease.fall + lease.fall_by_pull * count + lease.fall_by_success * total
    return max(density, fall) <= 0.0


@sort_arms.implement(LikelyHighestBeta)
@rarely_called
def sort_betas(policy, model, stats):
    leader, mean = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        other = current_mean(model, stats, arm)
        leader, mean = (arm if other > mean else leader), max(mean, other)
    a, b = pseudo_counts(model, stats, leader)
    level = mean - policy.reach * math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    stats.memory[LIKELY], stats.memory[LIKELY + 1 : HEAD] = 1.0, 0.0  # no lease
    if line_up(policy, model, stats, U(leader), level) > 1.0 - policy.lone_chance:
        bring_near(stats, policy.near_chance)
    elif a >= 1.0 and b >= 1.0 and 0.0 < level < 1.0:
        lay_tangent(policy, stats, leader, a, b, level)
    look_at_far_arms(policy, model, stats)


@rarely_called
def lay_tangent(policy, stats, leader, a, b, level):
    """What tells whether the leader's draw is likely to be above the level, for the data that it has and will have."""
    lease = stats.memory[LIKELY:HEAD]
    least_fall = RATE_KEPT * rate_of_fall(b, a, 1.0 - level)
    if least_fall <= 0.0:
        return
    pulls, successes = stats.counts[leader], stats.totals[leader]
    by_success = math.log(level) + digamma_rise(a, a + b)
    by_failure = math.log(1.0 - level) + digamma_rise(b, a + b)
    lease[1], lease[2] = by_failure, by_success - by_failure
    lease[0] = math.log(density_bound(a, b, level) / (policy.tail_chance * least_fall))
    lease[0] -= lease[1] * pulls + lease[2] * successes
    lease[4], lease[5] = 1.0 / (1.0 - level), -1.0 / (level * (1.0 - level))
    lease[3] = least_fall * (1.0 - 1.0 / RATE_KEPT) - (lease[4] * pulls + lease[5] * successes)


@jitable
def digamma_rise(x, y):
    """At least the digamma function at y less that at x, by its asymptotic series, whose errors have known signs."""
    return math.log(y / x) - 0.5 / y + 0.5 / x + 1.0 / (12.0 * x * x)


@tail_bound.implement(LikelyHighestBeta)
def bound_of_beta_tail(policy, model, stats, arm, value):
    a, b = pseudo_counts(model, stats, arm)
    return beta_tail_bound(a, b, value)


@draw_above.implement(LikelyHighestBeta)
def draw_beta_above(policy, model, stats, arm, value, bound, rate, stream):
    a, b = pseudo_counts(model, stats, arm)
    return beta_above(a, b, value, bound, rate, stream)


@prepared_draw.implement(LikelyHighestBeta)
def prepared_beta_draw(policy, stats, arm, stream):
    return prepared_beta(stats.scratch, U(arm) * U(PREPARED), stream)


@draw_what_failed.implement(LikelyHighestBeta)
@rarely_called
def draw_failed_beta(policy, model, stats, stream):
    leader, level = U(stats.memory[HEAD]), stats.memory[LEVEL]
    in_tail, coin, stream = failed_coins(policy, stats, stream)
    value = math.inf
    if in_tail:
        a, b = pseudo_counts(model, stats, leader)
        rate = rate_of_fall(b, a, 1.0 - level)
        short, stream = beta_above(b, a, 1.0 - level, policy.tail_chance, rate, stream)
        value = 1.0 - short
    if value > level:  # the tail has less than its bound
        if coin >= stats.memory[SOME_ABOVE]:
            return leader, stream
        value = 0.0
        while value <= level:
            value, stream = prepared_draw(policy, stats, leader, stream)
    return settle(policy, model, stats, coin, leader, value, stream)
