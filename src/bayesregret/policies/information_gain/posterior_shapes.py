"""Posteriors of independent arms on one line, where all are smooth, for integrals over the best arm.

For normal posteriors the line is that of mean rewards, shifted so that integrals begin at 0. For Beta posteriors it is
that of log-odds, where their densities are analytic on the whole line. A density is integrated between the points where
it is e^-25 of its peak, in panels short enough for the sharpest posterior there. Errors in probabilities are about
1e-10.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.contracts import current_mean, variance_proxy
from bayesregret.dispatch import contract, jitable, rarely_called
from bayesregret.elementary import exp, log, log1p
from bayesregret.numerics.log_gamma_ratio import log_beta
from bayesregret.numerics.normal_tails import erfc
from bayesregret.numerics.special import betaincc

ORDER = 8  # points in a panel
PANEL = 1.5  # its length, in standard deviations of the sharpest posterior
REACH = 25.0  # fall of a log density from its peak to the ends of its range
NORMAL_REACH = math.sqrt(2.0 * REACH)  # the same in standard deviations of a normal density
# Beyond these log-odds a Beta density is exponential to all digits.
FAR = 36.0
LONGEST_PANEL = 2.0  # within FAR: the densities have poles at a distance of pi
FAR_FALL = 4.0  # fall, per panel, of the log of the product of all arms' exponentials
NEWTON_STEPS = 3
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


class Rule(NamedTuple):
    """Gauss's rule on [-1, 1], and weights of integrals from -1 to each of its points."""

    points: Array
    weights: Array
    running: Array  # (points, points)


def make_rule() -> Rule:
    points, weights = np.polynomial.legendre.leggauss(ORDER)
    degrees = np.eye(ORDER)
    values = np.polynomial.legendre.legval(points, degrees)
    integrals = np.polynomial.legendre.legval(points, np.polynomial.legendre.legint(degrees, lbnd=-1))
    running = np.linalg.solve(values, integrals).T
    return Rule(points, weights, np.ascontiguousarray(running, dtype=np.float64))


class Shapes(NamedTuple):
    """Posteriors of the arms, (arms,) each."""

    stamps: Array  # count for which the arm's shape was made, plus 1
    means: Array  # of mean rewards; shifted for normal posteriors
    lows: Array  # starts of ranges
    highs: Array
    panels: Array  # longest panels that a posterior allows
    firsts: Array  # mean, or alpha of a Beta
    seconds: Array  # standard deviation, or beta of a Beta
    factors: Array  # of the density; logarithms for a Beta
    spreads: Array  # E[(mean - x) 1(x < z)] is the density at z times this


SHAPE_FIELDS = len(Shapes._fields)


@contract()
def make_shapes(family, model, stats, shapes):
    """Make the shapes of all arms with new data."""


@contract()
def probability_below(family, shapes, arm, z):
    """Probability that the arm's position is below z."""


@contract()
def panel_end(family, shapes, z):
    """Latest end of a panel that begins at z."""


@contract()
def value_above(family, shapes, arm, z):
    """Mean reward at z minus the arm's expected one."""


@contract()
def fill_densities(family, shapes, z, densities):
    """Write the arms' densities at z."""


# --- normal posteriors ---------------------------------------------------------------------------------------------


class NormalShapes(NamedTuple):
    noises: Array  # (arms,): of rewards
    largest_ratio: float  # upper limit on standard deviation over noise; 0 if the gain ignores rewards


@jitable
def signal_ratio(family, arm, deviation):
    """Ratio of the arm's standard deviation to the noise, up to a limit."""
    return min(family.largest_ratio, deviation / family.noises[arm])


@make_shapes.implement(NormalShapes)
def make_normal_shapes(family, model, stats, shapes):
    """Make all shapes, as the origin may move. Panels are short enough for the posteriors after one more reward."""
    for arm in range(stats.counts.shape[0]):
        shapes.firsts[arm] = current_mean(model, stats, arm)
        shapes.seconds[arm] = math.sqrt(variance_proxy(model, arm, stats.counts[arm]))
    highest = highest_low(shapes)
    origin, reach_of_highest = shapes.firsts[highest], NORMAL_REACH * shapes.seconds[highest]
    for arm in range(stats.counts.shape[0]):
        deviation = shapes.seconds[arm]
        reach = NORMAL_REACH * deviation
        mean = min(
            reach, (shapes.firsts[arm] - origin) + reach_of_highest
        )  # the minimum differs from the second by rounding only
        ratio = signal_ratio(family, arm, deviation)
        shapes.means[arm] = shapes.firsts[arm] = mean
        shapes.lows[arm], shapes.highs[arm] = mean - reach, mean + reach
        shapes.panels[arm] = PANEL * deviation / math.sqrt(1.0 + ratio * ratio)
        shapes.factors[arm] = 1.0 / (ROOT_TWO_PI * deviation)
        shapes.spreads[arm] = deviation * deviation


@jitable
def highest_low(shapes):
    """Arm whose range begins last, by means and standard deviations.

    With the origin there, the range of any arm still integrated at z > 0 begins below 0 and ends above z. It is longer
    than z, so its panels are much longer than the spacing of floats at z, however much standard deviations differ.
    """
    highest = 0
    for arm in range(1, shapes.firsts.shape[0]):
        reaches_further = NORMAL_REACH * (shapes.seconds[arm] - shapes.seconds[highest])
        if shapes.firsts[arm] - shapes.firsts[highest] > reaches_further:
            highest = arm
    return highest


