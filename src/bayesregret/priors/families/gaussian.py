"""Means of normal rewards: normal arms around a level, normal levels; everything has a closed form."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.priors.families.family import HALF_LOG_2_PI, ORDERS, Family, Limits, Point, normal_level
from bayesregret.priors.history import History

BEYOND_NOISE = 1e-6  # a prior variance of so small a share of the best arm's sampling variance is as good as 0


class GaussianArms(Family):
    """Arm a has theta ~ N(level, spread) and an observed mean ~ N(theta, noise^2 / pulls)."""

    kind: ClassVar[str] = "gaussian"
    width_name: ClassVar[str] = "prior_width"

    def __init__(self, history: History, noise: float, noise_error: float = 0.0) -> None:
        super().__init__(history)
        self.noise, self.noise_error = noise, noise_error
        self.sampling = noise**2 / history.pulls

    @functools.cached_property
    def _apart(self) -> tuple[float, float]:
        """Squared deviations of means, and what of them sampling does not explain."""
        squared = float(np.var(self.history.means))
        return squared, max(squared - float(self.sampling.mean()), 0.01 * squared, 0.01 * float(self.sampling.min()))

    @property
    def limits(self) -> Limits:
        return Limits(BEYOND_NOISE * float(self.sampling.min()), 1e3 * sum(self._apart))

    @functools.cached_property
    def centre(self) -> float:
        return float(self.history.means.mean())

    def centred(self) -> GaussianArms:
        totals = self.history.pulls * (self.history.means - self.centre)
        return self.over(dataclasses.replace(self.history, totals=totals))

    @functools.cached_property
    def start(self) -> Point:
        return Point(self.centre, self._apart[1])

    @property
    def own_errors(self) -> dict[str, float]:
        return {"reward_noise": self.noise_error}

    @functools.cached_property
    def scale(self) -> float:
        """How far apart means are."""
        return math.sqrt(sum(self._apart))

    def level(self, location: Array) -> Array:
        return location

    def over(self, history: History) -> GaussianArms:
        return GaussianArms(history, self.noise, self.noise_error)

    def log_marginals(self, location: Array, spread: float) -> Array:
        variance = spread + self.sampling
        return -0.5 * (self.history.means - location) ** 2 / variance - 0.5 * np.log(variance) - HALF_LOG_2_PI

    def log_likelihood(self, point: Point, orders: tuple[int, int] = ORDERS) -> float:
        """Arms around their experiment's weighted mean, and that mean around the location: both are normal."""
        weight = 1.0 / (point.spread + self.sampling)
        weights, level = self._weighted(weight)
        around = -0.5 * weight * (self.history.means - level[self.history.experiment]) ** 2 + 0.5 * np.log(weight)
        of_levels = 1.0 / weights + point.level_spread**2
        log_levels = -0.5 * (level - point.location) ** 2 / of_levels - 0.5 * np.log(of_levels * weights)
        if point.level_spread == 0.0:
            log_levels = -0.5 * (level - point.location) ** 2 * weights
        return float(around.sum() + log_levels.sum() - self.history.arms * HALF_LOG_2_PI)

    def _weighted(self, weight: Array) -> tuple[Array, Array]:
        weights = self.of_experiments(weight)
        return weights, self.of_experiments(weight * self.history.means) / np.maximum(weights, 1e-300)

    def level_guess(self, point: Point) -> tuple[Array, Array]:
        """Exact."""
        weights, level = self._weighted(1.0 / (point.spread + self.sampling))
        return normal_level(point, weights, level)

    def below(self, location: Array, spread: float) -> tuple[Array, Array]:
        chance = np.asarray(ndtr((self.history.means - location) / np.sqrt(spread + self.sampling)))
        return chance, chance

    def moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        return location, np.broadcast_to(spread + self.sampling, np.shape(location))

    def quantile(self, share: float, mean: Array, variance: Array) -> Array:
        return mean + float(ndtri(share)) * np.sqrt(variance)

    def parameters(self, point: Point) -> dict[str, float]:
        return {"prior_mean": point.location, "prior_width": math.sqrt(point.spread), "reward_noise": self.noise}

    def width(self, level: float, spread: float) -> float:
        return math.sqrt(spread)

    def bandit(self, arms: int, level: float, width: float) -> GaussianBandit:
        return GaussianBandit(np.full(arms, level), width, self.noise)
