"""The posterior of a linear bandit, kept per arm.

In whitened coordinates the posterior covariance S starts as the identity. What policies need of it is, for every arm a
with features x_a: its mean reward's posterior mean and variance, and S x_a (`gain`), of which the row of the arm being
pulled gives all covariances with it. Pulls of one arm in a row are one rank-one update, however many they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.models.linear import LinearModel, aligned

# Rank-one updates gather rounding errors; after this many the posterior is computed afresh from counts and totals.
UPDATES_UNTIL_REFRESH = 512


class LinearPosterior(NamedTuple):
    """Columns are arms, padded as in LinearModel."""

    counts: NDArray[np.int64]
    surplus: Array  # sum of rewards over what the prior mean expects of them
    mean: Array
    variance: Array
    gain: Array  # (r, arms): S x_a
    covariance: Array  # (arms,): with the arm aimed at
    triangle: Array  # (r, r): scratch of `refresh`
    updates: NDArray[np.int64]  # (1,): since the last refresh


def make_posterior(model: LinearModel) -> LinearPosterior:
    rank, columns = model.whitened.shape
    return LinearPosterior(
        counts=np.zeros(columns, np.int64),
        surplus=aligned(columns),
        mean=aligned(columns),
        variance=aligned(columns),
        gain=aligned(rank, columns),
        covariance=aligned(columns),
        triangle=aligned(rank, rank),
        updates=np.zeros(1, np.int64),
    )


@jitable
def forget(posterior, model):
    """Back to the prior."""
    rank, columns = model.whitened.shape
    for arm in range(columns):
        posterior.counts[arm] = 0
        posterior.surplus[arm] = 0.0
        posterior.mean[arm] = model.offset[arm]
        posterior.variance[arm] = 0.0
        posterior.covariance[arm] = 0.0
    for i in range(rank):
        for arm in range(columns):
            posterior.gain[i, arm] = model.whitened[i, arm]
            posterior.variance[arm] += model.whitened[i, arm] * model.whitened[i, arm]
    posterior.updates[0] = 0


@jitable
def aim(posterior, model, target):
    """Compute every arm's posterior covariance with arm `target`."""
    rank, columns = model.whitened.shape
    for arm in range(columns):
        posterior.covariance[arm] = 0.0
    for i in range(rank):
        scale = model.whitened[i, target]
        if scale != 0.0:  # canonical and other sparse features are common
            for arm in range(columns):
                posterior.covariance[arm] += posterior.gain[i, arm] * scale


@jitable
def learn(posterior, model, target, pulls, excess):
    """Take in `pulls` rewards of the arm aimed at, which exceed what was expected of them by `excess` in sum.

    With v the arm's variance and s^2 the noise: S loses S x x' S pulls / (s^2 + pulls v), and every arm's mean moves by
    its covariance with the arm times excess / (s^2 + pulls v).
    """
    shrink = 1.0 / (model.reward_noise * model.reward_noise + pulls * posterior.covariance[target])
    move = excess * shrink
    fall = pulls * shrink
    posterior.counts[target] += pulls
    posterior.surplus[target] += excess + pulls * (posterior.mean[target] - model.offset[target])
    rank, columns = model.whitened.shape
    for i in range(rank):
        scale = posterior.gain[i, target] * fall
        if scale != 0.0:
            for arm in range(columns):
                posterior.gain[i, arm] -= posterior.covariance[arm] * scale
    for arm in range(columns):
        covariance = posterior.covariance[arm]
        posterior.mean[arm] += covariance * move
        posterior.variance[arm] = max(0.0, posterior.variance[arm] - covariance * covariance * fall)
    posterior.updates[0] += 1
    if posterior.updates[0] >= UPDATES_UNTIL_REFRESH:
        refresh(posterior, model)


@rarely_called
def refresh(posterior, model):
    """Compute the posterior afresh: solve (I + X' N X / s^2) S = I by Cholesky's method.

    The matrix is the identity plus a sum of squares, so its triangle exists whatever the features are.
    """
    rank, columns = model.whitened.shape
    triangle, half = posterior.triangle, posterior.gain
    noise = model.reward_noise * model.reward_noise
    for i in range(rank):
        for j in range(i + 1):
            entry = 1.0 if i == j else 0.0
            for arm in range(columns):
                entry += posterior.counts[arm] / noise * model.whitened[i, arm] * model.whitened[j, arm]
            for k in range(j):
                entry -= triangle[i, k] * triangle[j, k]
            triangle[i, j] = math.sqrt(entry) if i == j else entry / triangle[j, j]
    # half = triangle^-1 X', so that an arm's variance is the squared length of its column.
    for arm in range(columns):
        posterior.variance[arm] = 0.0
        posterior.mean[arm] = model.offset[arm]
    for i in range(rank):
        for arm in range(columns):
            half[i, arm] = model.whitened[i, arm]
        for k in range(i):
            for arm in range(columns):
                half[i, arm] -= triangle[i, k] * half[k, arm]
        for arm in range(columns):
            half[i, arm] /= triangle[i, i]
            posterior.variance[arm] += half[i, arm] * half[i, arm]
    # The posterior mean of each arm, coordinate by coordinate of triangle^-1 X' surplus.
    for i in range(rank):
        pull = 0.0
        for arm in range(model.arms):
            pull += half[i, arm] * posterior.surplus[arm]
        for arm in range(columns):
            posterior.mean[arm] += half[i, arm] * (pull / noise)
    # gain = triangle'^-1 half, in place.
    for i in range(rank - 1, -1, -1):
        for k in range(i + 1, rank):
            for arm in range(columns):
                half[i, arm] -= triangle[k, i] * half[k, arm]
        for arm in range(columns):
            half[i, arm] /= triangle[i, i]
    posterior.updates[0] = 0
