"""Runs of Algorithm 1 in plain NumPy, with the quantities in the paper's inequalities summed over rounds.

Instances are those of `simulate` with the same seed; rewards are drawn independently. Runs come in blocks, and only
sums over rounds are kept, so memory does not grow with the number of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesregret.audit.reference_posteriors import Arms, Belief, bayes_belief, flat_belief
from bayesregret.bounds.bound import Setting
from bayesregret.checks import Array
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, LinearBandit

BAYES_UCB, UCB1 = "bayes-ucb", "ucb1"
POLICIES = (BAYES_UCB, UCB1)
# Largest number of entries in an array of a block.
BLOCK_SIZE = 2_000_000
# Numbers whose difference, relative to their terms, is at most this count as equal, so that rounding decides nothing.
ROUNDING = 1e-11

PER_RUN = (
    "regret", "failed_regret", "taken_variance", "taken_deviation", "overshoot", "bad_regret", "widest_gap",
)  # fmt: skip
PER_ARM = ("pulls", "good_pulls", "failures", "failed_error", "failed_distance")


@dataclass
class Traces:
    """Sums over the rounds of a block of runs, (runs, arms) or (runs,). A round is good if all its intervals hold."""

    first_run: int
    means: Array
    gaps: Array
    slack: Array  # (runs, 1): rounding error of a mean reward
    horizon: int
    rounds: int = 0  # number of rounds tracked: all, or those after UCB1 has tried each arm
    regret: Array = field(init=False)
    pulls: Array = field(init=False)
    good_pulls: Array = field(init=False)
    failures: Array = field(init=False)  # number of rounds in which the arm's interval fails
    failed_error: Array = field(init=False)  # mean reward minus its estimate, over rounds that are not good
    failed_distance: Array = field(init=False)  # absolute values of the same
    failed_regret: Array = field(init=False)  # regret in rounds that are not good
    taken_variance: Array = field(init=False)  # posterior variances of the taken arms
    taken_deviation: Array = field(init=False)  # posterior standard deviations of the taken arms
    overshoot: Array = field(init=False)  # excess of the best arm's mean over its index, in all rounds
    bad_regret: Array = field(init=False)  # regret in rounds with overshoot, or with the taken arm below its interval
    widest_gap: Array = field(init=False)  # largest gap / (2 width) of an arm taken in a good round
    failed_runs: NDArray[np.int64] = field(init=False)  # (horizon,): number of runs in which the round is not good

    def __post_init__(self) -> None:
        runs, arms = self.means.shape
        for name in PER_RUN:
            setattr(self, name, np.zeros(runs))
        for name in PER_ARM:
            setattr(self, name, np.zeros((runs, arms)))
        self.failed_runs = np.zeros(self.horizon, np.int64)


def trace(bandit: Bandit, policy: str, setting: Setting, *, runs: int, seed: int) -> Iterator[Traces]:
    """Yield the runs in blocks."""
    size = max(1, BLOCK_SIZE // _entries_per_run(bandit))
    for first_run in range(0, runs, size):
        yield _trace_block(bandit, policy, setting, first_run, min(size, runs - first_run), seed)


def _entries_per_run(bandit: Bandit) -> int:
    return bandit.arms + (bandit.covariance_root.shape[1] ** 2 if isinstance(bandit, LinearBandit) else 0)


def _trace_block(bandit: Bandit, policy: str, setting: Setting, first_run: int, runs: int, seed: int) -> Traces:
    means = bandit.draw_means(runs, seed=seed, first_run=first_run)
    belief = (bayes_belief if policy == BAYES_UCB else flat_belief)(bandit, runs)
    # Not the noise of `simulate`: the audit's evidence is independent of the engine.
    noise = np.random.default_rng([seed, first_run, POLICIES.index(policy)])
    size = np.abs(means).max(axis=1) + np.abs(belief.mean).max(axis=1)
    traces = Traces(
        first_run, means, means.max(axis=1)[:, None] - means, ROUNDING * size[:, None], horizon=setting.horizon
    )
    rows = np.arange(runs)
    for round_ in range(setting.horizon):
        width = setting.z * np.sqrt(belief.variance) if setting.L > 0.0 else _no_width(belief.variance)
        taken = np.argmax(belief.mean + width, axis=1)
        if policy == BAYES_UCB or round_ >= bandit.arms:
            _track(traces, belief, width, taken, round_)
        traces.pulls[rows, taken] += 1.0
        traces.regret += traces.gaps[rows, taken]
        belief.learn(taken, _rewards(bandit, taken, means[rows, taken], noise))
    return traces


def _no_width(variance: Array) -> Array:
    """Widths at delta = 1: zero, but infinite for an arm never tried, which comes first."""
    return np.where(np.isinf(variance), np.inf, 0.0)


def _rewards(bandit: Bandit, taken: Arms, means: Array, noise: np.random.Generator) -> Array:
    if isinstance(bandit, BernoulliBandit):
        return (noise.random(len(means)) < means).astype(float)
    assert isinstance(bandit, GaussianBandit | LinearBandit)
    deviation = bandit.reward_noises[taken] if isinstance(bandit, GaussianBandit) else bandit.reward_noise
    if getattr(bandit, "noise_kind", "gaussian") == "rademacher":
        return np.asarray(means + deviation * noise.choice((-1.0, 1.0), len(means)))
    return np.asarray(means + deviation * noise.standard_normal(len(means)))


def _track(traces: Traces, belief: Belief, width: Array, taken: Arms, round_: int) -> None:
    """Add one round to the sums."""
    rows = np.arange(len(taken))
    error = traces.means - belief.mean
    distance = np.abs(error)
    fails = distance > width * (1.0 + ROUNDING) + traces.slack
    good: NDArray[np.bool_] = np.logical_not(fails.any(axis=1))
    traces.rounds += 1
    traces.failures += fails
    traces.failed_runs[round_] = len(good) - np.count_nonzero(good)
    traces.good_pulls[rows, taken] += good
    traces.failed_error[~good] += error[~good]
    traces.failed_distance[~good] += distance[~good]
    variance = belief.variance[rows, taken]
    traces.taken_variance += variance
    traces.taken_deviation += np.sqrt(variance)
    _track_regret(traces, error, width, taken, good)


def _track_regret(traces: Traces, error: Array, width: Array, taken: Arms, good: NDArray[np.bool_]) -> None:
    rows = np.arange(len(taken))
    best = traces.means.argmax(axis=1)
    gap = traces.gaps[rows, taken]
    taken_width = width[rows, taken]
    over = np.maximum(0.0, error[rows, best] - width[rows, best] - traces.slack[:, 0])
    below = -error[rows, taken] > taken_width + traces.slack[:, 0]
    traces.failed_regret += np.where(good, 0.0, gap)
    traces.overshoot += over
    traces.bad_regret += np.where((over > 0.0) | below, gap, 0.0)
    largest_gap = 2.0 * (taken_width * (1.0 + ROUNDING) + traces.slack[:, 0])
    ratio = np.divide(gap, largest_gap, out=np.zeros_like(gap), where=good & (gap > 0.0))
    np.maximum(traces.widest_gap, ratio, out=traces.widest_gap)
