"""The trivial certified form for Poisson, exponential and normal-gamma arms. Proof: docs/theory.

E[best arm - worst arm] is the integral of P(some arm is below x) - P(all arms are). Panels end at quantiles of the
priors, so that no chance changes much on one. Means that are positive stand on the line of their logarithms. What lies
beyond the last panels is not left out, but replaced by more: the sum over arms of what each is expected to be beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.formulas import certified_trivial
from bayesregret.checks import Array
from bayesregret.models import ExponentialBandit, NormalGammaBandit, PoissonBandit
from bayesregret.quadrature import even_edges, gauss_rule, merge_edges

# Chances at whose quantiles panels end: halves at first, later quarters.
TAILS = 0.5 ** np.append(np.arange(1.0, 8.0), np.arange(9.0, 58.0, 2.0))
LOG_PANEL = 0.5  # the longest, of logarithms
# Of the largest prior mean: below it, priors are spread over so much more that nothing there counts.
LEAST = math.log(1e-18)
GAMMA_REACH = 45.0  # over the rate: where a Gamma prior of very small shape has nothing left of its mean
# SciPy's lower tails of a Gamma variable lose their digits soon after this shape, from 4.5 deviations on.
LARGE_SHAPE = 1e5
FARTHEST = 40.0  # deviations, where nothing is left of a tail


class Prior(NamedTuple):
    """Of one kind of arm, on the line of places."""

    copies: float
    quantiles: Array
    tails: Callable[[Array], tuple[Array, Array]]  # the chances that the mean reward is below a place, and above
    rests: Callable[[float], tuple[float, float]]  # E(x - mean reward)^+ for x at a place, and E(mean reward - x)^+


def kinds(*fields: Array) -> list[list[float]]:
    """The different rows of the arms' fields, each with the number of its arms in front."""
    rows, counts = np.unique(np.stack(fields, axis=1), axis=0, return_counts=True)
    return [[float(many), *row] for many, row in zip(counts.tolist(), rows.tolist(), strict=True)]


def max_gap(priors: list[Prior], edges: Array, slope: Callable[[Array], Array], order: int) -> float:
    """E[best arm - worst arm]; `slope` is that of mean rewards on the line of places."""
    if sum(prior.copies for prior in priors) == 1.0:
        return 0.0
    places, weights = gauss_rule(edges, order)
    log_all, log_none = np.zeros_like(places), np.zeros_like(places)
    for prior in priors:
        below, above = prior.tails(places)
        log_all += prior.copies * _log_chance(below, above)
        log_none += prior.copies * _log_chance(above, below)
    more, less = np.maximum(log_all, log_none), np.minimum(log_all, log_none)
    between = float(np.sum(weights * slope(places) * (-np.expm1(more) - np.exp(less))))
    beyond = (prior.copies * prior.rests(float(edges[end]))[end] for prior in priors for end in (0, -1))
    return between + math.fsum(beyond)


def quantile_edges(priors: list[Prior]) -> Array:
    """Quantiles so chosen that between two of them there is at most one of each prior: many alike share panels."""
    owners = np.repeat(np.arange(len(priors)), [len(prior.quantiles) for prior in priors])
    every = np.concatenate([prior.quantiles for prior in priors])
    in_order = np.argsort(every, kind="stable")
    chosen, passed = [every.min(), every.max()], set[int]()
    for place, owner in zip(every[in_order].tolist(), owners[in_order].tolist(), strict=True):
        if owner in passed:
            chosen.append(place)
            passed.clear()
        passed.add(owner)
    return np.unique(chosen)


def _log_chance(chance: Array, other: Array) -> Array:
    """The logarithm of a chance, from the other one where that is small."""
    with np.errstate(divide="ignore"):
        return np.where(other < 0.5, np.log1p(-np.minimum(other, 0.5)), np.log(chance))


def _trivial(setting: Setting, gap: float, unseen: float = 0.0) -> Parts:
    return Parts({"leading": setting.horizon * gap}, unseen_error=setting.horizon * unseen)


# --- positive means, over the largest prior mean ----------------------------------------------------------------------


def _log_edges(priors: list[Prior], least_high: float) -> Array:
    edges = quantile_edges(priors)
    low = max(LEAST, float(edges[0]))
    high = max(low, least_high, float(edges[-1]))
    return merge_edges(even_edges(low, high, LOG_PANEL), edges, low=low, high=high)


