"""Successes in so many pulls: Beta arms around a level, levels normal after the logit."""

from __future__ import annotations

import functools
import math
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincinv, expit, gammaln, logit

from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit
from bayesregret.numerics.log_rising import log_rising
from bayesregret.numerics.quadrature import gauss_rule
from bayesregret.priors.families.family import Family, Limits, Point, normal_level
from bayesregret.priors.history import History

# So many times as precise as the most pulls can tell, or so few imaginary pulls, are as good as the limit.
BEYOND_PULLS, LEAST_PRECISION = 1e6, 1e-3
INSIDE = (1e-12, 1.0 - 1e-12)  # where a guess has a logit
POINTS = 16  # for the distribution function of successes: three digits or more, as many as a picture shows


class BernoulliArms(Family):
    """Arm a has theta ~ Beta(level / spread, (1 - level) / spread) and Binomial(pulls, theta) successes."""

    kind: ClassVar[str] = "bernoulli"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        wins, pulls = history.totals, history.pulls
        self.log_ways = gammaln(pulls + 1.0) - gammaln(wins + 1.0) - gammaln(pulls - wins + 1.0)

    @property
    def limits(self) -> Limits:
        return Limits(1.0 / (BEYOND_PULLS * float(self.history.pulls.max())), 1.0 / LEAST_PRECISION)

    @functools.cached_property
    def start(self) -> Point:
        """From the squared deviations of arms' means that single pulls do not explain."""
        history = self.history
        mean = float(np.clip(history.totals.sum() / history.pulls.sum(), 1e-9, 1.0 - 1e-9))
        explained = mean * (1.0 - mean) / history.pulls
        share = float(np.mean((history.means - mean) ** 2 - explained)) / (mean * (1.0 - mean))
        share = min(max(share, 1e-3), 0.9)
        return Point(float(logit(mean)), share / (1.0 - share))

    def level(self, location: Array) -> Array:
        return np.asarray(expit(location))

    def over(self, history: History) -> BernoulliArms:
        return BernoulliArms(history)

    def log_marginals(self, location: Array, spread: float) -> Array:
        wins, losses = self.history.totals, self.history.pulls - self.history.totals
        of_wins = log_rising(expit(location) / spread, wins)
        of_losses = log_rising(expit(-location) / spread, losses)
        return self.log_ways + of_wins + of_losses - log_rising(np.asarray(1.0 / spread), self.history.pulls)

    def level_guess(self, point: Point) -> tuple[Array, Array]:
        """As if arms' means were normal, with one more pull at the typical level."""
        typical = float(expit(point.location))
        share = point.spread / (1.0 + point.spread)
        worth = 1.0 / (share + (1.0 - share) / self.history.pulls)  # of an arm, in pulls of independent ones
        pulls = self.of_experiments(worth) + 1.0
        mean = np.clip((self.of_experiments(worth * self.history.means) + typical) / pulls, *INSIDE)
        information = (pulls - 1.0) * mean * (1.0 - mean)
        return normal_level(point, information, logit(mean))

    def below(self, location: Array, spread: float) -> tuple[Array, Array]:
        alpha, beta = expit(location) / spread, expit(-location) / spread
        wins, pulls = self.history.totals, self.history.pulls
        return _at_most(wins - 1.0, pulls, alpha, beta), _at_most(wins, pulls, alpha, beta)

    def moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        level = expit(location)
        share = spread / (1.0 + spread)
        return level, level * (1.0 - level) * (share + (1.0 - share) / self.history.pulls)

    def quantile(self, share: float, mean: Array, variance: Array) -> Array:
        precision = np.maximum(mean * (1.0 - mean) / variance - 1.0, 1e-9)
        return np.asarray(betaincinv(mean * precision, (1.0 - mean) * precision, share))

    def parameters(self, point: Point) -> dict[str, float]:
        level = float(expit(point.location))
        precision = 1.0 / point.spread if point.spread > 0.0 else math.inf
        return {
            "alpha": level * precision,
            "beta": float(expit(-point.location)) * precision,
            "mean": level,
            "width": self.width(level, point.spread),
        }

    def width(self, level: float, spread: float) -> float:
        return math.sqrt(level * (1.0 - level) * spread / (1.0 + spread))

    def bandit(self, arms: int, level: float, width: float) -> BernoulliBandit:
        precision = level * (1.0 - level) / width**2 - 1.0
        if not precision > 0.0:
            widest = math.sqrt(level * (1.0 - level))
            raise ValueError(f"width must be below {widest:.4g} for arms around the level {level:.4g}, got {width:g}")
        return BernoulliBandit(np.full(arms, level * precision), np.full(arms, (1.0 - level) * precision))


def _at_most(wins: Array, pulls: Array, alpha: Array, beta: Array) -> Array:
    """The chance of at most so many successes when theta is Beta.

    It is the mean over theta of the chance given theta, and also the chance that theta is below a Beta(wins + 1,
    pulls - wins) variable. Quantiles of the narrower of the two make the points, so that the other is smooth there.
    """
    shares, weights = gauss_rule(np.array([0.0, 1.0]), POINTS)
    shape = np.broadcast_shapes(np.shape(wins), np.shape(alpha))
    wins, pulls, alpha, beta = (np.broadcast_to(part, shape) for part in (wins, pulls, alpha, beta))
    made = np.zeros(shape)
    made[wins >= pulls] = 1.0
    inside = (wins >= 0.0) & (wins < pulls)
    for many, where in ((True, inside & (pulls > alpha + beta)), (False, inside & (pulls <= alpha + beta))):
        a, b, k, n = alpha[where], beta[where], wins[where], pulls[where]
        narrow, wide = ((k + 1.0, n - k), (a, b)) if many else ((a, b), (k + 1.0, n - k))
        at = betaincinv(narrow[0][:, None], narrow[1][:, None], shares)
        chance = betainc(wide[0][:, None], wide[1][:, None], at) @ weights
        made[where] = chance if many else 1.0 - chance
    return made
