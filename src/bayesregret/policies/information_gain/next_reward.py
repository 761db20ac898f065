"""What the next reward of an arm would tell about which arm is best: their mutual information.

It is the expected Kullback-Leibler divergence of the best arm's distribution after the reward from the one before, or
the same the other way round: of the reward's distribution given the best arm from the one without. A Bernoulli reward's
is a formula; a normal reward is integrated over.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import contract, jitable, rarely_called
from bayesregret.policies.information_gain.posterior_shapes import (
    ORDER,
    ROOT_TWO_PI,
    BetaShapes,
    NormalShapes,
    normal_below,
    telling,
)

# So many points for rewards of arms whose deviation is at most so many times the noise: errors of 1e-8 of the gain.
GAUSS_HERMITE = ((0.1, 8), (0.5, 12))
# Beyond that the best arm may depend on the reward almost as a step does, if other arms are known well. Gauss's rule is
# then poor, but sums over equal steps this long are good: the integrand is analytic, and falls with the normal density.
EQUAL_STEPS = ((1.0, 0.7), (2.0, 0.4), (4.0, 0.22))
FARTHEST = 7.5  # deviations of a reward
MOST_TELLING = EQUAL_STEPS[-1][0]
# Of arms known better than this, the gain is that of its variance, to first order and ten digits.
LEAST_TELLING = 1e-5


class Outcomes(NamedTuple):
    """Rules for a standard normal reward, one row each."""

    limits: Array  # (rules,)
    sizes: Array  # (rules,)
    points: Array  # (rules, most points)
    weights: Array


def make_outcomes() -> Outcomes:
    rules: list[tuple[Any, Any]] = [np.polynomial.hermite_e.hermegauss(size) for _, size in GAUSS_HERMITE]
    for _, step in EQUAL_STEPS:
        points = step * np.arange(-int(FARTHEST / step), int(FARTHEST / step) + 1)
        rules.append((points, np.exp(-0.5 * points**2)))
    limits = np.array([limit for limit, _ in GAUSS_HERMITE + EQUAL_STEPS])
    sizes = np.array([len(points) for points, _ in rules])
    table = np.array([[np.pad(row, (0, sizes.max() - len(row))) for row in rule] for rule in rules], dtype=np.float64)
    points, weights = table[:, 0].copy(), table[:, 1]
    return Outcomes(limits, sizes, points, weights / weights.sum(axis=1, keepdims=True))


class WhatIf(NamedTuple):
    """For every reward that an arm might bring next."""

    below: Array  # (arms, outcomes): the arm's F where the panel begins
    chances: Array  # (arms, outcomes, arms): that an arm is best
    densities: Array  # (points,): at the points of a panel


def room_for_outcomes(arms: int, outcomes: Outcomes) -> int:
    return ORDER + arms * int(outcomes.points.shape[1]) * (arms + 1)


@jitable
def lay_out_outcomes(room, arms, most):
    """Room in `scratch` as tables."""
    below = room[ORDER : ORDER + arms * most].reshape(arms, most)
    return WhatIf(below, room[ORDER + arms * most :].reshape(arms, most, arms), room[:ORDER])


@contract
def start_outcomes(family, outcomes, shapes, what_if, start):
    """Get ready to add panels."""


@contract
def add_outcomes(family, outcomes, room, what_if, rule, start, half):
    """Add a panel's share to all integrals."""


@contract
def fill_gains(family, outcomes, room, what_if, by_variance):
    """Write what the next reward of every arm tells."""


@jitable
def excess(x):
    """(1 + x) log(1 + x) - x, which is never negative."""
    if x <= -1.0:
        return 1.0
    if abs(x) < 1e-3:
        return x * x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 12.0 - x * 0.05)))
    return (1.0 + x) * math.log1p(x) - x


@jitable
def conditional_shift(best, arm, other):
    """How much higher an arm's mean is expected if the other is best."""
    if other != arm:
        return -best.shifts[arm, other] / best.chances[other]
    total = 0.0
    for third in range(best.chances.shape[0]):
        if third != arm:
            total += best.shifts[arm, third]
    return total / best.chances[arm]


@rarely_called
def variance_told(best, arm):
    """The variance of the arm's mean that knowing the best arm explains."""
    total = 0.0
    for other in range(best.chances.shape[0]):
        if best.chances[other] > 0.0:
            shift = conditional_shift(best, arm, other)
            total += best.chances[other] * shift * shift
    return total


# --- Bernoulli rewards ---------------------------------------------------------------------------------------------


@start_outcomes.implement(BetaShapes)
def start_no_outcomes(family, outcomes, shapes, what_if, start):
    return


@add_outcomes.implement(BetaShapes)
def add_no_outcomes(family, outcomes, room, what_if, rule, start, half):
    return


