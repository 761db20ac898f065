"""Distributions of the mean rewards of many arms at once, however narrow: tails and quantiles.

Each arm has a local coordinate t, 0 at the arm's centre: the mean reward minus the centre; for positive means the
logarithm of their ratio; for probabilities the difference of log-odds. There all densities are smooth, and a posterior
of 1e30 pseudo-counts keeps its digits, because the distance of two centres is computed before it is rounded.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesregret.checks import Array
from bayesregret.numerics.mean_distributions import LARGE_SHAPE, large_gamma_tails

Rows = NDArray[np.intp]
# Of a Beta: from here on two terms of Laplace's expansion have nine decimals, and SciPy's function soon has none.
LARGE_COUNT = 1e8
# Beyond this, in logarithms, a distribution function is a power of x to all digits.
POWER = 40.0
# From this on, Student's distribution is normal to all digits.
NORMAL_FREEDOM = 1e12
NO_WIDTH = 1e-100  # stands for a standard deviation of 0
MOST_DOUBLINGS, MOST_STEPS = 1_000, 60


@dataclass(frozen=True, eq=False)
class Marginals(ABC):
    """One distribution for each arm; all fields are (arms,)."""

    @property
    @abstractmethod
    def means(self) -> Array:
        """(arms,): expected mean rewards."""

    @property
    @abstractmethod
    def centres(self) -> Array:
        """(arms,): coordinate of each arm's centre."""

    @property
    @abstractmethod
    def widths(self) -> Array:
        """(arms,): about the standard deviations, in the coordinate."""

    @abstractmethod
    def below(self, t: Array) -> Array:
        """P(arm's coordinate < t), for (arms, ...) coordinates."""

    @abstractmethod
    def above(self, t: Array) -> Array:
        """P(arm's coordinate > t)."""

    @abstractmethod
    def values(self, t: Array) -> Array:
        """(arms,): mean rewards at (arms,) coordinates."""

    @abstractmethod
    def apart(self, rows: Rows, others: Rows) -> Array:
        """Centres of some arms minus those of others, with all digits."""

    def take(self, rows: Rows) -> Self:
        """Return the distributions of some arms."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """Return the arms of all parts."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def distinct(self) -> tuple[Self, Rows]:
        """Return one of each set of equal arms, and for each arm the place of its equal."""
        every = np.stack([getattr(self, field.name) for field in fields(self)], axis=1)
        _, first, place = np.unique(every, axis=0, return_index=True, return_inverse=True)
        return self.take(first), place.ravel()


def column(parameter: Array, t: Array) -> Array:
    """A parameter of the arms, to compute with (arms, ...) coordinates."""
    return parameter.reshape(-1, *[1] * (t.ndim - 1))


# --- on the whole line -----------------------------------------------------------------------------------------------


class OnTheLine(Marginals):
    """The coordinate is the mean reward minus that of the centre."""

    mean: Array

    @property
    def means(self) -> Array:
        return self.mean

    @property
    def centres(self) -> Array:
        return self.mean

    def values(self, t: Array) -> Array:
        return self.mean + t

    def apart(self, rows: Rows, others: Rows) -> Array:
        return self.mean[rows] - self.mean[others]

    def above(self, t: Array) -> Array:
        return self.below(-t)


@dataclass(frozen=True, eq=False)
class NormalMeans(OnTheLine):
    mean: Array
    deviation: Array  # 0 for a mean that is known

    @property
    def widths(self) -> Array:
        return np.maximum(NO_WIDTH, self.deviation)

    def below(self, t: Array) -> Array:
        return np.asarray(special.ndtr(t / column(self.widths, t)))

    def values(self, t: Array) -> Array:
        return self.mean + np.where(self.deviation > 0.0, t, 0.0)


@dataclass(frozen=True, eq=False)
class StudentMeans(OnTheLine):
    mean: Array
    spread: Array
    freedom: Array

    @property
    def widths(self) -> Array:
        return self.spread

    def below(self, t: Array) -> Array:
        at, freedom = t / column(self.spread, t), column(self.freedom, t)
        return np.where(
            freedom < NORMAL_FREEDOM, special.stdtr(np.minimum(freedom, NORMAL_FREEDOM), at), special.ndtr(at)
        )


