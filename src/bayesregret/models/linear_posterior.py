"""Posterior of a linear bandit, stored per arm.

Each arm has the mean and variance of its mean reward, and a column of `roots`, whose products with other columns are
the posterior covariances of their mean rewards; at first it holds the arm's whitened features. So the covariance is a
matrix times its transpose, symmetric and positive semi-definite despite rounding, and a prior a hundred million times
wider than the noise loses half the digits, not all of them. Any number of pulls of one arm in a row is one rank-one
update.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.models.linear import LinearModel, aligned

# Rank-one updates gather rounding errors; after this many the posterior is recomputed from counts and surplus.
UPDATES_UNTIL_REFRESH = 512
# An update that leaves less than this fraction of a variance loses too many digits: roots then give the variances.
COLLAPSE = 1e-6


class LinearPosterior(NamedTuple):
    """Columns are arms, padded as in LinearModel."""

    counts: NDArray[np.int64]
    surplus: Array  # sum of rewards minus those expected at the prior mean
    mean: Array
    variance: Array
    roots: Array  # (r, arms)
    covariance: Array  # (arms,): with the target arm
    updates: NDArray[np.int64]  # (1,): since the last refresh


def make_posterior(model: LinearModel) -> LinearPosterior:
    rank, columns = model.whitened.shape
    return LinearPosterior(
        counts=np.zeros(columns, np.int64),
        surplus=aligned(columns),
        mean=aligned(columns),
        variance=aligned(columns),
        roots=aligned(rank, columns),
        covariance=aligned(columns),
        updates=np.zeros(1, np.int64),
    )


@jitable
def reset_posterior(posterior, model):
    """Return to the prior."""
    for arm in range(posterior.counts.shape[0]):
        posterior.counts[arm] = 0
        posterior.surplus[arm] = 0.0
    set_to_prior(posterior, model)


@jitable
def set_to_prior(posterior, model):
    rank, columns = model.whitened.shape
    for arm in range(columns):
        posterior.mean[arm] = model.offset[arm]
        posterior.variance[arm] = 0.0
        posterior.covariance[arm] = 0.0
    for i in range(rank):
        for arm in range(columns):
            posterior.roots[i, arm] = model.whitened[i, arm]
            posterior.variance[arm] += model.whitened[i, arm] * model.whitened[i, arm]
    posterior.updates[0] = 0


@jitable
def copy_posterior(posterior, source):
    """Copy another posterior of the same model. One by one: compiled kernels cannot assign slices."""
    for arm in range(posterior.counts.shape[0]):
        posterior.counts[arm] = source.counts[arm]
        posterior.surplus[arm] = source.surplus[arm]
        posterior.mean[arm] = source.mean[arm]
        posterior.variance[arm] = source.variance[arm]
        posterior.covariance[arm] = source.covariance[arm]
        for i in range(posterior.roots.shape[0]):
            posterior.roots[i, arm] = source.roots[i, arm]
    posterior.updates[0] = source.updates[0]


@jitable
def count_missing_pulls(posterior, model, received, pending):
    """Count the pulls, received and pending, that this posterior lacks.

    A covariance depends on the features of pulled arms alone, so variances need no rewards; means are not to be used.
    """
    for arm in range(pending.shape[0]):
        missing = received.counts[arm] + pending[arm] - posterior.counts[arm]
        if missing > 0:
            set_target(posterior, arm)
            add_rewards(posterior, model, arm, missing, 0.0)


@jitable
def set_target(posterior, target):
    """Compute every arm's posterior covariance with arm `target`."""
    for arm in range(posterior.covariance.shape[0]):
        posterior.covariance[arm] = 0.0
    add_rows(posterior.covariance, posterior.roots, posterior.roots[:, target])


@jitable
def add_rows(total, rows, weights):
    """Add all rows, each times its weight, in order.

    Two at a time: sums are then stored and loaded half as often. Weights of 0 are skipped, because sparse features,
    such as unit vectors, are common.
    """
    for i in range(0, rows.shape[0] - 1, 2):
        one, two = weights[i], weights[i + 1]
        if one != 0.0 or two != 0.0:
            for column in range(total.shape[0]):
                total[column] = total[column] + one * rows[i, column] + two * rows[i + 1, column]
    if rows.shape[0] % 2 == 1:
        last = rows.shape[0] - 1
        for column in range(total.shape[0]):
            total[column] += weights[last] * rows[last, column]


@jitable
def add_rewards(posterior, model, target, pulls, excess):
    """Add `pulls` rewards of the target arm, which in total exceed their expectation by `excess`."""
    posterior.counts[target] += pulls
    posterior.surplus[target] += excess + pulls * (posterior.mean[target] - model.offset[target])
    update(posterior, model, target, pulls, excess)
    posterior.updates[0] += 1
    if posterior.updates[0] >= UPDATES_UNTIL_REFRESH:
        refresh(posterior, model)


@jitable
def update(posterior, model, target, pulls, excess):
    """Rank-one update.

    With w the target's variance, w_a its covariance with arm a, s^2 the noise variance, c the pulls and D = s^2 + c w:
    the mean of arm a moves by w_a excess / D, its variance falls by w_a^2 c / D, and its column of roots loses the
    target's times w_a c / (D + s sqrt(D)).
    """
    noise = model.reward_noise * model.reward_noise
    own = posterior.covariance[target]
    whole = noise + pulls * own
    bend = pulls / (whole + math.sqrt(noise * whole))
    rank, columns = posterior.roots.shape
    for i in range(rank):
        scale = posterior.roots[i, target] * bend
        if scale != 0.0:
            for arm in range(columns):
                posterior.roots[i, arm] -= posterior.covariance[arm] * scale
    shrink = 1.0 / whole
    precision = inverse_or_zero(own)
    move = excess * shrink
    kept = noise * shrink
    for arm in range(columns):
        posterior.mean[arm] += posterior.covariance[arm] * move
        posterior.variance[arm] = variance_after(posterior.variance[arm], posterior.covariance[arm], precision, kept)
    if kept < COLLAPSE:
        compute_variances_from_roots(posterior)


@rarely_called
def compute_variances_from_roots(posterior):
    rank, columns = posterior.roots.shape
    for arm in range(columns):
        posterior.variance[arm] = 0.0
        for i in range(rank):
            posterior.variance[arm] += posterior.roots[i, arm] * posterior.roots[i, arm]


@jitable
def inverse_or_zero(value):
    return 1.0 / value if value > 0.0 else 0.0


@jitable
def variance_after(variance, covariance, precision, kept):
    """Variance of an arm after the part that it has in common with the target has shrunk to the fraction `kept`.

    `precision` is one over the target's variance. Subtracting the whole common part, and not only its loss, keeps the
    digits when a single reward removes nearly all of a wide prior.
    """
    common = covariance * precision * covariance  # in this order it cannot overflow
    return max(0.0, variance - common) + common * kept


@rarely_called
def refresh(posterior, model):
    """Recompute the posterior from counts and surplus, with one update for each pulled arm."""
    set_to_prior(posterior, model)
    for arm in range(model.arms):
        pulls = posterior.counts[arm]
        if pulls > 0:
            set_target(posterior, arm)
            excess = posterior.surplus[arm] - pulls * (posterior.mean[arm] - model.offset[arm])
            update(posterior, model, arm, pulls, excess)
