"""The arm with the highest draw from the posteriors, when most draws are not made.

Arms that are likely to be highest are near ones, and are drawn. Of the others, the far ones, exponential bounds are
known of the chances that they exceed a level or anything above it. One coin tells whether any may exceed the highest
draw of the near ones. Mostly none does, and that arm is taken. Otherwise those that do are drawn, given what the coin
said. So the arm that is taken has the law that it should have.

If the leader is far ahead, all others are far, and not even its own draw is made in most rounds. While the chance that
this is below the level has a known bound, one coin a round tells whether any arm does what is unlikely; if none does,
the leader is taken. The coins of many rounds are one draw: that of the round in which one fails. This is the leader's
lease. It is over as soon as the leader has come too close to the level, or the coin has other chances.

Here is what all posteriors have in common; likely_normal.py and likely_beta.py have the rest.
"""

from __future__ import annotations

import math

import numpy as np

from bayesregret import checks
from bayesregret.contracts import keeps_lead, take_lead
from bayesregret.dispatch import contract, jitable, rarely_called
from bayesregret.rng import uniform

U = np.uint64
# What `memory` holds: the level, at most the chance that a far arm exceeds it, the least rate at which that falls above
# it, how often this level failed, the rewards in all at which arms are sorted anew, the place of the first far arm, the
# round in which a lease fails, or 0, and what tells whether the leader is likely to stay above the level. After that
# all arms, the near ones first, and the one with the highest mean before all; in the same order, their bounds, their
# rates, and their counts when they were bounded, as stamps; at last each arm's place.
LEVEL, SOME_ABOVE, LEAST_RATE, FAILURES, SORT_AT, FIRST_FAR, FAILS_AT, LIKELY = range(8)
HEAD = LIKELY + 6
BOUNDS, RATES, STAMPS, PLACES = U(1), U(2), U(3), U(4)  # after so many times the number of arms
# Arms are sorted anew after as many rewards as this share of all so far, or so many, or if the level failed so often.
SHARE_OF_REWARDS, FEWEST_REWARDS, MOST_FAILURES = 2, 32, 16.0
# Faster falls are not remembered, nor is any other larger number.
HIGHEST_RATE = checks.LARGEST


def memory_for_likely(arms: int) -> int:
    return HEAD + (int(PLACES) + 1) * arms


# Policies have a `lone_chance` and a `tail_chance`, and bodies for these.


@contract
def sort_arms(policy, model, stats):
    """Set the level, and tell near arms from far ones: none but the leader is near if no other exceeds the level with
    at least the `lone_chance`."""


@contract
def lease_until(policy, model, stats, until):
    """A lease of the leader up to a round: its draw is below the level at most with the `tail_chance` while it
    `keeps_lead`."""


@contract
def tail_bound(policy, model, stats, arm, value):
    """A bound and a rate: given its data, the arm's mean reward has at most the density bound * rate * exp(-rate * x)
    at value + x for every x from 0 on, so that it exceeds value + x at most with the chance bound * exp(-rate * x). Or
    1 and 0, where no such bound is known."""


@contract
def draw_above(policy, model, stats, arm, value, bound, rate, stream):
    """With the chance of exceeding `value` over `bound`, draw the arm's mean reward given that it exceeds it, otherwise
    give -inf; and the stream that comes after. `bound` and `rate` are as from `tail_bound`, but the bound may be any
    higher one; if it is 1, the rate does not matter."""


@contract
def prepare_draws(policy, model, stats, arm):
    """Write into `scratch` what draws of an arm with new data need."""


@contract
def prepared_draw(policy, stats, arm, stream):
    """A draw of the arm's mean reward from its posterior, by what was prepared; and the stream."""


@contract
def draw_what_failed(policy, model, stats, stream):
    """The arm with the highest draw, given that the leader's is in its tail or a far arm may exceed the level."""


def choose_likely_highest(policy, model, stats, round_, stream):
    """For `choose_arm`: all that a lease needs is in `memory`."""
    arm, _, stream = take_lead(policy, model, stats, U(stats.counts.shape[0]), round_, stream)
    return np.int64(arm), stream


