"""Posteriors of independent arms on one line, where all are smooth, for integrals over the best arm.

Normal posteriors stand on the line of mean rewards, whose zero is where integrals begin. Beta posteriors stand on the
line of log-odds, where their densities are analytic and have no ends. A density is integrated between the places where
it is e^-25 of its peak, in panels for which no posterior under way is too sharp. That leaves errors of about 1e-10 in
probabilities.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.contracts import current_mean, variance_proxy
from bayesregret.dispatch import contract, jitable, rarely_called
from bayesregret.numerics.special import betaincc

ORDER = 8  # points in a panel
PANEL = 1.5  # its length, in deviations of the sharpest posterior
REACH = 25.0  # how far the logarithm of a density falls to the ends of its range
NORMAL_REACH = math.sqrt(2.0 * REACH)  # how many deviations away a normal one's are
# Beyond these log-odds a Beta density is an exponential function to the last digit.
FAR = 36.0
LONGEST_PANEL = 2.0  # nearer than that: the densities have poles at a distance of pi
FAR_FALL = 4.0  # how far the logarithm of all arms' exponentials together falls in a panel
NEWTON_STEPS = 3
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


class Rule(NamedTuple):
    """Gauss's rule on [-1, 1], and how it integrates from -1 to each of its points."""

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
    """The arms' posteriors, (arms,) each."""

    stamps: Array  # the count that an arm's was made for, plus 1
    means: Array  # of mean rewards; normal ones from the line's zero
    lows: Array  # where the ranges begin
    highs: Array
    panels: Array  # the longest that a posterior allows
    firsts: Array  # a normal's mean, a Beta's alpha
    seconds: Array  # a normal's deviation, a Beta's beta
    factors: Array  # of the density, as a logarithm for a Beta
    spreads: Array  # E[(mean - x) 1(x < z)] is the density at z times this


SHAPE_FIELDS = len(Shapes._fields)


@contract
def make_shapes(family, model, stats, shapes):
    """Make the shapes of all arms whose data are new."""


@contract
def chance_below(family, shapes, arm, z):
    """The chance that an arm's mean reward is below the place z."""


@contract
def panel_end(family, shapes, z):
    """Where a panel that begins at z may end at the latest."""


@contract
def value_above(family, shapes, arm, z):
    """The mean reward at the place z, less the arm's expected one."""


@contract
def fill_densities(family, shapes, z, densities):
    """Write the arms' densities at the place z."""


# --- normal posteriors ---------------------------------------------------------------------------------------------


class NormalShapes(NamedTuple):
    noises: Array  # (arms,): of rewards
    most_telling: float  # rewards are taken for no more precise than this, in deviations; 0: they are not looked at


@jitable
def telling(family, arm, deviation):
    """How many times the noise of a reward the arm's deviation is."""
    return min(family.most_telling, deviation / family.noises[arm])


@make_shapes.implement(NormalShapes)
def make_normal_shapes(family, model, stats, shapes):
    """All of them, as the zero may be another one. Panels resolve the posteriors after one more reward, too."""
    for arm in range(stats.counts.shape[0]):
        shapes.firsts[arm] = current_mean(model, stats, arm)
        shapes.seconds[arm] = math.sqrt(variance_proxy(model, arm, stats.counts[arm]))
    highest = highest_low(shapes)
    origin, reach_of_highest = shapes.firsts[highest], NORMAL_REACH * shapes.seconds[highest]
    for arm in range(stats.counts.shape[0]):
        deviation = shapes.seconds[arm]
        reach = NORMAL_REACH * deviation
        mean = min(reach, (shapes.firsts[arm] - origin) + reach_of_highest)  # it is the less by rounding only
        ratio = telling(family, arm, deviation)
        shapes.means[arm] = shapes.firsts[arm] = mean
        shapes.lows[arm], shapes.highs[arm] = mean - reach, mean + reach
        shapes.panels[arm] = PANEL * deviation / math.sqrt(1.0 + ratio * ratio)
        shapes.factors[arm] = 1.0 / (ROOT_TWO_PI * deviation)
        shapes.spreads[arm] = deviation * deviation


@jitable
def highest_low(shapes):
    """The arm whose range begins last, by means and deviations.

    With the zero there, the range of any arm that is under way at z > 0 begins below 0 and ends above z. It is longer
    than z, so its panels are much longer than the spacing of floats at z, however different the arms' deviations are.
    """
    highest = 0
    for arm in range(1, shapes.firsts.shape[0]):
        reaches_further = NORMAL_REACH * (shapes.seconds[arm] - shapes.seconds[highest])
        if shapes.firsts[arm] - shapes.firsts[highest] > reaches_further:
            highest = arm
    return highest


@jitable
def normal_below(z):
    return 0.5 * math.erfc(-z * math.sqrt(0.5))


@chance_below.implement(NormalShapes)
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
        densities[arm] = shapes.factors[arm] * math.exp(-0.5 * off * off)


# --- Beta posteriors -----------------------------------------------------------------------------------------------


class BetaShapes(NamedTuple):
    """Nothing to set."""


@jitable
def expit(z):
    return 1.0 / (1.0 + math.exp(-z)) if z > 0.0 else math.exp(z) / (1.0 + math.exp(z))


@jitable
def softplus(z):
    """log(1 + e^z)."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


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
    shapes.factors[arm] = math.lgamma(pulls) - math.lgamma(alpha) - math.lgamma(beta)
    shapes.spreads[arm] = 1.0 / pulls
    peak = math.log(alpha / beta)
    deviation = math.sqrt(1.0 / alpha + 1.0 / beta)
    shapes.panels[arm] = min(LONGEST_PANEL, PANEL * deviation)
    shapes.lows[arm] = -beyond_peak(-peak, deviation, beta, alpha)
    shapes.highs[arm] = beyond_peak(peak, deviation, alpha, beta)


@rarely_called
def beyond_peak(peak, deviation, alpha, beta):
    """Where the logarithm of a Beta density has fallen by REACH to the right of its peak, or a little farther out.

    It is concave, so Newton's method never comes back inside. It begins where a parabola has fallen so far, but not
    much beyond where a line of slope beta has, which the logarithm soon is to the right of 0.
    """
    pulls = alpha + beta
    along_line = REACH / beta
    along_parabola = NORMAL_REACH * deviation
    z = peak + max(along_line, min(along_parabola, max(-peak, 0.0) + 2.0 + 1.5 * along_line))
    for _ in range(NEWTON_STEPS):
        fall = beta * (z - peak) + pulls * (softplus(-z) - softplus(-peak))
        z += (REACH - fall) / (beta - pulls * expit(-z))
    return z


@chance_below.implement(BetaShapes)
def beta_chance_below(family, shapes, arm, z):
    """No integral begins far to the right: a range begins below the logarithm of alpha."""
    alpha, beta = shapes.firsts[arm], shapes.seconds[arm]
    return betaincc(beta, alpha, expit(-z)) if z > -FAR else math.exp(shapes.factors[arm] + alpha * z) / alpha


@panel_end.implement(BetaShapes)
def beta_panel_end(family, shapes, z):
    """Far out, all of the arms' exponentials are one; none of a far panel may reach into the near ones."""
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
    """x^alpha (1 - x)^beta / B(alpha, beta), without differences of large numbers."""
    log_x, log_rest = -softplus(-z), -softplus(z)
    for arm in range(densities.shape[0]):
        densities[arm] = math.exp(shapes.factors[arm] + shapes.firsts[arm] * log_x + shapes.seconds[arm] * log_rest)
