"""Posterior distribution of the best arm, and how each arm's mean depends on which arm is best.

All results are integrals over the best arm's position z. Arm j is best and at z with density f_j(z) times the product
of the other arms' distribution functions F. Every result is a sum of positive terms, so nothing cancels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bayesregret.checks import Array
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.policies.information_gain.posterior_shapes import (
    ORDER,
    SHAPE_FIELDS,
    Shapes,
    fill_densities,
    probability_below,
    value_above,
)


class Panel(NamedTuple):
    """Values at the points of one panel."""

    below: Array  # (arms,): F at the panel's start
    densities: Array  # (points, arms): f
    belows: Array  # (points, arms): F
    hazards: Array  # (points, arms): f / F
    others: Array  # (points, arms): the product of all other arms' F, times the point's weight


class BestArm(NamedTuple):
    """Results, per arm."""

    probabilities: Array  # (arms,): that the arm is best
    gaps: Array  # (arms,): expected best mean reward minus the arm's
    shifts: Array  # (arms, arms): drop of arm a's mean if arm j is best, times P(j is best), for j other than a
    gains: Array  # (arms,): information of the arm's next reward on the best arm


class Workspace(NamedTuple):
    """`stats.scratch` as tables."""

    shapes: Shapes
    panel: Panel
    best: BestArm


@jitable
def scratch_for_best(arms: int) -> int:
    return (SHAPE_FIELDS + 4 + 4 * ORDER + arms) * arms


@jitable
def split_scratch(scratch, arms):
    """Split `scratch` into tables."""
    by_arm, by_point = SHAPE_FIELDS + 4, 4 * ORDER
    row = scratch[: by_arm * arms].reshape(by_arm, arms)
    table = scratch[by_arm * arms : (by_arm + by_point) * arms].reshape(4, ORDER, arms)
    shifts = scratch[(by_arm + by_point) * arms : scratch_for_best(arms)].reshape(arms, arms)
    return Workspace(
        Shapes(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]),
        Panel(row[9], table[0], table[1], table[2], table[3]),
        BestArm(row[10], row[11], shifts, row[12]),
    )


@jitable
def ends(shapes):
    """Return where integrals begin, as the best arm is surely not below, and where they end."""
    start, end = -math.inf, -math.inf
    for arm in range(shapes.lows.shape[0]):
        start, end = max(start, shapes.lows[arm]), max(end, shapes.highs[arm])
    return start, end


@rarely_called
def start_integrals(family, space, start):
    arms = space.best.probabilities.shape[0]
    for arm in range(arms):
        done = space.shapes.highs[arm] <= start
        space.panel.below[arm] = 1.0 if done else probability_below(family, space.shapes, arm, start)
        space.best.probabilities[arm] = 0.0
        space.best.gaps[arm] = space.best.gains[arm] = 0.0
        for other in range(arms):
            space.best.shifts[arm, other] = 0.0


@rarely_called
def fill_panel(family, space, rule, start, half):
    """Compute densities at the points of a panel, and distribution functions by integrating them."""
    panel = space.panel
    arms = panel.below.shape[0]
    for point in range(ORDER):
        fill_densities(family, space.shapes, start + half * (1.0 + rule.points[point]), panel.densities[point])
    for point in range(ORDER):
        for arm in range(arms):
            panel.belows[point, arm] = 0.0
        for other in range(ORDER):
            weight = half * rule.running[point, other]
            for arm in range(arms):
                panel.belows[point, arm] += weight * panel.densities[other, arm]
        for arm in range(arms):
            panel.belows[point, arm] += panel.below[arm]
    for point in range(ORDER):
        weight = half * rule.weights[point]
        for arm in range(arms):
            panel.below[arm] += weight * panel.densities[point, arm]
        fill_others(panel, point, weight)


@jitable
def fill_others(panel, point, weight):
    """Multiply all F but one, from both ends, without dividing by an F that may be 0."""
    arms = panel.below.shape[0]
    product = weight
    for arm in range(arms):
        panel.others[point, arm] = product
        product *= panel.belows[point, arm]
    product = 1.0
    for back in range(arms):
        arm = arms - 1 - back
        panel.others[point, arm] *= product
        below = panel.belows[point, arm]
        product *= below
        panel.hazards[point, arm] = panel.densities[point, arm] / below if below > 0.0 else 0.0


@rarely_called
def add_panel(family, space, rule, start, half, leader):
    """Add a panel to all integrals."""
    panel, best, shapes = space.panel, space.best, space.shapes
    arms = panel.below.shape[0]
    for point in range(ORDER):
        short = panel.belows[point, leader] * value_above(
            family, shapes, leader, start + half * (1.0 + rule.points[point])
        )
        short += shapes.spreads[leader] * panel.densities[point, leader]  # E[(z - x) 1(x < z)] of the leader
        short *= panel.others[point, leader]
        for arm in range(arms):
            density = panel.densities[point, arm]
            best.probabilities[arm] += density * panel.others[point, arm]
            if arm != leader:
                best.gaps[leader] += short * panel.hazards[point, arm]
            falling = shapes.spreads[arm] * density * panel.others[point, arm]
            for other in range(arms):
                best.shifts[arm, other] += falling * panel.hazards[point, other]


@jitable
def finish_gaps(space, leader):
    """Set gaps: the leader's gap plus the difference of means to the leader."""
    best, means = space.best, space.shapes.means
    for arm in range(means.shape[0]):
        best.gaps[arm] = best.gaps[leader] + (means[leader] - means[arm])
