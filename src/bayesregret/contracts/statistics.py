"""Sufficient statistics of all arms, and the posterior mean that they give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts.model import prior_pulls, prior_total
from bayesregret.dispatch import contract, jitable


class Stats(NamedTuple):
    """What a policy has observed, and the memory it asked for.

    Attributes
    ----------
    counts : (arms,) int
        Rewards received.
    totals : (arms,)
        Their sums.
    squares : (arms,)
        Sums of squared deviations from the arm's sample mean.
    memory : (any,)
        Numbers that the policy keeps; 0 at first, saved with an agent.
    scratch : (any,)
        Numbers that the policy can compute again; 0 at first, not saved.
    received : (1,) int
        Rewards received from all arms.
    score : (2,)
        The last tail probability whose normal quantile was needed, and that quantile.
    """

    counts: NDArray[np.int64]
    totals: NDArray[np.float64]
    squares: NDArray[np.float64]
    memory: NDArray[np.float64]
    scratch: NDArray[np.float64]
    received: NDArray[np.int64]
    score: NDArray[np.float64]


def empty_stats(arms: int, memory: int = 0, scratch: int = 0) -> Stats:
    """Statistics before the first reward."""
    counts, totals, squares = np.zeros(arms, np.int64), np.zeros(arms), np.zeros(arms)
    return Stats(counts, totals, squares, np.zeros(memory), np.zeros(scratch), np.zeros(1, np.int64), np.zeros(2))


@jitable
def add_reward(stats, arm, reward):
    """Add one reward of an arm.

    Squared deviations are updated reward by reward (Youngs and Cramer 1971): computed from sums of squares at the end,
    they would cancel where rewards are far from 0.
    """
    count, total = stats.counts[arm], stats.totals[arm]
    if count > 0:
        off = count * reward - total
        stats.squares[arm] += off * off / (count * (count + 1.0))
    stats.counts[arm] = count + 1
    stats.totals[arm] = total + reward
    stats.received[0] += 1


@contract()
def learn(model, stats, arm, reward):
    """Learn from one reward of an arm: update the statistics, and whatever the belief keeps in `stats.memory`."""


@learn.otherwise
def learn_by_statistics(model, stats, arm, reward):
    add_reward(stats, arm, reward)


@jitable
def reset_stats(stats):
    """Back to the state before the first reward."""
    stats.received[0] = 0
    for arm in range(stats.counts.shape[0]):
        stats.counts[arm] = 0
        stats.totals[arm] = 0.0
        stats.squares[arm] = 0.0
    for place in range(stats.memory.shape[0]):
        stats.memory[place] = 0.0
    for place in range(stats.scratch.shape[0]):
        stats.scratch[place] = 0.0


@jitable
def inverse_pulls(model, arm, count):
    """One over the number of real and imaginary pulls, 0 where there are none."""
    pulls = prior_pulls(model, arm) + count
    return 1.0 / pulls if pulls > 0.0 else 0.0


@jitable
def posterior_mean(model, arm, count, total):
    """Posterior mean of the arm's mean reward after `count` pulls with rewards summing to `total`; 0 without data."""
    return (prior_total(model, arm) + total) * inverse_pulls(model, arm, count)


@contract(returns="mean")
def current_mean(model, stats, arm):
    """Posterior mean of the arm's mean reward, given its statistics."""


@current_mean.otherwise
def conjugate_mean(model, stats, arm):
    return posterior_mean(model, arm, stats.counts[arm], stats.totals[arm])