@jitable
def normal_below(z):
    return 0.5 * erfc(-z * math.sqrt(0.5))


@probability_below.implement(NormalShapes)
def normal_chance_below(family, shapes, arm, z):
    return normal_below((z - shapes.firsts[arm]) / shapes.seconds[arm])


@panel_end.implement(NormalShapes)
def normal_panel_end(family, shapes, z):
    length = math.inf
    for arm in range(shapes.highs.shape[0]):
        if z < shapes.highs[arm]:
            length = min(length, shapes.panels[arm])
    return z + length


@value_above.implement(NormalShapes)
def normal_value_above(family, shapes, arm, z):
    return z - shapes.means[arm]


@fill_densities.implement(NormalShapes)
def fill_normal_densities(family, shapes, z, densities):
    for arm in range(densities.shape[0]):
        off = (z - shapes.firsts[arm]) / shapes.seconds[arm]
        densities[arm] = shapes.factors[arm] * exp(-0.5 * off * off)


# --- Beta posteriors -----------------------------------------------------------------------------------------------


class BetaShapes(NamedTuple):
    """Beta posteriors have no settings."""


@jitable
def expit(z):
    return 1.0 / (1.0 + exp(-z)) if z > 0.0 else exp(z) / (1.0 + exp(z))


@jitable
def softplus(z):
    """log(1 + e^z)."""
    return max(z, 0.0) + log1p(exp(-abs(z)))


@make_shapes.implement(BetaShapes)
def make_beta_shapes(family, model, stats, shapes):
    for arm in range(stats.counts.shape[0]):
        if shapes.stamps[arm] != stats.counts[arm] + 1.0:
            shapes.stamps[arm] = stats.counts[arm] + 1.0
            alpha = model.alpha[arm] + stats.totals[arm]
            beta = model.beta[arm] + stats.counts[arm] - stats.totals[arm]
            make_beta_shape(shapes, arm, alpha, beta)


@rarely_called
def make_beta_shape(shapes, arm, alpha, beta):
    pulls = alpha + beta
    shapes.means[arm] = alpha / pulls
    shapes.firsts[arm], shapes.seconds[arm] = alpha, beta
    shapes.factors[arm] = -log_beta(alpha, beta)
    shapes.spreads[arm] = 1.0 / pulls
    peak = log(alpha / beta)
    deviation = math.sqrt(1.0 / alpha + 1.0 / beta)
    shapes.panels[arm] = min(LONGEST_PANEL, PANEL * deviation)
    shapes.lows[arm] = -beyond_peak(-peak, deviation, beta, alpha)
    shapes.highs[arm] = beyond_peak(peak, deviation, alpha, beta)


@rarely_called
def beyond_peak(peak, deviation, alpha, beta):
    """Point right of the peak where the log density of a Beta has fallen by REACH, or slightly beyond.

    The log density is concave, so Newton's method stays beyond that point. It starts where a parabola has fallen by
    REACH, but not much beyond where a line of slope beta has, which the log density approaches right of 0.
    """
    pulls = alpha + beta
    along_line = REACH / beta
    along_parabola = NORMAL_REACH * deviation
    z = peak + max(along_line, min(along_parabola, max(-peak, 0.0) + 2.0 + 1.5 * along_line))
    for _ in range(NEWTON_STEPS):
        fall = beta * (z - peak) + pulls * (softplus(-z) - softplus(-peak))
        z += (REACH - fall) / (beta - pulls * expit(-z))
    return z


@probability_below.implement(BetaShapes)
def beta_chance_below(family, shapes, arm, z):
    """No integral begins far to the right: ranges begin below log(alpha)."""
    alpha, beta = shapes.firsts[arm], shapes.seconds[arm]
    return betaincc(beta, alpha, expit(-z)) if z > -FAR else exp(shapes.factors[arm] + alpha * z) / alpha


@panel_end.implement(BetaShapes)
def beta_panel_end(family, shapes, z):
    """Beyond FAR the product of the arms' exponentials is one exponential; a panel must not cross -FAR."""
    length, rate = LONGEST_PANEL, 0.0
    for arm in range(shapes.highs.shape[0]):
        if z < shapes.highs[arm]:
            length = min(length, shapes.panels[arm])
            rate += shapes.firsts[arm] if z < 0.0 else shapes.seconds[arm]
    if z < -FAR:
        return min(-FAR, z + max(length, FAR_FALL / rate))
    return z + (FAR_FALL / rate if z > FAR else length)


@value_above.implement(BetaShapes)
def beta_value_above(family, shapes, arm, z):
    return expit(z) - shapes.means[arm]


@fill_densities.implement(BetaShapes)
def fill_beta_densities(family, shapes, z, densities):
    """x^alpha (1 - x)^beta / B(alpha, beta), without subtracting large numbers."""
    log_x, log_rest = -softplus(-z), -softplus(z)
    for arm in range(densities.shape[0]):
        densities[arm] = exp(shapes.factors[arm] + shapes.firsts[arm] * log_x + shapes.seconds[arm] * log_rest)
