"""The arm with the highest draw from the posteriors, when most draws are not made.

Arms that are likely to be highest are near ones, and are drawn. Let a level lie below them and above the others, the
far ones, and let bounds be known of the chances that these exceed it. If a coin says that none does, and a near arm's
draw does, then the highest of the near ones is taken. Otherwise the far ones are drawn, given what the coin said. So
the arm that is taken has the law that it should have.

If the leader is far ahead, all others are far, and not even its own draw is made in most rounds. While the chance that
this is below the level has a known bound, one coin a round tells whether any arm does what is unlikely; if none does,
the leader is taken. The coins of many rounds are one draw: that of the round in which one fails. This is the leader's
lease. It is over as soon as the leader has come too close to the level, or the coin has other chances.

Here is what all posteriors have in common; likely_normal.py and likely_beta.py have the rest.
"""

from __future__ import annotations

import math

import numpy as np

from bayesregret.contracts import draw_above, keeps_lead, posterior_draw, tail_bound
from bayesregret.dispatch import contract, jitable
from bayesregret.rng import uniform

U = np.uint64
# What `memory` holds: the level, the chance that no far arm exceeds it by their bounds, how often this level failed,
# the rewards of far arms when they were last looked at, the rewards in all at which arms are sorted anew, the place of
# the first far arm, the round in which a lease fails, or 0, and what tells whether the leader is likely to stay above
# the level. After that all arms, the near ones first, and the one with the highest mean before all; in the same order,
# their bounds, and their counts when they were bounded.
LEVEL, NONE_ABOVE, FAILURES, FAR_PULLS, SORT_AT, FIRST_FAR, FAILS_AT, LIKELY = range(8)
HEAD = LIKELY + 6
# Arms are sorted anew after as many rewards as this share of all so far, or so many, or if the level failed so often.
SHARE_OF_REWARDS, FEWEST_REWARDS, MOST_FAILURES = 3, 16, 32.0


def memory_for_likely(arms: int) -> int:
    return HEAD + 3 * arms


# Policies have a `lone_chance` and a `tail_chance`, and bodies for these.


@contract
def sort_arms(policy, model, known):
    """Set the level, and tell near arms from far ones: none but the leader is near if no other exceeds the level with
    at least the `lone_chance`."""


@contract
def lease_until(policy, model, known, until):
    """A lease of the leader up to a round: its draw is below the level at most with the `tail_chance` while it
    `keeps_lead`."""


@contract
def highest_of_near(policy, model, known, stream):
    """The arm with the highest draw, when near ones are drawn."""


@contract
def draw_what_failed(policy, model, known, stream):
    """The arm with the highest draw, given that the leader's is in its tail or a far arm may exceed the level."""


@jitable
def take_likely_lead(policy, model, known, round_, stream):
    """The arm with the highest draw, its lease, and the stream."""
    memory = known.memory
    if known.received[0] >= memory[SORT_AT]:
        sort_arms(policy, model, known)
    if memory[FIRST_FAR] == HEAD + 1:
        leader = U(memory[HEAD])
        if known.received[0] - known.counts[leader] != memory[FAR_PULLS]:
            look_at_far_arms(model, known)
        lease, count, total = lease_until(policy, model, known, round_), known.counts[leader], known.totals[leader]
        is_likely = keeps_lead(policy, model, lease, round_, leader, count, total)
        if is_likely and memory[NONE_ABOVE] >= policy.lone_chance:
            return lead_alone(policy, model, known, round_, stream)
        if memory[FAILS_AT] > 0.0:  # it had a lease: the level is too high now
            memory[FAILS_AT], memory[SORT_AT] = 0.0, 0.0
    arm, stream = highest_of_near(policy, model, known, stream)
    return U(arm), lease_until(policy, model, known, round_), stream


@jitable
def lead_alone(policy, model, known, round_, stream):
    """The leader with a lease, or what is taken in the round in which the coin fails."""
    memory = known.memory
    leader = U(memory[HEAD])
    if memory[FAILS_AT] < round_:
        u, stream = uniform(stream)
        waited = math.log(1.0 - u) / math.log((1.0 - policy.tail_chance) * memory[NONE_ABOVE])
        memory[FAILS_AT] = round_ + math.floor(waited)
    if memory[FAILS_AT] > round_:
        sorted_in = round_ + memory[SORT_AT] - known.received[0]
        until = int(min(memory[FAILS_AT], sorted_in)) - 1
        return leader, lease_until(policy, model, known, until), stream
    memory[FAILS_AT] = 0.0
    arm, stream = draw_what_failed(policy, model, known, stream)
    return U(arm), lease_until(policy, model, known, round_), stream