def gamma_tails(shape: float, x: Any) -> tuple[Any, Any]:
    """The chances that a Gamma(shape, 1) variable is below x, and above.

    For large shapes by the uniform expansion of Temme (1979), its coefficients around the mean.
    """
    if shape < LARGE_SHAPE:
        return special.gammainc(shape, x), special.gammaincc(shape, x)
    farthest = FARTHEST / math.sqrt(shape)
    off = np.clip((x - shape) / shape, -farthest, farthest)
    fall = off * off * np.polyval([1 / 8, -1 / 7, 1 / 6, -1 / 5, 1 / 4, -1 / 3, 1 / 2], off)  # off - log(1 + off)
    eta = np.sign(off) * np.sqrt(2.0 * fall)
    series = np.polyval([1 / 864, -2 / 135, 1 / 12, -1 / 3], eta) - 1.0 / (540.0 * shape)
    rest = np.exp(-shape * fall) / math.sqrt(2.0 * math.pi * shape) * series
    root = math.sqrt(0.5 * shape)
    return 0.5 * special.erfc(-root * eta) - rest, 0.5 * special.erfc(root * eta) + rest


def _gamma_quantiles(shape: float) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(np.append(special.gammaincinv(shape, TAILS), special.gammainccinv(shape, TAILS)))


@certified_trivial.of(PoissonBandit, "trivial form")
def trivial_poisson(bandit: PoissonBandit, setting: Setting, order: int) -> Parts:
    unit = float(np.max(bandit.shape / bandit.rate))
    priors = [_gamma_prior(*kind) for kind in kinds(bandit.shape, bandit.rate * unit)]
    edges = _log_edges(priors, math.log(GAMMA_REACH / (unit * float(bandit.rate.min()))))
    return _trivial(setting, unit * max_gap(priors, edges, np.exp, order), ROUNDING * unit)


def _gamma_prior(copies: float, shape: float, rate: float) -> Prior:
    def tails(y: Array) -> tuple[Array, Array]:
        return gamma_tails(shape, rate * np.exp(y))

    def rests(y: float) -> tuple[float, float]:
        x = math.exp(y)
        (below, above), parts = gamma_tails(shape, rate * x), gamma_tails(shape + 1.0, rate * x)
        return max(0.0, x * below - shape / rate * parts[0]), max(0.0, shape / rate * parts[1] - x * above)

    return Prior(copies, _gamma_quantiles(shape) - math.log(rate), tails, rests)


@certified_trivial.of(ExponentialBandit, "trivial form")
def trivial_exponential(bandit: ExponentialBandit, setting: Setting, order: int) -> Parts:
    unit = float(np.max(bandit.rate / (bandit.shape - 1.0)))
    priors = [_inverse_gamma_prior(*kind) for kind in kinds(bandit.shape, bandit.rate / unit)]
    return _trivial(setting, unit * max_gap(priors, _log_edges(priors, LEAST), np.exp, order), ROUNDING * unit)


def _inverse_gamma_prior(copies: float, shape: float, rate: float) -> Prior:
    def tails(y: Array) -> tuple[Array, Array]:
        above, below = gamma_tails(shape, rate * np.exp(-y))
        return below, above

    def rests(y: float) -> tuple[float, float]:
        x, mean = math.exp(y), rate / (shape - 1.0)
        (above, below), parts = gamma_tails(shape, rate / x), gamma_tails(shape - 1.0, rate / x)
        return max(0.0, x * below - mean * parts[1]), max(0.0, mean * parts[0] - x * above)

    return Prior(copies, math.log(rate) - _gamma_quantiles(shape), tails, rests)


# --- Student's distribution -------------------------------------------------------------------------------------------


@certified_trivial.of(NormalGammaBandit, "trivial form")
def trivial_normal_gamma(bandit: NormalGammaBandit, setting: Setting, order: int) -> Parts:
    means = bandit.prior_mean - bandit.prior_mean.max()  # far from 0 digits of a place are lost
    spreads = np.sqrt(bandit.scale / (bandit.shape * bandit.prior_pulls))
    priors = [_student_prior(*kind) for kind in kinds(means, spreads, 2.0 * bandit.shape)]
    return _trivial(setting, max_gap(priors, quantile_edges(priors), np.ones_like, order))


def _student_prior(copies: float, mean: float, spread: float, freedom: float) -> Prior:
    def tails(x: Array) -> tuple[Array, Array]:
        at = (x - mean) / spread
        return special.stdtr(freedom, at), special.stdtr(freedom, -at)

    def rest(t: float) -> float:
        """E(T - t)^+, which is (freedom + t^2) / (freedom - 1) times the density at t, less t P(T > t)."""
        log_density = -special.betaln(0.5, 0.5 * freedom) - 0.5 * math.log(freedom)
        log_density -= 0.5 * (freedom + 1.0) * math.log1p(t * t / freedom)
        partial_mean = (freedom + t * t) / (freedom - 1.0) * math.exp(log_density)
        return spread * max(0.0, float(partial_mean - t * special.stdtr(freedom, -t)))

    def rests(x: float) -> tuple[float, float]:
        return rest((mean - x) / spread), rest((x - mean) / spread)

    quantiles: Any = special.stdtrit(freedom, TAILS)
    return Prior(copies, mean + spread * np.append(quantiles, -quantiles), tails, rests)
