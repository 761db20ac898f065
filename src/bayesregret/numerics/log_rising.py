"""Logarithms of rising factorials, accurate also for narrow priors (large arguments)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from bayesregret.checks import Array

LARGE = 100.0  # from this argument on, three terms of Stirling's series have all digits


def log_rising(start: Array, steps: Array) -> Array:
    """Logarithm of start (start + 1) ... (start + steps - 1).

    For a large start, the difference of two log-gamma functions would lose most of its digits.

    >>> print(np.exp(log_rising(np.array(2.0), np.array(3.0))).round(9))
    24.0
    """
    start, steps = np.broadcast_arrays(np.asarray(start, dtype=np.float64), np.asarray(steps, dtype=np.float64))
    made = np.empty(start.shape)
    large = start > LARGE
    x, k = start[large], steps[large]
    made[large] = (x - 0.5) * np.log1p(k / x) + k * np.log(x + k) - k + _stirling(x + k) - _stirling(x)
    x, k = start[~large], steps[~large]
    made[~large] = gammaln(x + k) - gammaln(x)
    return made


def _stirling(x: Array) -> Array:
    square = 1.0 / (x * x)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / x
