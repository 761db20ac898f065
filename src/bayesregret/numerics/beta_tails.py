"""The upper tail of a Beta distribution: a bound of its chance, and exact draws by means of it.

Where the density falls, it lies below the exponential density that touches it in logarithms. The mass below that one
is the bound; a draw from it is kept if it is below the Beta density, too.
"""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called
from bayesregret.numerics.special import betaln
from bayesregret.rng import beta, uniform

TWO_PI = 2.0 * math.pi


@rarely_called
def beta_tail_bound(a, b, value):
    """What `tail_bound` of likely_highest.py asks for, of a Beta(a, b) variable.

    The tangent touches where it is nearly best for the bound, as if the variable were normal; for a < 1 at `value`, as
    the density's part in x, which is no more than there, then falls ever more slowly.
    """
    if not 0.0 < value < 1.0:
        return 1.0, 0.0
    rate, touch = rate_of_fall(a, b, value), value
    if not rate > 0.0:
        return 1.0, 0.0
    if a >= 1.0:
        both = a + b
        touch = min(value + 1.0 / (rate + both * math.sqrt((both + 1.0) / (a * b))), 0.5 * (value + 1.0))
        rate = rate_of_fall(a, b, touch)
    return density_bound(a, b, touch) * math.exp(rate * (touch - value)) / rate, rate


@jitable
def density_bound(a, b, value):
    """At least the Beta(a, b) density at `value`: as Stirling's formula for the three Gamma functions of its constant,
    which is too low by less than 1 / (12 x) in the logarithm at x, and never too high."""
    both = a + b
    exponent = a * math.log(value * both / a) + b * math.log((1.0 - value) * both / b) + 1.0 / (12.0 * both)
    return math.exp(exponent) * math.sqrt(a * b / (TWO_PI * both)) / (value * (1.0 - value))


@jitable
def density_share(a, b):
    """At most the density over its bound."""
    return 1.0 - (1.0 / a + 1.0 / b + 1.0 / (a + b)) / 12.0


@jitable
def log_density(a, b, value):
    return (a - 1.0) * math.log(value) + (b - 1.0) * math.log1p(-value) - betaln(a, b)


@rarely_called
def beta_quantile_rise(a, b, tail, quantile):
    """How much the quantile rises at most while its tail shrinks e-fold: tail over density, here and farther out.

    For a >= 1 that falls with the quantile: the distribution's failure rate grows. For a < 1 the density beyond x is at
    most its own x^(a - 1) times (1 - y)^(b - 1), so that the tail over the density is at most (1 - x) / b.
    """
    if quantile >= 1.0:
        return 0.0
    if a <= 1.0:
        return (1.0 - quantile) / b
    return tail * math.exp(-log_density(a, b, quantile))


@jitable
def rate_of_fall(a, b, value):
    """How fast the density falls beyond `value` at least, not positive if it may rise. For a < 1 its part in x falls,
    but ever more slowly."""
    return (b - 1.0) / (1.0 - value) - max(a - 1.0, 0.0) / value


@rarely_called
def beta_above(a, b, value, bound, rate, stream):
    """What `draw_above` of likely_highest.py asks for, of a Beta(a, b) variable."""
    if bound >= 1.0:
        drawn, stream = beta(a, b, stream)
        return (drawn if drawn > value else -math.inf), stream
    u, stream = uniform(stream)
    kept, stream = uniform(stream)
    drawn = value - math.log(1.0 - u) / rate
    if drawn >= 1.0:
        return -math.inf, stream
    height, density = kept * bound * rate * (1.0 - u), density_bound(a, b, drawn)
    is_kept = height < density * density_share(a, b)
    if not is_kept and height < density:  # the exact density is rarely needed
        is_kept = height < math.exp(log_density(a, b, drawn))
    return (drawn if is_kept else -math.inf), stream
