"""Fast repeated draws from one Beta distribution: constants that depend on its pseudo-counts are prepared once.

A Beta variable is x / (x + y) for Gamma variables x and y. Each is d (1 + c z)^3 for a normal z that is accepted with
probability nearly 1 (Marsaglia and Tsang 2000). Here one uniform draw decides whether both are accepted, and its first
bits, which are usually enough, are those that the normal draws do not use.
"""

from __future__ import annotations

import math

import numpy as np

from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import exp, log, log1p
from bayesregret.rng import SPARE, beta, gamma, two_normals, uniform

U = np.uint64
# With s = c z and d s^2 = z^2 / 9, a normal z is accepted with probability exp(-d (3/4 s^4 - 3/5 s^5 + 3/6 s^6 - ...)).
# That is at least 1 - STEEP (s z)^2 for s > 0, and 1 - STEEP (s z)^2 / (1 + SKEW s) for -0.84 < s < 0: there the terms
# of the series all have one sign, and sum to less than a geometric series. For smaller s this bound is not positive, as
# d >= 2/3.
STEEP, SKEW = 1.0 / 12.0, 0.9
PREPARED = 4  # numbers: d and c of x and of y; or IS_SMALL and the pseudo-counts, if one is below 1
IS_SMALL = 0.0
# Gamma variables with a shape below this may be too small for a float.
TINY = 0.1
ONE_THIRD = 1.0 / 3.0
# Table of c for integers: a square root would delay the next draw.
WHOLE_NUMBERS = 1 << 12
SCALES = np.array([0.0, *(1.0 / math.sqrt(9.0 * (shape - ONE_THIRD)) for shape in range(1, WHOLE_NUMBERS))])


@jitable
def prepare_beta(a, b, prepared, start):
    """Write the constants of draws to `prepared`, from `start` on (a slice as an argument would be slower)."""
    if a < 1.0 or b < 1.0:
        prepared[start], prepared[start + U(1)], prepared[start + U(2)] = IS_SMALL, a, b
    else:
        prepared[start], prepared[start + U(1)] = a - ONE_THIRD, gamma_scale(a)
        prepared[start + U(2)], prepared[start + U(3)] = b - ONE_THIRD, gamma_scale(b)


@jitable
def gamma_scale(shape):
    whole = np.int64(min(shape, WHOLE_NUMBERS))
    if whole == shape and whole < WHOLE_NUMBERS:
        return SCALES[U(whole)]
    return 1.0 / math.sqrt(9.0 * (shape - ONE_THIRD))


@jitable
def prepared_beta(prepared, start, stream):
    """Return a draw and the next stream."""
    d_x, c_x, d_y = prepared[start], prepared[start + U(1)], prepared[start + U(2)]
    if d_x == IS_SMALL:
        return small_beta(c_x, d_y, stream)
    c_y = prepared[start + U(3)]
    while True:
        z_x, z_y, spare, stream = two_normals(stream)
        s_x, s_y = c_x * z_x, c_y * z_y
        root_x, root_y = 1.0 + s_x, 1.0 + s_y
        x, y = d_x * (root_x * root_x * root_x), d_y * (root_y * root_y * root_y)
        # Tests without a logarithm, which fail if a root is not positive; `u` is a multiple of the spare bits' step.
        unlikely = STEEP * ((s_x * z_x) * (s_x * z_x) + (s_y * z_y) * (s_y * z_y))
        sure = (1.0 + SKEW * min(0.0, s_x, s_y)) / SPARE
        u = np.int64(spare)
        if u * sure > unlikely:
            return x / (x + y), stream
        rest, stream = uniform(stream)
        if (u + rest) * sure > unlikely or are_accepted(u + rest, d_x, z_x, root_x, d_y, z_y, root_y):
            return x / (x + y), stream


@rarely_called
def are_accepted(u, d_x, z_x, root_x, d_y, z_y, root_y):
    if root_x <= 0.0 or root_y <= 0.0:
        return False
    return log(1.0 - u / SPARE) < log_acceptance(d_x, z_x, root_x) + log_acceptance(d_y, z_y, root_y)


@jitable
def log_acceptance(d, z, root):
    """Log of the probability that a normal z is accepted."""
    return 0.5 * z * z + d - d * (root * root * root) + 3.0 * d * log(root)


@rarely_called
def small_beta(a, b, stream):
    """Draw with a pseudo-count below 1: Gamma(a) is Gamma(a + 1) times a uniform variable to the power 1 / a."""
    if a < TINY or b < TINY:
        return beta(a, b, stream)
    x, stream = gamma(a if a >= 1.0 else a + 1.0, stream)
    y, stream = gamma(b if b >= 1.0 else b + 1.0, stream)
    log_factor = 0.0
    if a < 1.0:
        u, stream = uniform(stream)
        log_factor += log1p(-u) / a
    if b < 1.0:
        u, stream = uniform(stream)
        log_factor -= log1p(-u) / b
    odds = x / y * exp(log_factor)
    return odds / (1.0 + odds), stream
