"""Minimax polynomials by Remez's algorithm, in 300 bits: where the coefficients of the package's functions come from.

Run as `python tests/reference/minimax.py` to print all of them (a minute).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import mpf

GRID = 40  # points that are searched for each extremum of the error
SEARCHES = 60  # steps of the search between two of them

Function = Callable[[Any], Any]


def log_series(square: Any) -> Any:
    """(2 artanh(s) - 2 s) / s^3 as a function of s^2."""
    if square < mpf("1e-30"):
        return mpf(2) / 3
    root = mpmath.sqrt(square)
    return (2 * mpmath.atanh(root) / root - 2) / square


def exp_series(r: Any) -> Any:
    """(exp(r) - 1 - r) / r^2."""
    return (mpmath.expm1(r) - r) / r**2 if abs(r) > mpf("1e-25") else mpf(1) / 2


def scaled_erfc(t: Any) -> Any:
    """exp(x^2) erfc(x) (1 + 2 x) where t is (x - 2) / (x + 2)."""
    x = 2 * (1 + t) / (1 - t)
    return (1 + 2 * x) * mpmath.exp(x * x) * mpmath.erfc(x)


def minimax(function: Function, weight: Function, degree: int, low: Any, high: Any, passes: int) -> list[float]:
    """Coefficients, from the lowest power, of the polynomial whose weighted error has the smallest maximum."""
    extrema = _chebyshev(low, high, degree + 1)
    for _ in range(passes):
        size = degree + 2
        equations, values = mpmath.matrix(size, size), mpmath.matrix(size, 1)
        for row, x in enumerate(extrema):
            for power in range(degree + 1):
                equations[row, power] = x**power
            equations[row, degree + 1], values[row] = (-1) ** row / weight(x), function(x)
        coefficients = list(mpmath.lu_solve(equations, values))[:-1]
        extrema = _extrema(_error(function, weight, coefficients), low, high, size)
    return [float(coefficient) for coefficient in coefficients]


def value_of(coefficients: list[Any], x: Any) -> Any:
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def _error(function: Function, weight: Function, coefficients: list[Any]) -> Function:
    return lambda x: weight(x) * (function(x) - value_of(coefficients, x))


def _chebyshev(low: Any, high: Any, count: int) -> list[Any]:
    return [(low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * i / count) for i in range(count + 1)]


def _extrema(error: Function, low: Any, high: Any, size: int) -> list[Any]:
    """The largest error between each two zeros, found on a grid and then refined."""
    grid = _chebyshev(low, high, GRID * size)
    errors = [error(x) for x in grid]
    zeros = [i for i in range(1, len(grid)) if (errors[i] > 0) != (errors[i - 1] > 0)]
    tops = [max(range(*ends), key=lambda i: abs(errors[i])) for ends in itertools.pairwise([0, *zeros, len(grid)])]
    tops = tops[:size] if abs(errors[tops[0]]) > abs(errors[tops[-1]]) else tops[-size:]
    return [grid[i] if i in (0, len(grid) - 1) else _highest(error, grid[i - 1], grid[i + 1]) for i in tops]


def _highest(error: Function, low: Any, high: Any) -> Any:
    """Where the size of the error is largest, by golden sections."""
    for _ in range(SEARCHES):
        first, second = low + (high - low) * mpf("0.382"), low + (high - low) * mpf("0.618")
        low, high = (low, second) if abs(error(first)) > abs(error(second)) else (first, high)
    return (low + high) / 2


def coefficients() -> dict[str, list[float]]:
    """Of log, exp and erfc."""
    margin = mpf("1.0001")
    square, half = (3 - 2 * mpmath.sqrt(2)) * margin, mpmath.log(2) / 2 * margin
    return {
        "log": minimax(log_series, lambda x: x, 6, mpf("1e-12"), square * (3 - 2 * mpmath.sqrt(2)), 12),
        "exp": minimax(exp_series, lambda r: r * r + mpf("1e-40"), 10, -half, half, 12),
        "erfc": minimax(scaled_erfc, lambda t: 1 / scaled_erfc(t), 25, mpf(-1), mpf(26) / 30, 3),
    }


if __name__ == "__main__":
    with mpmath.workprec(300):
        for name, values in coefficients().items():
            print(name, *values, sep="\n    ")
