"""One bandit with the prior means and variances of a mixture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.models.bandit import Bandit
from bayesregret.models.bernoulli import BernoulliBandit
from bayesregret.models.exponential import ExponentialBandit
from bayesregret.models.gaussian import GaussianBandit
from bayesregret.models.linear import LinearBandit
from bayesregret.models.poisson import PoissonBandit

MOST_ARMS = 5_000  # of a matched bandit with covariances


def matched_bandit(weights: Array, bandits: Sequence[Bandit]) -> Bandit:
    """Bandit of the components' kind, or linear if they are gaussian, with the mixture's prior means and variances."""
    if len(bandits) == 1:
        return bandits[0]
    kind = bandits[0].kind
    if kind not in MATCHED:
        raise ValueError(f"a mixture of {kind} bandits has no conjugate(); policies may believe in one of its bandits")
    return MATCHED[kind](weights, bandits)


def _allowed(parameter: Array) -> Array:
    """Parameter of a prior, within the limits of a problem file; only those of extreme components are beyond."""
    return np.clip(parameter, checks.SMALLEST, checks.LARGEST)


def _moments(weights: Array, means: Array, variances: Array) -> tuple[Array, Array]:
    """(arms,): means and variances of a mixture, from those of its components, (components, arms)."""
    mean = weights @ means
    return mean, weights @ (variances + (means - mean) ** 2)


def _bernoulli(weights: Array, bandits: Sequence[Any]) -> Bandit:
    """The pseudo-count is E[p (1 - p)] / Var[p]: mean (1 - mean) / Var[p] - 1 would cancel for small pseudo-counts.

    For the same reason failures have their own means, also where they are rare.
    """
    alpha, beta = np.array([b.alpha for b in bandits]), np.array([b.beta for b in bandits])
    count = alpha + beta
    wins, losses = alpha / count, beta / count
    within = wins * losses / (count + 1.0)
    win, variance = _moments(weights, wins, within)
    loss, variance_of_losses = _moments(weights, losses, within)
    variance = np.where(win < loss, variance, variance_of_losses)
    pseudo_count = weights @ (within * count) / variance
    return BernoulliBandit(_allowed(win * pseudo_count), _allowed(loss * pseudo_count))


def _poisson(weights: Array, bandits: Sequence[Any]) -> Bandit:
    shape, rate = np.array([b.shape for b in bandits]), np.array([b.rate for b in bandits])
    mean, variance = _moments(weights, shape / rate, shape / rate**2)
    return PoissonBandit(_allowed(mean**2 / variance), _allowed(mean / variance))


def _exponential(weights: Array, bandits: Sequence[Any]) -> Bandit:
    """Where an arm has no variance in some component, the smallest shape stands for the mixture's."""
    shape, rate = np.array([b.shape for b in bandits]), np.array([b.rate for b in bandits])
    means, smallest = rate / (shape - 1.0), shape.min(axis=0)
    with_variance = smallest > 2.0
    mean, variance = _moments(weights, means, means**2 / np.where(with_variance, shape - 2.0, 1.0))
    matched = _allowed(np.where(with_variance, 2.0 + mean**2 / variance, smallest))
    return ExponentialBandit(matched, _allowed(mean * (matched - 1.0)))


def _gaussian(weights: Array, bandits: Sequence[Any]) -> Bandit:
    """Linear with one feature for each arm, so that the covariances of arms match, too, where there are any.

    A linear bandit has one noise, so arms of different noises become independent.
    """
    noises = np.sqrt([weights @ noise**2 for noise in np.array([b.reward_noises for b in bandits]).T])
    means = np.array([b.prior_mean for b in bandits])
    mean, variance = _moments(weights, means, np.array([b.prior_widths**2 for b in bandits]))
    off = means - mean
    if np.ptp(noises) > 0.0 or np.ptp(means, axis=0).max() == 0.0 or len(mean) == 1:
        return GaussianBandit(mean, _allowed(np.sqrt(variance)), _allowed(noises))
    if len(mean) > MOST_ARMS:
        raise ValueError(f"a mixture of gaussian bandits has a conjugate() for at most {MOST_ARMS} arms")
    covariance = (weights * off.T) @ off
    np.fill_diagonal(covariance, variance)
    return LinearBandit(np.eye(len(mean)), mean, (covariance + covariance.T) / 2.0, reward_noise=float(noises[0]))


def _linear(weights: Array, bandits: Sequence[Any]) -> Bandit:
    if any(not np.array_equal(b.features, bandits[0].features) for b in bandits):
        raise ValueError("a mixture of linear bandits with different features has no conjugate bandit")
    means = np.array([b.prior_mean for b in bandits])
    mean = weights @ means
    off = means - mean
    covariance = np.tensordot(weights, np.array([b.covariance for b in bandits]), 1) + (weights * off.T) @ off
    noise = float(np.sqrt(weights @ np.array([b.reward_noise**2 for b in bandits])))
    return LinearBandit(bandits[0].features, mean, (covariance + covariance.T) / 2.0, reward_noise=noise)


MATCHED: dict[str, Callable[[Array, Sequence[Any]], Bandit]] = {
    "bernoulli": _bernoulli,
    "exponential": _exponential,
    "gaussian": _gaussian,
    "linear": _linear,
    "poisson": _poisson,
}
