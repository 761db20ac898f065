"""The density of a Beta arm's gap: the density of the best other arm against that of the arm, so far below it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from bayesregret.checks import Array
from bayesregret.numerics.beta_log_odds import expit, log_density, log_odds
from bayesregret.numerics.quadrature import PanelFunction, gauss_points

# Log-odds in which everything is smooth when nothing is sharp.
PANEL = 1.5
ROWS = 64


class ArmKind(NamedTuple):
    """Arms of equal prior: how many, their prior, and what is known of the best other arm, all in log-odds."""

    copies: int
    alpha: float
    beta: float
    support: tuple[float, float]
    best_lowest: float  # the best other arm has no weight below
    best_other: PanelFunction  # density of the log-odds
    best_other_above: PanelFunction  # probability to be above

    @property
    def pseudo_count(self) -> float:
        return self.alpha + self.beta


def tapered_density(kind: ArmKind, step: float, order: int, gap_log_odds: Array) -> Array:
    """(1 - x) times the integral of f(m) h(m - x) dm, at gaps x of these log-odds.

    f is the density of the best other arm, h that of the arm. With m = x + (1 - x) t the integral is done in y, the
    log-odds of t: there the integrand is analytic, as near as it may be to singular at m = x, m = 0 or m = 1.
    """
    made = np.empty_like(gap_log_odds)
    for part in range(0, len(made), ROWS):
        rows = slice(part, part + ROWS)
        log_x, log_rest = log_expit(gap_log_odds[rows, None]), log_expit(-gap_log_odds[rows, None])
        low, high = _reach(kind, np.exp(log_rest))
        empty = ~(high > low)
        low, high = np.where(empty, 0.0, low), np.where(empty, 1.0, high)
        y, weights = _points(kind, low, high, np.exp(log_x), np.exp(log_rest), step, order)
        values = np.sum(weights * _integrand(kind, y, log_x, log_rest), axis=1)
        made[rows] = np.where(empty[:, 0], 0.0, values)
    return made


def _reach(kind: ArmKind, rest: Array) -> tuple[Array, Array]:
    """Where both densities have weight; the arm is at (1 - x) t and the best other short of one by (1 - x) (1 - t)."""
    arm_low, arm_high = (expit(side) for side in kind.support)
    best_low, best_high = expit(-kind.best_lowest), expit(-float(kind.best_other.edges[-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.fmax(log_odds(arm_low / rest), -log_odds(best_low / rest))
        high = np.fmin(log_odds(arm_high / rest), -log_odds(best_high / rest))
    return low, high


def _points(
    kind: ArmKind, low: Array, high: Array, x: Array, rest: Array, step: float, order: int
) -> tuple[Array, Array]:
    """Points between low and high with weights, a row for each gap x.

    Even steps do with the fewest, unless one sharp arm among flat ones would make all of them small.
    """
    longest = float((high - low).max())
    steps = max(8, math.ceil(longest / step))
    plain = math.ceil(longest / PANEL)
    if steps < order * (plain + len(kind.best_other.edges)):
        share = np.arange(steps + 1) / steps
        return low + (high - low) * share, np.broadcast_to((high - low) / steps, (len(low), steps + 1))
    edges = low + (high - low) * (np.arange(plain + 1) / plain)
    sharp = _sharp_edges(kind, x, rest)
    return gauss_points(np.sort(np.concatenate([edges, np.clip(sharp, low, high)], axis=1), axis=1), order)


def _sharp_edges(kind: ArmKind, x: Array, rest: Array) -> Array:
    """Where the panels of the best other arm and the hump of the arm begin and end, in log-odds of t."""
    best, short = np.exp(log_expit(kind.best_other.edges)), np.exp(log_expit(-kind.best_other.edges))
    arm = np.exp(log_expit(np.linspace(*kind.support, 17)))
    with np.errstate(divide="ignore"):
        of_best = np.log(np.maximum(best - x, 0.0)) - np.log(short)
        of_arm = np.log(arm) - np.log(np.maximum(rest - arm, 0.0))
    return np.concatenate([of_best, of_arm], axis=1)


def _integrand(kind: ArmKind, y: Array, log_x: Array, log_rest: Array) -> Array:
    """f(m) h(m - x) (1 - x) dm/dy."""
    log_t, log_u = log_expit(y), log_expit(-y)
    log_arm, log_short = log_rest + log_t, log_rest + log_u  # the arm, and what the best other is short of one
    log_best = np.log(np.exp(log_x) + np.exp(log_arm))
    log_arm_short = np.log(np.exp(log_x) + np.exp(log_short))
    # Both densities are kept as those of log-odds: divided by m (1 - m) they are of m, and dm = (1 - x) t (1 - t) dy.
    log_values = log_density(kind.alpha, kind.beta, log_arm - log_arm_short) - log_arm - log_arm_short
    return kind.best_other(log_best - log_short) * np.exp(log_values + log_rest + log_t - log_best)
