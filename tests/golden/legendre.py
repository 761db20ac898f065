"""Gauss-Legendre quadrature at mpmath's current precision."""

from functools import cache

from mpmath import mp, mpf


@cache
def gauss_legendre(degree):
    """Nodes and weights on [0, 1], by Newton's method on the Legendre polynomial."""
    rule = []
    for i in range(degree):
        x = mp.cos(mp.pi * (i + mpf(3) / 4) / (degree + mpf(1) / 2))
        for _ in range(8):
            before, now = mpf(1), x
            for k in range(2, degree + 1):
                before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k
            slope = degree * (x * now - before) / (x * x - 1)
            x -= now / slope
        rule.append(((1 + x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return rule
