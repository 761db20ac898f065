"""Check a saved linear posterior: it must be the one that its counts and rewards give, up to rounding.

Covariances depend on counts alone. With B the matrix of pulled arms' whitened features, each times the root of its
count over the noise, the parameter has the posterior precision I + B'B. The singular values of B give it without
squaring what is small, so that even priors a million times wider than the noise leave digits to compare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_posterior import LinearPosterior

# Rank-one updates, hundreds of them in a row, gather errors of about this size relative to the prior.
ROUNDING = 1e-6
# Beyond this ratio of prior width to noise neither the agent's digits nor those computed here mean anything.
COMPARABLE = 1e8
SLACK = 1.0 + ROUNDING
# Of one pull, in nats: the logarithm of the largest variance over that of the smallest noise.
MOST_INFORMATION = 500.0


class Precision(NamedTuple):
    """Posterior precision of the whitened parameter: I + V diag(gains) V'."""

    directions: Array  # V
    gains: Array


def check_posterior(posterior: LinearPosterior, model: LinearModel) -> None:
    """Raise ValueError if no rewards of as many pulls can have led to this posterior."""
    arms = model.arms
    counts, prior = posterior.counts[:arms], model.whitened[:, :arms]
    roots, variance = posterior.roots[:, :arms], posterior.variance[:arms]
    widths = np.sqrt((prior * prior).sum(axis=0))
    if (variance > SLACK * widths**2).any() or ((roots * roots).sum(axis=0) > SLACK * widths**2).any():
        raise ValueError("variance and roots must not exceed those of the prior")
    _check_rewards(posterior, model, counts, widths)
    precision = posterior_precision(model, counts)
    if precision.gains.max(initial=0.0) <= COMPARABLE**2:
        _check_covariances(precision, prior, widths, roots, variance)


def posterior_precision(model: LinearModel, counts: NDArray[np.int64]) -> Precision:
    pulled = np.flatnonzero(counts)
    scaled = model.whitened[:, pulled] * (np.sqrt(counts[pulled]) / model.reward_noise)
    directions, singular, _ = np.linalg.svd(scaled, full_matrices=False)
    return Precision(directions, singular * singular)


def _check_rewards(posterior: LinearPosterior, model: LinearModel, counts: NDArray[np.int64], widths: Array) -> None:
    """Rewards are at most checks.LARGEST in size; so their sums are bounded, and with them the means."""
    arms, offset = model.arms, model.offset[: model.arms]
    pull = np.sqrt(counts.sum(dtype=float)) * (checks.LARGEST + np.abs(offset).max()) / model.reward_noise
    # A surplus is added up with the means of the time, and with their rounding errors.
    largest = counts * (checks.LARGEST + np.abs(offset) + ROUNDING * widths * pull) * SLACK
    if (np.abs(posterior.surplus[:arms]) > largest).any():
        raise ValueError(f"surplus must be that of as many rewards as counts, none beyond {checks.LARGEST:g}")
    if (np.abs(posterior.mean[:arms] - offset) > SLACK * (widths * pull + ROUNDING * np.abs(offset))).any():
        raise ValueError("mean must be one that as many rewards as counts can lead to")


def _check_covariances(precision: Precision, prior: Array, widths: Array, roots: Array, variance: Array) -> None:
    """Compare all variances, and the covariances of each arm with one mixture of all arms."""
    lost = precision.gains / (1.0 + precision.gains)
    along = precision.directions.T @ prior
    scale = np.where(widths > 0.0, widths, 1.0)
    expected = (prior * prior).sum(axis=0) - (lost[:, None] * along * along).sum(axis=0)
    if (np.abs(variance - expected) > ROUNDING * scale**2).any():
        raise ValueError("variance must be that of the counts")
    mixture = np.cos(np.arange(prior.shape[1])) / scale
    expected = prior.T @ (prior @ mixture) - along.T @ (lost * (along @ mixture))
    found = roots.T @ (roots @ mixture)
    if (np.abs(found - expected) > ROUNDING * scale * prior.shape[1]).any():
        raise ValueError("roots must have the covariances of the counts")


def check_streak(
    posterior: LinearPosterior, model: LinearModel, arm: int, pulls: int, excess: float, information: float
) -> None:
    """Raise ValueError if these cannot be the pulls of one arm after the posterior, and the posterior's information."""
    largest = checks.LARGEST + abs(float(posterior.mean[arm]))
    if abs(excess) > SLACK * pulls * largest:
        raise ValueError(
            f"excess must be that of {pulls} rewards, none beyond {checks.LARGEST:g}, got {checks.in_full(excess)}"
        )
    counts = posterior.counts[: model.arms]
    gains = posterior_precision(model, counts).gains
    expected = float(np.log1p(gains).sum())
    is_comparable = gains.max(initial=0.0) <= COMPARABLE**2
    if is_comparable and abs(information - expected) > ROUNDING * (1.0 + expected):
        raise ValueError(
            f"information must be that of the counts, {checks.in_full(expected)}, got {checks.in_full(information)}"
        )
    if information > MOST_INFORMATION * counts.sum(dtype=float):
        raise ValueError(
            f"information must be at most {MOST_INFORMATION:g} for each pull, got {checks.in_full(information)}"
        )