def take_likely_lead(policy, model, stats, news, round_, stream):
    """For `take_lead`."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    if news < arms:
        prepare_draws(policy, model, stats, news)
    else:
        for arm in range(arms):
            prepare_draws(policy, model, stats, arm)
    if stats.received[0] >= memory[SORT_AT]:
        sort_arms(policy, model, stats)
    elif has_far_news(stats, news):
        look_at_far_arms(policy, model, stats)
    if memory[FIRST_FAR] == HEAD + 1:
        leader = U(memory[HEAD])
        lease, count, total = lease_until(policy, model, stats, round_), stats.counts[leader], stats.totals[leader]
        is_likely = keeps_lead(policy, model, lease, round_, leader, count, total)
        if is_likely and 1.0 - memory[SOME_ABOVE] >= policy.lone_chance:
            return lead_alone(policy, model, stats, round_, stream)
        if memory[FAILS_AT] > 0.0:  # it had a lease: the level is too high now
            memory[FAILS_AT], memory[SORT_AT] = 0.0, 0.0
    arm, stream = highest_of_near(policy, model, stats, stream)
    return arm, lease_until(policy, model, stats, round_), stream


@jitable
def has_far_news(stats, news):
    """Whether a far arm may have new data."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    if news < arms:
        return memory[U(HEAD) + PLACES * arms + news] >= memory[FIRST_FAR]
    for place in range(U(memory[FIRST_FAR]), U(HEAD) + arms):
        if memory[place + STAMPS * arms] != stats.counts[U(memory[place])]:
            return True
    return False


@jitable
def lead_alone(policy, model, stats, round_, stream):
    """The leader with a lease, or what is taken in the round in which the coin fails."""
    memory = stats.memory
    leader = U(memory[HEAD])
    if memory[FAILS_AT] < round_:
        u, stream = uniform(stream)
        waited = math.log(1.0 - u) / math.log((1.0 - policy.tail_chance) * (1.0 - memory[SOME_ABOVE]))
        memory[FAILS_AT] = round_ + math.floor(waited)
    if memory[FAILS_AT] > round_:
        sorted_in = round_ + memory[SORT_AT] - stats.received[0]
        until = int(min(memory[FAILS_AT], sorted_in)) - 1
        return leader, lease_until(policy, model, stats, until), stream
    memory[FAILS_AT] = 0.0
    arm, stream = draw_what_failed(policy, model, stats, stream)
    return arm, lease_until(policy, model, stats, round_), stream


@jitable
def failed_coins(policy, stats, stream):
    """Given that one of two did: whether the leader's did, the coin of the far arms, and the stream."""
    some_above = stats.memory[SOME_ABOVE]
    u, stream = uniform(stream)
    coin, stream = uniform(stream)
    in_tail = u * (1.0 - (1.0 - policy.tail_chance) * (1.0 - some_above)) < policy.tail_chance
    return in_tail, (coin if in_tail else some_above * coin), stream


