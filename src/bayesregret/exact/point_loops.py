"""Complex numbers at many points, as real and imaginary parts, in short loops that become vector instructions.

Vector instructions need arrays that are known not to overlap: no result is one of the arguments' arrays unless it is
written `x`, and no loop has more than five arrays (LLVM compares eight pairs of them, no more). Each is compiled once:
calling it costs nothing beside a block of points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import rarely_called


class Complex(NamedTuple):
    """Complex numbers in two real arrays."""

    re: Array
    im: Array


def complex_zeros(*shape: int) -> Complex:
    return Complex(np.zeros(shape), np.zeros(shape))


@rarely_called
def split(values, start, out):
    """A block of a row; beyond the row's end all stays zero."""
    part = values[start : start + out.re.shape[0]]
    for q in range(part.shape[0]):
        out.re[q] = part[q].real
        out.im[q] = part[q].imag


@rarely_called
def copy(values, out):
    for q in range(values.re.shape[0]):
        out.re[q] = values.re[q]
    for q in range(values.im.shape[0]):
        out.im[q] = values.im[q]


@rarely_called
def fill_one(out):
    for q in range(out.re.shape[0]):
        out.re[q] = 1.0
        out.im[q] = 0.0


@rarely_called
def scale(values, factor):
    for q in range(values.re.shape[0]):
        values.re[q] *= factor
        values.im[q] *= factor


@rarely_called
def add(x, y, out):
    for q in range(x.shape[0]):
        out[q] = x[q] + y[q]


@rarely_called
def add_to(x, y):
    for q in range(x.re.shape[0]):
        x.re[q] += y.re[q]
    for q in range(x.im.shape[0]):
        x.im[q] += y.im[q]


@rarely_called
def add_half(x, y):
    for q in range(x.re.shape[0]):
        x.re[q] += 0.5 * y.re[q]
    for q in range(x.im.shape[0]):
        x.im[q] += 0.5 * y.im[q]


@rarely_called
def add_scaled(x, y, factor):
    for q in range(x.re.shape[0]):
        x.re[q] += factor * y.re[q]
    for q in range(x.im.shape[0]):
        x.im[q] += factor * y.im[q]


@rarely_called
def square_half(x, out):
    for q in range(x.re.shape[0]):
        a, b = 0.5 * x.re[q], 0.5 * x.im[q]
        out.re[q] = a * a - b * b
        out.im[q] = 2.0 * a * b


@rarely_called
def square(x):
    for q in range(x.re.shape[0]):
        a, b = x.re[q], x.im[q]
        x.re[q] = a * a - b * b
        x.im[q] = 2.0 * a * b


@rarely_called
def multiply(x, y):
    for q in range(x.re.shape[0]):
        a, b, c, d = x.re[q], x.im[q], y.re[q], y.im[q]
        x.re[q] = a * c - b * d
        x.im[q] = a * d + b * c


@rarely_called
def subtract_product(total, x, y):
    for q in range(total.re.shape[0]):
        total.re[q] -= x.re[q] * y.re[q] - x.im[q] * y.im[q]
    for q in range(total.im.shape[0]):
        total.im[q] -= x.re[q] * y.im[q] + x.im[q] * y.re[q]
