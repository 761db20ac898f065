"""Beta distributions in log-odds, Y = log(m / (1 - m)).

The density of Y is analytic and unimodal with exponential tails, however singular the density of m is at 0 and 1, so
evenly spaced points integrate it to the last digit.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, gammaln, log_expit, polygamma

from bayesregret.checks import Array

# A density smaller than exp(-DEPTH) times its peak is negligible in double precision.
DEPTH = 40.0
# Log-odds beyond this are probabilities 0 or 1 in double precision.
FARTHEST = 700.0
# From this argument on, five terms of Stirling's series have all digits.
ASYMPTOTIC = 16.0


def log_density(alpha: float, beta: float, y: Array) -> Array:
    """Log density of the log-odds at y, relative to the peak: for large counts the separate terms nearly cancel."""
    peak = math.log(alpha / beta)
    away = np.asarray(y) - peak
    with np.errstate(over="ignore"):
        up = alpha * np.log1p(expit(-peak) * np.expm1(-away))
        down = beta * np.log1p(expit(peak) * np.expm1(away))
    return _log_peak(alpha, beta) - (up + down)


def _log_peak(alpha: float, beta: float) -> float:
    """Log density of the log-odds at log(alpha / beta), by Stirling's formula with its remainder."""
    both = alpha + beta
    rest = float(_stirling_rest(np.array(both)) - _stirling_rest(np.array(alpha)) - _stirling_rest(np.array(beta)))
    return 0.5 * math.log(alpha * (beta / both) / (2.0 * math.pi)) + rest


def log_below(alpha: float, beta: float, y: Array) -> Array:
    """Log of the distribution function at log-odds y."""
    from_above = betainc(beta, alpha, np.exp(log_expit(-y)))
    from_below = betainc(alpha, beta, np.exp(log_expit(y)))
    with np.errstate(divide="ignore"):
        log = np.where(from_above < 0.5, np.log1p(-np.minimum(from_above, 0.5)), np.log(from_below))
    return np.maximum(log, -FARTHEST)


def log_density_at(alpha: float, beta: float, m: Array, rest: Array) -> Array:
    """Log density of m itself; rest = 1 - m, both positive."""
    log_m, log_rest = np.log(m), np.log(rest)
    return log_density(alpha, beta, log_m - log_rest) - log_m - log_rest


def support(alpha: float, beta: float) -> tuple[float, float]:
    """Interval of log-odds outside which the density is negligible."""
    mode = math.log(alpha / beta)
    peak = float(log_density(alpha, beta, np.array(mode)))

    def end(outer: float) -> float:
        inner = mode
        for _ in range(60):
            middle = 0.5 * (inner + outer)
            has_weight = float(log_density(alpha, beta, np.array(middle))) > peak - DEPTH
            inner, outer = (middle, outer) if has_weight else (inner, middle)
        return outer

    return end(-FARTHEST), end(FARTHEST)


def width(alpha: float, beta: float) -> float:
    """Standard deviation of the log-odds."""
    return math.sqrt(float(polygamma(1, alpha) + polygamma(1, beta)))


def moments(alpha: float, beta: float) -> tuple[float, float]:
    """Mean and standard deviation of m."""
    both = alpha + beta
    return alpha / both, math.sqrt(alpha / both * (beta / both) / (both + 1.0))


def mode(alpha: float, beta: float) -> float:
    """Mode of the density of m; requires alpha >= 1."""
    return (alpha - 1.0) / (alpha + beta - 2.0) if beta > 1.0 else 1.0


def log_mode_density(alpha: float, beta: float) -> float:
    """Log density of m at its mode, which must be below 1."""
    at = mode(alpha, beta)
    if at == 0.0:
        return math.log(beta)
    return float(log_density_at(alpha, beta, np.array(at), np.array(1.0 - at)))


def log_gamma_ratio(x: Array, shift: Array) -> Array:
    """log Gamma(x + shift) - log Gamma(x), accurate also where both are huge: a difference of Stirling formulas."""
    big = np.maximum(x, ASYMPTOTIC)
    stirling = (big - 0.5) * np.log1p(shift / big) + shift * (np.log(big + shift) - 1.0)
    stirling += _stirling_rest(big + shift) - _stirling_rest(big)
    return np.where(x < ASYMPTOTIC, gammaln(x + shift) - gammaln(x), stirling)


def _stirling_rest(x: Array) -> Array:
    """log Gamma(x) minus ((x - 1/2) log x - x + log(2 pi) / 2)."""
    t = 1.0 / (x * x)
    series = (1.0 / 12.0 - t * (1.0 / 360.0 - t * (1.0 / 1260.0 - t * (1.0 / 1680.0 - t / 1188.0)))) / x
    exact = gammaln(x) - ((x - 0.5) * np.log(x) - x + 0.5 * math.log(2.0 * math.pi))
    return np.where(x < ASYMPTOTIC, exact, series)


def logit(p: float) -> float:
    if p <= 0.0:
        return -math.inf
    return math.log(p) - math.log1p(-p) if p < 1.0 else math.inf


def expit(log_odds: float) -> float:
    return math.exp(float(log_expit(log_odds)))


def log_odds(p: Array) -> Array:
    return np.log(p) - np.log1p(-p)