@jitable
def failed_coins(policy, known, stream):
    """Given that one of two did: whether the leader's did, the coin of the far arms, and the stream."""
    none_above = known.memory[NONE_ABOVE]
    u, stream = uniform(stream)
    coin, stream = uniform(stream)
    in_tail = u * (1.0 - (1.0 - policy.tail_chance) * none_above) < policy.tail_chance
    return in_tail, (coin if in_tail else none_above + (1.0 - none_above) * coin), stream


@jitable
def line_up(model, known, leader, level):
    """The leader alone is near; give the chance that no other exceeds the level, by their bounds."""
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[arms:], memory[2 * arms :]
    memory[HEAD], place, none_above = leader, HEAD + 1, 1.0
    for arm in range(arms):
        if arm != leader:
            memory[place], bounds[place], stamps[place] = arm, tail_bound(model, known, arm, level), known.counts[arm]
            none_above *= 1.0 - bounds[place]
            place += 1
    memory[LEVEL], memory[FIRST_FAR], memory[FAILURES] = level, HEAD + 1, 0.0
    memory[SORT_AT] = known.received[0] + max(FEWEST_REWARDS, known.received[0] // SHARE_OF_REWARDS)
    return none_above


@jitable
def bring_near(known, near_chance):
    """Those that exceed the level with more than this chance."""
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[arms:], memory[2 * arms :]
    first_far = HEAD + 1
    for place in range(HEAD + 1, HEAD + arms):
        if bounds[place] > near_chance:
            memory[first_far], memory[place] = memory[place], memory[first_far]
            bounds[place], stamps[place] = bounds[first_far], stamps[first_far]  # near arms have no use for theirs
            first_far += 1
    memory[FIRST_FAR] = first_far


@jitable
def look_at_far_arms(model, known):
    """New bounds of those with new data; a lease by the old ones is over."""
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[arms:], memory[2 * arms :]
    none_above, pulls = 1.0, 0
    for place in range(int(memory[FIRST_FAR]), HEAD + arms):
        arm = int(memory[place])
        if stamps[place] != known.counts[arm]:
            bounds[place], stamps[place] = tail_bound(model, known, arm, memory[LEVEL]), known.counts[arm]
        none_above *= 1.0 - bounds[place]
        pulls += known.counts[arm]
    memory[NONE_ABOVE], memory[FAR_PULLS], memory[FAILS_AT] = none_above, pulls, 0.0


@jitable
def draw_far_arms(model, known, coin, best, highest, stream):
    """The arm with the highest draw, that of the near ones being `highest`.

    The coin tells the first arm that may exceed the level, by the bounds of their chances; another one tells the next.
    Only if all stay below it, the near ones too, must they be drawn there.
    """
    memory, arms = known.memory, known.counts.shape[0]
    level, first_far, bounds = memory[LEVEL], int(memory[FIRST_FAR]), memory[arms:]
    none_so_far = 1.0
    for place in range(first_far, HEAD + arms):
        none_so_far *= 1.0 - bounds[place]
        if coin >= none_so_far:
            arm = int(memory[place])
            value, stream = draw_above(model, known, arm, level, bounds[place], highest, stream)
            if value > highest:
                best, highest = arm, value
            coin, stream = uniform(stream)
            none_so_far = 1.0
    if highest <= level:
        for place in range(first_far, HEAD + arms):
            arm = int(memory[place])
            value, stream = draw_below(model, known, arm, level, stream)
            if value > highest:
                best, highest = arm, value
    memory[FAILURES] += 1.0
    if memory[FAILURES] >= MOST_FAILURES:
        memory[SORT_AT] = 0.0
    return best, stream


@jitable
def draw_below(model, known, arm, level, stream):
    """A draw that does not exceed the level: few are thrown away, or this is rarely asked for."""
    while True:
        value, stream = posterior_draw(model, known, arm, stream)
        if value <= level:
            return value, stream
