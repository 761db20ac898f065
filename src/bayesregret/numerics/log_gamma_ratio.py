"""Logarithms of Gamma functions and of their ratios, with the same bits on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable, rarely_called
from bayesregret.elementary import log, log1p

LARGE = 100.0  # from this argument on, three terms of Stirling's series have all digits
FIRST_LARGE = 10.0  # and from this one seven
MANY = 100  # numbers, from which on compiled code computes them
HALF_LOG_TWO_PI = 0.9189385332046727


@rarely_called
def lgamma(x):
    """Logarithm of Gamma(x) for x > 0, by Stirling's series at x plus a whole number.

    The error is at most 1e-14, or that times a large value: near the zeros at 1 and 2 not all digits are right.

    >>> round(lgamma(5.0), 9)
    3.17805383
    """
    passed = 1.0  # Gamma(x) is Gamma(x + k) / (x (x + 1) ... (x + k - 1))
    while x < FIRST_LARGE:
        passed *= x
        x += 1.0
    square = 1.0 / (x * x)
    last = 1.0 / 1680.0 - square * (1.0 / 1188.0 - square * (691.0 / 360360.0 - square / 156.0))
    series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * last))) / x
    return (x - 0.5) * log(x) - x + HALF_LOG_TWO_PI + series - log(passed)


@jitable
def log_beta(a, b):
    """Logarithm of the Beta function, Gamma(a) Gamma(b) / Gamma(a + b), for positive a and b.

    >>> round(-log_beta(2.0, 3.0), 9)
    2.48490665
    """
    small, large = min(a, b), max(a, b)
    if small <= LARGE:
        return lgamma(small) - log_gamma_ratio(large, small)
    both = small + large
    series = stirling(small) + stirling(large) - stirling(both)
    of_large = (large - 0.5) * log1p(-small / both) - 0.5 * log(small)
    return small * log(small / both) + of_large + HALF_LOG_TWO_PI + series


@jitable
def log_gamma_ratio(x, rise):
    """Logarithm of Gamma(x + rise) / Gamma(x).

    For large x, the difference of two log-gamma functions would lose most of its digits: they grow like x log x.

    >>> round(log_gamma_ratio(2.0, 3.0), 9)
    3.17805383
    """
    if x <= LARGE:
        return lgamma(x + rise) - lgamma(x)
    end = x + rise
    return (x - 0.5) * log1p(rise / x) + rise * log(end) - rise + stirling(end) - stirling(x)


def log_gamma_ratios(x: Array, rises: NDArray[Any]) -> Array:
    """`log_gamma_ratio` of each entry.

    >>> np.exp(log_gamma_ratios(np.array([2.0, 1.0]), np.array([3.0, 4.0]))).round(9).tolist()
    [24.0, 24.0]
    """
    if len(x) < MANY:
        return np.array([log_gamma_ratio(*pair) for pair in zip(x.tolist(), rises.tolist(), strict=True)])
    found = np.empty(len(x))
    compile_kernel(_fill)(np.ascontiguousarray(x, np.float64), np.ascontiguousarray(rises, np.float64), found)
    return found


def _fill(x, rises, found):
    for i in range(found.shape[0]):
        found[i] = log_gamma_ratio(x[i], rises[i])


@jitable
def stirling(x):
    square = 1.0 / (x * x)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / x
