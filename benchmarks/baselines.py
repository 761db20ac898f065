"""What the engine is measured against: the cost of its noise alone, and NumPy loops vectorised over runs.

Each NumPy loop plays all runs at once, a handful of array operations a round, and yields the arms that were taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import bayesregret as br
from bayesregret.dispatch import compile_kernel
from bayesregret.rng import REWARD, normal, open_stream, run_word, seed_key

Arms = NDArray[np.int64]  # (runs,)


class Regret(NamedTuple):
    mean: float
    stderr: float


def draw_normals(*, runs: int, draws: int, threads: int) -> float:
    """The floor: each run draws its reward noise, with the engine's generator on as many threads."""
    kernel = compile_kernel(_add_normals, _add_normals)  # named again so that an edit of this file compiles anew
    key = seed_key(7)
    share = -(-runs // threads)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda thread: kernel(key, thread * share, share, draws), range(threads)))


def _add_normals(key: Any, first_run: int, runs: int, draws: int) -> float:
    total = 0.0
    for run in range(first_run, first_run + runs):
        stream = open_stream(key, run_word(key, run), REWARD)
        for _ in range(draws):
            z, stream = normal(stream)
            total += z
    return total


def numpy_regret(rounds: Iterator[tuple[Arms, NDArray[np.float64]]]) -> Regret:
    """Play a loop to its end; the regret tells that it did the engine's work."""
    regret = sum(lost for _, lost in rounds)
    return Regret(float(np.mean(regret)), float(np.std(regret) / math.sqrt(len(regret))))


def numpy_gaussian(
    bandit: br.GaussianBandit, *, runs: int, rounds: int, horizon: int
) -> Iterator[tuple[Arms, NDArray[np.float64]]]:
    """Gaussian BayesUCB as one would write it down: every index anew in every round."""
    rng = np.random.default_rng(7)
    means, pulls, total, spread = _gaussian_start(bandit, rng, runs, horizon)
    best = means.max(axis=1)
    row = np.arange(runs)
    for _ in range(rounds):
        arm = (total / pulls + spread / np.sqrt(pulls)).argmax(axis=1)
        mean = means[row, arm]
        pulls[row, arm] += 1.0
        total[row, arm] += mean + bandit.reward_noise * rng.standard_normal(runs)
        yield arm, best - mean


def numpy_gaussian_one_index(
    bandit: br.GaussianBandit, *, runs: int, rounds: int, horizon: int, prior: bool = True
) -> Iterator[tuple[Arms, NDArray[np.float64]]]:
    """The same with the engine's first insight, that only the pulled arm's index moves; UCB1 without the prior."""
    rng = np.random.default_rng(7)
    means, pulls, total, spread = _gaussian_start(bandit, rng, runs, horizon)
    index = total / pulls + spread / np.sqrt(pulls)
    if not prior:
        pulls[:], total[:], index[:] = 0.0, 0.0, np.inf
    best = means.max(axis=1)
    first_cell = np.arange(runs) * bandit.arms
    flat_means, flat_pulls, flat_total, flat_index = (table.ravel() for table in (means, pulls, total, index))
    for _ in range(rounds):
        arm = index.argmax(axis=1)
        cell = first_cell + arm
        mean = flat_means[cell]
        count = flat_pulls[cell] + 1.0
        sum_ = flat_total[cell] + mean + bandit.reward_noise * rng.standard_normal(runs)
        flat_pulls[cell] = count
        flat_total[cell] = sum_
        flat_index[cell] = sum_ / count + spread / np.sqrt(count)
        yield arm, best - mean


def _gaussian_start(bandit: br.GaussianBandit, rng: np.random.Generator, runs: int, horizon: int) -> Any:
    """(runs, arms) means, real and imaginary pulls and their rewards; the index's width after one pull."""
    means = bandit.prior_mean + bandit.prior_width * rng.standard_normal((runs, bandit.arms))
    pulls = np.full_like(means, (bandit.reward_noise / bandit.prior_width) ** 2)
    return means, pulls, pulls * bandit.prior_mean, bandit.reward_noise * math.sqrt(2.0 * math.log(horizon))


def numpy_linear(
    bandit: br.LinearBandit, *, runs: int, rounds: int, horizon: int
) -> Iterator[tuple[Arms, NDArray[np.float64]]]:
    """Linear BayesUCB: a rank-one update of every run's covariance a round, arms' means and variances kept up."""
    rng = np.random.default_rng(7)
    X = bandit.features
    theta = rng.multivariate_normal(bandit.prior_mean, bandit.covariance, size=runs)
    means = theta @ X.T
    best = means.max(axis=1)
    covariance = np.tile(bandit.covariance, (runs, 1, 1))
    expected = np.tile(X @ bandit.prior_mean, (runs, 1))
    variance = np.tile(np.einsum("ai,ij,aj->a", X, bandit.covariance, X), (runs, 1))
    spread = math.sqrt(2.0 * math.log(horizon))
    row = np.arange(runs)
    for _ in range(rounds):
        arm = (expected + spread * np.sqrt(variance)).argmax(axis=1)
        mean = means[row, arm]
        reward = mean + bandit.reward_noise * rng.standard_normal(runs)
        toward = np.matmul(covariance, X[arm][:, :, None])[:, :, 0]  # covariance of the parameter with the arm's reward
        with_arm = toward @ X.T  # covariance of every arm's reward with this one's
        scale = 1.0 / (bandit.reward_noise**2 + with_arm[row, arm])
        expected += with_arm * ((reward - expected[row, arm]) * scale)[:, None]
        variance -= with_arm * with_arm * scale[:, None]
        # Rounding may leave a tiny negative variance where a feature vector is all but known.
        np.maximum(variance, 0.0, out=variance)
        covariance -= (toward * scale[:, None])[:, :, None] * toward[:, None, :]
        yield arm, best - mean


def lead_changes(rounds: Iterator[tuple[Arms, NDArray[np.float64]]]) -> float:
    """How often a run leaves its arm for another."""
    before: Arms | None = None
    changes = 0.0
    for arm, _ in rounds:
        if before is not None:
            changes += float(np.mean(arm != before))
        before = arm
    return changes
