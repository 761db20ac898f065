"""Rows about policies that look at a linear posterior in every round."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import bayesregret as br
import problems
from baselines import Regret
from clock import side_by_side, timed
from problems import Size
from row import Row, at_least, ns
from speed_rows import simulation

# A NumPy loop is fastest when what it keeps of its runs fits into the cache.
RUNS_AT_ONCE = 1_000


def thompson(size: Size) -> Iterator[Row]:
    bandit, policy = problems.linear(), br.Thompson()

    def cost(runs_at_once: int):
        return timed(lambda: numpy_thompson(bandit, size, runs_at_once), size.runs * size.numpy_rounds)

    here, whole, parts = side_by_side(
        size.slow_repetitions, simulation(bandit, policy, size), cost(size.runs), cost(RUNS_AT_ONCE)
    )
    theirs = numpy_thompson(bandit, size, RUNS_AT_ONCE)
    asked = {"horizon": size.horizon, "runs": size.runs, "checkpoints": [size.numpy_rounds]}
    curve = br.simulate(bandit, policy, seed=7, progress=False, **asked)["thompson"].curve
    ours, stderr = curve.mean[0], curve.stderr[0]
    if abs(ours - theirs.mean) > 6.0 * (stderr + theirs.stderr):
        raise RuntimeError(f"not the same work: regret {ours:.1f} and {theirs.mean:.1f} at round {size.numpy_rounds}")
    evidence = f" (regret at round {size.numpy_rounds}: {ours:.1f} and {theirs.mean:.1f})"
    work = "linear Thompson, K=30, d=10, against a NumPy loop on one thread that updates a root"
    yield Row(work, ns(here, whole) + evidence, whole / here, "times faster", at_least(20.0))
    yield Row(f"{work}, {RUNS_AT_ONCE:,} runs at a time", ns(here, parts), parts / here, "times faster")


def numpy_thompson(bandit: br.LinearBandit, size: Size, runs_at_once: int) -> Regret:
    parts = range(0, size.runs, runs_at_once)
    lost = [_play(bandit, min(runs_at_once, size.runs - first), size.numpy_rounds, first) for first in parts]
    regret = np.concatenate(lost)
    return Regret(float(regret.mean()), float(regret.std() / math.sqrt(len(regret))))


def _play(bandit: br.LinearBandit, runs: int, rounds: int, seed: int) -> NDArray[np.float64]:
    """(runs,): regret of Thompson sampling, all runs side by side.

    The covariance's root is updated, as in the engine: a factorisation in every round would cost more.
    """
    rng = np.random.default_rng(seed)
    x, noise = bandit.features, bandit.reward_noise
    root = np.broadcast_to(bandit.covariance_root, (runs, *bandit.covariance_root.shape)).copy()
    rank = root.shape[2]
    mean = np.broadcast_to(bandit.prior_mean, (runs, x.shape[1])).copy()
    means = (mean + rng.standard_normal((runs, rank)) @ bandit.covariance_root.T) @ x.T
    best, row, regret = means.max(axis=1), np.arange(runs), np.zeros(runs)
    for _ in range(rounds):
        theta = mean + np.einsum("rij,rj->ri", root, rng.standard_normal((runs, rank)))
        arm = np.argmax(theta @ x.T, axis=1)
        true, taken = means[row, arm], x[arm]
        regret += best - true
        reward = true + noise * rng.standard_normal(runs)
        f = np.einsum("rij,ri->rj", root, taken)
        whole = noise**2 + np.einsum("rj,rj->r", f, f)
        gain = np.einsum("rij,rj->ri", root, f)
        mean += gain * ((reward - np.einsum("ri,ri->r", taken, mean)) / whole)[:, None]
        root -= gain[:, :, None] * (f / (whole + noise * np.sqrt(whole))[:, None])[:, None, :]
    return regret
