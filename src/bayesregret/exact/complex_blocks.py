"""Complex arithmetic on blocks of points, in short loops that compile to vector instructions.

A block is one array: BLOCK real parts, then BLOCK imaginary parts. The compiler vectorises a loop only if it can prove
that its arrays do not overlap: no output is one of the input arrays, except the argument `x`, and no loop has more than
five arrays (LLVM checks at most eight pairs). Each function is compiled once, not inlined: a call costs little compared
to a block of points.
"""

from __future__ import annotations

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import rarely_called
from bayesregret.exact.power_series import Series

# All blocks of one move fit into the L1 cache.
BLOCK = 128


def zero_blocks(*shape: int) -> Array:
    return np.zeros((*shape, 2 * BLOCK))


def to_blocks(values: Series) -> Array:
    """Return the values of a series as (blocks, 2 BLOCK), padded with zeros."""
    count = -(-len(values) // BLOCK)
    padded = np.zeros(count * BLOCK, np.complex128)
    padded[: len(values)] = values
    blocks = padded.reshape(count, BLOCK)
    return np.hstack([blocks.real, blocks.imag])


def from_blocks(blocks: Array, points: int) -> Series:
    """Return the series stored in these blocks."""
    return np.asarray((blocks[:, :BLOCK] + 1j * blocks[:, BLOCK:]).ravel()[:points])


@rarely_called
def split(values, start, out):
    """Copy one block of a row of complex values; entries beyond the row's end stay unchanged."""
    part = values[start : start + BLOCK]
    for q in range(part.shape[0]):
        out[q] = part[q].real
        out[q + BLOCK] = part[q].imag


@rarely_called
def copy(values, out):
    for q in range(2 * BLOCK):
        out[q] = values[q]


@rarely_called
def fill(out, value):
    for q in range(BLOCK):
        out[q] = value
        out[q + BLOCK] = 0.0


@rarely_called
def scaled(values, factor, out):
    for q in range(2 * BLOCK):
        out[q] = factor * values[q]


@rarely_called
def add(x, y, out):
    for q in range(2 * BLOCK):
        out[q] = x[q] + y[q]


@rarely_called
def add_to(x, y):
    for q in range(2 * BLOCK):
        x[q] += y[q]


@rarely_called
def add_product(x, y, z):
    for q in range(BLOCK):
        x[q] += y[q] * z[q] - y[q + BLOCK] * z[q + BLOCK]
        x[q + BLOCK] += y[q] * z[q + BLOCK] + y[q + BLOCK] * z[q]


@rarely_called
def square(x):
    for q in range(BLOCK):
        a, b = x[q], x[q + BLOCK]
        x[q] = a * a - b * b
        x[q + BLOCK] = 2.0 * a * b


@rarely_called
def multiply(x, y):
    for q in range(BLOCK):
        a, b, c, d = x[q], x[q + BLOCK], y[q], y[q + BLOCK]
        x[q] = a * c - b * d
        x[q + BLOCK] = a * d + b * c


@rarely_called
def middle(old, change, out):
    for q in range(2 * BLOCK):
        out[q] = old[q] + 0.5 * change[q]


@rarely_called
def squares(old, change, middle_squared, half_squared):
    """Write the squares of old + change / 2 and of change / 2."""
    for q in range(BLOCK):
        h, i = 0.5 * change[q], 0.5 * change[q + BLOCK]
        a, b = old[q] + h, old[q + BLOCK] + i
        middle_squared[q] = a * a - b * b
        middle_squared[q + BLOCK] = 2.0 * a * b
        half_squared[q] = h * h - i * i
        half_squared[q + BLOCK] = 2.0 * h * i


@rarely_called
def add_scaled(x, factor, y):
    for q in range(2 * BLOCK):
        x[q] += factor * y[q]


@rarely_called
def next_term(x, power, y, half_squared, factor):
    """One step of a polynomial sum: multiply `power` by `half_squared`, then set x to x y + factor * power."""
    for q in range(BLOCK):
        a, b, c, d = power[q], power[q + BLOCK], half_squared[q], half_squared[q + BLOCK]
        power[q] = a * c - b * d
        power[q + BLOCK] = a * d + b * c
        e, f, g, h = x[q], x[q + BLOCK], y[q], y[q + BLOCK]
        x[q] = e * g - f * h + factor * (a * c - b * d)
        x[q + BLOCK] = e * h + f * g + factor * (a * d + b * c)


@rarely_called
def add_two_products(one, first, total, change, others):
    """Add `change` times `one` to `first` and `change` times `others` to `total`."""
    for q in range(BLOCK):
        a, b = change[q], change[q + BLOCK]
        first[q] += one[q] * a - one[q + BLOCK] * b
        first[q + BLOCK] += one[q] * b + one[q + BLOCK] * a
        total[q] += others[q] * a - others[q + BLOCK] * b
        total[q + BLOCK] += others[q] * b + others[q + BLOCK] * a


@rarely_called
def real_dot(x, y):
    """Real part of the sum of products."""
    total = 0.0
    for q in range(BLOCK):
        total += x[q] * y[q] - x[q + BLOCK] * y[q + BLOCK]
    return total