# --- by ratios -------------------------------------------------------------------------------------------------------


class ByRatio(Marginals):
    """The centre is the logarithm of the ratio of two parameters."""

    @property
    @abstractmethod
    def ratio(self) -> tuple[Array, Array]:
        """Numerator and denominator, (arms,) each."""

    @property
    def centres(self) -> Array:
        over, under = self.ratio
        return np.log(over) - np.log(under)

    def apart(self, rows: Rows, others: Rows) -> Array:
        over, under = self.ratio
        return log_quotient(over[rows], over[others]) - log_quotient(under[rows], under[others])


def log_quotient(x: Array, y: Array) -> Array:
    """Logarithm of x / y, with all digits also where they are nearly equal: their difference is then exact."""
    near = np.abs(x - y) < 0.5 * y
    return np.where(near, np.log1p(np.where(near, x - y, 0.0) / y), np.log(x) - np.log(y))


@dataclass(frozen=True, eq=False)
class GammaMeans(ByRatio):
    shape: Array
    rate: Array

    @property
    def ratio(self) -> tuple[Array, Array]:
        return self.shape, self.rate

    @property
    def means(self) -> Array:
        return self.shape / self.rate

    @property
    def widths(self) -> Array:
        return np.sqrt((1.0 + 1.0 / self.shape) / self.shape)

    def below(self, t: Array) -> Array:
        return gamma_tail(column(self.shape, t), t, upper=False)

    def above(self, t: Array) -> Array:
        return gamma_tail(column(self.shape, t), t, upper=True)

    def values(self, t: Array) -> Array:
        with np.errstate(over="ignore"):
            return self.means * np.exp(t)


@dataclass(frozen=True, eq=False)
class InverseGammaMeans(ByRatio):
    """One over a Gamma variable with this shape and rate."""

    shape: Array
    rate: Array

    @property
    def ratio(self) -> tuple[Array, Array]:
        return self.rate, self.shape

    @property
    def means(self) -> Array:
        return self.rate / (self.shape - 1.0)

    @property
    def widths(self) -> Array:
        return np.sqrt((1.0 + 1.0 / self.shape) / self.shape)

    def below(self, t: Array) -> Array:
        return gamma_tail(column(self.shape, t), -t, upper=True)

    def above(self, t: Array) -> Array:
        return gamma_tail(column(self.shape, t), -t, upper=False)

    def values(self, t: Array) -> Array:
        with np.errstate(over="ignore"):
            return self.rate / self.shape * np.exp(t)


def gamma_tail(shape: Array, t: Array, *, upper: bool) -> Array:
    """P(log(X / shape) < t), or > t, for Gamma(shape, 1) variables X."""
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        small = np.minimum(shape, LARGE_SHAPE)
        found = (special.gammaincc if upper else special.gammainc)(small, small * np.exp(np.minimum(t, 700.0)))
        log_x = np.log(shape) + t
        log_power = shape * log_x - special.gammaln(shape + 1.0)
        power = -np.expm1(log_power) if upper else np.exp(log_power)
        large = large_gamma_tails(np.maximum(shape, LARGE_SHAPE), np.expm1(np.clip(t, -1.0, 1.0)))[1 if upper else 0]
    return np.where(shape >= LARGE_SHAPE, large, np.where(log_x < -POWER, power, found))


@dataclass(frozen=True, eq=False)
class BetaMeans(ByRatio):
    alpha: Array
    beta: Array

    @property
    def ratio(self) -> tuple[Array, Array]:
        return self.alpha, self.beta

    @property
    def means(self) -> Array:
        return self.alpha / (self.alpha + self.beta)

    @property
    def widths(self) -> Array:
        return np.sqrt((1.0 + 1.0 / self.alpha) / self.alpha + (1.0 + 1.0 / self.beta) / self.beta)

    def below(self, t: Array) -> Array:
        return beta_below(column(self.alpha, t), column(self.beta, t), column(self.centres, t) + t, t)

    def above(self, t: Array) -> Array:
        return beta_below(column(self.beta, t), column(self.alpha, t), -column(self.centres, t) - t, -t)

    def values(self, t: Array) -> Array:
        return np.asarray(special.expit(self.centres + t))


