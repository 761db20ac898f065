"""Thompson sampling on Beta and normal posteriors without most of the draws.

Near arms, those likely to have the highest draw, are drawn. For the others, the far arms, exponential bounds are known
on the probabilities that they exceed a threshold or anything above it. One uniform draw decides whether a far arm may
exceed the highest draw of the near ones. Usually none does, and the near arm is chosen. Otherwise these far arms are
drawn, conditionally on the uniform draw. So the chosen arm has exactly the distribution of Thompson sampling.

If the leader is far ahead, all other arms are far, and in most rounds not even the leader is drawn. While the
probability that its draw is below the threshold has a known bound, one Bernoulli trial per round decides whether an
unlikely event happens: the leader's draw is in its tail, or a far arm may exceed the threshold. Without an event the
leader is chosen. One geometric draw replaces the trials of many rounds: it gives the round of the next event. This is
the leader's lease. It ends when the leader comes too close to the threshold, or when the trial's probability changes.

This file has what all posteriors share; beta.py and normal.py have the rest.
"""

from __future__ import annotations

import math

import numpy as np

from bayesregret import checks
from bayesregret.contracts import current_mean
from bayesregret.contracts.fast import keeps_lead, take_lead
from bayesregret.dispatch import contract, jitable, rarely_called
from bayesregret.elementary import log
from bayesregret.rng import uniform

U = np.uint64
# Layout of `memory`: the threshold; an upper bound on the probability that a far arm exceeds it; the smallest rate at
# which these probabilities fall above it; the number of times that far arms had to be drawn; the number of rewards at
# which arms are sorted again; the place of the first far arm; the round of the next unlikely event, or 0; and the
# numbers of the lease, if it needs any. After that all arms, the near ones first, the leader before all; in the same
# order their bounds, their rates, and their counts when they were bounded (stamps). The leader has no bound: in its
# place is its total when arms were sorted, and its stamp is its count then. Finally each arm's place.
THRESHOLD, ANY_ABOVE, LEAST_RATE, MISSES, SORT_AT, FIRST_FAR, EVENT_AT, LEASE = range(8)
HEAD = LEASE + 6
BOUNDS, RATES, STAMPS, PLACES = U(1), U(2), U(3), U(4)  # offsets, in multiples of the number of arms
# Arms are sorted again after this fraction of all rewards so far, after this number, or after this many misses.
FRACTION_OF_REWARDS, FEWEST_REWARDS, MOST_MISSES = 2, 32, 16.0
# Bounds and rates above this are treated as unknown: saved agents hold no larger numbers.
HIGHEST_RATE = checks.LARGEST


def memory_for_near_and_far(arms: int) -> int:
    return HEAD + (int(PLACES) + 1) * arms


# Settings have a `near_probability`: an arm is near if it may exceed the threshold with a larger probability; an
# `alone_probability`: the leader alone is near if no other arm exceeds the threshold with this probability; and a
# `tail_probability`: an upper bound on the probability that a leader with a lease is below the threshold. They change
# the speed, not the distribution. A near arm costs a draw in every round without a lease, an unlikely event all the
# draws that it causes. For each class of settings these functions are implemented:


@contract(returns="nothing")
def prepare_draws(policy, model, stats, arm):
    """Write to `scratch` the numbers that draws of an arm with new data need."""


@contract(returns="value, stream")
def prepared_draw(policy, stats, arm, stream):
    """Draw the arm's mean reward from its posterior; return it and the next stream."""


@contract(returns="threshold")
def threshold_of(policy, model, stats, leader):
    """Threshold below the leader's posterior mean."""


@contract(returns="nothing")
def set_lease(policy, model, stats, leader, threshold, lease):
    """Write the numbers that `lease_until` needs, if any; they start as 1 and zeros, which is no lease."""


@contract(returns="lease")
def lease_until(policy, stats, until):
    """Return the leader's lease up to a round; while it `keeps_lead`, its draw is below the threshold with probability
    at most `tail_probability`."""


@contract(returns="bound, rate")
def tail_bound(policy, model, stats, arm, value):
    """Return a bound and a rate such that the arm's posterior density at value + x, for all x >= 0, is at most
    bound * rate * exp(-rate * x); so its mean reward exceeds value + x with probability at most bound * exp(-rate * x).

    Return 1 and 0 where no such bound is known.
    """


@contract(returns="value, stream")
def draw_above(policy, model, stats, arm, value, bound, rate, stream):
    """With probability P(arm > value) / bound, draw the arm's mean reward given that it exceeds `value`; otherwise
    return -inf. Also return the next stream.

    `bound` and `rate` are those of `tail_bound`, or a larger bound with the same rate; if the bound is 1, the rate does
    not matter.
    """


