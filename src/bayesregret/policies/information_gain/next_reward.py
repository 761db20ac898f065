"""Mutual information of the best arm and the next reward of an arm.

It is the expected Kullback-Leibler divergence of the best arm's distribution after the reward from the one before, or
equally of the reward's distribution given the best arm from the unconditional one. For Bernoulli rewards this is a
formula; normal rewards are integrated over.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import contract, jitable, rarely_called
from bayesregret.elementary import exp, log1p
from bayesregret.policies.information_gain.posterior_shapes import (
    ORDER,
    ROOT_TWO_PI,
    BetaShapes,
    NormalShapes,
    normal_below,
    signal_ratio,
)

# Largest ratio of an arm's standard deviation to the noise, and the number of points that keeps relative errors of the
# gain at 1e-8 up to there.
GAUSS_HERMITE = ((0.1, 8), (0.5, 12))
# For larger ratios the best arm can be almost a step function of the reward. Gauss's rule is then poor, but sums over
# equal steps of this length are accurate: the integrand is analytic and falls like the normal density.
EQUAL_STEPS = ((1.0, 0.7), (2.0, 0.4), (4.0, 0.22))
FARTHEST = 7.5  # standard deviations of a reward
LARGEST_RATIO = EQUAL_STEPS[-1][0]
# For smaller ratios the gain is, to ten digits, its first-order approximation by the explained variance.
SMALLEST_RATIO = 1e-5


class Outcomes(NamedTuple):
    """Quadrature rules for a standard normal reward, one row each."""

    limits: Array  # (rules,)
    sizes: Array  # (rules,)
    points: Array  # (rules, most points)
    weights: Array


def make_outcomes() -> Outcomes:
    rules: list[tuple[Any, Any]] = [np.polynomial.hermite_e.hermegauss(size) for _, size in GAUSS_HERMITE]
    for _, step in EQUAL_STEPS:
        points = step * np.arange(-int(FARTHEST / step), int(FARTHEST / step) + 1)
        rules.append((points, np.array([exp(-0.5 * point * point) for point in points.tolist()])))
    limits = np.array([limit for limit, _ in GAUSS_HERMITE + EQUAL_STEPS])
    sizes = np.array([len(points) for points, _ in rules])
    table = np.array([[np.pad(row, (0, sizes.max() - len(row))) for row in rule] for rule in rules], dtype=np.float64)
    points, weights = table[:, 0].copy(), table[:, 1]
    return Outcomes(limits, sizes, points, weights / weights.sum(axis=1, keepdims=True))


class AfterReward(NamedTuple):
    """Posterior after each possible next reward of each arm."""

    below: Array  # (arms, outcomes): the arm's F at the panel's start
    probabilities: Array  # (arms, outcomes, arms): that each arm is best
    densities: Array  # (points,): at the points of a panel


def scratch_for_outcomes(arms: int, outcomes: Outcomes) -> int:
    return ORDER + arms * int(outcomes.points.shape[1]) * (arms + 1)


@jitable
def split_for_outcomes(scratch, arms, most):
    """Split this part of `scratch` into tables."""
    below = scratch[ORDER : ORDER + arms * most].reshape(arms, most)
    return AfterReward(below, scratch[ORDER + arms * most :].reshape(arms, most, arms), scratch[:ORDER])


@contract()
def start_outcomes(family, outcomes, shapes, after, start):
    """Set all integrals to their values before the first panel."""


@contract()
def add_outcomes(family, outcomes, space, after, rule, start, half):
    """Add a panel to all integrals."""


@contract()
def fill_gains(family, outcomes, space, after, by_variance):
    """Write the gain of every arm."""


@jitable
def excess(x):
    """(1 + x) log(1 + x) - x, which is never negative."""
    if x <= -1.0:
        return 1.0
    if abs(x) < 1e-3:
        return x * x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 12.0 - x * 0.05)))
    return (1.0 + x) * log1p(x) - x


@jitable
def conditional_shift(best, arm, other):
    """E[mean of the arm | the other is best] - E[mean of the arm]."""
    if other != arm:
        return -best.shifts[arm, other] / best.probabilities[other]
    total = 0.0
    for third in range(best.probabilities.shape[0]):
        if third != arm:
            total += best.shifts[arm, third]
    return total / best.probabilities[arm]


@rarely_called
def explained_variance(best, arm):
    """Variance of the arm's mean explained by the best arm."""
    total = 0.0
    for other in range(best.probabilities.shape[0]):
        if best.probabilities[other] > 0.0:
            shift = conditional_shift(best, arm, other)
            total += best.probabilities[other] * shift * shift
    return total


# --- Bernoulli rewards ---------------------------------------------------------------------------------------------


@start_outcomes.implement(BetaShapes)
def start_no_outcomes(family, outcomes, shapes, after, start):
    return


@add_outcomes.implement(BetaShapes)
def add_no_outcomes(family, outcomes, space, after, rule, start, half):
    return


