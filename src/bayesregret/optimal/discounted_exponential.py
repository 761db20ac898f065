"""Discounted stopping problems of exponential arms: the posterior's scale is its mean.

The mean reward is inverse-gamma with shape A = shape + pulls. After B more rewards its posterior mean is R times as
large, R = (A - 1) / (A + B - 1) exp(x), with exp(-x) a Beta(A, B) variable.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.numerics.log_gamma_ratio import log_gamma_ratio
from bayesregret.numerics.mean_distributions import gamma_tails
from bayesregret.optimal.scaled_arm import (
    at_coordinate,
    coordinate,
    given_up,
    kink,
    log_normaliser,
    step,
    step_deviation,
    step_range,
    unit_of_mean,
)

REACH, TAIL = 10.0, 38.0  # deviations of a step, and minus the logarithm of its mass, beyond which nothing counts
LEAST_SHAPE, LARGEST_SHAPE = 1.05, 1e10


class ExponentialArm(NamedTuple):
    """In units of the posterior mean: t = 1 - y / m is below 1."""

    shape: float

    @property
    def pseudo_count(self) -> float:
        return self.shape - 1.0

    @property
    def is_extreme(self) -> bool:
        return not LEAST_SHAPE <= self.shape <= LARGEST_SHAPE

    def excess(self, pulls: float, t: Array) -> tuple[Array, Array]:
        x, shape = np.maximum(1.0 - t, 0.0), self.shape + pulls
        with np.errstate(divide="ignore", over="ignore"):
            at = np.minimum((shape - 1.0) / x, 1e300)
        low, high = gamma_tails(shape, at)
        low_part, high_part = gamma_tails(shape - 1.0, at)
        return np.maximum(0.0, low_part - x * low), np.maximum(0.0, x * high - high_part)


@step_range.implement(ExponentialArm)
def range_of_logarithm(arm, pulls, length):
    a = arm.shape + pulls
    middle, deviation = math.log1p(length / (a - 0.5)), math.sqrt(length / (a * (a + length)))
    return middle, deviation, max(0.0, middle - REACH * deviation), middle + REACH * deviation + TAIL / (a - 1.0)


@step_deviation.implement(ExponentialArm)
def deviation_of_logarithm(arm, pulls, length, t):
    a = arm.shape + pulls
    return math.sqrt(length / (a * (a + length)))


@log_normaliser.implement(ExponentialArm)
def beta_normaliser(arm, pulls, length):
    return log_gamma_ratio(arm.shape + pulls, length) - math.lgamma(length)


@step.implement(ExponentialArm)
def beta_step(arm, pulls, length, normaliser, x):
    a = arm.shape + pulls
    ratio = (a - 1.0) / (a + length - 1.0)
    weight = normaliser - (a - 1.0) * x
    if length > 1.0:
        weight += (length - 1.0) * math.log(-math.expm1(-x))
    slope = math.exp(-x) / ratio
    return ratio * math.exp(weight), slope, 1.0 - slope


@given_up.implement(ExponentialArm)
def too_small_a_ratio(arm, pulls, length, t, zero):
    if t >= 1.0:
        return -math.inf, -math.inf
    a = arm.shape + pulls
    return -math.inf, math.log((1.0 - t) / (1.0 - zero) * (a + length - 1.0) / (a - 1.0))


@kink.implement(ExponentialArm)
def worst_reward(arm, pulls, length, zero):
    a = arm.shape + pulls
    return 1.0 - (1.0 - zero) * (a - 1.0) / (a + length - 1.0)


@coordinate.implement(ExponentialArm)
def log_ratio(arm, unit, t):
    """Logarithm of the mean over the charge."""
    return -math.log1p(-t) if t < 1.0 else math.inf


@at_coordinate.implement(ExponentialArm)
def at_log_ratio(arm, unit, u):
    return -math.expm1(-u)


@unit_of_mean.implement(ExponentialArm)
def relative_deviation(arm, pulls):
    return (arm.shape + pulls) ** -0.5
