"""A lower bound on the regret of every policy in a linear bandit. See also docs/theory/certified-linear-lower.md.

A round tells at most as much as a normal observation of the parameter with precision G, if G - x_a x_a'/s^2 is positive
semi-definite for each arm: that observation can be turned into any arm's reward by adding noise. So before round t no
policy knows more than after t - 1 such observations, and r_t >= E max_a theta_a - E max_a m_a, m the posterior means.
G is as small as it can be in volume: the optimal design, scaled so that each x_a' G^-1 x_a is at most s^2.
Where arms are independent, the bound for Gaussian arms is far better and takes the place of this one.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.special import ndtr

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_lower
from bayesregret.bounds.certified.lower_gaussian import gaussian_lower
from bayesregret.bounds.gaps.linear import Geometry, geometry, randomised_mean, span
from bayesregret.checks import Array
from bayesregret.models import GaussianBandit, LinearBandit

# Steps towards the optimal design, and how near is near enough. Any design gives a valid bound.
STEPS, NEAR = 200, 1e-3
# Correlations below this are rounding.
ORTHOGONAL = 1e-13
ACCURACY = 1e-2  # one standard error, relative


@certified_lower.of(LinearBandit, "observations that tell more than any arm's reward")
def linear_lower(bandit: LinearBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    """Sum over rounds of E[max theta - theta_b], b the arm of the highest posterior mean after t - 1 observations."""
    arms = geometry(bandit)
    if arms.arms == 1 or arms.rank == 0:
        return Parts({"leading": 0.0}, error=0.0)
    if _independent(arms):
        same = GaussianBandit(arms.offset, arms.prior_deviation, bandit.reward_noise)
        return gaussian_lower(same, setting, order, accuracy)
    features, gain = _observation(arms)
    ratio = np.sqrt(gain) / bandit.reward_noise
    starts = _starts(setting.horizon)

    def total(_: int, points: Array) -> float:
        return _regret(arms.offset, features, ratio, starts, points[0])

    shape = (1, 2 * len(gain) + 1)
    found = randomised_mean(arms.arms * (len(starts) - 1), shape, total, accuracy=accuracy or ACCURACY)
    return Parts(
        {"leading": found.value},
        details={"information_per_round": float(np.log1p(ratio**2).sum()), "rank": float(arms.rank)},
        error=min(found.value, found.margin),
    )


def _independent(arms: Geometry) -> bool:
    """Whether the means of all arms are uncertain and independent: then the bandit is a Gaussian one."""
    if arms.prior_deviation.min() == 0.0:
        return False
    unit = arms.whitened / arms.prior_deviation[:, None]
    return len(unit) <= arms.rank and float(np.abs(unit @ unit.T - np.eye(len(unit))).max()) <= ORTHOGONAL


def _observation(arms: Geometry) -> tuple[Array, Array]:
    """Features (arms, rank) in coordinates that are observed separately, and their precisions times s^2.

    The design does not depend on the scales of coordinates, so that it is found in those in which arms are orthonormal.
    """
    features = arms.whitened @ span(arms.whitened, arms.prior_deviation).T
    unit, size, turn = np.linalg.svd(features, full_matrices=False)
    weight = np.full(arms.arms, 1.0 / arms.arms)
    for _ in range(STEPS):
        variance = _variances(unit, weight)
        if variance.max() <= (1.0 + NEAR) * len(size):  # the optimum is the rank
            break
        weight *= variance / (weight @ variance)
    needed = float(_variances(unit, weight).max())
    scaled = unit * (size / size[0])
    gain, axes = np.linalg.eigh(needed * (scaled.T * weight) @ scaled)
    # Rounding of the small ones must not make an observation tell less than it should.
    gain = np.maximum(gain, 0.0) + ROUNDING * gain[-1]
    return features @ turn.T @ axes, gain * size[0] ** 2


def _variances(unit: Array, weight: Array) -> Array:
    """(arms,): x' M^-1 x for the precision M of the design."""
    precision = (unit.T * weight) @ unit
    return np.asarray(np.einsum("ai,ia->a", unit, np.linalg.solve(precision, unit.T)))


def _starts(horizon: int) -> Array:
    """First counts of blocks that double, from 0 to the horizon."""
    edges = [0.0, 1.0]
    while edges[-1] < horizon:
        edges.append(min(float(horizon), 2.0 * edges[-1]))
    return np.array(edges)


def _regret(offset: Array, features: Array, ratio: Array, starts: Array, points: Array) -> float:
    """Sum over points of the regret of all rounds; in each block of counts, a point has one count, drawn evenly."""
    rank = len(ratio)
    zeta, noise, uniform = points[:, :rank], points[:, rank:-1], ndtr(points[:, -1:])
    means = offset + zeta @ features.T
    best, row = means.max(axis=1), np.arange(len(points))
    total = 0.0
    for start, stop in itertools.pairwise(starts):
        count = np.minimum(np.floor(start + (stop - start) * uniform), stop - 1.0)
        root = np.sqrt(count) * ratio
        size = np.hypot(1.0, root)
        estimate = (root / size) * ((root / size) * zeta + noise / size)  # the posterior mean
        chosen = np.argmax(offset + estimate @ features.T, axis=1)
        total += float(stop - start) * float(np.sum(best - means[row, chosen]))
    return total
