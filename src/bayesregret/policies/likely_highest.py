"""The arm with the highest draw from the posteriors, when most draws are not made.

Arms that are likely to be highest are near ones, and are drawn. Let a level lie below them and above the others, the
far ones, and let bounds be known of the chances that these exceed it. If a coin says that none does, and a near arm's
draw does, then the highest of the near ones is taken. Otherwise the far ones are drawn, given what the coin said. So
the arm that is taken has the law that it should have.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bayesregret.contracts import choose_arm, draw_above, known_mean, posterior_draw, posterior_variance, tail_bound
from bayesregret.dispatch import jitable
from bayesregret.rng import uniform

# What `memory` holds: the level, the chance that no far arm exceeds it by their bounds, how often this level failed,
# the rewards of far arms when they were last looked at, the rewards in all at which arms are sorted anew, how many
# arms are near, and the round in which a lease fails, or 0. After that the near arms, each far arm's bound, or NEAR for
# near ones, and its count at that time.
LEVEL, NONE_ABOVE, FAILURES, FAR_PULLS, SORT_AT, NEARBY, FAILS_AT, HEAD = range(8)
NEAR = -1.0
# Arms are sorted anew after as many rewards as this share of all so far, or so many, or if the level failed so often.
SHARE_OF_REWARDS, FEWEST_REWARDS, MOST_FAILURES = 3, 8, 16.0


def memory_for_likely(arms: int) -> int:
    return HEAD + 3 * arms


class LikelyHighest(NamedTuple):
    """For beliefs that have bounds of their tails."""

    reach: float  # the level is so many deviations below the highest mean
    near_chance: float  # an arm is near if it exceeds the level with more than this chance


@choose_arm.implement(LikelyHighest)
def choose_likely_highest(policy, model, known, round_, stream):
    memory, counts = known.memory, known.counts
    if known.received[0] >= memory[SORT_AT]:
        sort_arms(policy, model, known)
    best, highest, near_pulls = 0, -math.inf, 0
    for place in range(HEAD, HEAD + int(memory[NEARBY])):
        arm = int(memory[place])
        near_pulls += counts[arm]
        value, stream = posterior_draw(model, known, arm, stream)
        if value > highest:
            best, highest = arm, value
    return highest_of_all(model, known, near_pulls, best, highest, stream)


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
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[HEAD + arms : HEAD + 2 * arms], memory[HEAD + 2 * arms :]
    leader = 0
    for arm in range(1, arms):
        if known_mean(model, known, arm) > known_mean(model, known, leader):
            leader = arm
    level = known_mean(model, known, leader) - policy.reach * math.sqrt(posterior_variance(model, known, leader))
    near = 0
    for arm in range(arms):
        bounds[arm], stamps[arm] = tail_bound(model, known, arm, level), known.counts[arm]
        if arm == leader or bounds[arm] > policy.near_chance:
            bounds[arm], memory[HEAD + near] = NEAR, arm
            near += 1
    use_level(model, known, level, near)


@jitable
def use_level(model, known, level, near):
    """So many arms being near, until arms are sorted anew."""
    memory = known.memory
    memory[LEVEL], memory[NEARBY], memory[FAILURES] = level, near, 0.0
    memory[SORT_AT] = known.received[0] + max(FEWEST_REWARDS, known.received[0] // SHARE_OF_REWARDS)
    look_at_far_arms(model, known)


@jitable
def look_at_far_arms(model, known):
    """New bounds of those with new data; a lease by the old ones is over."""
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[HEAD + arms : HEAD + 2 * arms], memory[HEAD + 2 * arms :]
    none_above, pulls = 1.0, 0
    for arm in range(arms):
        if bounds[arm] != NEAR:
            if stamps[arm] != known.counts[arm]:
                bounds[arm], stamps[arm] = tail_bound(model, known, arm, memory[LEVEL]), known.counts[arm]
            none_above *= 1.0 - bounds[arm]
            pulls += known.counts[arm]
    memory[NONE_ABOVE], memory[FAR_PULLS], memory[FAILS_AT] = none_above, pulls, 0.0


@jitable
def draw_far_arms(model, known, coin, best, highest, stream):
    """The arm with the highest draw, that of the near ones being `highest`.

    The coin tells the first arm that may exceed the level, by the bounds of their chances; those after it have coins of
    their own. Only if all stay below it, the near ones too, must they be drawn there.
    """
    memory, arms = known.memory, known.counts.shape[0]
    level = memory[LEVEL]
    none_so_far = 1.0
    for arm in range(arms):
        bound = memory[HEAD + arms + arm]
        if bound != NEAR:
            if coin < none_so_far:
                none_so_far *= 1.0 - bound
                may_exceed = coin >= none_so_far
            else:
                u, stream = uniform(stream)
                may_exceed = u < bound
            if may_exceed:
                value, stream = draw_above(model, known, arm, level, bound, stream)
                if value > highest:
                    best, highest = arm, value
    if highest <= level:
        for arm in range(arms):
            if memory[HEAD + arms + arm] != NEAR:
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
