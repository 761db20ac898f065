"""Discounted stopping problems of Gaussian arms with unknown variance: the posterior's scale is sqrt(scale).

With pulls q and shape a, the next reward is m + sqrt(2 scale (q + 1) / q) v, where v has the density proportional to
(1 + v^2)^-(a + 1/2). B rewards move the mean by sqrt(scale) sqrt(2 B / (q (q + B))) v, and multiply the root of the
scale by sqrt(1 + v^2) r, where 1 / r^2 is an independent Beta(a + 1/2, (B - 1)/2) variable.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayesregret.checks import Array
from bayesregret.numerics.log_gamma_ratio import log_gamma_ratio
from bayesregret.optimal.discounted_scaled import Steps
from bayesregret.optimal.discounted_stages import hat_weights, kept_points

REACH = 8.0  # of the points of a step, in deviations
SCORES = np.append(np.arange(-4.0, 4.5, 0.5), 7.0)  # of points for r: W depends little on the scale


class NormalGammaArm:
    """In units of sqrt(scale)."""

    def __init__(self, prior_pulls: float, shape: float) -> None:
        self.pseudo_count = prior_pulls
        self.shape = shape

    def deviation(self, pulls: float) -> float:
        return 1.0 / math.sqrt((self.shape + 0.5 * pulls) * (self.pseudo_count + pulls))

    def excess(self, pulls: float, t: Array) -> tuple[Array, Array]:
        unit, freedom = self.deviation(pulls), 2.0 * self.shape + pulls
        under, over = (_student_rest(freedom, sign * t / unit) * unit for sign in (1.0, -1.0))
        return over, under

    def steps(self, pulls: float, length: int, fineness: int) -> list[Steps]:
        q, a = self.pseudo_count + pulls, self.shape + 0.5 * pulls
        move = math.sqrt(2.0 * length / q / (q + length))
        parts = [_moves(a, move, fineness)]
        return parts if length == 1 else [*parts, _growths(a, length)]


def _student_rest(freedom: float, x: Array) -> Array:
    """E(T - x)^+ of Student's distribution."""
    log_density = log_gamma_ratio(0.5 * freedom, 0.5) - 0.5 * math.log(math.pi * freedom)
    density = np.exp(log_density - 0.5 * (freedom + 1.0) * np.log1p(x * x / freedom))
    return np.asarray(np.maximum(0.0, (freedom + x * x) / (freedom - 1.0) * density - x * special.stdtr(freedom, -x)))


def _moves(a: float, move: float, fineness: int) -> Steps:
    """By v."""
    z = np.arange(-REACH, 0.5 / fineness, 1.0 / fineness)
    left = special.stdtrit(2.0 * a, special.ndtr(z)) / math.sqrt(2.0 * a)
    left = np.unique(left[np.isfinite(left) & (left < 0.0)])
    v = np.concatenate([left, np.zeros(1), -left[::-1]])
    below, above = (special.stdtr(2.0 * a, sign * v * math.sqrt(2.0 * a)) for sign in (1.0, -1.0))
    log_height = log_gamma_ratio(a, 0.5) - 0.5 * math.log(math.pi) - (a - 0.5) * np.log1p(v * v)
    part = np.exp(log_height) / (2.0 * a - 1.0)
    beyond = max(0.0, float(part[-1] - v[-1] * above[-1]))
    weights = hat_weights(v, below, above, -part, part)
    return Steps(weights, move * v, np.sqrt(1.0 + v * v), np.full(2, beyond), np.array([move, -move]))


def _growths(a: float, length: int) -> Steps:
    """By r."""
    first, second = a + 0.5, 0.5 * (length - 1)
    u = np.where(
        SCORES < 0.0,
        special.betainccinv(first, second, special.ndtr(SCORES)),
        special.betaincinv(first, second, special.ndtr(-SCORES)),
    )
    r = kept_points(np.unique(1.0 / np.sqrt(u[u > 0.0])))
    u = 1.0 / (r * r)
    below, above = special.betaincc(first, second, u), special.betainc(first, second, u)
    mean = math.exp(log_gamma_ratio(a + second, 0.5) - log_gamma_ratio(a, 0.5))
    part_below, part_above = mean * special.betaincc(a, second, u), mean * special.betainc(a, second, u)
    beyond = max(0.0, float(part_above[-1] - r[-1] * above[-1]))
    weights = hat_weights(r, below, above, part_below, part_above)
    return Steps(weights, np.zeros(len(r)), r, np.array([beyond]), np.zeros(1))
