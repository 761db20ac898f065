"""Inverse of the Bernoulli Kullback-Leibler divergence in its second argument."""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import expm1, log, log1p

# Newton's method converges quadratically: after a step of this relative size, no digit is left to gain.
MOST_STEPS, LAST_STEP = 60, 1e-8
# Below this argument x - log(1 + x) is computed as a series, which loses no digits.
SMALL = 0.1


@rarely_called
def highest_mean_within(divergence, mean):
    """Largest q with mean log(mean / q) + (1 - mean) log((1 - mean) / (1 - q)) <= divergence.

    In u = log((1 - mean) / (1 - q)) the divergence is convex, and Newton's method started above the root of a convex
    function never passes it. The divergence is computed as a sum of two positive parts, so that small values keep all
    their digits.
    """
    if mean >= 1.0 or divergence <= 0.0:
        return mean
    if mean <= 0.0:
        return -expm1(-divergence)
    rest = 1.0 - mean
    u = upper_limit(divergence, mean, rest)
    for _ in range(MOST_STEPS):
        rise = -expm1(-u)  # (q - mean) / (1 - mean)
        below = excess(-rise) if rise < SMALL else u - rise
        off = rest * below + mean * excess(rise * rest / mean) - divergence
        step = off * (mean + rest * rise) / (rest * rise)
        u -= step
        if abs(step) <= LAST_STEP * u:
            break
    return mean - rest * expm1(-u)


@jitable
def upper_limit(divergence, mean, rest):
    """Upper bound on u, the start of Newton's method.

    The divergence is the integral of (x - mean) / (x (1 - x)) from the mean to q; the bound uses that the denominator
    is at most 1/4, 1 - mean and q. For large divergences it drops the term in log q.
    """
    near = math.sqrt(2.0 * divergence * min(0.25, rest))
    rise = min(near, divergence + math.sqrt(divergence * (divergence + 2.0 * mean))) / rest
    if rise < 0.75:
        return -log1p(-rise)
    return (divergence - mean * log(mean)) / rest


@jitable
def excess(x):
    """x - log(1 + x)."""
    if abs(x) >= SMALL:
        return x - log1p(x)
    ratio = x / (2.0 + x)  # log(1 + x) = 2 artanh(ratio)
    square = ratio * ratio
    series = 1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square * (1 / 11 + square * (1 / 13)))))
    return 2.0 * square * (1.0 / (1.0 - ratio) - ratio * series)
