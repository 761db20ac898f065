"""Means and standard errors over runs, from sums without rounding: the bits do not depend on how runs are grouped."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.digits import with_error
from bayesregret.dispatch import compile_kernel
from bayesregret.simulation.kernels.exact_sum import LIMBS, add_exactly, rounding_error, whole_number

LIMB = 30  # bits of each number that are summed at a time, as whole numbers
AT_ONCE = 1 << 16  # numbers: their parts stay in the processor's cache
MANY = 1 << 15  # numbers, from which on compiled code adds them up
MOST_AT_ONCE = 1 << 17  # of them, for one thread; the words of a sum do not overflow up to 2**28
ADDING_THREADS = 8


@dataclass(frozen=True)
class Estimate:
    """Mean over runs and its standard error.

    Attributes
    ----------
    mean : float
    stderr : float
        Standard error of the mean; infinite for a single run.

    Examples
    --------
    >>> print(Estimate(mean=75.7412, stderr=0.2983))
    75.74 ± 0.30
    """

    mean: float
    stderr: float

    def __str__(self) -> str:
        return with_error(self.mean, self.stderr)


@dataclass
class Moments:
    """Exact sums of the numbers added so far and of their squares; memory does not grow with their number."""

    count: int = 0
    sum: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    def add(self, values: NDArray[np.float64]) -> None:
        if not np.isfinite(values).all():
            raise ValueError("regret must be a finite number in every run")
        self.count += len(values)
        if len(values) >= MANY:
            self._add_many(values)
            return
        for begin in range(0, len(values), AT_ONCE):
            some = values[begin : begin + AT_ONCE]
            self.sum += exact_sum(some)
            square = some * some
            self.squares += exact_sum(square) + exact_sum(rounding_error(some, square))

    def _add_many(self, values: NDArray[np.float64]) -> None:
        """The same by compiled code and by threads: sums of whole numbers do not depend on how they are divided."""
        add = compile_kernel(add_exactly)
        parts = np.array_split(values, -(-len(values) // MOST_AT_ONCE))
        sums = np.zeros((len(parts), 2, LIMBS), np.int64)
        add(values[:0], *sums[0])  # compile here, and not in a thread
        with ThreadPoolExecutor(min(len(parts), ADDING_THREADS)) as pool:
            list(pool.map(lambda part, own: add(part, own[0], own[1]), parts, sums))
        for own, squares in sums:
            self.sum += whole_number(own)
            self.squares += whole_number(squares)

    def estimate(self) -> Estimate:
        deviations = self.squares - self.sum * self.sum / self.count
        return Estimate(float(self.sum) / self.count, float(standard_error(float(deviations), self.count)))


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """Sum of numbers without rounding."""
    exponent = math.frexp(np.abs(values).max(initial=0.0))[1]
    rest = np.ldexp(values, -exponent)  # below 1
    total, place = 0, 0
    while rest.any():
        rest = np.ldexp(rest, LIMB)
        whole = np.trunc(rest)
        rest -= whole
        total = (total << LIMB) + int(whole.astype(np.int64).sum())
        place += LIMB
    return Fraction(total) * Fraction(2) ** (exponent - place)


def estimate(values: NDArray[np.float64]) -> Estimate:
    """Return the mean of values and its standard error."""
    moments = Moments()
    moments.add(values)
    return moments.estimate()


def standard_error(squares: Any, runs: int) -> Any:
    """Return the standard error of a mean, given the sum of squared deviations; infinite for a single run."""
    return np.sqrt(squares / (runs - 1) / runs) if runs > 1 else squares + math.inf
