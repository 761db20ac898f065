"""How much BayesUCB can learn in a linear bandit: what its pulls' posterior deviations can add up to.

A pull of an arm with posterior deviation w brings log(1 + w^2/s^2) of information (twice the usual one). Over any pulls
that adds up to log det(I + sum_a N_a x_a x_a'), x_a the whitened features over s, and at most to that of the counted
pulls alone where others came between, for they only make the posterior narrower.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from bayesregret.bounds.gaps.linear import geometry, span
from bayesregret.checks import Array
from bayesregret.models import LinearBandit

# Of the reweighting towards the best allocation. Any allocation gives a valid bound; better ones give better bounds.
STEPS = 40
# Each tangent serves the counts around its own.
SPACING = 8.0
# Beyond these, the bound by the trace alone: the matrices would be too large, or too ill-conditioned to trust.
LARGEST_WORK, LARGEST_PRECISION = 3 * 10**6, 1e8


class Learning(NamedTuple):
    """Bounds on the information of so many pulls: `base + rate * pulls`, and one from the trace."""

    rank: int
    noise: float
    deviation: float  # S', the largest prior deviation of an arm's mean
    base: Array
    rate: Array

    @property
    def most_at_once(self) -> float:
        """The information of the first pull of the arm that is known least."""
        return math.log1p((self.deviation / self.noise) ** 2)

    def information(self, pulls: Array | float) -> Array:
        """The most that so many pulls can bring."""
        pulls = np.asarray(pulls, dtype=np.float64)
        if self.rank == 0:
            return np.zeros_like(pulls)
        # In logarithms, because the ratio of a wide prior to small noise may overflow.
        exponent = 2.0 * (math.log(self.deviation) - math.log(self.noise)) - math.log(self.rank)
        most = self.rank * np.logaddexp(0.0, exponent + np.log(np.maximum(pulls, np.finfo(float).tiny)))
        for base, rate in zip(self.base, self.rate, strict=True):
            most = np.minimum(most, base + rate * pulls)
        return np.asarray(np.minimum(most, self.most_at_once * pulls))

    def variances(self, horizon: int) -> float:
        """V': the most that the taken arms' posterior variances add up to.

        w^2 / log(1 + w^2/s^2) rises with w, so all information goes to pulls of the largest deviation.
        """
        if self.rank == 0:
            return 0.0
        return self.deviation**2 * min(float(horizon), float(self.information(horizon)) / self.most_at_once)

    def widths(self, horizon: int) -> float:
        """The most that the taken arms' posterior deviations add up to.

        A pull of information i has deviation f(i) = s sqrt(e^i - 1), concave up to i = log 2 and convex beyond. By
        Jensen's inequality n pulls of information I have at most n times the concave hull of f at I/n.
        """
        if self.rank == 0:
            return 0.0
        most = self.most_at_once
        each = min(float(self.information(horizon)) / horizon, most)
        touch = _touching_point(most)
        if each <= touch:
            return horizon * self.noise * _width(each)
        share = (each - touch) / (most - touch)
        return horizon * self.noise * ((1.0 - share) * _width(touch) + share * _width(most))


def _width(information: float) -> float:
    return math.sqrt(math.expm1(information))


def _touching_point(most: float) -> float:
    """Where the tangent of sqrt(e^i - 1) goes through the curve's end at `most`: up to there the hull is the curve."""
    low, high = 0.0, math.log(2.0)
    if most <= high:
        return most
    for _ in range(60):
        middle = 0.5 * (low + high)
        tangent = _width(middle) + 0.5 * math.exp(middle) / _width(middle) * (most - middle)
        low, high = (middle, high) if tangent > _width(most) else (low, middle)
    return low


@functools.lru_cache(maxsize=64)
def learning(bandit: LinearBandit, horizon: int) -> Learning:
    arms = geometry(bandit)
    noise, deviation = bandit.reward_noise, float(arms.prior_deviation.max())
    whole = arms.rank == 0 or horizon * (deviation / noise) ** 2 > LARGEST_PRECISION
    tangents = np.empty((0, 2))
    if not whole and arms.arms * arms.rank**2 <= LARGEST_WORK / STEPS:
        tangents = _tangents(arms.whitened @ span(arms.whitened, arms.prior_deviation).T / noise, horizon)
    return Learning(arms.rank, noise, deviation, tangents[:, 0], tangents[:, 1])


def _tangents(features: Array, horizon: int) -> Array:
    """(tangents, 2): log det(I + M) <= log det P + tr(P^-1 (I + M)) - d for any P, here I + the best allocation's M."""
    arms, dimension = features.shape
    share = np.full(arms, 1.0 / arms)
    pulls = float(horizon)
    found = []
    while pulls >= 1.0:
        for step in range(STEPS + 1):
            precision = np.eye(dimension) + pulls * (features.T * share) @ features
            inverse = np.linalg.inv(precision)
            gain = np.einsum("ai,ij,aj->a", features, inverse, features)
            if step < STEPS:
                share = share * gain / (share @ gain)
        base = np.linalg.slogdet(precision)[1] + np.trace(inverse) - dimension
        found.append((float(base), float(gain.max())))
        pulls /= SPACING
    return np.array(found)
