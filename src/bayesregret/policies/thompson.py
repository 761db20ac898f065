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
    choose_arm,
    choose_linear,
    draw_above,
    known_mean,
    normal_deviation,
    posterior_draw,
    posterior_variance,
    tail_bound,
)
from bayesregret.dispatch import jitable
from bayesregret.policies.linear_thompson import choose_likely_leader, scratch_for_rivals
from bayesregret.policies.policy import BelievingPolicy
from bayesregret.rng import normal, uniform
from bayesregret.special import make_special_functions_ready

if TYPE_CHECKING:
    from bayesregret.models import Bandit

# What `memory` holds: the level, the chance that no far arm exceeds it by their bounds, how often this level failed,
# the rewards of far arms when they were last looked at, the rewards in all at which arms are sorted anew, and how many
# arms are near. After that the near arms, each far arm's bound, or NEAR for near ones, and its count at that time.
LEVEL, NONE_ABOVE, FAILURES, FAR_PULLS, SORT_AT, NEARBY, HEAD = range(7)
NEAR = -1.0
# Arms are sorted anew after as many rewards as this share of all so far, or so many, or if the level failed so often.
SHARE_OF_REWARDS, FEWEST_REWARDS, MOST_FAILURES = 3, 8, 16.0


class HighestDraw(NamedTuple):
    """For beliefs that can be drawn from, and no more."""


class LikelyHighest(NamedTuple):
    """For beliefs that have bounds of their tails."""

    reach: float  # the level is so many deviations below the highest mean
    near_chance: float  # an arm is near if it exceeds the level with more than this chance


class LikelyHighestNormal(NamedTuple):
    """The same for normal posteriors: means and deviations are kept until an arm has new data."""

    reach: float
    near_chance: float


# A near arm costs a draw in every round, a far one all that is done when it may exceed the level. A Beta draw costs ten
# times a normal one.
BY_BOUNDS, BY_NORMALS = LikelyHighest(1.5, 0.15), LikelyHighestNormal(2.0, 0.03)


@choose_arm.implement(HighestDraw)
def choose_highest_draw(policy, model, known, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(known.counts.shape[0]):
        value, stream = posterior_draw(model, known, arm, stream)
        if value > highest:
            best, highest = arm, value
    return best, stream


choose_linear.implement(HighestDraw)(choose_likely_leader)


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


@choose_arm.implement(LikelyHighestNormal)
def choose_likely_highest_normal(policy, model, known, round_, stream):
    memory, counts, scratch, arms = known.memory, known.counts, known.scratch, known.counts.shape[0]
    means, deviations, stamps = scratch[:arms], scratch[arms : 2 * arms], scratch[2 * arms :]
    if known.received[0] >= memory[SORT_AT]:
        sort_arms(policy, model, known)
    best, highest, near_pulls = 0, -math.inf, 0
    for place in range(HEAD, HEAD + int(memory[NEARBY])):
        arm = int(memory[place])
        near_pulls += counts[arm]
        if stamps[arm] != counts[arm] + 1.0:
            means[arm], deviations[arm] = known_mean(model, known, arm), normal_deviation(model, arm, counts[arm])
            stamps[arm] = counts[arm] + 1.0
        z, stream = normal(stream)
        value = means[arm] + deviations[arm] * z
        # Without a branch: which arm is highest cannot be foretold.
        best, highest = (arm if value > highest else best), max(highest, value)
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
    memory[LEVEL], memory[NEARBY], memory[FAILURES] = level, near, 0.0
    memory[SORT_AT] = known.received[0] + max(FEWEST_REWARDS, known.received[0] // SHARE_OF_REWARDS)
    look_at_far_arms(model, known)


@jitable
def look_at_far_arms(model, known):
    """New bounds of those with new data."""
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[HEAD + arms : HEAD + 2 * arms], memory[HEAD + 2 * arms :]
    none_above, pulls = 1.0, 0
    for arm in range(arms):
        if bounds[arm] != NEAR:
            if stamps[arm] != known.counts[arm]:
                bounds[arm], stamps[arm] = tail_bound(model, known, arm, memory[LEVEL]), known.counts[arm]
            none_above *= 1.0 - bounds[arm]
            pulls += known.counts[arm]
    memory[NONE_ABOVE], memory[FAR_PULLS] = none_above, pulls


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

    def settings(self, bandit: Bandit, horizon: int | None) -> HighestDraw | LikelyHighest | LikelyHighestNormal:
        belief = type(self.belief(bandit))
        if all(belief in function.bodies for function in (posterior_variance, tail_bound, draw_above)):
            make_special_functions_ready()
            return BY_NORMALS if belief in normal_deviation.bodies else BY_BOUNDS
        return HighestDraw()

    def memory(self, bandit: Bandit) -> int:
        return HEAD + 3 * bandit.arms

    def scratch(self, bandit: Bandit) -> int:
        return 3 * bandit.arms

    def linear_scratch(self, rank: int, columns: int) -> int:
        return scratch_for_rivals(rank, columns)
