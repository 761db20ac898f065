"""Sums of numbers without rounding, in words of 32 bits; the order of the numbers does not matter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.dispatch import jitable

# A sum is a row of whole numbers; number i counts multiples of 2**(32 i - 1074). Any float fits in.
WORD = 32
LIMBS = 67
MASK = (1 << WORD) - 1
SMALLEST = -1074  # exponent of the smallest positive float
FRACTION_BITS = 52
FRACTION = (1 << FRACTION_BITS) - 1
EXPONENTS = 2047
SPLITTER = 2.0**27 + 1.0  # Veltkamp's: halves a number's digits, so that products of halves are exact


def add_exactly(values: Any, sums: NDArray[np.int64], squares: NDArray[np.int64]) -> None:
    """Add numbers to one sum, and their squares to another."""
    for value in values:
        square = value * value
        add_number(sums, value)
        add_number(squares, square)
        add_number(squares, rounding_error(value, square))


@jitable
def add_number(sums, value):
    bits = np.float64(value).view(np.int64)
    exponent = (bits >> FRACTION_BITS) & EXPONENTS
    digits = bits & FRACTION
    if exponent > 0:
        digits |= FRACTION + 1
        exponent -= 1
    word, shift = exponent >> 5, exponent & 31
    low, high = (digits & MASK) << shift, (digits >> WORD) << shift
    sign = -1 if bits < 0 else 1
    sums[word] += sign * (low & MASK)
    sums[word + 1] += sign * ((low >> WORD) + (high & MASK))
    sums[word + 2] += sign * (high >> WORD)


@jitable
def rounding_error(value: Any, square: Any) -> Any:
    """The square of a number minus the same, rounded; without rounding (Dekker)."""
    scaled = SPLITTER * value
    high = scaled - (scaled - value)
    low = value - high
    return ((high * high - square) + 2.0 * high * low) + low * low


def whole_number(sums: NDArray[np.int64]) -> Fraction:
    """Return the sum that the words stand for."""
    total = sum(int(word) << (WORD * place) for place, word in enumerate(sums))
    return total * Fraction(2) ** SMALLEST
