"""Thompson sampling (Thompson 1933): draw every arm's mean from its posterior, take the highest.

Most draws need not be made. Arms that are likely to be highest are near ones, and are drawn. Let a level lie below them
and above the others, the far ones, and let bounds be known of the chances that these exceed it. If a coin says that
none does, and a near arm's draw does, then the highest of the near ones is taken. Otherwise the far ones are drawn,
given what the coin said. So the arm that is taken has the law that it should have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret.contracts import (
    PREPARED,
    choose_arm,
    choose_linear,
    draw_above,
    known_mean,
    means_at,
    normal_deviation,
    posterior_draw,
    posterior_variance,
    prepare_draws,
    prepared_draw,
    tail_bound,
)
from bayesregret.dispatch import jitable
from bayesregret.policies.linear_indices import draw_normals, first_highest
from bayesregret.policies.policy import BelievingPolicy
from bayesregret.rng import uniform
from bayesregret.special import make_special_functions_ready

if TYPE_CHECKING:
    from bayesregret.models import Bandit

# What `memory` holds: the level, the chance that no far arm exceeds it by their bounds, how often this level failed,
# the rewards of far arms when they were last looked at, the rewards in all at which arms are sorted anew, and the place
# of the first far arm. After that all arms, the near ones first; in the same order, their bounds, and their counts when
# they were bounded.
LEVEL, NONE_ABOVE, FAILURES, FAR_PULLS, SORT_AT, FIRST_FAR, HEAD = range(7)
# What `scratch` holds of each arm: what its draws need, and the count it is for, plus 1.
PER_ARM = PREPARED + 1
# Arms are sorted anew after as many rewards as this share of all so far, or so many, or if the level failed so often.
SHARE_OF_REWARDS, FEWEST_REWARDS, MOST_FAILURES = 3, 16, 32.0


class HighestDraw(NamedTuple):
    """For beliefs that can be drawn from, and no more."""


class LikelyHighest(NamedTuple):
    """For beliefs whose draws can be prepared, and that have bounds of their tails."""

    reach: float  # the level is so many deviations below the highest mean
    near_chance: float  # an arm is near if it exceeds the level with more than this chance


# A near arm costs a draw in every round, a far one all that is done when it may exceed the level. A Beta draw costs
# five times a normal one.
BY_BOUNDS, BY_NORMALS = LikelyHighest(2.0, 0.2), LikelyHighest(2.0, 0.03)


@choose_arm.implement(HighestDraw)
def choose_highest_draw(policy, model, known, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(known.counts.shape[0]):
        value, stream = posterior_draw(model, known, arm, stream)
        if value > highest:
            best, highest = arm, value
    return best, stream


@choose_linear.implement(HighestDraw)
def choose_highest_linear_draw(policy, posterior, known, round_, stream):
    """One draw of the parameter is a draw of all arms."""
    rank, columns = posterior.roots.shape
    xi, means = known.scratch[columns : columns + rank], known.scratch[:columns]
    stream = draw_normals(xi, stream)
    means_at(posterior, xi, means)
    return first_highest(means), stream


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
        value, stream = draw(model, known, arm, stream)
        near_pulls += counts[arm]
        # Without a branch: which arm is highest cannot be foretold.
        best, highest = (arm if value > highest else best), max(highest, value)
    if known.received[0] - near_pulls != memory[FAR_PULLS]:
        look_at_far_arms(model, known)
    coin, stream = uniform(stream)
    if coin < memory[NONE_ABOVE] and highest > memory[LEVEL]:
        return best, stream
    return draw_far_arms(model, known, coin, best, highest, stream)


@jitable
def draw(model, known, arm, stream):
    """A draw from an arm's posterior; draws are prepared anew when the arm has new data."""
    prepared = known.scratch[arm * PER_ARM : arm * PER_ARM + PER_ARM]
    if prepared[PREPARED] != known.counts[arm] + 1.0:
        prepared[PREPARED] = known.counts[arm] + 1.0
        prepare_draws(model, known, arm, prepared)
    return prepared_draw(model, prepared, stream)


@jitable
def sort_arms(policy, model, known):
    """Set the level, and tell near arms from far ones."""
    memory, arms = known.memory, known.counts.shape[0]
    leader, highest = 0, -math.inf
    for arm in range(arms):
        mean = known_mean(model, known, arm)
        if mean > highest:
            leader, highest = arm, mean
    level = highest - policy.reach * math.sqrt(posterior_variance(model, known, leader))
    near, far = HEAD, HEAD + arms
    for arm in range(arms):
        bound = tail_bound(model, known, arm, level)
        if arm == leader or bound > policy.near_chance:
            place = near
            near += 1
        else:
            far -= 1
            place = far
        memory[place], memory[place + arms], memory[place + 2 * arms] = arm, bound, known.counts[arm]
    memory[LEVEL], memory[FIRST_FAR], memory[FAILURES] = level, far, 0.0
    memory[SORT_AT] = known.received[0] + max(FEWEST_REWARDS, known.received[0] // SHARE_OF_REWARDS)
    look_at_far_arms(model, known)


@jitable
def look_at_far_arms(model, known):
    """New bounds of those with new data."""
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[arms:], memory[2 * arms :]
    none_above, pulls = 1.0, 0
    for place in range(int(memory[FIRST_FAR]), HEAD + arms):
        arm = int(memory[place])
        if stamps[place] != known.counts[arm]:
            bounds[place], stamps[place] = tail_bound(model, known, arm, memory[LEVEL]), known.counts[arm]
        none_above *= 1.0 - bounds[place]
        pulls += known.counts[arm]
    memory[NONE_ABOVE], memory[FAR_PULLS] = none_above, pulls


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
        value, stream = draw(model, known, arm, stream)
        if value <= level:
            return value, stream


@dataclass(frozen=True)
class Thompson(BelievingPolicy):
    """Each arm is taken with the chance that it is the best one, given the data.

    `prior` is a bandit whose prior the policy believes in, the true one if None.

    >>> Thompson()
    Thompson(prior=None)
    """

    name: ClassVar[str] = "thompson"
    needs: ClassVar[tuple[Any, ...]] = (posterior_draw,)
    prior: Bandit | None = None

    def settings(self, bandit: Bandit, horizon: int | None) -> HighestDraw | LikelyHighest:
        belief = type(self.belief(bandit))
        if all(belief in function.bodies for function in (posterior_variance, prepared_draw, tail_bound, draw_above)):
            make_special_functions_ready()
            return BY_NORMALS if belief in normal_deviation.bodies else BY_BOUNDS
        return HighestDraw()

    def memory(self, bandit: Bandit) -> int:
        return HEAD + 3 * bandit.arms

    def scratch(self, bandit: Bandit) -> int:
        return PER_ARM * bandit.arms
