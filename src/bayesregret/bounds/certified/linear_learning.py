"""Limits on the information of pulls in a linear bandit, and on sums of posterior variances and standard deviations.

A pull of an arm with posterior standard deviation w yields log(1 + w^2/s^2) of information (twice the usual one). Over
any pulls this adds up to log det(I + sum_a N_a x_a x_a'), x_a the whitened features over s. If other pulls come between
the counted ones, it adds up to at most that of the counted pulls alone, because the others only narrow the posterior.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from bayesregret.bounds.gaps.linear import geometry, span
from bayesregret.checks import Array
from bayesregret.models import LinearBandit

# Reweighting steps towards the best allocation. Any allocation gives a valid bound; better ones give better bounds.
STEPS = 40
# Ratio of the numbers of pulls of two neighbouring tangents.
SPACING = 8.0
# Beyond these only the trace bounds the information: the matrices would be too large or too ill-conditioned.
LARGEST_WORK, LARGEST_PRECISION = 3 * 10**6, 1e8


class InformationLimits(NamedTuple):
    """Upper bounds on the information of a number of pulls: `base + rate * pulls`, and one from the trace."""

    rank: int
    noise: float
    deviation: float  # S', the largest prior standard deviation of an arm's mean
    base: Array
    rate: Array

    @property
    def most_per_pull(self) -> float:
        """Information of the first pull of the most uncertain arm."""
        return math.log1p((self.deviation / self.noise) ** 2)

    def information(self, pulls: Array | float) -> Array:
        """Upper bound on the information of this many pulls."""
        pulls = np.asarray(pulls, dtype=np.float64)
        if self.rank == 0:
            return np.zeros_like(pulls)
        # In logarithms, because the ratio of a wide prior to small noise may overflow.
        exponent = 2.0 * (math.log(self.deviation) - math.log(self.noise)) - math.log(self.rank)
        most = self.rank * np.logaddexp(0.0, exponent + np.log(np.maximum(pulls, np.finfo(float).tiny)))
        for base, rate in zip(self.base, self.rate, strict=True):
            most = np.minimum(most, base + rate * pulls)
        return np.asarray(np.minimum(most, self.most_per_pull * pulls))

    def variances(self, horizon: int) -> float:
        """V': upper bound on the sum of the pulled arms' posterior variances.

        w^2 / log(1 + w^2/s^2) rises with w, so the sum is largest if all information comes from the largest w.
        """
        if self.rank == 0:
            return 0.0
        return self.deviation**2 * min(float(horizon), float(self.information(horizon)) / self.most_per_pull)

    def widths(self, horizon: int) -> float:
        """W: upper bound on the sum of the pulled arms' posterior standard deviations.

        A pull of information i has standard deviation f(i) = s sqrt(e^i - 1), concave up to i = log 2, convex beyond.
        By Jensen's inequality the sum over n pulls of information I is at most n times the concave hull of f at I/n.
        """
        if self.rank == 0:
            return 0.0
        most = self.most_per_pull
        per_pull = min(float(self.information(horizon)) / horizon, most)
        touch = _touching_point(most)
        if per_pull <= touch:
            return horizon * self.noise * _width(per_pull)
        fraction = (per_pull - touch) / (most - touch)
        return horizon * self.noise * ((1.0 - fraction) * _width(touch) + fraction * _width(most))


def _width(information: float) -> float:
    return math.sqrt(math.expm1(information))


def _touching_point(most: float) -> float:
    """Point whose tangent to sqrt(e^i - 1) passes through the curve's end at `most`: up to it the hull is the curve."""
    low, high = 0.0, math.log(2.0)
    if most <= high:
        return most
    for _ in range(60):
        middle = 0.5 * (low + high)
        tangent = _width(middle) + 0.5 * math.exp(middle) / _width(middle) * (most - middle)
        low, high = (middle, high) if tangent > _width(most) else (low, middle)
    return low


@functools.lru_cache(maxsize=64)
def information_limits(bandit: LinearBandit, horizon: int) -> InformationLimits:
    arms = geometry(bandit)
    noise, deviation = bandit.reward_noise, float(arms.prior_deviation.max())
    trace_only = arms.rank == 0 or horizon * (deviation / noise) ** 2 > LARGEST_PRECISION
    tangents = np.empty((0, 2))
    if not trace_only and arms.arms * arms.rank**2 <= LARGEST_WORK / STEPS:
        tangents = _tangents(arms.whitened @ span(arms.whitened, arms.prior_deviation).T / noise, horizon)
    return InformationLimits(arms.rank, noise, deviation, tangents[:, 0], tangents[:, 1])


def _tangents(features: Array, horizon: int) -> Array:
    """(tangents, 2): log det(I + M) <= log det P + tr(P^-1 (I + M)) - d for any P, here I + the best allocation's M."""
    arms, dimension = features.shape
    allocation = np.full(arms, 1.0 / arms)
    pulls = float(horizon)
    found = []
    while pulls >= 1.0:
        for step in range(STEPS + 1):
            precision = np.eye(dimension) + pulls * (features.T * allocation) @ features
            inverse = np.linalg.inv(precision)
            gain = np.einsum("ai,ij,aj->a", features, inverse, features)
            if step < STEPS:
                allocation = allocation * gain / (allocation @ gain)
        base = np.linalg.slogdet(precision)[1] + np.trace(inverse) - dimension
        found.append((float(base), float(gain.max())))
        pulls /= SPACING
    return np.array(found)