def beta_below(alpha: Array, beta: Array, log_odds: Array, t: Array) -> Array:
    """P(log-odds of X < `log_odds`) for Beta variables X; `t` is their distance from log(alpha / beta)."""
    alpha, beta, log_odds, t = np.broadcast_arrays(alpha, beta, log_odds, t)
    found = np.empty(t.shape)
    is_large = np.minimum(alpha, beta) >= LARGE_COUNT
    is_low = ~is_large & (log_odds < -POWER - np.log1p(beta))
    is_high = ~is_large & (log_odds > POWER + np.log1p(alpha))
    rest = ~(is_large | is_low | is_high)
    if is_large.any():
        found[is_large] = large_beta_below(alpha[is_large], beta[is_large], t[is_large])
    found[is_low] = np.exp(_log_power(alpha[is_low], beta[is_low], log_odds[is_low]))
    found[is_high] = -np.expm1(_log_power(beta[is_high], alpha[is_high], -log_odds[is_high]))
    a, b, z = alpha[rest], beta[rest], log_odds[rest]
    few, x = z <= 0.0, special.expit(-np.abs(z))
    tail = special.betainc(np.where(few, a, b), np.where(few, b, a), x)  # SciPy's betaincc is ten times slower
    found[rest] = np.where(few, tail, 1.0 - tail)
    return found


def _log_power(alpha: Array, beta: Array, log_odds: Array) -> Array:
    """Logarithm of x^alpha / (alpha B(alpha, beta)), the distribution function for small x."""
    return np.asarray(np.minimum(0.0, alpha * log_odds - special.betaln(alpha, beta) - np.log(alpha)))


def large_beta_below(alpha: Array, beta: Array, t: Array) -> Array:
    """P(log-odds of X < log(alpha / beta) + t) for Beta variables with large parameters, by Laplace's method.

    The density of the log-odds is exp(-n D(t)) up to a factor, where n = alpha + beta, D = v t^2 / 2 + ... is given by
    its cumulants, and v = alpha beta / n^2. In u with u^2 / 2 = D it is normal up to a term of order 1 / sqrt(n v).
    """
    pulls = alpha + beta
    v, skew = (alpha / pulls) * (beta / pulls), (beta - alpha) / pulls
    deviation = np.sqrt(1.0 / alpha + 1.0 / beta)
    at = np.clip(t / deviation, -POWER, POWER)
    t = at * deviation
    bend = 1.0 + t * (skew / 3.0 + t * ((1.0 - 6.0 * v) / 12.0 + t * skew * (1.0 - 12.0 * v) / 60.0))
    w = at * np.sqrt(bend)
    return np.asarray(special.ndtr(w) + skew * deviation / 3.0 * np.exp(-0.5 * w * w) / math.sqrt(2.0 * math.pi))


# --- quantiles -------------------------------------------------------------------------------------------------------


def quantiles(marginals: Marginals, tail: float, *, upper: bool, steps: int = MOST_STEPS) -> Array:
    """(arms,): coordinate t with P(below t) = tail or, if `upper`, P(above t) = tail; by bisection."""
    distinct, place = marginals.distinct()
    beyond = distinct.above if upper else distinct.below
    far = distinct.widths * (1.0 if upper else -1.0)
    near = -far
    for end, is_far in ((far, True), (near, False)):
        for _ in range(MOST_DOUBLINGS):
            outside = beyond(end)
            missed = outside > tail if is_far else outside < tail
            if not missed.any():
                break
            end[missed] *= 2.0
    return bisected(lambda t: beyond(t) > tail, near, far, steps)[1][place]


def bisected(is_before: Any, start: Array, end: Array, steps: int = MOST_STEPS) -> tuple[Array, Array]:
    """Closest places with `is_before` true and false, which it is at `start` and at `end`; element by element."""
    for _ in range(steps):
        middle = 0.5 * (start + end)
        if ((middle == start) | (middle == end)).all():
            break
        before = is_before(middle)
        start, end = np.where(before, middle, start), np.where(before, end, middle)
    return start, end
