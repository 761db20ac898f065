"""Upper tails of Beta distributions: bounds on their probability, and exact draws by rejection.

Where the density falls, it lies below the exponential density that is tangent to it in logarithms. The mass under the
exponential is the bound; a draw from the exponential is accepted if it is also under the Beta density.
"""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import exp, log, log1p
from bayesregret.numerics.log_gamma_ratio import log_beta
from bayesregret.rng import beta, uniform

TWO_PI = 2.0 * math.pi
# Beyond it exp overflows; pseudo-counts of 1e20 lead there, by rounding. Its exp is as good as infinite.
LARGEST_EXPONENT = 700.0


@rarely_called
def beta_tail_bound(a, b, value):
    """`tail_bound` of policies/thompson_fast/beta.py for a Beta(a, b) variable.

    The tangent point is nearly optimal for the bound, as if the variable were normal. For a < 1 it is `value` itself:
    the factor x^(a - 1) is at most its value there, and falls ever more slowly beyond.
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
    return density_bound(a, b, touch) * exp(min(rate * (touch - value), LARGEST_EXPONENT)) / rate, rate


@jitable
def density_bound(a, b, value):
    """Upper bound on the Beta(a, b) density at `value`.

    Stirling's formula replaces the three Gamma functions of the constant: at x it is too low by less than 1 / (12 x) in
    the logarithm, and never too high.
    """
    both = a + b
    exponent = a * log(value * both / a) + b * log((1.0 - value) * both / b) + 1.0 / (12.0 * both)
    return exp(min(exponent, LARGEST_EXPONENT)) * math.sqrt(a * b / (TWO_PI * both)) / (value * (1.0 - value))


@jitable
def density_fraction(a, b):
    """Lower bound on the ratio of the density to its upper bound."""
    return 1.0 - (1.0 / a + 1.0 / b + 1.0 / (a + b)) / 12.0


@jitable
def log_density(a, b, value):
    return (a - 1.0) * log(value) + (b - 1.0) * log1p(-value) - log_beta(a, b)


@rarely_called
def beta_quantile_rise(a, b, tail, quantile):
    """Upper bound on the rise of the quantile while its tail shrinks e-fold: tail over density, here and beyond.

    For a >= 1 the ratio falls with the quantile, because the hazard rate grows. For a < 1 the factor y^(a - 1) of the
    density is at most x^(a - 1) beyond x, so the ratio is at most (1 - x) / b.
    """
    if quantile >= 1.0:
        return 0.0
    if a <= 1.0:
        return (1.0 - quantile) / b
    return tail * exp(min(-log_density(a, b, quantile), LARGEST_EXPONENT))


@jitable
def rate_of_fall(a, b, value):
    """Lower bound on the decay rate of the log density beyond `value`; not positive if the density may rise.

    For a < 1 the factor x^(a - 1) falls too, but ever more slowly, so it counts as constant.
    """
    return (b - 1.0) / (1.0 - value) - max(a - 1.0, 0.0) / value


@rarely_called
def beta_above(a, b, value, bound, rate, stream):
    """`draw_above` of policies/thompson_fast/beta.py for a Beta(a, b) variable."""
    if bound >= 1.0:
        drawn, stream = beta(a, b, stream)
        return (drawn if drawn > value else -math.inf), stream
    u, stream = uniform(stream)
    kept, stream = uniform(stream)
    drawn = value - log(1.0 - u) / rate
    if drawn >= 1.0:
        return -math.inf, stream
    height, density = kept * bound * rate * (1.0 - u), density_bound(a, b, drawn)
    is_kept = height < density * density_fraction(a, b)
    if not is_kept and height < density:  # the exact density is rarely needed
        is_kept = height < exp(log_density(a, b, drawn))
    return (drawn if is_kept else -math.inf), stream
