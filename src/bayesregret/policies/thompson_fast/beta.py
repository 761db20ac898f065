"""Beta posteriors for Thompson sampling with near and far arms: prepared draws, tail bounds, and leases.

A Beta variable is below a threshold with probability at most its density there, divided by the rate at which the log
density falls farther down. That rate is linear in the leader's successes and failures, and the log density is concave
in them, so it stays below its tangent. Hence the probability is small as long as two linear functions are negative.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.contracts.fast import pseudo_counts
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.numerics.beta_tails import beta_above, beta_tail_bound, density_bound, rate_of_fall
from bayesregret.policies.thompson_fast.beta_sampler import PREPARED, prepare_beta, prepared_beta

U = np.uint64
# A lease requires the log density to fall at this fraction, or more, of its rate when the threshold was set.
RATE_KEPT = 0.75
# Bounds on the probability of the tail, over that of a lease, beyond which there is nothing but rounding error.
# Pseudo-counts of 1e30 lead there.
SMALLEST_RATIO, LARGEST_RATIO = 1e-100, 1e100


class BetaLease(NamedTuple):
    """Two linear functions of an arm's pulls and successes; the lease holds while neither is positive."""

    until: Any  # a round
    density: Any
    density_by_pull: Any
    density_by_success: Any
    fall: Any
    fall_by_pull: Any
    fall_by_success: Any


LEASE_NUMBERS = len(BetaLease._fields) - 1  # without the round


@jitable
def prepare_draws(model, stats, arm):
    """Write to `scratch` the numbers that draws of an arm with new data need."""
    a, b = pseudo_counts(model, stats, arm)
    prepare_beta(a, b, stats.scratch, arm * U(PREPARED))


@jitable
def prepared_draw(stats, arm, stream):
    """Draw the arm's mean reward from its posterior; return it and the next stream."""
    return prepared_beta(stats.scratch, U(arm) * U(PREPARED), stream)


@jitable
def tail_bound(model, stats, arm, value):
    """Return a bound and a rate such that the arm's posterior density at value + x, for all x >= 0, is at most
    bound * rate * exp(-rate * x); so its mean reward exceeds value + x with probability at most bound * exp(-rate * x).

    Return 1 and 0 where no such bound is known.
    """
    a, b = pseudo_counts(model, stats, arm)
    return beta_tail_bound(a, b, value)


@jitable
def draw_above(model, stats, arm, value, bound, rate, stream):
    """With probability P(arm > value) / bound, draw the arm's mean reward given that it exceeds `value`; otherwise
    return -inf. Also return the next stream.

    `bound` and `rate` are those of `tail_bound`, or a larger bound with the same rate; if the bound is 1, the rate does
    not matter.
    """
    a, b = pseudo_counts(model, stats, arm)
    return beta_above(a, b, value, bound, rate, stream)


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
    by_success = math.log(threshold) + digamma_rise(a, a + b)
    by_failure = math.log(1.0 - threshold) + digamma_rise(b, a + b)
    lease[1], lease[2] = by_failure, by_success - by_failure
    lease[0] = math.log(ratio)
    lease[0] -= lease[1] * pulls + lease[2] * successes
    lease[4], lease[5] = 1.0 / (1.0 - threshold), -1.0 / (threshold * (1.0 - threshold))
    lease[3] = least_fall * (1.0 - 1.0 / RATE_KEPT) - (lease[4] * pulls + lease[5] * successes)


@jitable
def digamma_rise(x, y):
    """Upper bound on digamma(y) - digamma(x), from the asymptotic series, whose errors have known signs."""
    return math.log(y / x) - 0.5 / y + 0.5 / x + 1.0 / (12.0 * x * x)


@rarely_called
def draw_below(model, stats, arm, value, bound, stream):
    """With probability P(arm < value) / bound, draw the arm's mean reward given that it is below `value`; otherwise
    return inf. Also return the next stream."""
    a, b = pseudo_counts(model, stats, arm)
    rate = rate_of_fall(b, a, 1.0 - value)
    short, stream = beta_above(b, a, 1.0 - value, bound, rate, stream)
    return 1.0 - short, stream