@jitable
def line_up(policy, model, stats, leader, level):
    """The leader alone is near; give at most the chance that another exceeds the level."""
    memory = stats.memory
    put(stats, U(HEAD), leader)
    place, some_above = U(HEAD + 1), 0.0
    for arm in range(U(stats.counts.shape[0])):
        if arm != leader:
            put(stats, place, arm)
            some_above += bound_far_arm(policy, model, stats, place, arm, level)
            place += U(1)
    memory[LEVEL], memory[FIRST_FAR], memory[FAILURES] = level, HEAD + 1, 0.0
    memory[SORT_AT] = stats.received[0] + max(FEWEST_REWARDS, stats.received[0] // SHARE_OF_REWARDS)
    return some_above


@jitable
def put(stats, place, arm):
    stats.memory[place], stats.memory[U(HEAD) + PLACES * U(stats.counts.shape[0]) + arm] = arm, place


@rarely_called
def bound_far_arm(policy, model, stats, place, arm, level):
    memory, arms = stats.memory, U(stats.counts.shape[0])
    bound, rate = tail_bound(policy, model, stats, arm, level)
    if not rate <= HIGHEST_RATE:
        bound, rate = 1.0, 0.0
    memory[place + BOUNDS * arms], memory[place + RATES * arms] = bound, rate
    memory[place + STAMPS * arms] = stats.counts[arm]
    return bound


@jitable
def bring_near(stats, near_chance):
    """Those that exceed the level with more than this chance."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    first_far = U(HEAD + 1)
    for place in range(U(HEAD + 1), U(HEAD) + arms):
        if memory[place + BOUNDS * arms] > near_chance:
            near, far = U(memory[place]), U(memory[first_far])
            put(stats, first_far, near)
            put(stats, place, far)
            for kind in range(BOUNDS, PLACES):  # near arms have no use for theirs
                memory[place + kind * arms] = memory[first_far + kind * arms]
            first_far += U(1)
    memory[FIRST_FAR] = first_far


@rarely_called
def look_at_far_arms(policy, model, stats):
    """New bounds of those with new data; a lease by the old ones is over."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    some_above, least_rate = 0.0, HIGHEST_RATE
    for place in range(U(memory[FIRST_FAR]), U(HEAD) + arms):
        arm = U(memory[place])
        if memory[place + STAMPS * arms] != stats.counts[arm]:
            bound_far_arm(policy, model, stats, place, arm, memory[LEVEL])
        some_above += memory[place + BOUNDS * arms]
        least_rate = min(least_rate, memory[place + RATES * arms])
    memory[SOME_ABOVE], memory[LEAST_RATE], memory[FAILS_AT] = some_above, least_rate, 0.0


@jitable
def highest_of_near(policy, model, stats, stream):
    """The arm with the highest draw, when near ones are drawn."""
    best, highest = U(0), -math.inf
    for place in range(U(HEAD), U(stats.memory[FIRST_FAR])):
        arm = U(stats.memory[place])
        value, stream = prepared_draw(policy, stats, arm, stream)
        # Without a branch: which arm is highest cannot be foretold.
        best, highest = (arm if value > highest else best), max(highest, value)
    coin, stream = uniform(stream)
    return settle(policy, model, stats, coin, best, highest, stream)


@jitable
def settle(policy, model, stats, coin, best, highest, stream):
    """The arm with the highest draw, that of the near ones being `highest`, and a coin for all others."""
    memory = stats.memory
    excess = highest - memory[LEVEL]
    if excess >= 0.0 and memory[SOME_ABOVE] <= coin * below_exp(memory[LEAST_RATE] * excess):
        return best, stream
    return draw_far_arms(policy, model, stats, coin, best, highest, stream)


@jitable
def below_exp(x):
    """A cubic that is not above exp(x) for x >= 0, and close to it where that matters."""
    return (1.0 + x) + (x * x) * (0.5 + x * (1.0 / 6.0))


@rarely_called
def draw_far_arms(policy, model, stats, coin, best, highest, stream):
    """The coin tells the first arm that may exceed `highest`, another one the next. Below the level no chances are
    known."""
    memory, arms = stats.memory, U(stats.counts.shape[0])
    excess, none_so_far = highest - memory[LEVEL], 1.0
    for place in range(U(memory[FIRST_FAR]), U(HEAD) + arms):
        rate, chance = memory[place + RATES * arms], 1.0
        if excess >= 0.0:
            chance = min(1.0, memory[place + BOUNDS * arms] / below_exp(rate * excess))
        none_so_far *= 1.0 - chance
        if 1.0 - coin > none_so_far:
            arm = U(memory[place])
            value, stream = draw_above(policy, model, stats, arm, highest, chance, rate, stream)
            if value > highest:
                best, highest, excess = arm, value, value - memory[LEVEL]
            coin, stream = uniform(stream)
            none_so_far = 1.0
    memory[FAILURES] += 1.0
    if memory[FAILURES] >= MOST_FAILURES:
        memory[SORT_AT] = 0.0
    return best, stream
