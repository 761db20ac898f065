"""Many draws from one Beta distribution: all that depends on its pseudo-counts alone is prepared once.

A Beta variable is x / (x + y) for Gamma variables x and y. Each is d (1 + c z)^3 for a normal z that is kept with a
chance of nearly 1 (Marsaglia and Tsang 2000). Here one uniform tells whether both are kept.
"""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called
from bayesregret.rng import beta, gamma, normal, uniform

# A normal z is kept at least with the chance 1 - STEEP z^4 / d. Marsaglia and Tsang have 1 - 0.0331 z^4, which is this
# at the smallest d, 2/3. For given c z the chance is an exponential function of d, this a linear one, and both are 1 at
# d = 0: if the linear one is the lower one at 2/3, it is so for larger d.
STEEP = 0.0331 * 2.0 / 3.0
# What is prepared: d, c and STEEP / d of x and of y; or IS_SMALL and the pseudo-counts, if one is below 1.
IS_SMALL = 0.0
# Gamma variables with a shape below this may be too small for a float.
TINY = 0.1


@jitable
def prepare_beta(a, b, prepared):
    """Write the six numbers that draws need."""
    if a < 1.0 or b < 1.0:
        prepared[0], prepared[1], prepared[2] = IS_SMALL, a, b
    else:
        prepared[0], prepared[1], prepared[2] = gamma_numbers(a)
        prepared[3], prepared[4], prepared[5] = gamma_numbers(b)


@jitable
def gamma_numbers(shape):
    d = shape - 1.0 / 3.0
    inverse = 1.0 / d
    return d, math.sqrt(d) * inverse / 3.0, STEEP * inverse  # c is 1 / sqrt(9 d)


@jitable
def prepared_beta(prepared, stream):
    if prepared[0] == IS_SMALL:
        return small_beta(prepared[1], prepared[2], stream)
    d_x, c_x, steep_x = prepared[0], prepared[1], prepared[2]
    d_y, c_y, steep_y = prepared[3], prepared[4], prepared[5]
    while True:
        z_x, stream = normal(stream)
        z_y, stream = normal(stream)
        u, stream = uniform(stream)
        root_x, root_y = 1.0 + c_x * z_x, 1.0 + c_y * z_y
        x, y = d_x * (root_x * root_x * root_x), d_y * (root_y * root_y * root_y)
        # The first test needs no logarithm, and fails where a root is not positive.
        surely = u > steep_x * (z_x * z_x) * (z_x * z_x) + steep_y * (z_y * z_y) * (z_y * z_y)
        if surely or are_kept(u, d_x, z_x, root_x, d_y, z_y, root_y):
            return x / (x + y), stream


@rarely_called
def are_kept(u, d_x, z_x, root_x, d_y, z_y, root_y):
    if root_x <= 0.0 or root_y <= 0.0:
        return False
    return math.log1p(-u) < log_chance(d_x, z_x, root_x) + log_chance(d_y, z_y, root_y)


@jitable
def log_chance(d, z, root):
    """Logarithm of the chance that a normal z is kept."""
    return 0.5 * z * z + d - d * (root * root * root) + 3.0 * d * math.log(root)


@rarely_called
def small_beta(a, b, stream):
    """A Gamma variable with shape a below 1 is one with shape a + 1 times a uniform to the power of 1 / a."""
    if a < TINY or b < TINY:
        return beta(a, b, stream)
    x, stream = gamma(a if a >= 1.0 else a + 1.0, stream)
    y, stream = gamma(b if b >= 1.0 else b + 1.0, stream)
    log_factor = 0.0
    if a < 1.0:
        u, stream = uniform(stream)
        log_factor += math.log1p(-u) / a
    if b < 1.0:
        u, stream = uniform(stream)
        log_factor -= math.log1p(-u) / b
    odds = x / y * math.exp(log_factor)
    return odds / (1.0 + odds), stream
