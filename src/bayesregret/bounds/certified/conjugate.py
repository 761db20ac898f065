"""The trivial certified form for Poisson, exponential and normal-gamma arms. Proof: docs/theory.

E[best arm - worst arm] is the integral of P(some arm is below x) - P(all arms are). What lies beyond the last panels is
not left out, but replaced by more: the sum over arms of what each is expected to be beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_trivial
from bayesregret.checks import Array
from bayesregret.models import ExponentialBandit, NormalGammaBandit, PoissonBandit
from bayesregret.numerics.mean_distributions import (
    LEAST,
    MeanLaw,
    gamma_law,
    inverse_gamma_law,
    kinds,
    log_chance,
    log_edges,
    quantile_edges,
    student_law,
)
from bayesregret.numerics.quadrature import gauss_rule

GAMMA_REACH = 45.0  # over the rate: where a Gamma prior of very small shape has nothing left of its mean


def max_gap(laws: list[MeanLaw], edges: Array, slope: Callable[[Array], Array], order: int) -> float:
    """E[best arm - worst arm]; `slope` is that of mean rewards on the line of places."""
    if sum(law.copies for law in laws) == 1.0:
        return 0.0
    places, weights = gauss_rule(edges, order)
    log_all, log_none = np.zeros_like(places), np.zeros_like(places)
    for law in laws:
        below, above = law.tails(places)
        log_all += law.copies * log_chance(below, above)
        log_none += law.copies * log_chance(above, below)
    more, less = np.maximum(log_all, log_none), np.minimum(log_all, log_none)
    between = float(np.sum(weights * slope(places) * (-np.expm1(more) - np.exp(less))))
    beyond = (law.copies * law.rests(float(edges[end]))[end] for law in laws for end in (0, -1))
    return between + math.fsum(beyond)


def _trivial(setting: Setting, gap: float, unseen: float = 0.0) -> Parts:
    return Parts({"leading": setting.horizon * gap}, unseen_error=setting.horizon * unseen)


@certified_trivial.of(PoissonBandit, "trivial form")
def trivial_poisson(bandit: PoissonBandit, setting: Setting, order: int) -> Parts:
    unit = float(np.max(bandit.shape / bandit.rate))
    laws = [gamma_law(*kind) for kind in kinds(bandit.shape, bandit.rate * unit)]
    edges = log_edges(laws, math.log(GAMMA_REACH / (unit * float(bandit.rate.min()))))
    return _trivial(setting, unit * max_gap(laws, edges, np.exp, order), ROUNDING * unit)


@certified_trivial.of(ExponentialBandit, "trivial form")
def trivial_exponential(bandit: ExponentialBandit, setting: Setting, order: int) -> Parts:
    unit = float(np.max(bandit.rate / (bandit.shape - 1.0)))
    laws = [inverse_gamma_law(*kind) for kind in kinds(bandit.shape, bandit.rate / unit)]
    return _trivial(setting, unit * max_gap(laws, log_edges(laws, LEAST), np.exp, order), ROUNDING * unit)


@certified_trivial.of(NormalGammaBandit, "trivial form")
def trivial_normal_gamma(bandit: NormalGammaBandit, setting: Setting, order: int) -> Parts:
    means = bandit.prior_mean - bandit.prior_mean.max()  # far from 0 digits of a place are lost
    spreads = np.sqrt(bandit.scale / (bandit.shape * bandit.prior_pulls))
    laws = [student_law(*kind) for kind in kinds(means, spreads, 2.0 * bandit.shape)]
    return _trivial(setting, max_gap(laws, quantile_edges(laws), np.ones_like, order))