@fill_gains.implement(BetaShapes)
def fill_bernoulli_gains(family, outcomes, room, what_if, by_variance):
    for arm in range(room.best.chances.shape[0]):
        room.best.gains[arm] = variance_told(room.best, arm) if by_variance else bernoulli_gain(room, arm)


@rarely_called
def bernoulli_gain(room, arm):
    """The divergences of Bernoulli rewards given the best arm from those without: two excesses each."""
    mean = room.shapes.means[arm]
    rest = room.shapes.seconds[arm] / (room.shapes.firsts[arm] + room.shapes.seconds[arm])
    total = 0.0
    for other in range(room.best.chances.shape[0]):
        chance = room.best.chances[other]
        if chance > 0.0:
            shift = conditional_shift(room.best, arm, other)
            total += chance * (mean * excess(shift / mean) + rest * excess(-shift / rest))
    return total


# --- normal rewards ------------------------------------------------------------------------------------------------


@jitable
def rule_for(family, outcomes, shapes, arm):
    """Which rule an arm needs."""
    ratio = telling(family, arm, shapes.seconds[arm])
    which = 0
    while outcomes.limits[which] < ratio:
        which += 1
    return which


@jitable
def after_reward(family, shapes, arm, point):
    """The arm's posterior mean and deviation after a reward so many deviations from what is expected."""
    deviation = shapes.seconds[arm]
    ratio = telling(family, arm, deviation)
    smaller = deviation / math.sqrt(1.0 + ratio * ratio)
    return shapes.means[arm] + ratio * smaller * point, smaller


@start_outcomes.implement(NormalShapes)
def start_normal_outcomes(family, outcomes, shapes, what_if, start):
    if family.most_telling == 0.0:
        return
    arms = shapes.means.shape[0]
    for arm in range(arms):
        which = rule_for(family, outcomes, shapes, arm)
        for outcome in range(outcomes.sizes[which]):
            mean, deviation = after_reward(family, shapes, arm, outcomes.points[which, outcome])
            what_if.below[arm, outcome] = normal_below((start - mean) / deviation)
            for other in range(arms):
                what_if.chances[arm, outcome, other] = 0.0


@add_outcomes.implement(NormalShapes)
def add_normal_outcomes(family, outcomes, room, what_if, rule, start, half):
    if family.most_telling == 0.0:
        return
    for arm in range(room.shapes.means.shape[0]):
        which = rule_for(family, outcomes, room.shapes, arm)
        for outcome in range(outcomes.sizes[which]):
            mean, deviation = after_reward(family, room.shapes, arm, outcomes.points[which, outcome])
            fill_normal(what_if.densities, rule, start - mean, half, deviation)
            add_outcome(room.panel, what_if, rule, arm, outcome, half)


@jitable
def fill_normal(densities, rule, start, half, deviation):
    for point in range(ORDER):
        off = (start + half * (1.0 + rule.points[point])) / deviation
        densities[point] = math.exp(-0.5 * off * off) / (ROOT_TWO_PI * deviation)


@rarely_called
def add_outcome(panel, what_if, rule, arm, outcome, half):
    """A panel's share of the chances that arms are best, with this arm's posterior after one of its rewards."""
    densities, chances = what_if.densities, what_if.chances[arm, outcome]
    before, own = what_if.below[arm, outcome], chances[arm]
    for point in range(ORDER):
        others, below = panel.others[point, arm], before
        for other in range(ORDER):
            below += half * rule.running[point, other] * densities[other]
        own += others * densities[point]
        for other in range(chances.shape[0]):
            chances[other] += others * below * panel.hazards[point, other]
        what_if.below[arm, outcome] += half * rule.weights[point] * densities[point]
    chances[arm] = own


@fill_gains.implement(NormalShapes)
def fill_normal_gains(family, outcomes, room, what_if, by_variance):
    for arm in range(room.best.chances.shape[0]):
        told, noise = variance_told(room.best, arm), family.noises[arm]
        if by_variance:
            room.best.gains[arm] = told
        elif room.shapes.seconds[arm] < LEAST_TELLING * noise:
            room.best.gains[arm] = 0.5 * told / (noise * noise)
        else:
            room.best.gains[arm] = normal_gain(family, outcomes, room, what_if, arm)


@rarely_called
def normal_gain(family, outcomes, room, what_if, arm):
    """The divergences of the best arm's distributions after rewards from the one before."""
    which = rule_for(family, outcomes, room.shapes, arm)
    total = 0.0
    for outcome in range(outcomes.sizes[which]):
        for other in range(room.best.chances.shape[0]):
            chance = room.best.chances[other]
            if chance > 0.0:
                change = what_if.chances[arm, outcome, other] / chance - 1.0
                total += outcomes.weights[which, outcome] * chance * excess(change)
    return total