@contract(returns="arm, stream")
def choose_given_event(policy, model, stats, stream):
    """Choose the arm with the highest draw, given that the leader is in its tail or a far arm may exceed the
    threshold."""


def choose_near_and_far(policy, model, stats, round_, stream):
    """For `choose_arm`: as `take_lead` does; the lease is in `memory`."""
    arm, _, stream = take_lead(policy, model, stats, U(stats.counts.shape[0]), round_, stream)
    return np.int64(arm), stream


def take_near_and_far_lead(policy, model, stats, updated, round_, stream):
    """For `take_lead`."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    if updated < arms:
        prepare_draws(policy, model, stats, updated)
    else:
        for arm in range(arms):
            prepare_draws(policy, model, stats, arm)
    if stats.received[0] >= memory[SORT_AT]:
        sort_arms(policy, model, stats)
    elif far_arm_updated(stats, updated):
        update_far_bounds(policy, model, stats)
    if memory[FIRST_FAR] == HEAD + 1:
        leader = U(memory[HEAD])
        lease, count, total = lease_until(policy, stats, round_), stats.counts[leader], stats.totals[leader]
        is_likely = keeps_lead(policy, model, lease, round_, leader, count, total)
        if is_likely and 1.0 - memory[ANY_ABOVE] >= policy.alone_probability:
            return lead_alone(policy, model, stats, round_, stream)
        if memory[EVENT_AT] > 0.0:  # there was a lease: the threshold is too high now
            memory[EVENT_AT], memory[SORT_AT] = 0.0, 0.0
    arm, stream = choose_among_near(policy, model, stats, stream)
    return arm, lease_until(policy, stats, round_), stream


@rarely_called
def sort_arms(policy, model, stats):
    """Set the threshold and separate near arms from far ones."""
    leader, mean = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        other = current_mean(model, stats, arm)
        leader, mean = (arm if other > mean else leader), max(mean, other)
    threshold = threshold_of(policy, model, stats, leader)
    stats.memory[LEASE], stats.memory[LEASE + 1 : HEAD] = 1.0, 0.0  # no lease
    if make_others_far(policy, model, stats, U(leader), threshold) > 1.0 - policy.alone_probability:
        bring_near(stats, policy.near_probability)
    else:
        set_lease(policy, model, stats, leader, threshold, stats.memory[LEASE:HEAD])
    update_far_bounds(policy, model, stats)


@jitable
def make_others_far(policy, model, stats, leader, threshold):
    """Make the leader the only near arm; return a bound on the probability that another exceeds the threshold."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    put(stats, U(HEAD), leader)
    memory[U(HEAD) + BOUNDS * arms], memory[U(HEAD) + STAMPS * arms] = stats.totals[leader], stats.counts[leader]
    place, any_above = U(HEAD + 1), 0.0
    for arm in range(arms):
        if arm != leader:
            put(stats, place, arm)
            any_above += bound_far_arm(policy, model, stats, place, arm, threshold)
            place += U(1)
    memory[THRESHOLD], memory[FIRST_FAR], memory[MISSES] = threshold, HEAD + 1, 0.0
    memory[SORT_AT] = stats.received[0] + max(FEWEST_REWARDS, stats.received[0] // FRACTION_OF_REWARDS)
    return any_above


@jitable
def put(stats, place, arm):
    """Put an arm into a place."""
    stats.memory[place], stats.memory[U(HEAD) + PLACES * U(stats.counts.shape[0]) + arm] = arm, place


@rarely_called
def bound_far_arm(policy, model, stats, place, arm, threshold):
    memory, arms = stats.memory, U(stats.counts.shape[0])
    bound, rate = far_bound(policy, model, stats, arm, threshold)
    memory[place + BOUNDS * arms], memory[place + RATES * arms] = bound, rate
    memory[place + STAMPS * arms] = stats.counts[arm]
    return bound


@jitable
def far_bound(policy, model, stats, arm, threshold):
    bound, rate = tail_bound(policy, model, stats, arm, threshold)
    return (bound, rate) if rate <= HIGHEST_RATE and bound <= HIGHEST_RATE else (1.0, 0.0)


@jitable
def bring_near(stats, near_probability):
    """Make those arms near whose bound is larger than this probability."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    first_far = U(HEAD + 1)
    for place in range(U(HEAD + 1), U(HEAD) + arms):
        if memory[place + BOUNDS * arms] > near_probability:
            near, far = U(memory[place]), U(memory[first_far])
            put(stats, first_far, near)
            put(stats, place, far)
            for kind in range(BOUNDS, PLACES):  # near arms do not use theirs
                memory[place + kind * arms] = memory[first_far + kind * arms]
            first_far += U(1)
    memory[FIRST_FAR] = first_far


@jitable
def far_arm_updated(stats, updated):
    """Whether a far arm may have new data."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    if updated < arms:
        return memory[U(HEAD) + PLACES * arms + updated] >= memory[FIRST_FAR]
    for place in range(U(memory[FIRST_FAR]), U(HEAD) + arms):
        if memory[place + STAMPS * arms] != stats.counts[U(memory[place])]:
            return True
    return False


@rarely_called
def update_far_bounds(policy, model, stats):
    """Bound the far arms with new data again, which ends a lease that used the old bounds."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    any_above, least_rate = 0.0, HIGHEST_RATE
    for place in range(U(memory[FIRST_FAR]), U(HEAD) + arms):
        arm = U(memory[place])
        if memory[place + STAMPS * arms] != stats.counts[arm]:
            bound_far_arm(policy, model, stats, place, arm, memory[THRESHOLD])
        any_above += memory[place + BOUNDS * arms]
        least_rate = min(least_rate, memory[place + RATES * arms])
    memory[ANY_ABOVE], memory[LEAST_RATE], memory[EVENT_AT] = any_above, least_rate, 0.0


@jitable
def lead_alone(policy, model, stats, round_, stream):
    """Choose the leader, with a lease, or the arm with the highest draw if this is the round of an unlikely event."""
    memory = stats.memory
    leader = U(memory[HEAD])
    if memory[EVENT_AT] < round_:
        u, stream = uniform(stream)
        waited = log(1.0 - u) / log((1.0 - policy.tail_probability) * (1.0 - memory[ANY_ABOVE]))
        memory[EVENT_AT] = round_ + math.floor(waited)
    if memory[EVENT_AT] > round_:
        sorted_in = round_ + memory[SORT_AT] - stats.received[0]
        until = int(min(memory[EVENT_AT], sorted_in)) - 1
        return leader, lease_until(policy, stats, until), stream
    memory[EVENT_AT] = 0.0
    arm, stream = choose_given_event(policy, model, stats, stream)
    return arm, lease_until(policy, stats, round_), stream


@jitable
def draw_event(policy, stats, stream):
    """Given an event, return whether the leader is in its tail, the uniform draw for the far arms, and the stream."""
    any_above = stats.memory[ANY_ABOVE]
    u, stream = uniform(stream)
    u_far, stream = uniform(stream)
    in_tail = u * (1.0 - (1.0 - policy.tail_probability) * (1.0 - any_above)) < policy.tail_probability
    return in_tail, (u_far if in_tail else any_above * u_far), stream


@jitable
def choose_among_near(policy, model, stats, stream):
    """Choose the arm with the highest draw, by drawing the near arms."""
    best, highest = U(0), -math.inf
    for place in range(U(HEAD), U(stats.memory[FIRST_FAR])):
        arm = U(stats.memory[place])
        value, stream = prepared_draw(policy, stats, arm, stream)
        # Without a branch: the highest arm is unpredictable.
        best, highest = (arm if value > highest else best), max(highest, value)
    u, stream = uniform(stream)
    return compare_with_far(policy, model, stats, u, best, highest, stream)


@jitable
def compare_with_far(policy, model, stats, u, best, highest, stream):
    """Return the arm with the highest draw, given the highest near draw and a uniform draw for all far arms."""
    memory = stats.memory
    excess = highest - memory[THRESHOLD]
    if excess >= 0.0 and memory[ANY_ABOVE] <= u * below_exp(memory[LEAST_RATE] * excess):
        return best, stream
    return draw_far_arms(policy, model, stats, u, best, highest, stream)


@jitable
def below_exp(x):
    """Cubic lower bound on exp(x) for x >= 0, tight for small x."""
    return (1.0 + x) + (x * x) * (0.5 + x * (1.0 / 6.0))


@rarely_called
def draw_far_arms(policy, model, stats, u, best, highest, stream):
    """Return the arm with the highest draw. The uniform draw gives the first far arm that may exceed `highest`, another
    one the next. Below the threshold no bounds are known."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    excess, none_so_far = highest - memory[THRESHOLD], 1.0
    for place in range(U(memory[FIRST_FAR]), U(HEAD) + arms):
        rate, bound = memory[place + RATES * arms], 1.0
        if excess >= 0.0:
            bound = min(1.0, memory[place + BOUNDS * arms] / below_exp(rate * excess))
        none_so_far *= 1.0 - bound
        if 1.0 - u > none_so_far:
            arm = U(memory[place])
            value, stream = draw_above(policy, model, stats, arm, highest, bound, rate, stream)
            if value > highest:
                best, highest, excess = arm, value, value - memory[THRESHOLD]
            u, stream = uniform(stream)
            none_so_far = 1.0
    memory[MISSES] += 1.0
    if memory[MISSES] >= MOST_MISSES:
        memory[SORT_AT] = 0.0
    return best, stream
