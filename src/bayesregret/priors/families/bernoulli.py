"""Bernoulli rewards: Beta arms around levels whose logits are normal."""

from __future__ import annotations

import functools
import math
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincinv, expit, gammaln, logit

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit
from bayesregret.numerics.log_rising import log_rising
from bayesregret.numerics.quadrature import gauss_rule
from bayesregret.priors.families.family import Family, PriorPoint, SpreadLimits, normal_location
from bayesregret.priors.history import History

# Pseudo-counts above this multiple of the most pulls, or below the smallest one, are indistinguishable from the limit.
BEYOND_PULLS, SMALLEST_PSEUDO_COUNT = 1e6, 1e-3
INSIDE = (1e-12, 1.0 - 1e-12)  # range of guesses that have a finite logit
POINTS = 16  # of the distribution function of successes: at least three digits, enough for a figure


class BernoulliArms(Family):
    """Arm a has theta ~ Beta(level / spread, (1 - level) / spread) and Binomial(pulls, theta) successes."""

    kind: ClassVar[str] = "bernoulli"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        wins, pulls = history.totals, history.pulls
        self.log_binomials = gammaln(pulls + 1.0) - gammaln(wins + 1.0) - gammaln(pulls - wins + 1.0)

    @property
    def spread_limits(self) -> SpreadLimits:
        return SpreadLimits(1.0 / (BEYOND_PULLS * float(self.history.pulls.max())), 1.0 / SMALLEST_PSEUDO_COUNT)

    @functools.cached_property
    def start(self) -> PriorPoint:
        """Matches the variance of the arms' means that binomial sampling does not explain."""
        history = self.history
        mean = float(np.clip(history.totals.sum() / history.pulls.sum(), 1e-9, 1.0 - 1e-9))
        explained = mean * (1.0 - mean) / history.pulls
        fraction = float(np.mean((history.means - mean) ** 2 - explained)) / (mean * (1.0 - mean))
        fraction = min(max(fraction, 1e-3), 0.9)
        return PriorPoint(float(logit(mean)), fraction / (1.0 - fraction))

    def link(self, level: Array) -> Array:
        return np.asarray(logit(level))

    def inverse_link(self, location: Array) -> Array:
        return np.asarray(expit(location))

    def with_history(self, history: History) -> BernoulliArms:
        return BernoulliArms(history)

    def log_marginals(self, location: Array, spread: float) -> Array:
        wins, losses = self.history.totals, self.history.pulls - self.history.totals
        of_wins = log_rising(expit(location) / spread, wins)
        of_losses = log_rising(expit(-location) / spread, losses)
        return self.log_binomials + of_wins + of_losses - log_rising(np.asarray(1.0 / spread), self.history.pulls)

    def location_guess(self, point: PriorPoint) -> tuple[Array, Array]:
        """Treat the arms' means as normal, and add one pull at the typical level."""
        typical = float(expit(point.location))
        correlation = point.spread / (1.0 + point.spread)  # of two rewards of an arm
        weight = 1.0 / (correlation + (1.0 - correlation) / self.history.pulls)  # of an arm, in independent pulls
        pulls = self.sum_by_experiment(weight) + 1.0
        mean = np.clip((self.sum_by_experiment(weight * self.history.means) + typical) / pulls, *INSIDE)
        information = (pulls - 1.0) * mean * (1.0 - mean)
        return normal_location(point, information, logit(mean))

    def observed_cdf(self, location: Array, spread: float) -> tuple[Array, Array]:
        alpha, beta = expit(location) / spread, expit(-location) / spread
        wins, pulls = self.history.totals, self.history.pulls
        return _beta_binomial_cdf(wins - 1.0, pulls, alpha, beta), _beta_binomial_cdf(wins, pulls, alpha, beta)

    def observed_moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        level = expit(location)
        correlation = spread / (1.0 + spread)
        return level, level * (1.0 - level) * (correlation + (1.0 - correlation) / self.history.pulls)

    def observed_quantile(self, probability: float, mean: Array, variance: Array) -> Array:
        precision = np.maximum(mean * (1.0 - mean) / variance - 1.0, 1e-9)
        return np.asarray(betaincinv(mean * precision, (1.0 - mean) * precision, probability))

    def parameters(self, point: PriorPoint) -> dict[str, float]:
        level = float(expit(point.location))
        pseudo_count = 1.0 / point.spread if point.spread > 0.0 else math.inf
        return {
            "alpha": level * pseudo_count,
            "beta": float(expit(-point.location)) * pseudo_count,
            "mean": level,
            "width": self.width(level, point.spread),
        }

    def width(self, level: float, spread: float) -> float:
        return math.sqrt(level * (1.0 - level) * spread / (1.0 + spread))

    def spread(self, level: float, width: float) -> float:
        widest = math.sqrt(level * (1.0 - level))
        if not width < widest:
            around = f"for arms around the level {checks.in_full(level)}"
            raise ValueError(f"width must be below {checks.in_full(widest)} {around}, got {checks.in_full(width)}")
        fraction = (width / widest) ** 2
        return fraction / (1.0 - fraction)

    def link_width(self, location: float, spread: float) -> float:
        level = float(expit(location))
        return self.width(level, spread) / (level * (1.0 - level))

    def bandit(self, arms: int, level: float, width: float) -> BernoulliBandit:
        pseudo_count = 1.0 / self.spread(level, width)
        return BernoulliBandit(np.full(arms, level * pseudo_count), np.full(arms, (1.0 - level) * pseudo_count))


def _beta_binomial_cdf(wins: Array, pulls: Array, alpha: Array, beta: Array) -> Array:
    """P(successes <= wins) for Binomial(pulls, theta) successes and theta ~ Beta(alpha, beta).

    This is the mean over theta of P(successes <= wins | theta), and also the probability that theta is below a
    Beta(wins + 1, pulls - wins) variable. The points are quantiles of the narrower of the two, so that the other is
    smooth there.
    """
    probabilities, weights = gauss_rule(np.array([0.0, 1.0]), POINTS)
    shape = np.broadcast_shapes(np.shape(wins), np.shape(alpha))
    wins, pulls, alpha, beta = (np.broadcast_to(part, shape) for part in (wins, pulls, alpha, beta))
    cdf = np.zeros(shape)
    cdf[wins >= pulls] = 1.0
    inside = (wins >= 0.0) & (wins < pulls)
    for many, where in ((True, inside & (pulls > alpha + beta)), (False, inside & (pulls <= alpha + beta))):
        a, b, k, n = alpha[where], beta[where], wins[where], pulls[where]
        narrow, wide = ((k + 1.0, n - k), (a, b)) if many else ((a, b), (k + 1.0, n - k))
        at = betaincinv(narrow[0][:, None], narrow[1][:, None], probabilities)
        probability = betainc(wide[0][:, None], wide[1][:, None], at) @ weights
        cdf[where] = probability if many else 1.0 - probability
    return cdf
