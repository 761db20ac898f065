"""Sums of 1 / (x + k) over k = 0, ..., n - 1."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from bayesregret.checks import Array

# From here on five terms of the digamma function's asymptotic series have all digits.
ASYMPTOTIC = 30.0


def harmonic_sum(x: Array | float, terms: float) -> Array:
    """Sum of 1 / (x + k) over k < `terms`, for x > 0.

    It is digamma(x + terms) - digamma(x), which cancels where x is large: there the two series are subtracted term by
    term.
    """
    x = np.asarray(x, dtype=np.float64)
    large = np.maximum(x, ASYMPTOTIC)
    series = np.log1p(terms / large) + _rest(large) - _rest(large + terms)
    return np.where(x < ASYMPTOTIC, digamma(x + terms) - digamma(x), series)


def _rest(x: Array) -> Array:
    """log x - digamma(x)."""
    t = 1.0 / (x * x)
    return np.asarray(0.5 / x + t * (1.0 / 12.0 - t * (1.0 / 120.0 - t * (1.0 / 252.0 - t / 240.0))))
