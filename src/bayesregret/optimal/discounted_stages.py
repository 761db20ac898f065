"""Stages of one arm's discounted stopping problem, with blocks of pulls whose rewards are revealed in advance.

With discount g = 1 - 1/n and a charge y per pull, W(y) is the most that E sum_{k < tau} g^k (m_k - y) can be, m_k being
the posterior mean after k pulls. Revealing more only raises W. At stage j the arm has been pulled `pulled` times,
`revealed` >= pulled rewards are known, and the next decision to stop comes `length` pulls later:

    C_j = S (m - y) + g^length E max(0, C_{j+1}),    S = 1 + g + ... + g^(length - 1).

The block's last pull is made with pulled + length - 1 rewards known, so as many are revealed, and no more. After the
last stage the mean reward itself is revealed. Values here are multiplied by 1 - g, so that slopes are at most 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesregret.checks import Array

HORIZONS = 8.0  # pulls after which the mean reward is revealed, in horizons: of weight exp(-8)
CLOSEST = 1e-6  # gaps between points, relative to their median
START = 0.25  # in horizons: blocks are as short as if the pseudo-count were at most this


class Stage(NamedTuple):
    """One block of pulls."""

    revealed: int  # rewards that are known
    length: int  # pulls before the next decision
    gain: float  # 1 - g^length: the weight of m - y
    discount: float  # g^length


def make_stages(horizon: int, pseudo_count: float, growth: float) -> list[Stage]:
    """Single pulls at first, later blocks that are `growth` times the pseudo-count; the first stage reveals nothing."""
    stages: list[Stage] = []
    pulled, last = 0, math.ceil(HORIZONS * horizon)
    log_discount = math.log1p(-1.0 / horizon) if horizon > 1 else -math.inf
    base = min(pseudo_count, START * horizon)
    while pulled < last:
        length = max(1, int(growth * (base + pulled))) if stages else 1
        stages.append(
            Stage(pulled + length - 1, length, -math.expm1(length * log_discount), math.exp(length * log_discount))
        )
        pulled += length
        if horizon == 1:
            break
    return stages


def kept_points(points: Array) -> Array:
    """Leave out points so close to the one before that differences of probabilities would have no digits."""
    gaps = np.diff(points)
    kept: Array = points[np.append(True, gaps > CLOSEST * np.median(gaps))]
    return kept


def hat_weights(points: Array, below: Array, above: Array, moment_below: Array, moment_above: Array) -> Array:
    """Weights of points that spread a random variable: E f(X) <= sum of weights times f(points) for convex f.

    All mass between two points goes to these, with the same mean. Mass beyond an end goes to that end. The other
    arguments are P(X < x), P(X > x), E[X; X < x] and E[X; X > x] at the points.
    """
    low = below[1:] <= 0.5
    mass = np.where(low, np.diff(below), -np.diff(above))
    moment = np.where(low, np.diff(moment_below), -np.diff(moment_above))
    width = np.diff(points)
    up = np.clip((moment - points[:-1] * mass) / width, 0.0, mass)
    weights: Array = np.append(mass - up, 0.0) + np.append(0.0, up)
    weights[0] += below[0]
    weights[-1] += above[-1]
    return weights
