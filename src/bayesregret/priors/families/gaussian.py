"""Gaussian rewards: normal arms around normal levels; everything has a closed form."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.priors.families.family import HALF_LOG_2_PI, ORDERS, Family, PriorPoint, SpreadLimits, normal_location
from bayesregret.priors.history import History

NEGLIGIBLE = 1e-6  # a prior variance below this fraction of the smallest sampling variance is indistinguishable from 0


class GaussianArms(Family):
    """Arm a has theta ~ N(level, spread) and an observed mean ~ N(theta, noise^2 / pulls)."""

    kind: ClassVar[str] = "gaussian"
    width_name: ClassVar[str] = "prior_width"

    def __init__(self, history: History, noise: float, noise_error: float = 0.0) -> None:
        super().__init__(history)
        self.noise, self.noise_error = noise, noise_error
        self.sampling = noise**2 / history.pulls

    @functools.cached_property
    def _variances(self) -> tuple[float, float]:
        """Variance of the observed means, and the part of it that sampling does not explain."""
        squared = float(np.var(self.history.means))
        return squared, max(squared - float(self.sampling.mean()), 0.01 * squared, 0.01 * float(self.sampling.min()))

    @property
    def spread_limits(self) -> SpreadLimits:
        return SpreadLimits(NEGLIGIBLE * float(self.sampling.min()), 1e3 * sum(self._variances))

    @functools.cached_property
    def centre(self) -> float:
        return float(self.history.means.mean())

    def centred(self) -> GaussianArms:
        totals = self.history.pulls * (self.history.means - self.centre)
        return self.with_history(dataclasses.replace(self.history, totals=totals))

    @functools.cached_property
    def start(self) -> PriorPoint:
        return PriorPoint(self.centre, self._variances[1])

    @property
    def other_standard_errors(self) -> dict[str, float]:
        return {"reward_noise": self.noise_error}

    @functools.cached_property
    def link_scale(self) -> float:
        return math.sqrt(sum(self._variances))

    def link(self, level: Array) -> Array:
        return level

    def inverse_link(self, location: Array) -> Array:
        return location

    def with_history(self, history: History) -> GaussianArms:
        return GaussianArms(history, self.noise, self.noise_error)

    def log_marginals(self, location: Array, spread: float) -> Array:
        variance = spread + self.sampling
        return -0.5 * (self.history.means - location) ** 2 / variance - 0.5 * np.log(variance) - HALF_LOG_2_PI

    def log_likelihood(self, point: PriorPoint, orders: tuple[int, int] = ORDERS) -> float:
        """Sum of two normal parts: arms around their experiment's weighted mean, and that mean around the location."""
        weight = 1.0 / (point.spread + self.sampling)
        weights, level = self._weighted_means(weight)
        around = -0.5 * weight * (self.history.means - level[self.history.experiment]) ** 2 + 0.5 * np.log(weight)
        of_levels = 1.0 / weights + point.level_spread**2
        log_levels = -0.5 * (level - point.location) ** 2 / of_levels - 0.5 * np.log(of_levels * weights)
        if point.level_spread == 0.0:
            log_levels = -0.5 * (level - point.location) ** 2 * weights
        return float(around.sum() + log_levels.sum() - self.history.arms * HALF_LOG_2_PI)

    def _weighted_means(self, weight: Array) -> tuple[Array, Array]:
        """(experiments,): sums of the arms' weights, and weighted means of the arms."""
        weights = self.sum_by_experiment(weight)
        return weights, self.sum_by_experiment(weight * self.history.means) / np.maximum(weights, 1e-300)

    def location_guess(self, point: PriorPoint) -> tuple[Array, Array]:
        """Exact for this family."""
        weights, level = self._weighted_means(1.0 / (point.spread + self.sampling))
        return normal_location(point, weights, level)

    def observed_cdf(self, location: Array, spread: float) -> tuple[Array, Array]:
        probability = np.asarray(ndtr((self.history.means - location) / np.sqrt(spread + self.sampling)))
        return probability, probability

    def observed_moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        return location, np.broadcast_to(spread + self.sampling, np.shape(location))

    def observed_quantile(self, probability: float, mean: Array, variance: Array) -> Array:
        return mean + float(ndtri(probability)) * np.sqrt(variance)

    def parameters(self, point: PriorPoint) -> dict[str, float]:
        return {"prior_mean": point.location, "prior_width": math.sqrt(point.spread), "reward_noise": self.noise}

    def width(self, level: float, spread: float) -> float:
        return math.sqrt(spread)

    def spread(self, level: float, width: float) -> float:
        return width**2

    def link_width(self, location: float, spread: float) -> float:
        return math.sqrt(spread)

    def bandit(self, arms: int, level: float, width: float) -> GaussianBandit:
        return GaussianBandit(np.full(arms, level), width, self.noise)
