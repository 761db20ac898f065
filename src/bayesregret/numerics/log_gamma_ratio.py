"""Ratio of Gamma functions, in plain Python and in compiled code, with all digits also for large arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import jitable

LARGE = 100.0  # from this argument on, three terms of Stirling's series have all digits


@jitable
def log_gamma_ratio(x, rise):
    """Logarithm of Gamma(x + rise) / Gamma(x).

    For large x, the difference of two log-gamma functions would lose most of its digits: they grow like x log x.

    >>> round(math.exp(log_gamma_ratio(2.0, 3.0)), 9)
    24.0
    """
    if x <= LARGE:
        return math.lgamma(x + rise) - math.lgamma(x)
    end = x + rise
    return (x - 0.5) * math.log1p(rise / x) + rise * math.log(end) - rise + stirling(end) - stirling(x)


def log_gamma_ratios(x: Array, rises: NDArray[Any]) -> Array:
    """`log_gamma_ratio` of each entry.

    >>> np.exp(log_gamma_ratios(np.array([2.0, 1.0]), np.array([3.0, 4.0]))).round(9).tolist()
    [24.0, 24.0]
    """
    return np.array([log_gamma_ratio(*pair) for pair in zip(x.tolist(), rises.tolist(), strict=True)])


@jitable
def stirling(x):
    square = 1.0 / (x * x)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / x
