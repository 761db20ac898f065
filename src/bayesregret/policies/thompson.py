"""Thompson sampling (Thompson 1933): draw every arm's mean from its posterior, take the highest.

Most draws need not be made. Let a level lie between the leader and the others, and let bounds be known of the chances
that the others' draws exceed it. If a coin says that none does, and the leader's own draw does, the leader is taken.
Otherwise the others are drawn, given what the coin said. So the arm that is taken has the law that it should have.
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
    means_at,
    posterior_draw,
    posterior_variance,
    tail_bound,
)
from bayesregret.dispatch import jitable
from bayesregret.policies.linear_indices import draw_normals, first_highest
from bayesregret.policies.policy import BelievingPolicy
from bayesregret.rng import uniform
from bayesregret.special import make_special_functions_ready

if TYPE_CHECKING:
    from bayesregret.models import Bandit

# What `memory` holds: the leader plus 1, or 0 if a level is to be set; how often this level failed; and the rewards
# received when bounds were last looked at. After that each arm's bound and count at that time.
LEADER, LEVEL, NONE_ABOVE, FAILURES, RECEIVED, LEADER_COUNT, HEAD = range(7)
# A level that did not spare the draws so often is replaced.
MOST_FAILURES = 32.0
# A level is so many times as far from the leader as from its closest rival, in deviations of each: a leader below it
# makes all be drawn, a rival above it only that one.
LEAN = 1.5
LOWEST = -1e300  # a level below everything; an agent's state has finite numbers only


class HighestDraw(NamedTuple):
    """For beliefs that can be drawn from, and no more."""


class LikelyHighest(NamedTuple):
    """For beliefs that have bounds of their tails."""


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
    memory = known.memory
    leader = int(memory[LEADER]) - 1
    if leader < 0 or known.received[0] - memory[RECEIVED] != known.counts[leader] - memory[LEADER_COUNT]:
        look_at_news(model, known)
        leader = int(memory[LEADER]) - 1
    coin, stream = uniform(stream)
    drawn, stream = posterior_draw(model, known, leader, stream)
    if coin < memory[NONE_ABOVE] and drawn > memory[LEVEL]:
        return leader, stream
    return draw_the_others(model, known, leader, coin, drawn, stream)


@jitable
def look_at_news(model, known):
    """Bounds of the other arms with new data, or of all where there is a new level."""
    memory, arms = known.memory, known.counts.shape[0]
    bounds, stamps = memory[HEAD : HEAD + arms], memory[HEAD + arms : HEAD + 2 * arms]
    is_new = memory[LEADER] == 0.0
    if is_new:
        set_level(model, known)
    leader = int(memory[LEADER]) - 1
    none_above = 1.0
    for arm in range(arms):
        if arm != leader:
            if is_new or stamps[arm] != known.counts[arm]:
                bounds[arm] = tail_bound(model, known, arm, memory[LEVEL])
                stamps[arm] = known.counts[arm]
            none_above *= 1.0 - bounds[arm]
    memory[NONE_ABOVE] = none_above
    memory[RECEIVED], memory[LEADER_COUNT] = known.received[0], known.counts[leader]


@jitable
def set_level(model, known):
    """The arm with the highest mean leads; the level is between it and its closest rival."""
    memory, arms = known.memory, known.counts.shape[0]
    leader = 0
    for arm in range(1, arms):
        if known_mean(model, known, arm) > known_mean(model, known, leader):
            leader = arm
    mean, far = known_mean(model, known, leader), LEAN * math.sqrt(posterior_variance(model, known, leader))
    level = LOWEST
    for arm in range(arms):
        if arm != leader:
            other = math.sqrt(posterior_variance(model, known, arm))
            level = max(level, (known_mean(model, known, arm) * far + mean * other) / (far + other))
    memory[LEADER], memory[LEVEL], memory[FAILURES] = leader + 1.0, level, 0.0


@jitable
def draw_the_others(model, known, leader, coin, drawn, stream):
    """The arm with the highest draw, the leader's being `drawn`.

    The coin tells the first arm that may exceed the level, by the bounds of their chances; those after it have coins of
    their own. Only if all stay below it, the leader too, must they be drawn there.
    """
    memory, arms = known.memory, known.counts.shape[0]
    level = memory[LEVEL]
    best, highest = leader, drawn
    none_so_far = 1.0
    for arm in range(arms):
        if arm != leader:
            bound = memory[HEAD + arm]
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
            if arm != leader:
                value, stream = draw_below(model, known, arm, level, stream)
                if value > highest:
                    best, highest = arm, value
    memory[FAILURES] += 1.0
    if memory[FAILURES] >= MOST_FAILURES:
        memory[LEADER] = 0.0
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

    def settings(self, bandit: Bandit, horizon: int | None) -> HighestDraw | LikelyHighest:
        belief = type(self.belief(bandit))
        if all(belief in function.bodies for function in (posterior_variance, tail_bound, draw_above)):
            make_special_functions_ready()
            return LikelyHighest()
        return HighestDraw()

    def memory(self, bandit: Bandit) -> int:
        return HEAD + 2 * bandit.arms