@fill_gains.implement(BetaShapes)
def fill_bernoulli_gains(family, outcomes, space, after, by_variance):
    for arm in range(space.best.probabilities.shape[0]):
        space.best.gains[arm] = explained_variance(space.best, arm) if by_variance else bernoulli_gain(space, arm)


@rarely_called
def bernoulli_gain(space, arm):
    """Expected divergence of the reward given the best arm from the unconditional one: two excesses for each arm."""
    mean = space.shapes.means[arm]
    rest = space.shapes.seconds[arm] / (space.shapes.firsts[arm] + space.shapes.seconds[arm])
    total = 0.0
    for other in range(space.best.probabilities.shape[0]):
        probability = space.best.probabilities[other]
        if probability > 0.0:
            shift = conditional_shift(space.best, arm, other)
            total += probability * (mean * excess(shift / mean) + rest * excess(-shift / rest))
    return total


# --- normal rewards ------------------------------------------------------------------------------------------------


@jitable
def rule_for(family, outcomes, shapes, arm):
    """Return the number of the rule that an arm needs."""
    ratio = signal_ratio(family, arm, shapes.seconds[arm])
    which = 0
    while outcomes.limits[which] < ratio:
        which += 1
    return which


@jitable
def after_reward(family, shapes, arm, point):
    """Posterior mean and standard deviation of the arm after a reward `point` standard deviations above average."""
    deviation = shapes.seconds[arm]
    ratio = signal_ratio(family, arm, deviation)
    smaller = deviation / math.sqrt(1.0 + ratio * ratio)
    return shapes.means[arm] + ratio * smaller * point, smaller


@start_outcomes.implement(NormalShapes)
def start_normal_outcomes(family, outcomes, shapes, after, start):
    if family.largest_ratio == 0.0:
        return
    arms = shapes.means.shape[0]
    for arm in range(arms):
        which = rule_for(family, outcomes, shapes, arm)
        for outcome in range(outcomes.sizes[which]):
            mean, deviation = after_reward(family, shapes, arm, outcomes.points[which, outcome])
            after.below[arm, outcome] = normal_below((start - mean) / deviation)
            for other in range(arms):
                after.probabilities[arm, outcome, other] = 0.0


@add_outcomes.implement(NormalShapes)
def add_normal_outcomes(family, outcomes, space, after, rule, start, half):
    if family.largest_ratio == 0.0:
        return
    for arm in range(space.shapes.means.shape[0]):
        which = rule_for(family, outcomes, space.shapes, arm)
        for outcome in range(outcomes.sizes[which]):
            mean, deviation = after_reward(family, space.shapes, arm, outcomes.points[which, outcome])
            fill_normal(after.densities, rule, start - mean, half, deviation)
            add_outcome(space.panel, after, rule, arm, outcome, half)


@jitable
def fill_normal(densities, rule, start, half, deviation):
    for point in range(ORDER):
        off = (start + half * (1.0 + rule.points[point])) / deviation
        densities[point] = exp(-0.5 * off * off) / (ROOT_TWO_PI * deviation)


@rarely_called
def add_outcome(panel, after, rule, arm, outcome, half):
    """Add a panel to the probabilities that arms are best, with this arm's posterior after one of its rewards."""
    densities, probabilities = after.densities, after.probabilities[arm, outcome]
    before, own = after.below[arm, outcome], probabilities[arm]
    for point in range(ORDER):
        others, below = panel.others[point, arm], before
        for other in range(ORDER):
            below += half * rule.running[point, other] * densities[other]
        own += others * densities[point]
        for other in range(probabilities.shape[0]):
            probabilities[other] += others * below * panel.hazards[point, other]
        after.below[arm, outcome] += half * rule.weights[point] * densities[point]
    probabilities[arm] = own


@fill_gains.implement(NormalShapes)
def fill_normal_gains(family, outcomes, space, after, by_variance):
    for arm in range(space.best.probabilities.shape[0]):
        explained, noise = explained_variance(space.best, arm), family.noises[arm]
        if by_variance:
            space.best.gains[arm] = explained
        elif space.shapes.seconds[arm] < SMALLEST_RATIO * noise:
            space.best.gains[arm] = 0.5 * explained / (noise * noise)
        else:
            space.best.gains[arm] = normal_gain(family, outcomes, space, after, arm)


@rarely_called
def normal_gain(family, outcomes, space, after, arm):
    """Expected divergence of the best arm's distribution after a reward from the one before."""
    which = rule_for(family, outcomes, space.shapes, arm)
    total = 0.0
    for outcome in range(outcomes.sizes[which]):
        for other in range(space.best.probabilities.shape[0]):
            probability = space.best.probabilities[other]
            if probability > 0.0:
                change = after.probabilities[arm, outcome, other] / probability - 1.0
                total += outcomes.weights[which, outcome] * probability * excess(change)
    return total
