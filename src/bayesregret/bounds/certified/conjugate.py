"""The trivial form for Poisson, exponential and normal-gamma arms. Proof: docs/theory/certified-small-width.md.

E[best arm - worst arm] is the integral of P(some arm is below x) - P(all arms are). The part beyond the last panels is
replaced by an upper bound, the sum over arms of each one's expected excess.
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
    MeanDistribution,
    gamma_distribution,
    group_arms,
    inverse_gamma_distribution,
    log_edges,
    log_probability,
    quantile_edges,
    student_distribution,
)
from bayesregret.numerics.quadrature import gauss_rule

GAMMA_REACH = 45.0  # divided by the rate: beyond it a Gamma prior of very small shape has nothing left of its mean


def max_gap(distributions: list[MeanDistribution], edges: Array, slope: Callable[[Array], Array], order: int) -> float:
    """E[best arm - worst arm]; `slope` is the derivative of the mean reward in the coordinate of the panels."""
    if sum(distribution.copies for distribution in distributions) == 1.0:
        return 0.0
    points, weights = gauss_rule(edges, order)
    log_all, log_none = np.zeros_like(points), np.zeros_like(points)
    for distribution in distributions:
        below, above = distribution.tails(points)
        log_all += distribution.copies * log_probability(below, above)
        log_none += distribution.copies * log_probability(above, below)
    more, less = np.maximum(log_all, log_none), np.minimum(log_all, log_none)
    between = float(np.sum(weights * slope(points) * (-np.expm1(more) - np.exp(less))))
    beyond = (
        distribution.copies * distribution.expected_excess(float(edges[end]))[end]
        for distribution in distributions
        for end in (0, -1)
    )
    return between + math.fsum(beyond)


def _trivial(setting: Setting, gap: float, unseen: float = 0.0) -> Parts:
    unseen = unseen if gap > 0.0 else 0.0  # a single arm has no gap, exactly
    return Parts({"leading": setting.horizon * gap}, unseen_error=setting.horizon * unseen)


@certified_trivial.of(PoissonBandit, "trivial form")
def trivial_poisson(bandit: PoissonBandit, setting: Setting, order: int) -> Parts:
    unit = float(np.max(bandit.shape / bandit.rate))
    distributions = [gamma_distribution(*kind) for kind in group_arms(bandit.shape, bandit.rate * unit)]
    edges = log_edges(distributions, math.log(GAMMA_REACH / (unit * float(bandit.rate.min()))))
    return _trivial(setting, unit * max_gap(distributions, edges, np.exp, order), ROUNDING * unit)


@certified_trivial.of(ExponentialBandit, "trivial form")
def trivial_exponential(bandit: ExponentialBandit, setting: Setting, order: int) -> Parts:
    unit = float(np.max(bandit.rate / (bandit.shape - 1.0)))
    distributions = [inverse_gamma_distribution(*kind) for kind in group_arms(bandit.shape, bandit.rate / unit)]
    return _trivial(
        setting, unit * max_gap(distributions, log_edges(distributions, LEAST), np.exp, order), ROUNDING * unit
    )


@certified_trivial.of(NormalGammaBandit, "trivial form")
def trivial_normal_gamma(bandit: NormalGammaBandit, setting: Setting, order: int) -> Parts:
    means = bandit.prior_mean - bandit.prior_mean.max()  # far from 0 coordinates lose digits
    spreads = np.sqrt(bandit.scale / (bandit.shape * bandit.prior_pulls))
    distributions = [student_distribution(*kind) for kind in group_arms(means, spreads, 2.0 * bandit.shape)]
    return _trivial(setting, max_gap(distributions, quantile_edges(distributions), np.ones_like, order))
