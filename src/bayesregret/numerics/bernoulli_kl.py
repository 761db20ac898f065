"""The Kullback-Leibler divergence of rewards 0 and 1, inverted."""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called

# Newton's method doubles the digits at last: after a step of this share there is nothing left to do.
MOST_STEPS, LAST_STEP = 60, 1e-8
# Below it a logarithm is a series, so that no digits are lost.
SMALL = 0.1


@rarely_called
def highest_mean_within(divergence, mean):
    """The largest q with mean log(mean / q) + (1 - mean) log((1 - mean) / (1 - q)) <= divergence.

    In u = log((1 - mean) / (1 - q)) the divergence is convex, and Newton's method from above a root of a convex
    function never passes it. It is written as a sum of two positive parts, which loses no digits however small it is.
    """
    if mean >= 1.0 or divergence <= 0.0:
        return mean
    if mean <= 0.0:
        return -math.expm1(-divergence)
    rest = 1.0 - mean
    u = upper_limit(divergence, mean, rest)
    for _ in range(MOST_STEPS):
        rise = -math.expm1(-u)  # (q - mean) / (1 - mean)
        below = excess(-rise) if rise < SMALL else u - rise
        off = rest * below + mean * excess(rise * rest / mean) - divergence
        step = off * (mean + rest * rise) / (rest * rise)
        u -= step
        if abs(step) <= LAST_STEP * u:
            break
    return mean - rest * math.expm1(-u)


@jitable
def upper_limit(divergence, mean, rest):
    """The divergence is the integral of (x - mean) / (x (1 - x)) up to q; here with the denominator's upper limits 1/4,
    1 - mean and q, and for large divergences without the part of log q."""
    near = math.sqrt(2.0 * divergence * min(0.25, rest))
    rise = min(near, divergence + math.sqrt(divergence * (divergence + 2.0 * mean))) / rest
    if rise < 0.75:
        return -math.log1p(-rise)
    return (divergence - mean * math.log(mean)) / rest


@jitable
def excess(x):
    """x - log(1 + x)."""
    if abs(x) >= SMALL:
        return x - math.log1p(x)
    ratio = x / (2.0 + x)  # log(1 + x) is twice the area tangent of it
    square = ratio * ratio
    series = 1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square * (1 / 11 + square * (1 / 13)))))
    return 2.0 * square * (1.0 / (1.0 - ratio) - ratio * series)
