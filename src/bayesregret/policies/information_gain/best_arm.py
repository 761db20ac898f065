"""Which arm is best, given the data: its distribution, and what every arm's mean has to do with it.

All by integrals over the best arm's place z. Arm j is best and at z with density f_j(z) times the product of the other
arms' distribution functions F. Everything asked for is a sum of positive terms: nothing cancels.
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
    chance_below,
    fill_densities,
    value_above,
)


class Panel(NamedTuple):
    """What is known at the points of one panel."""

    below: Array  # (arms,): F where the panel begins
    densities: Array  # (points, arms): f
    belows: Array  # (points, arms): F
    hazards: Array  # (points, arms): f / F
    others: Array  # (points, arms): the product of all other arms' F, times the point's weight


class Best(NamedTuple):
    """What is found."""

    chances: Array  # (arms,): that an arm is best
    gaps: Array  # (arms,): how much an arm is expected to fall short of the best
    shifts: Array  # (arms, arms): by how much arm a is lower if arm j is best, times that chance, for j other than a
    gains: Array  # (arms,): what an arm's next reward tells about the best arm


class Room(NamedTuple):
    shapes: Shapes
    panel: Panel
    best: Best


@jitable
def room_for_best(arms: int) -> int:
    return (SHAPE_FIELDS + 4 + 4 * ORDER + arms) * arms


@jitable
def lay_out(scratch, arms):
    """`scratch` as tables."""
    by_arm, by_point = SHAPE_FIELDS + 4, 4 * ORDER
    row = scratch[: by_arm * arms].reshape(by_arm, arms)
    table = scratch[by_arm * arms : (by_arm + by_point) * arms].reshape(4, ORDER, arms)
    shifts = scratch[(by_arm + by_point) * arms : room_for_best(arms)].reshape(arms, arms)
    return Room(
        Shapes(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]),
        Panel(row[9], table[0], table[1], table[2], table[3]),
        Best(row[10], row[11], shifts, row[12]),
    )


@jitable
def ends(shapes):
    """Where integrals begin, as some arm is surely not below and so neither is the best; and where they end."""
    start, end = -math.inf, -math.inf
    for arm in range(shapes.lows.shape[0]):
        start, end = max(start, shapes.lows[arm]), max(end, shapes.highs[arm])
    return start, end


@rarely_called
def start_integrals(family, room, start):
    arms = room.best.chances.shape[0]
    for arm in range(arms):
        done = room.shapes.highs[arm] <= start
        room.panel.below[arm] = 1.0 if done else chance_below(family, room.shapes, arm, start)
        room.best.chances[arm] = 0.0
        room.best.gaps[arm] = room.best.gains[arm] = 0.0
        for other in range(arms):
            room.best.shifts[arm, other] = 0.0


@rarely_called
def fill_panel(family, room, rule, start, half):
    """Densities and distribution functions at the points of a panel, the latter by integrating the former."""
    panel = room.panel
    arms = panel.below.shape[0]
    for point in range(ORDER):
        fill_densities(family, room.shapes, start + half * (1.0 + rule.points[point]), panel.densities[point])
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
    """Products of all F but one, from both ends: no division by what may be 0."""
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
def add_panel(family, room, rule, start, half, leader):
    """Add a panel's share to all integrals."""
    panel, best, shapes = room.panel, room.best, room.shapes
    arms = panel.below.shape[0]
    for point in range(ORDER):
        short = panel.belows[point, leader] * value_above(
            family, shapes, leader, start + half * (1.0 + rule.points[point])
        )
        short += shapes.spreads[leader] * panel.densities[point, leader]  # E[(z - x) 1(x < z)] of the leader
        short *= panel.others[point, leader]
        for arm in range(arms):
            density = panel.densities[point, arm]
            best.chances[arm] += density * panel.others[point, arm]
            if arm != leader:
                best.gaps[leader] += short * panel.hazards[point, arm]
            falling = shapes.spreads[arm] * density * panel.others[point, arm]
            for other in range(arms):
                best.shifts[arm, other] += falling * panel.hazards[point, other]


@jitable
def finish_gaps(room, leader):
    """An arm falls short of the best by as much as the leader does, and by what it falls short of the leader."""
    best, means = room.best, room.shapes.means
    for arm in range(means.shape[0]):
        best.gaps[arm] = best.gaps[leader] + (means[leader] - means[arm])
