"""The upper tail of a Beta distribution: a bound of its chance, and exact draws by means of it.

Where the density falls, it lies below the exponential density that touches it in logarithms. The mass below that one
is the bound; a draw from it is kept if it is below the Beta density, too.
"""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called
from bayesregret.rng import beta, uniform
from bayesregret.special import betaln


@rarely_called
def beta_tail_bound(a, b, value):
    """At least the chance that a Beta(a, b) variable exceeds `value`, and at most 1."""
    if not 0.0 < value < 1.0:
        return 1.0 if value <= 0.0 else 0.0
    fall = rate_of_fall(a, b, value)
    if fall <= 0.0:
        return 1.0
    density = math.exp((a - 1.0) * math.log(value) + (b - 1.0) * math.log1p(-value) - betaln(a, b))
    return min(1.0, density / fall)


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
    log_density = (a - 1.0) * math.log(quantile) + (b - 1.0) * math.log1p(-quantile) - betaln(a, b)
    return tail * math.exp(-log_density)


@jitable
def rate_of_fall(a, b, value):
    """How fast the density falls beyond `value` at least, not positive if it may rise. For a < 1 its part in x falls,
    but ever more slowly."""
    return (b - 1.0) / (1.0 - value) - max(a - 1.0, 0.0) / value


@rarely_called
def beta_above(a, b, value, bound, stream):
    """A Beta(a, b) draw that exceeds `value`, or -inf: that with the chance 1 - tail / bound."""
    if bound >= 1.0:
        drawn, stream = beta(a, b, stream)
        return (drawn if drawn > value else -math.inf), stream
    fall = rate_of_fall(a, b, value)
    u, stream = uniform(stream)
    kept, stream = uniform(stream)
    beyond = -math.log1p(-u) / fall
    if beyond >= 1.0 - value:
        return -math.inf, stream
    below = (a - 1.0) * math.log1p(beyond / value) + (b - 1.0) * math.log1p(-beyond / (1.0 - value)) + fall * beyond
    return (value + beyond if kept < math.exp(below) else -math.inf), stream
