"""The arm with the highest draw from the posteriors, when most draws are not made.

Arms that are likely to be highest are near ones, and are drawn. Let a level lie below them and above the others, the
far ones, and let bounds be known of the chances that these exceed it. If a coin says that none does, and a near arm's
draw does, then the highest of the near ones is taken. Otherwise the far ones are drawn, given what the coin said. So
the arm that is taken has the law that it should have.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bayesregret.contracts import (
    PREPARED,
    choose_arm,
    draw_above,
    known_mean,
    posterior_draw,
    posterior_variance,
    prepare_draws,
    prepared_draw,
    tail_bound,
)
from bayesregret.dispatch import jitable
from bayesregret.rng import uniform

# What `memory` holds: the level, the chance that no far arm exceeds it by their bounds, how often this level failed,
# the rewards of far arms when they were last looked at, the rewards in all at which arms are sorted anew, the place of
# the first far arm, and the round in which a lease fails, or 0. After that all arms, the near ones first, and the one
# with the highest mean before all; in the same order, their bounds, and their counts when they were bounded.
LEVEL, NONE_ABOVE, FAILURES, FAR_PULLS, SORT_AT, FIRST_FAR, FAILS_AT, HEAD = range(8)
# What `scratch` holds of each arm: what its draws need, and the count it is for, plus 1.
PER_ARM = PREPARED + 1
# Arms are sorted anew after as many rewards as this share of all so far, or so many, or if the level failed so often.
SHARE_OF_REWARDS, FEWEST_REWARDS, MOST_FAILURES = 3, 16, 32.0


def memory_for_likely(arms: int) -> int:
    return HEAD + 3 * arms


def scratch_for_likely(arms: int) -> int:
    return PER_ARM * arms


class LikelyHighest(NamedTuple):
    """For beliefs whose draws can be prepared, and that have bounds of their tails."""

    reach: float  # the level is so many deviations below the highest mean
    near_chance: float  # an arm is near if it exceeds the level with more than this chance


@choose_arm.implement(LikelyHighest)
def choose_likely_highest(policy, model, known, round_, stream):
    memory, counts = known.memory, known.counts
    if known.received[0] >= memory[SORT_AT]:
        sort_arms(policy, model, known)
    best = int(memory[HEAD])
    highest, stream = draw(model, known, best, stream)
    near_pulls = counts[best]
    for place in range(HEAD + 1, int(memory[FIRST_FAR])):
        arm = int(memory[place])
        near_pulls += counts[arm]
        value, stream = draw(model, known, arm, stream)
        # Without a branch: which arm is highest cannot be foretold.
        best, highest = (arm if value > highest else best), max(highest, value)
    return highest_of_all(model, known, near_pulls, best, highest, stream)


@jitable
def draw(model, known, arm, stream):
    """A draw from an arm's posterior; draws are prepared anew when the arm has new data."""
    prepared = known.scratch[arm * PER_ARM : arm * PER_ARM + PER_ARM]
    if prepared[PREPARED] != known.counts[arm] + 1.0:
        prepared[PREPARED] = known.counts[arm] + 1.0
        prepare_draws(model, known, arm, prepared)
    return prepared_draw(model, prepared, stream)


@jitable
def highest_of_all(model, known, near_pulls, best, highest, stream):
    """The arm with the highest draw, when near ones are drawn."""
    memory = known.memory
    if known.received[0] - near_pulls != memory[FAR_PULLS]:
        look_at_far_arms(model, known)
    coin, stream = uniform(stream)
    if coin < memory[NONE_ABOVE] and highest > memory[LEVEL]:
        return best, stream
    return draw_far_arms(model, known, coin, best, highest, stream)


@jitable
def sort_arms(policy, model, known):
    """Set the level, and tell near arms from far ones."""
    leader, mean = 0, -math.inf
    for arm in range(known.counts.shape[0]):
        other = known_mean(model, known, arm)
        if other > mean:
            leader, mean = arm, other
    level = mean - policy.reach * math.sqrt(posterior_variance(model, known, leader))
    line_up(model, known, leader, level)
    bring_near(known, policy.near_chance)
    look_at_far_arms(model, known)


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
