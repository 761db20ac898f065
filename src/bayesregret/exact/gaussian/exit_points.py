"""Distribution of a Gaussian arm's posterior mean when its index first falls below a threshold, as points with masses.

Tables of exits (exits.py) hold only the probability of an exit and the mean there. Quantities that also depend on the
arm's true mean need the points: given an exit after j pulls at a point, the true mean is normal around it, with the
posterior standard deviation after j pulls.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from bayesregret.checks import Array
from bayesregret.exact.gaussian.chain import SQRT_2PI, Chain
from bayesregret.exact.gaussian.exits import (
    THRESHOLD_PANEL,
    ArmBelief,
    chain_at,
    chain_without_prior,
    exits_without_prior,
    has_true_pseudo_count,
    start_order,
    thresholds_with_prior,
    thresholds_without_prior,
)
from bayesregret.numerics.quadrature import gauss_rule

# In units of its noise, a step ends farther than this below the barrier with probability 1e-9.
FARTHEST = 6.0
# Length of a panel of points, in posterior standard deviations, and points on it.
STRETCH, POINTS = 3.0, 8


@dataclass(frozen=True, eq=False)
class ExitPoints:
    """First exits below thresholds, which are measured from the arm's prior mean and lie on panels as in `ExitTable`.

    `mass` and `offset` (posterior mean minus threshold) have one (thresholds, points) entry per count of pulls from 1.
    """

    top: float
    edges: Array
    order: int
    thresholds: Array
    deviation: Array  # posterior standard deviation of the arm's mean, by pulls
    mass: list[Array]
    offset: list[Array]


@functools.lru_cache(maxsize=8)
def exit_points(arm: ArmBelief, order: int) -> ExitPoints:
    """Exit points of an arm, with quadrature rules of this order."""
    deviation = arm.noise / np.sqrt(arm.pseudo_count + np.arange(arm.horizon))
    if arm.prior_pulls == 0.0:
        # The true mean stays near its prior mean whatever the threshold, so panels must not be longer than the prior.
        thresholds, top, edges = thresholds_without_prior(arm, order, longest=THRESHOLD_PANEL * arm.width)
        mass, offset = _points_without_prior(arm, thresholds, order)
        return ExitPoints(top, edges, start_order(order), thresholds, deviation, mass, offset)
    thresholds, edges = thresholds_with_prior(arm, order)
    together = [thresholds] if has_true_pseudo_count(arm) else [thresholds[i : i + 1] for i in range(len(thresholds))]
    parts = [_points_with_prior(arm, part, order) for part in together]
    mass = [np.concatenate([part[0][j] for part in parts]) for j in range(arm.horizon - 1)]
    offset = [np.concatenate([part[1][j] for part in parts]) for j in range(arm.horizon - 1)]
    return ExitPoints(arm.top, edges, start_order(order), thresholds, deviation, mass, offset)


def _overshoots(drift: float, noise: float) -> tuple[Array, Array]:
    """Points below the barrier and weights, in units of a step's noise; the posterior deviation is 1 / noise units."""
    end = FARTHEST + max(0.0, drift)
    stretches = max(2, math.ceil(FARTHEST * noise / STRETCH))
    return gauss_rule(np.linspace(0.0, end, stretches + 1), POINTS)


def _points_with_prior(arm: ArmBelief, thresholds: Array, order: int) -> tuple[list[Array], list[Array]]:
    """Masses and offsets, one entry per pull, for thresholds with a common barrier."""
    chain: Chain = chain_at(arm, float(thresholds[0]), order)
    x = -thresholds / arm.width
    masses, offsets = [], []
    for pulls in range(1, arm.horizon):
        scale, noise = (
            math.sqrt(1.0 + 1.0 / (arm.pseudo_count + pulls - 1)),
            1.0 / math.sqrt(arm.pseudo_count + pulls - 1),
        )
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
        posterior = (barrier - noise * points) * (arm.noise / math.sqrt(arm.pseudo_count + pulls))
        offsets.append(np.broadcast_to(posterior, masses[-1].shape))
    return masses, offsets


def _points_without_prior(arm: ArmBelief, thresholds: Array, order: int) -> tuple[list[Array], list[Array]]:
    if arm.horizon == 1:
        return [], []
    # The first reward leads to an exit if it is below the threshold minus the width.
    ends = np.clip((thresholds - arm.widths[1]) / arm.deviation, -8.0, 8.0)
    stretches = math.ceil(16.0 * max(1.0, arm.width / arm.noise) / STRETCH)
    unit, unit_weights = gauss_rule(np.linspace(0.0, 1.0, 1 + stretches), POINTS)
    reward = arm.deviation * (-8.0 + (ends[:, None] + 8.0) * unit)
    density = np.exp(-0.5 * (reward / arm.deviation) ** 2) / SQRT_2PI
    masses = [density * (ends[:, None] + 8.0) * unit_weights]
    offsets = [(arm.width / arm.deviation) ** 2 * reward - thresholds[:, None]]
    chain = chain_without_prior(arm, order)
    for pulls in range(1, arm.horizon - 1):
        points, weights = _overshoots(chain.drift(pulls), 1.0 / math.sqrt(pulls))
        mass, offset = exits_without_prior(arm, chain, pulls, thresholds, points, weights)
        masses.append(mass)
        offsets.append(offset)
        chain.advance(pulls)
    return masses, offsets
