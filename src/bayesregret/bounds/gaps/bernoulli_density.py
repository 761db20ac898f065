"""The density of a Beta arm's gap: an integral of the best other arm's density times the shifted density of the arm."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from bayesregret.checks import Array
from bayesregret.numerics.beta_log_odds import expit, log_density, log_odds
from bayesregret.numerics.quadrature import PanelFunction, gauss_points

# Panel length in log-odds that resolves all densities except those of sharp priors.
PANEL = 1.5
ROWS = 64


class BetaArmKind(NamedTuple):
    """Arms of equal Beta prior, with the distribution of the best other arm, in log-odds."""

    copies: int
    alpha: float
    beta: float
    support: tuple[float, float]
    best_lowest: float  # lower end of the best other arm's support
    best_other: PanelFunction  # density of the best other arm's log-odds
    best_other_above: PanelFunction  # probability that the best other arm is above

    @property
    def pseudo_count(self) -> float:
        return self.alpha + self.beta


def tapered_density(kind: BetaArmKind, step: float, order: int, gap_log_odds: Array) -> Array:
    """(1 - x) times the integral of f(m) h(m - x) dm, at gaps x with these log-odds.

    f is the density of the best other arm, h that of the arm. With m = x + (1 - x) t the variable of integration is y,
    the log-odds of t: in y the integrand is analytic even if it is nearly singular at m = x, m = 0 or m = 1.
    """
    result = np.empty_like(gap_log_odds)
    for part in range(0, len(result), ROWS):
        rows = slice(part, part + ROWS)
        log_x, log_rest = log_expit(gap_log_odds[rows, None]), log_expit(-gap_log_odds[rows, None])
        low, high = _reach(kind, np.exp(log_rest))
        empty = ~(high > low)
        low, high = np.where(empty, 0.0, low), np.where(empty, 1.0, high)
        y, weights = _points(kind, low, high, np.exp(log_x), np.exp(log_rest), step, order)
        values = np.sum(weights * _integrand(kind, y, log_x, log_rest), axis=1)
        result[rows] = np.where(empty[:, 0], 0.0, values)
    return result


def _reach(kind: BetaArmKind, rest: Array) -> tuple[Array, Array]:
    """Range of y in which both densities have mass: the arm is at (1 - x) t, the best other at 1 - (1 - x) (1 - t)."""
    arm_low, arm_high = (expit(side) for side in kind.support)
    best_low, best_high = expit(-kind.best_lowest), expit(-float(kind.best_other.edges[-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.fmax(log_odds(arm_low / rest), -log_odds(best_low / rest))
        high = np.fmin(log_odds(arm_high / rest), -log_odds(best_high / rest))
    return low, high


def _points(
    kind: BetaArmKind, low: Array, high: Array, x: Array, rest: Array, step: float, order: int
) -> tuple[Array, Array]:
    """Points between low and high with weights, one row per gap x.

    Even steps need the fewest points, unless one sharp arm among flat ones would make all of them small.
    """
    longest = float((high - low).max())
    steps = max(8, math.ceil(longest / step))
    plain = math.ceil(longest / PANEL)
    if steps < order * (plain + len(kind.best_other.edges)):
        fraction = np.arange(steps + 1) / steps
        return low + (high - low) * fraction, np.broadcast_to((high - low) / steps, (len(low), steps + 1))
    edges = low + (high - low) * (np.arange(plain + 1) / plain)
    sharp = _sharp_edges(kind, x, rest)
    return gauss_points(np.sort(np.concatenate([edges, np.clip(sharp, low, high)], axis=1), axis=1), order)


def _sharp_edges(kind: BetaArmKind, x: Array, rest: Array) -> Array:
    """Ends of the best other arm's panels and of the arm's support, in log-odds of t."""
    best, short = np.exp(log_expit(kind.best_other.edges)), np.exp(log_expit(-kind.best_other.edges))
    arm = np.exp(log_expit(np.linspace(*kind.support, 17)))
    with np.errstate(divide="ignore"):
        of_best = np.log(np.maximum(best - x, 0.0)) - np.log(short)
        of_arm = np.log(arm) - np.log(np.maximum(rest - arm, 0.0))
    return np.concatenate([of_best, of_arm], axis=1)


def _integrand(kind: BetaArmKind, y: Array, log_x: Array, log_rest: Array) -> Array:
    """f(m) h(m - x) (1 - x) dm/dy."""
    log_t, log_u = log_expit(y), log_expit(-y)
    log_arm, log_short = log_rest + log_t, log_rest + log_u  # the arm, and 1 minus the best other arm
    log_best = np.log(np.exp(log_x) + np.exp(log_arm))
    log_arm_short = np.log(np.exp(log_x) + np.exp(log_short))
    # Both are densities of log-odds: divided by m (1 - m) they become densities of m, and dm = (1 - x) t (1 - t) dy.
    log_values = log_density(kind.alpha, kind.beta, log_arm - log_arm_short) - log_arm - log_arm_short
    return kind.best_other(log_best - log_short) * np.exp(log_values + log_rest + log_t - log_best)
