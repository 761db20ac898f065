"""Expected highest posterior mean after exploration, for Poisson, exponential and normal-gamma arms.

Before exploration, an arm's future posterior mean is, up to scale and shift, a negative binomial variable for a Poisson
arm, a beta-prime variable for an exponential arm and a Student variable for a normal-gamma arm. With infinite
exploration it is the mean reward itself.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesregret.checks import Array
from bayesregret.models.bandit import Bandit
from bayesregret.models.exponential import ExponentialBandit
from bayesregret.models.normal_gamma import NormalGammaBandit
from bayesregret.models.poisson import PoissonBandit
from bayesregret.numerics.expected_maximum import best_above, best_of_discrete
from bayesregret.numerics.mean_distributions import (
    LEAST,
    beta_prime_distribution,
    gamma_distribution,
    group_arms,
    inverse_gamma_distribution,
    large_sums_distribution,
    log_edges,
    quantile_edges,
    student_distribution,
)

# Negligible: sums of Poisson rewards beyond DEVIATIONS standard deviations, mean rewards above the TAIL quantile.
DEVIATIONS, TAIL = 12.0, 1e-18
MOST_SUMS = 2_000_000  # larger sums of Poisson rewards are treated as continuous


# --- Student's distribution -------------------------------------------------------------------------------------------


def highest_student(bandit: NormalGammaBandit, pulls: NDArray[np.int64] | None) -> float:
    top = float(bandit.prior_mean.max())
    variances = bandit.scale / (bandit.shape * bandit.prior_pulls)
    if pulls is not None:
        variances = variances * pulls / (bandit.prior_pulls + pulls)
    means, varies = bandit.prior_mean - top, variances > 0.0
    distributions = [
        student_distribution(*kind)
        for kind in group_arms(means[varies], np.sqrt(variances[varies]), 2.0 * bandit.shape[varies])
    ]
    edges = quantile_edges(distributions) if distributions else np.zeros(2)
    return top + best_above(0.0, float(means[~varies].max(initial=-np.inf)), distributions, edges, np.ones_like)


# --- positive means, relative to the largest prior mean, in logarithms ------------------------------------------------


def highest_inverse_gamma(bandit: ExponentialBandit, pulls: NDArray[np.int64] | None) -> float:
    means = bandit.rate / (bandit.shape - 1.0)
    unit, varies = float(means.max()), _varies(bandit, pulls)
    shapes, rates = bandit.shape[varies], bandit.rate[varies] / unit
    if pulls is None:
        distributions = [inverse_gamma_distribution(*kind) for kind in group_arms(shapes, rates)]
    else:
        distributions = [
            beta_prime_distribution(*kind) for kind in group_arms(shapes, rates, pulls[varies].astype(np.float64))
        ]
    edges = log_edges(distributions, LEAST) if distributions else np.zeros(2)
    return unit + unit * best_above(0.0, _log_certain(means[~varies] / unit), distributions, edges, np.exp)


def highest_gamma(bandit: PoissonBandit, pulls: NDArray[np.int64] | None) -> float:
    if pulls is not None and largest_sum(bandit, pulls) <= MOST_SUMS:
        return best_of_discrete(negative_binomial_means, bandit.shape, bandit.rate, pulls)
    means = bandit.shape / bandit.rate
    unit, varies = float(means.max()), _varies(bandit, pulls)
    shapes, rates = bandit.shape[varies], bandit.rate[varies] * unit
    if pulls is None:
        distributions = [gamma_distribution(*kind) for kind in group_arms(shapes, rates)]
    else:
        distributions = [
            large_sums_distribution(*kind)
            for kind in group_arms(shapes, rates, pulls[varies].astype(np.float64) * unit)
        ]
    highest = max(float(np.max(special.gammainccinv(shapes, TAIL) / rates)), sys.float_info.min)
    edges = log_edges(distributions, math.log(highest))
    return unit + unit * best_above(0.0, _log_certain(means[~varies] / unit), distributions, edges, np.exp)


def _varies(bandit: Bandit, pulls: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Whether each arm's posterior mean can differ from its prior mean; None means infinitely many pulls."""
    return np.full(bandit.arms, True) if pulls is None else pulls > 0


def _log_certain(means: Array) -> float:
    return math.log(means.max()) if len(means) > 0 else -math.inf


def largest_sum(bandit: PoissonBandit, pulls: NDArray[np.int64]) -> float:
    """Largest sum of one arm's rewards with a probability that is not negligible."""
    reach = pulls * special.gammainccinv(bandit.shape, TAIL) / bandit.rate
    return float(np.max(reach + DEVIATIONS * np.sqrt(reach) + DEVIATIONS**2))


def negative_binomial_means(shape: float, rate: float, pulls: int) -> tuple[Array, Array]:
    """Possible values of a posterior mean, without the negligible largest, and their cumulative probabilities."""
    if pulls == 0:
        return np.array([shape / rate]), np.ones(1)
    one_arm = PoissonBandit([shape], [rate])
    sums = np.arange(math.ceil(largest_sum(one_arm, np.array([pulls]))) + 1.0)
    ratios = (shape + sums[:-1]) / sums[1:] * (pulls / (rate + pulls))
    log_mass = np.append(0.0, np.cumsum(np.log(ratios)))
    below = np.cumsum(np.exp(log_mass - log_mass.max()))
    return (shape + sums) / (rate + pulls), below / below[-1]
