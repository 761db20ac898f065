"""Counts: Gamma arms around a level, levels normal after the logarithm."""

from __future__ import annotations

import functools
import math
from typing import ClassVar

import numpy as np
from scipy.special import betainc, gammaincinv, gammaln

from bayesregret.checks import Array
from bayesregret.models import PoissonBandit
from bayesregret.numerics.log_rising import log_rising
from bayesregret.priors.families.family import Family, Limits, Point, normal_level
from bayesregret.priors.history import History

# So many times as even as the largest total can tell, or so small a shape, are as good as the limit.
BEYOND_TOTALS, LEAST_SHAPE = 1e6, 1e-3


class PoissonArms(Family):
    """Arm a has theta ~ Gamma(shape 1 / spread, mean level) and a Poisson total with mean pulls theta."""

    kind: ClassVar[str] = "poisson"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.log_factorials = gammaln(history.totals + 1.0)

    @property
    def limits(self) -> Limits:
        return Limits(1.0 / (BEYOND_TOTALS * float(self.history.totals.max())), 1.0 / LEAST_SHAPE)

    @functools.cached_property
    def start(self) -> Point:
        """From the squared deviations of arms' means that Poisson totals do not explain."""
        history = self.history
        mean = float(history.totals.sum() / history.pulls.sum())
        spread = float(np.mean((history.means - mean) ** 2 - mean / history.pulls)) / mean**2
        return Point(math.log(mean), min(max(spread, 1e-3), 10.0))

    def level(self, location: Array) -> Array:
        return np.exp(location)

    def over(self, history: History) -> PoissonArms:
        return PoissonArms(history)

    def log_marginals(self, location: Array, spread: float) -> Array:
        totals = self.history.totals
        expected = self.history.pulls * np.exp(location)
        log_more = np.log1p(spread * expected)  # of (rate + pulls) / rate
        rising = log_rising(np.asarray(1.0 / spread), totals) + totals * math.log(spread)
        return rising - self.log_factorials + totals * (np.log(expected) - log_more) - log_more / spread

    def level_guess(self, point: Point) -> tuple[Array, Array]:
        """As if arms' means were normal, with half an event more at the typical level."""
        typical = math.exp(point.location)
        worth = 1.0 / (point.spread * typical + 1.0 / self.history.pulls)
        more = 0.5 / typical
        pulls = self.of_experiments(worth)
        mean = (self.of_experiments(worth * self.history.means) + 0.5) / (pulls + more)
        information = pulls * mean
        return normal_level(point, information, np.log(mean))

    def below(self, location: Array, spread: float) -> tuple[Array, Array]:
        """A Gamma mixture of Poisson distributions is negative binomial."""
        totals = self.history.totals
        chance = 1.0 / (1.0 + spread * self.history.pulls * np.exp(location))
        shape = 1.0 / spread
        fewer = np.where(totals > 0.0, betainc(shape, np.maximum(totals, 1.0), chance), 0.0)
        return fewer, np.asarray(betainc(shape, totals + 1.0, chance))

    def moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        level = np.exp(location)
        return level, level**2 * spread + level / self.history.pulls

    def quantile(self, share: float, mean: Array, variance: Array) -> Array:
        return np.asarray(gammaincinv(mean**2 / variance, share) * variance / mean)

    def parameters(self, point: Point) -> dict[str, float]:
        level = math.exp(point.location)
        shape = 1.0 / point.spread if point.spread > 0.0 else math.inf
        return {"shape": shape, "rate": shape / level, "mean": level, "width": self.width(level, point.spread)}

    def width(self, level: float, spread: float) -> float:
        return level * math.sqrt(spread)

    def bandit(self, arms: int, level: float, width: float) -> PoissonBandit:
        shape = (level / width) ** 2
        return PoissonBandit(np.full(arms, shape), np.full(arms, shape / level))
