"""Where a Gaussian arm's posterior mean is when its index first falls below a level: exits point by point.

Tables of exits keep the chance of an exit and the mean there. For what depends on an arm's true mean, too, here are
points with masses: given an exit after j pulls at a point, the arm's mean is normal around it, with the deviation that
the posterior has after j pulls.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from bayesregret.checks import Array
from bayesregret.exact.gaussian.chain import SQRT_2PI, Chain
from bayesregret.exact.gaussian.exits import (
    LEVEL_PANEL,
    ArmBelief,
    chain_at,
    chain_without_prior,
    exits_without_prior,
    is_as_strong,
    levels_with_prior,
    levels_without_prior,
    start_order,
)
from bayesregret.numerics.quadrature import gauss_rule

# A step takes an arm farther below its barrier than this many of its noises with chance 1e-9.
FARTHEST = 6.0
# The posterior's deviations in a stretch of points, and points in it.
STRETCH, POINTS = 3.0, 8


@dataclass(frozen=True, eq=False)
class ExitPoints:
    """First exits below levels, which are measured from the arm's prior mean and lie on panels as in `ExitTable`.

    `mass` and `offset`, posterior mean minus level, have one entry for each count of pulls from 1 on: (levels, points).
    """

    top: float
    edges: Array
    order: int
    levels: Array
    deviation: Array  # of the arm's mean given its rewards, by pulls
    mass: list[Array]
    offset: list[Array]


@functools.lru_cache(maxsize=8)
def exit_points(arm: ArmBelief, order: int) -> ExitPoints:
    """The points of an arm, with rules of this order."""
    deviation = arm.noise / np.sqrt(arm.strength + np.arange(arm.horizon))
    if arm.prior_pulls == 0.0:
        # The arm's mean stays near the prior's whatever the level: levels that differ by more are not alike.
        levels, top, edges = levels_without_prior(arm, order, longest=LEVEL_PANEL * arm.width)
        mass, offset = _points_without_prior(arm, levels, order)
        return ExitPoints(top, edges, start_order(order), levels, deviation, mass, offset)
    levels, edges = levels_with_prior(arm, order)
    together = [levels] if is_as_strong(arm) else [levels[i : i + 1] for i in range(len(levels))]
    parts = [_points_with_prior(arm, part, order) for part in together]
    mass = [np.concatenate([part[0][j] for part in parts]) for j in range(arm.horizon - 1)]
    offset = [np.concatenate([part[1][j] for part in parts]) for j in range(arm.horizon - 1)]
    return ExitPoints(arm.top, edges, start_order(order), levels, deviation, mass, offset)


def _overshoots(drift: float, noise: float) -> tuple[Array, Array]:
    """Points below the barrier with weights, in noises of a step: the posterior's deviation is 1 / noise of them."""
    end = FARTHEST + max(0.0, drift)
    stretches = max(2, math.ceil(FARTHEST * noise / STRETCH))
    return gauss_rule(np.linspace(0.0, end, stretches + 1), POINTS)


def _points_with_prior(arm: ArmBelief, levels: Array, order: int) -> tuple[list[Array], list[Array]]:
    """For levels of one barrier: masses and offsets, one entry a pull."""
    chain: Chain = chain_at(arm, float(levels[0]), order)
    x = -levels / arm.width
    masses, offsets = [], []
    for pulls in range(1, arm.horizon):
        scale, noise = math.sqrt(1.0 + 1.0 / (arm.strength + pulls - 1)), 1.0 / math.sqrt(arm.strength + pulls - 1)
        barrier = float(chain.barriers[pulls])
        if pulls == 1:
            nearest = float(np.min(scale * x - barrier)) / noise
            points, weights = _overshoots(-nearest, noise)
            off = (barrier - noise * points - scale * x[:, None]) / noise
            density = np.exp(-0.5 * off * off) / SQRT_2PI
            chain.start(x)
        else:
            points, weights = _overshoots(chain.drift(pulls - 1), noise)
            density = noise * chain.exit_density(pulls - 1, -noise * points)
            chain.advance(pulls - 1)
        masses.append(density * weights)
        posterior = (barrier - noise * points) * (arm.noise / math.sqrt(arm.strength + pulls))
        offsets.append(np.broadcast_to(posterior, masses[-1].shape))
    return masses, offsets


def _points_without_prior(arm: ArmBelief, levels: Array, order: int) -> tuple[list[Array], list[Array]]:
    if arm.horizon == 1:
        return [], []
    # The first reward, where it is too low: from the level less the width down.
    ends = np.clip((levels - arm.widths[1]) / arm.deviation, -8.0, 8.0)
    stretches = math.ceil(16.0 * max(1.0, arm.width / arm.noise) / STRETCH)
    unit, unit_weights = gauss_rule(np.linspace(0.0, 1.0, 1 + stretches), POINTS)
    reward = arm.deviation * (-8.0 + (ends[:, None] + 8.0) * unit)
    density = np.exp(-0.5 * (reward / arm.deviation) ** 2) / SQRT_2PI
    masses = [density * (ends[:, None] + 8.0) * unit_weights]
    offsets = [(arm.width / arm.deviation) ** 2 * reward - levels[:, None]]
    chain = chain_without_prior(arm, order)
    for pulls in range(1, arm.horizon - 1):
        points, weights = _overshoots(chain.drift(pulls), 1.0 / math.sqrt(pulls))
        mass, offset = exits_without_prior(arm, chain, pulls, levels, points, weights)
        masses.append(mass)
        offsets.append(offset)
        chain.advance(pulls)
    return masses, offsets
