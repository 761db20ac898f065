"""Discounted stopping problems of Gaussian arms with unknown variance: the posterior's scale is sqrt(scale).

With pulls q and shape a, B rewards move the mean by sqrt(scale) M v, M = sqrt(2 B / (q (q + B))), where v has the
density proportional to (1 + v^2)^-(a + 1/2), and multiply the root of the scale by sqrt(1 + v^2) r, where 1 / r^2 is an
independent Beta(a + 1/2, (B - 1)/2) variable. Here v = sinh(x).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from bayesregret.checks import Array
from bayesregret.dispatch import jitable
from bayesregret.numerics.log_gamma_ratio import log_gamma_ratio
from bayesregret.optimal.scaled_arm import (
    at_coordinate,
    coordinate,
    given_up,
    growth_of_scale,
    log_normaliser,
    step,
    step_deviation,
    step_range,
    unit_of_mean,
)

TAIL = 38.0  # minus the logarithm of the mass beyond which nothing counts
LEAST_SHAPE, LEAST_PULLS, LARGEST = 0.55, 1e-6, 1e10


class NormalGammaArm(NamedTuple):
    """In units of sqrt(scale)."""

    prior_pulls: float
    shape: float

    @property
    def pseudo_count(self) -> float:
        return min(self.prior_pulls, self.shape)

    @property
    def is_extreme(self) -> bool:
        return not (LEAST_SHAPE <= self.shape <= LARGEST and LEAST_PULLS <= self.prior_pulls <= LARGEST)

    def excess(self, pulls: float, t: Array) -> tuple[Array, Array]:
        unit, freedom = unit_of_mean(self, pulls), 2.0 * self.shape + pulls
        under, over = (_student_rest(freedom, sign * t / unit) * unit for sign in (1.0, -1.0))
        return over, under


def _student_rest(freedom: float, x: Array) -> Array:
    """E(T - x)^+ of Student's distribution."""
    log_density = log_gamma_ratio(0.5 * freedom, 0.5) - 0.5 * math.log(math.pi * freedom)
    density = np.exp(log_density - 0.5 * (freedom + 1.0) * np.log1p(x * x / freedom))
    return np.asarray(np.maximum(0.0, (freedom + x * x) / (freedom - 1.0) * density - x * special.stdtr(freedom, -x)))


@jitable
def _move(arm, pulls, length):
    q = arm.prior_pulls + pulls
    return math.sqrt(2.0 * length / q / (q + length))


@step_range.implement(NormalGammaArm)
def range_of_student(arm, pulls, length):
    a = arm.shape + 0.5 * pulls
    tail = TAIL / (2.0 * a - 1.0)
    last = tail + math.log1p(math.sqrt(-math.expm1(-2.0 * tail)))
    return 0.0, 1.0 / math.sqrt(2.0 * a), -last, last


@step_deviation.implement(NormalGammaArm)
def deviation_of_mean(arm, pulls, length, t):
    return _move(arm, pulls, length) / math.sqrt(2.0 * arm.shape + pulls) / math.hypot(unit_of_mean(arm, pulls), t)


@log_normaliser.implement(NormalGammaArm)
def student_normaliser(arm, pulls, length):
    return log_gamma_ratio(arm.shape + 0.5 * pulls, 0.5) - 0.5 * math.log(math.pi)


@step.implement(NormalGammaArm)
def student_step(arm, pulls, length, normaliser, x):
    v = math.sinh(x)
    log_cosh = 0.5 * math.log1p(v * v)
    weight = math.exp(normaliser + (1.0 - 2.0 * arm.shape - pulls) * log_cosh)
    slope = math.exp(-log_cosh)
    return weight, slope, _move(arm, pulls, length) * v * slope


@given_up.implement(NormalGammaArm)
def middling_rewards(arm, pulls, length, t, zero):
    """Where t + M sinh(x) < zero cosh(x), a quadratic inequality in exp(x)."""
    both, rest = _move(arm, pulls, length) - zero, -zero - _move(arm, pulls, length)
    square = t * t - both * rest
    if square <= 0.0:
        return -math.inf, -math.inf
    root = math.sqrt(square)
    upper = (root - t) / both if t < 0.0 else -rest / (root + t)
    lower = rest / (root - t) if t < 0.0 else -1.0
    if upper <= 0.0:
        return -math.inf, -math.inf
    return math.log(lower) if lower > 0.0 else -math.inf, math.log(upper)


@growth_of_scale.implement(NormalGammaArm)
def growth_by_spread(arm, pulls, length):
    a, more = arm.shape + 0.5 * pulls, 0.5 * (length - 1.0)
    mean = math.exp(log_gamma_ratio(a + more, 0.5) - log_gamma_ratio(a, 0.5))
    return mean, math.sqrt(max(0.0, (a + more - 0.5) / (a - 0.5) - mean * mean))


@unit_of_mean.implement(NormalGammaArm)
def student_scale(arm, pulls):
    return 1.0 / math.sqrt((arm.shape + 0.5 * pulls) * (arm.prior_pulls + pulls))


@coordinate.implement(NormalGammaArm)
def even_in_logarithms(arm, unit, t):
    size = abs(t) / unit
    return math.copysign(math.log1p(size + size * size / (1.0 + math.sqrt(1.0 + size * size))), t)


@at_coordinate.implement(NormalGammaArm)
def at_even_in_logarithms(arm, unit, u):
    return unit * math.sinh(u)
