"""Poisson rewards: Gamma arms around levels that are log-normal."""

from __future__ import annotations

import functools
import math
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincc, gammaln

from bayesregret.checks import Array
from bayesregret.models import PoissonBandit
from bayesregret.numerics.log_rising import log_rising
from bayesregret.priors.families.family import Family, PriorPoint, SpreadLimits, normal_location
from bayesregret.priors.history import History

# A shape above this multiple of the largest total, or below the smallest one, is indistinguishable from the limit.
BEYOND_TOTALS, SMALLEST_SHAPE = 1e6, 1e-3
LEAST_EXCESS = 1e-9  # relative to Poisson: smaller differences of variances are rounding errors


class PoissonArms(Family):
    """Arm a has theta ~ Gamma(shape 1 / spread, mean level) and a Poisson total with mean pulls theta.

    Pulls are exposure: theta is the rate of events per unit, and pulls need not be whole.
    """

    kind: ClassVar[str] = "poisson"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.log_factorials = gammaln(history.totals + 1.0)

    @property
    def spread_limits(self) -> SpreadLimits:
        return SpreadLimits(1.0 / (BEYOND_TOTALS * float(self.history.totals.max())), 1.0 / SMALLEST_SHAPE)

    @functools.cached_property
    def start(self) -> PriorPoint:
        """Matches the variance of the arms' means that Poisson totals do not explain."""
        history = self.history
        mean = float(history.totals.sum() / history.pulls.sum())
        spread = float(np.mean((history.means - mean) ** 2 - mean / history.pulls)) / mean**2
        return PriorPoint(math.log(mean), min(max(spread, 1e-3), 10.0))

    def link(self, level: Array) -> Array:
        return np.log(level)

    def inverse_link(self, location: Array) -> Array:
        return np.exp(location)

    def with_history(self, history: History) -> PoissonArms:
        return PoissonArms(history)

    def log_marginals(self, location: Array, spread: float) -> Array:
        totals = self.history.totals
        expected = self.history.pulls * np.exp(location)
        log_more = np.log1p(spread * expected)  # log of (rate + pulls) / rate
        rising = log_rising(np.asarray(1.0 / spread), totals) + totals * math.log(spread)
        return rising - self.log_factorials + totals * (np.log(expected) - log_more) - log_more / spread

    def location_guess(self, point: PriorPoint) -> tuple[Array, Array]:
        """Treat the arms' means as normal, and add half an event at the typical level."""
        typical = math.exp(point.location)
        weight = 1.0 / (point.spread * typical + 1.0 / self.history.pulls)  # of an arm, in independent pulls
        more = 0.5 / typical
        pulls = self.sum_by_experiment(weight)
        mean = (self.sum_by_experiment(weight * self.history.means) + 0.5) / (pulls + more)
        information = pulls * mean
        return normal_location(point, information, np.log(mean))

    def observed_cdf(self, location: Array, spread: float) -> tuple[Array, Array]:
        """A Gamma mixture of Poisson distributions is negative binomial."""
        totals = self.history.totals
        expected = self.history.pulls * np.exp(location)
        fewer = np.where(totals > 0.0, _total_cdf(np.maximum(totals - 1.0, 0.0), expected, spread * expected), 0.0)
        return fewer, _total_cdf(totals, expected, spread * expected)

    def observed_moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        level = np.exp(location)
        return level, level**2 * spread + level / self.history.pulls

    def observed_quantile(self, probability: float, mean: Array, variance: Array) -> Array:
        """That of a negative binomial total: where few events are expected, no continuous distribution is close."""
        expected = self.history.pulls * mean
        excess = np.maximum(self.history.pulls * variance / mean - 1.0, LEAST_EXCESS)
        return _total_quantile(probability, expected, excess) / self.history.pulls

    def parameters(self, point: PriorPoint) -> dict[str, float]:
        level = math.exp(point.location)
        shape = 1.0 / point.spread if point.spread > 0.0 else math.inf
        return {"shape": shape, "rate": shape / level, "mean": level, "width": self.width(level, point.spread)}

    def width(self, level: float, spread: float) -> float:
        return level * math.sqrt(spread)

    def spread(self, level: float, width: float) -> float:
        return (width / level) ** 2

    def link_width(self, location: float, spread: float) -> float:
        return math.sqrt(spread)

    def bandit(self, arms: int, level: float, width: float) -> PoissonBandit:
        shape = (level / width) ** 2
        return PoissonBandit(np.full(arms, shape), np.full(arms, shape / level))


def _total_quantile(probability: float, mean: Array, excess: Array) -> Array:
    """Smallest total that is not exceeded with this probability, by bisection.

    Totals are negative binomial with a variance of (1 + excess) times their mean.
    """
    low = np.full(np.shape(mean), -1.0)
    # Cantelli's inequality: the quantile is at most this many standard deviations above the mean.
    reach = math.sqrt(probability / (1.0 - probability))
    high = np.floor(mean + reach * np.sqrt(mean * (1.0 + excess))) + 1.0
    # Totals up to `low` are less probable, totals up to `high` are not; beyond 1e12 twelve digits are enough.
    while (high - low > np.maximum(1.0, 1e-12 * high)).any():
        middle = np.floor(0.5 * (low + high))
        enough = (middle >= 0.0) & (_total_cdf(np.maximum(middle, 0.0), mean, excess) >= probability)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _total_cdf(totals: Array, mean: Array, excess: Array) -> Array:
    """Probability of at most these negative binomial totals; of two equal forms, the one that keeps its digits."""
    shape = mean / excess
    poisson_like = betaincc(totals + 1.0, shape, excess / (1.0 + excess))
    return np.where(excess < 1.0, poisson_like, betainc(shape, totals + 1.0, 1.0 / (1.0 + excess)))
