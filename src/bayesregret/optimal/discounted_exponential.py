"""Discounted stopping problems of exponential arms: the posterior's scale is its mean.

The mean reward is inverse-gamma with shape A = shape + pulls. After B more rewards its posterior mean is R times as
large, R = (A - 1) / (A + B - 1) / U with U a Beta(A, B) variable. So shift = R - 1 and factor = R.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayesregret.checks import Array
from bayesregret.numerics.mean_distributions import gamma_tails
from bayesregret.optimal.discounted_scaled import Steps
from bayesregret.optimal.discounted_stages import hat_weights, kept_points

REACH = 8.0  # of the points of a step, in deviations


class ExponentialArm:
    """In units of the posterior mean: t = 1 - y / m is below 1."""

    def __init__(self, shape: float) -> None:
        self.shape = shape
        self.pseudo_count = shape - 1.0

    def deviation(self, pulls: float) -> float:
        return float((self.shape + pulls) ** -0.5)

    def excess(self, pulls: float, t: Array) -> tuple[Array, Array]:
        x, shape = np.maximum(1.0 - t, 0.0), self.shape + pulls
        with np.errstate(divide="ignore", over="ignore"):
            at = np.minimum((shape - 1.0) / x, 1e300)
        low, high = gamma_tails(shape, at)
        low_part, high_part = gamma_tails(shape - 1.0, at)
        return np.maximum(0.0, low_part - x * low), np.maximum(0.0, x * high - high_part)

    def steps(self, pulls: float, length: int, fineness: int) -> list[Steps]:
        a, b = self.shape + pulls, float(length)
        z = np.arange(-REACH, REACH + 0.5 / fineness, 1.0 / fineness)
        u = np.where(z < 0.0, special.betainccinv(a, b, special.ndtr(z)), special.betaincinv(a, b, special.ndtr(-z)))
        least = (a - 1.0) / (a + b - 1.0)
        ratio = kept_points(np.unique(least / np.append(u[u > 0.0], 1.0)))
        u = least / ratio
        above, moment_above = special.betainc(a, b, u), special.betainc(a - 1.0, b, u)
        below, moment_below = special.betaincc(a, b, u), special.betaincc(a - 1.0, b, u)
        weights = hat_weights(ratio, below, above, moment_below, moment_above)
        rest = max(0.0, float(moment_above[-1] - ratio[-1] * above[-1]))
        return [Steps(weights, ratio - 1.0, ratio, np.array([rest]), np.ones(1))]
