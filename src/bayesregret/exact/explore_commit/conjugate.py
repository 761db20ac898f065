"""The expected highest posterior mean after exploration, on Poisson, exponential and normal-gamma arms.

Before exploration, the posterior mean that an arm will have is a negative binomial variable for a Poisson arm and a
beta-prime one for an exponential arm, but for scale and shift, and Student's for a normal-gamma arm. With no end to
exploration it is the mean reward itself.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesregret.checks import Array
from bayesregret.models.bandit import Bandit
from bayesregret.models.exponential import ExponentialBandit
from bayesregret.models.normal_gamma import NormalGammaBandit
from bayesregret.models.poisson import PoissonBandit
from bayesregret.numerics.maximum_of_distributions import highest_above, highest_of_steps
from bayesregret.numerics.mean_distributions import (
    LEAST,
    beta_prime_law,
    gamma_law,
    inverse_gamma_law,
    kinds,
    large_sums_law,
    log_edges,
    quantile_edges,
    student_law,
)

# A sum of Poisson rewards is above so many deviations, or a mean reward above this quantile, with no weight in a float.
DEVIATIONS, TAIL = 12.0, 1e-18
MOST_SUMS = 2_000_000  # beyond, they are as good as continuous


# --- Student's distribution -------------------------------------------------------------------------------------------


def highest_student(bandit: NormalGammaBandit, pulls: NDArray[np.int64] | None) -> float:
    top = float(bandit.prior_mean.max())
    variances = bandit.scale / (bandit.shape * bandit.prior_pulls)
    if pulls is not None:
        variances = variances * pulls / (bandit.prior_pulls + pulls)
    means, moves = bandit.prior_mean - top, variances > 0.0
    laws = [student_law(*kind) for kind in kinds(means[moves], np.sqrt(variances[moves]), 2.0 * bandit.shape[moves])]
    edges = quantile_edges(laws) if laws else np.zeros(2)
    return top + highest_above(0.0, float(means[~moves].max(initial=-np.inf)), laws, edges, np.ones_like)


# --- positive means, over the largest prior mean, on the line of logarithms -------------------------------------------


def highest_inverse_gamma(bandit: ExponentialBandit, pulls: NDArray[np.int64] | None) -> float:
    means = bandit.rate / (bandit.shape - 1.0)
    unit, moves = float(means.max()), _moves(bandit, pulls)
    shapes, rates = bandit.shape[moves], bandit.rate[moves] / unit
    if pulls is None:
        laws = [inverse_gamma_law(*kind) for kind in kinds(shapes, rates)]
    else:
        laws = [beta_prime_law(*kind) for kind in kinds(shapes, rates, pulls[moves].astype(np.float64))]
    edges = log_edges(laws, LEAST) if laws else np.zeros(2)
    return unit + unit * highest_above(0.0, _log_sure(means[~moves] / unit), laws, edges, np.exp)


def highest_gamma(bandit: PoissonBandit, pulls: NDArray[np.int64] | None) -> float:
    if pulls is not None and largest_sum(bandit, pulls) <= MOST_SUMS:
        return highest_of_steps(negative_binomial_means, bandit.shape, bandit.rate, pulls)
    means = bandit.shape / bandit.rate
    unit, moves = float(means.max()), _moves(bandit, pulls)
    shapes, rates = bandit.shape[moves], bandit.rate[moves] * unit
    if pulls is None:
        laws = [gamma_law(*kind) for kind in kinds(shapes, rates)]
    else:
        laws = [large_sums_law(*kind) for kind in kinds(shapes, rates, pulls[moves].astype(np.float64) * unit)]
    edges = log_edges(laws, math.log(float(np.max(special.gammainccinv(shapes, TAIL) / rates))))
    return unit + unit * highest_above(0.0, _log_sure(means[~moves] / unit), laws, edges, np.exp)


def _moves(bandit: Bandit, pulls: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Whether an arm's posterior mean will be another one than its prior mean; None are pulls without end."""
    return np.full(bandit.arms, True) if pulls is None else pulls > 0


def _log_sure(means: Array) -> float:
    return math.log(means.max()) if len(means) > 0 else -math.inf


def largest_sum(bandit: PoissonBandit, pulls: NDArray[np.int64]) -> float:
    """Of the rewards of an arm, but for those of no weight in a float."""
    reach = pulls * special.gammainccinv(bandit.shape, TAIL) / bandit.rate
    return float(np.max(reach + DEVIATIONS * np.sqrt(reach) + DEVIATIONS**2))


def negative_binomial_means(shape: float, rate: float, pulls: int) -> tuple[Array, Array]:
    """The values that a posterior mean can have, but for the very largest, and the chances that it is at most each."""
    if pulls == 0:
        return np.array([shape / rate]), np.ones(1)
    one_arm = PoissonBandit([shape], [rate])
    sums = np.arange(math.ceil(largest_sum(one_arm, np.array([pulls]))) + 1.0)
    ratios = (shape + sums[:-1]) / sums[1:] * (pulls / (rate + pulls))
    log_mass = np.append(0.0, np.cumsum(np.log(ratios)))
    below = np.cumsum(np.exp(log_mass - log_mass.max()))
    return (shape + sums) / (rate + pulls), below / below[-1]
