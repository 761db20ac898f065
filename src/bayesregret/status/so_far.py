"""What an experiment has cost and gained so far: posterior expectations, because the mean rewards are uncertain."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from bayesregret.agent.summary import marginals
from bayesregret.checks import Array
from bayesregret.exact.explore_commit.best_length import expected_best
from bayesregret.models import Bandit, LinearBandit, MixtureBandit
from bayesregret.simulation.estimates import Estimate, estimate
from bayesregret.status.progress import Progress

DRAWS = 2_000  # from the posterior, for standard deviations and intervals
BEST_DRAWS = 40_000  # for the expected best arm, where arms are correlated
MOST_PARTS = 20  # of a mixture whose expected best arm is computed
NEGLIGIBLE = 1e-9  # components whose weights sum to less do not count


class Uncertain(NamedTuple):
    """A number that depends on the unknown mean rewards: its posterior mean, standard deviation and interval.

    Random are the mean rewards alone, given all rewards that have arrived.
    """

    mean: float
    deviation: float
    low: float
    high: float


class SoFar(NamedTuple):
    """Regret of the decisions so far, and what they gained over an equal split."""

    regret: Uncertain
    gain: Uncertain


def so_far(progress: Progress, excess: Estimate, level: float, seed: int) -> SoFar:
    """Return the regret of the decisions so far and their gain over an equal split.

    Both compare mean rewards of the arms: the noise of the rewards that came in is no part of them. `excess` is the
    `expected_excess` of the posterior.
    """
    posterior, decisions = progress.posterior, progress.decisions.astype(float)
    draws = posterior.draw_means(DRAWS, seed=seed)
    means = posterior_means(posterior)
    more = decisions - progress.equal_split
    best, done = float(means.max()) + excess.mean, progress.done
    regrets = done * draws.max(axis=1) - draws @ decisions
    return SoFar(
        _uncertain(max(0.0, done * best - float(decisions @ means)), regrets, level),
        _uncertain(float(more @ means), draws @ more, level),
    )


def _uncertain(mean: float, draws: Array, level: float) -> Uncertain:
    tail = 0.5 * (1.0 - level)
    low, high = np.quantile(draws, [tail, 1.0 - tail]).tolist()
    return Uncertain(mean, float(draws.std(ddof=1)), low, high)


def posterior_means(bandit: Bandit) -> Array:
    """(arms,): expected mean rewards."""
    if isinstance(bandit, MixtureBandit):
        return np.asarray(bandit.weights @ np.array([posterior_means(part) for part in bandit.bandits]))
    return marginals(bandit).means


# --- the expected best arm --------------------------------------------------------------------------------------------


@functools.singledispatch
def expected_excess(bandit: Any, seed: int) -> Estimate:
    """Expected mean reward of the best arm minus the highest expected mean reward: the loss of a round of keeping the
    leader."""
    return Estimate(max(0.0, float(expected_best(bandit) - posterior_means(bandit).max())), 0.0)


@expected_excess.register
def _(bandit: MixtureBandit, seed: int) -> Estimate:
    in_order = np.argsort(bandit.weights)
    kept = in_order[np.cumsum(bandit.weights[in_order]) > NEGLIGIBLE]
    if len(kept) > MOST_PARTS or isinstance(bandit.representative, LinearBandit):
        return _drawn_excess(bandit, seed)
    best = sum(bandit.weights[number] * expected_best(bandit.bandits[number]) for number in kept)
    return Estimate(max(0.0, float(best / bandit.weights[kept].sum() - posterior_means(bandit).max())), 0.0)


@expected_excess.register
def _(bandit: LinearBandit, seed: int) -> Estimate:
    if bandit.arms != 2:
        return _drawn_excess(bandit, seed)
    mean, root = posterior_means(bandit), bandit.model.whitened[:, :2]
    gap, width = abs(float(mean[0] - mean[1])), float(np.linalg.norm(root[:, 0] - root[:, 1]))
    if width == 0.0:
        return Estimate(0.0, 0.0)
    ratio = gap / width
    density = np.exp(-0.5 * ratio * ratio) / np.sqrt(2.0 * np.pi)
    return Estimate(max(0.0, float(width * (density - ratio * ndtr(-ratio)))), 0.0)


def _drawn_excess(bandit: Bandit, seed: int) -> Estimate:
    draws = bandit.draw_means(BEST_DRAWS, seed=seed)
    leader = int(np.argmax(posterior_means(bandit)))
    return estimate(draws.max(axis=1) - draws[:, leader])
