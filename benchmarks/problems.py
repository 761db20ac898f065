"""What is run: the bandits of every row, and how much of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import bayesregret as br


def gaussian(arms: int = 10, gap: float = 1.0) -> br.GaussianBandit:
    """One arm ahead of the others by `gap` in the prior mean."""
    return br.GaussianBandit(prior_mean=[gap] + [0.0] * (arms - 1), prior_width=1.0, reward_noise=1.0)


def bernoulli(arms: int = 10) -> br.BernoulliBandit:
    return br.BernoulliBandit(alpha=[1.0] * arms, beta=[1.0] * arms)


def linear(arms: int = 30, dimension: int = 10) -> br.LinearBandit:
    """The paper's linear setting: the canonical basis, then random directions of the positive orthant."""
    rows = np.abs(np.random.default_rng(7).standard_normal((arms - dimension, dimension)))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    prior_mean = [1.0] + [-1.0] * (dimension - 1)
    features = np.vstack([np.eye(dimension), rows])
    return br.LinearBandit(features=features, prior_mean=prior_mean, prior_width=1.0, reward_noise=1.0)


@dataclass(frozen=True)
class Size:
    """How much is run. Repetitions take turns and the fastest counts, so more of them mean less noise."""

    threads: int
    runs: int = 10_000
    horizon: int = 1_000
    repetitions: int = 15
    slow_repetitions: int = 5  # where one repetition takes a second or more
    numpy_rounds: int = 200  # a NumPy loop costs the same in every round, so not all are needed
    many_arms: tuple[int, ...] = (10, 100, 1_000, 10_000)
    rounds_with_many_arms: int = 12_800_000  # 128 runs at the most arms: a block for each of two threads
    many_runs: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    horizon_of_many_runs: int = 100
    long_horizons: tuple[int, ...] = (10_000, 100_000, 1_000_000, 10_000_000)
    runs_at_longest_horizon: int = 16
    decisions: int = 20_000
    peer_runs: int = 100
    peer_decisions: int = 1_000
    peer_repetitions: int = 3
    fresh_repetitions: int = 7  # of what needs a new process
    cold_repetitions: int = 2
    first_models: tuple[str, ...] = ("gaussian", "bernoulli", "linear")
    cluster_rounds: int = 4 * 10**10
    cluster_repetitions: int = 2
    cluster_points: int = 10_000

    @property
    def rounds(self) -> int:
        return self.runs * self.horizon


def full(threads: int) -> Size:
    return Size(threads)


def quick(threads: int) -> Size:
    """For development: the figures mean little, but every line of code is run."""
    return replace(
        Size(threads),
        runs=2_000,
        repetitions=3,
        slow_repetitions=2,
        numpy_rounds=20,
        many_arms=(10, 100, 1_000),
        rounds_with_many_arms=1_280_000,
        many_runs=(1_000, 10_000, 100_000),
        long_horizons=(1_000, 10_000, 100_000),
        decisions=2_000,
        peer_runs=5,
        peer_decisions=100,
        peer_repetitions=1,
        fresh_repetitions=2,
        cold_repetitions=1,
        first_models=("gaussian",),
        cluster_rounds=4 * 10**9,
        cluster_repetitions=1,
        cluster_points=500,
    )
