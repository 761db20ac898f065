"""Policies that look at all arms in every round, as NumPy loops vectorised over runs: what the engine is measured with.

Each is what a good NumPy programmer writes down: all arms' indices from their posteriors in every round, the quantile
of a round once for all runs, special functions from SciPy. The Gaussian ones are there a second time with the engine's
own insights, as baselines.py has BayesUCB twice: means and deviations stand in tables that are renewed for the pulled
arm alone, and no array is made in a round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, ndtri

import bayesregret as br

Floats = NDArray[np.float64]
Rounds = Iterator[tuple[NDArray[np.int64], Floats]]


def numpy_policy(bandit: br.Bandit, policy: br.Policy, *, runs: int, rounds: int) -> Rounds:
    """Play all runs at once; yield the arms that were taken and what was lost, round after round."""
    if isinstance(bandit, br.GaussianBandit):
        with np.errstate(divide="ignore", invalid="ignore"):  # an arm without data has no mean
            yield from _play_gaussian(bandit, type(policy), runs, rounds)
        return
    yield from _play_bernoulli(bandit, BERNOULLI[type(policy)], runs, rounds)


def numpy_policy_by_tables(bandit: br.GaussianBandit, policy: br.Policy, *, runs: int, rounds: int) -> Rounds:
    """The same with tables of means and deviations."""
    return _play_gaussian_by_tables(bandit, GAUSSIAN[type(policy)], runs, rounds)


def _play_gaussian(bandit: br.GaussianBandit, policy: type[br.Policy], runs: int, rounds: int) -> Rounds:
    """Every index anew in every round; without a prior an arm's first one is infinite."""
    rng = np.random.default_rng(7)
    shape = (runs, bandit.arms)
    means = bandit.prior_mean + bandit.prior_width * rng.standard_normal(shape)
    pulls = np.full(shape, (bandit.reward_noise / bandit.prior_width) ** 2 if policy is not br.KLUCB else 0.0)
    total = pulls * bandit.prior_mean
    best = means.max(axis=1)
    row = np.arange(runs)
    for round_ in range(1, rounds + 1):
        mean, deviation = total / pulls, bandit.reward_noise / np.sqrt(pulls)
        if policy is br.Thompson:
            index = mean + deviation * rng.standard_normal(shape)
        elif policy is br.QuantileUCB:
            index = mean - deviation * ndtri(min(0.5, 1.0 / round_))
        else:
            index = np.where(pulls > 0.0, mean + deviation * math.sqrt(2.0 * math.log(round_)), np.inf)
        arm = index.argmax(axis=1)
        truth = means[row, arm]
        pulls[row, arm] += 1.0
        total[row, arm] += truth + bandit.reward_noise * rng.standard_normal(runs)
        yield arm, best - truth


def _play_gaussian_by_tables(bandit: br.GaussianBandit, index: Callable[..., Floats], runs: int, rounds: int) -> Rounds:
    """Means and deviations stand in (runs, arms) tables; without a prior they are infinite until the first pull."""
    rng = np.random.default_rng(7)
    shape = (runs, bandit.arms)
    means = bandit.prior_mean + bandit.prior_width * rng.standard_normal(shape)
    has_prior = index is not _gaussian_divergence
    pulls = np.full(shape, (bandit.reward_noise / bandit.prior_width) ** 2 if has_prior else 0.0)
    total = pulls * bandit.prior_mean
    mean = np.broadcast_to(bandit.prior_mean, shape).copy()
    deviation = np.full(shape, bandit.prior_width if has_prior else np.inf)
    out = np.empty(shape)
    best = means.max(axis=1)
    first_cell = np.arange(runs) * bandit.arms
    for round_ in range(1, rounds + 1):
        arm = index(mean, deviation, round_, rng, out).argmax(axis=1)
        cell = first_cell + arm
        truth = means.ravel()[cell]
        count = pulls.ravel()[cell] + 1.0
        sum_ = total.ravel()[cell] + truth + bandit.reward_noise * rng.standard_normal(runs)
        pulls.ravel()[cell], total.ravel()[cell] = count, sum_
        mean.ravel()[cell], deviation.ravel()[cell] = sum_ / count, bandit.reward_noise / np.sqrt(count)
        yield arm, best - truth


def _gaussian_draw(mean: Floats, deviation: Floats, round_: int, rng: np.random.Generator, out: Floats) -> Floats:
    rng.standard_normal(out=out)
    out *= deviation
    out += mean
    return out


def _gaussian_quantile(mean: Floats, deviation: Floats, round_: int, rng: Any, out: Floats) -> Floats:
    np.multiply(deviation, -ndtri(min(0.5, 1.0 / round_)), out=out)
    out += mean
    return out


def _gaussian_divergence(mean: Floats, deviation: Floats, round_: int, rng: Any, out: Floats) -> Floats:
    np.multiply(deviation, math.sqrt(2.0 * math.log(round_)) if round_ > 1 else 1.0, out=out)
    out += mean
    return out


def _play_bernoulli(bandit: br.BernoulliBandit, index: Callable[..., Floats], runs: int, rounds: int) -> Rounds:
    """Successes and failures stand in (runs, arms) tables, without the prior for a policy that knows none."""
    rng = np.random.default_rng(7)
    shape = (runs, bandit.arms)
    means = rng.beta(bandit.alpha, bandit.beta, size=shape)
    has_prior = index is not _bernoulli_divergence
    wins = np.broadcast_to(bandit.alpha if has_prior else 0.0, shape).copy()
    losses = np.broadcast_to(bandit.beta if has_prior else 0.0, shape).copy()
    best = means.max(axis=1)
    first_cell = np.arange(runs) * bandit.arms
    for round_ in range(1, rounds + 1):
        arm = index(wins, losses, round_, rng).argmax(axis=1)
        cell = first_cell + arm
        truth = means.ravel()[cell]
        won = rng.random(runs) < truth
        wins.ravel()[cell] += won
        losses.ravel()[cell] += ~won
        yield arm, best - truth


def _bernoulli_draw(wins: Floats, losses: Floats, round_: int, rng: np.random.Generator) -> Floats:
    return rng.beta(wins, losses)


def _bernoulli_quantile(wins: Floats, losses: Floats, round_: int, rng: Any) -> Floats:
    return np.asarray(betainccinv(wins, losses, min(0.5, 1.0 / round_)))


def _bernoulli_divergence(wins: Floats, losses: Floats, round_: int, rng: Any) -> Floats:
    """The highest mean within log t / N of the sample mean, by Newton's method in -log(1 - q), which stays above it."""
    count = wins + losses
    pulled = count > 0.0
    count = np.maximum(count, 1.0)
    p = np.clip(wins / count, 1e-12, 1.0 - 1e-12)
    level = math.log(round_) / count
    start = p * np.log(p) + (1.0 - p) * np.log1p(-p)
    y = (level - start) / (1.0 - p)
    for _ in range(NEWTON_STEPS):
        q = -np.expm1(-y)
        y -= (start - p * np.log(q) + (1.0 - p) * y - level) / np.maximum(1.0 - p / q, 1e-9)
        y = np.maximum(y, -np.log1p(-p))
    return np.where(pulled, -np.expm1(-y), np.inf)


NEWTON_STEPS = 6

GAUSSIAN = {br.Thompson: _gaussian_draw, br.QuantileUCB: _gaussian_quantile, br.KLUCB: _gaussian_divergence}
BERNOULLI = {br.Thompson: _bernoulli_draw, br.QuantileUCB: _bernoulli_quantile, br.KLUCB: _bernoulli_divergence}
