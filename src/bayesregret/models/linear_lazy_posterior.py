"""Posterior of a linear bandit, one reward at a time, whose rank-one update waits until another arm is pulled.

While one arm is pulled c times in a row, all means and covariances follow from those at the streak's start and a few
numbers, as in simulation/kernels/linear_index.py. With w_a the covariance of arm a with the pulled arm, w the pulled
arm's variance and shrink = 1 / (s^2 + c w), mean a has moved by w_a excess shrink, and column a of roots would lose the
pulled arm's column times w_a bend. So a reward costs no work on other arms during a streak. Functions here are inlined
where possible: passing the many arrays of a posterior on costs half an update.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import Stats, empty_stats, information, mean_now, means_at, variance_now
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import log
from bayesregret.models.linear import LinearModel, aligned
from bayesregret.models.linear_posterior import (
    COLLAPSE,
    LinearPosterior,
    add_rewards,
    add_rows,
    copy_posterior,
    inverse_or_zero,
    make_posterior,
    reset_posterior,
    set_target,
    variance_after,
)

# Layout of `numbers`: the streak's rewards minus those expected at its start; how far means move per unit of
# covariance; one over the pulled arm's variance at the start, and the fraction of that variance that is left; the
# information of `start`.
EXCESS, MOVE, PRECISION, KEPT, SETTLED = range(5)


class LazyPosterior(NamedTuple):
    start: LinearPosterior  # at the start of the streak
    mean: Array  # (columns,): of `start`
    roots: Array  # (r, columns): of `start`
    target: NDArray[np.int64]  # (2,): the arm of the streak, and its pulls, possibly 0
    numbers: Array


def make_lazy_posterior(model: LinearModel) -> LazyPosterior:
    start = make_posterior(model)
    streak = LazyPosterior(start, start.mean, start.roots, np.zeros(2, np.int64), np.zeros(5))
    reset_lazy_posterior(streak, model)
    return streak


def linear_empty_stats(model: LinearModel, memory: int, scratch: int) -> Stats:
    """Statistics of a policy with a `choose_linear` before the first reward; `scratch` is aligned."""
    return empty_stats(model.arms, memory)._replace(scratch=aligned(scratch))


@jitable
def reset_lazy_posterior(streak, model):
    """Return to the prior."""
    reset_posterior(streak.start, model)
    streak.numbers[SETTLED] = 0.0
    begin_streak(streak, 0)


@jitable
def copy_lazy_posterior(streak, source):
    """Copy another posterior of the same model."""
    copy_posterior(streak.start, source.start)
    for place in range(streak.target.shape[0]):
        streak.target[place] = source.target[place]
    for place in range(streak.numbers.shape[0]):
        streak.numbers[place] = source.numbers[place]


@jitable
def pulls_in(streak, arm):
    """Number of pulls of an arm."""
    return streak.start.counts[arm] + (streak.target[1] if arm == streak.target[0] else 0)


@rarely_called
def begin_streak(streak, arm):
    """Begin a streak of no pulls."""
    set_target(streak.start, arm)
    streak.target[0], streak.target[1] = arm, 0
    streak.numbers[EXCESS] = 0.0
    streak.numbers[MOVE] = 0.0
    streak.numbers[PRECISION] = inverse_or_zero(streak.start.covariance[arm])
    streak.numbers[KEPT] = 1.0


@jitable
def set_streak(streak, model, pulls, excess):
    """Set the streak's number of pulls, and by how much their rewards exceed those expected at its start."""
    noise = model.reward_noise * model.reward_noise
    whole = noise + pulls * streak.start.covariance[streak.target[0]]
    shrink = 1.0 / whole
    streak.target[1] = pulls
    streak.numbers[EXCESS] = excess
    streak.numbers[MOVE] = excess * shrink
    streak.numbers[KEPT] = noise * shrink


@jitable
def add_linear_reward(streak, model, arm, reward):
    """Add one reward of an arm."""
    if arm != streak.target[0]:
        end_streak(streak, model, arm)
    extend_streak(streak, model, arm, 1, reward - streak.start.mean[arm])


@jitable
def count_linear_pulls(streak, model, arm, pulls):
    """Add pulls of an arm without their rewards: variances and information are exact, means are not to be used."""
    if arm != streak.target[0]:
        end_streak(streak, model, arm)
    extend_streak(streak, model, arm, pulls, 0.0)


@jitable
def extend_streak(streak, model, arm, pulls, excess):
    """Add pulls of the streak's arm, whose rewards exceed those expected at the streak's start by `excess` in total."""
    before = streak.target[1]
    set_streak(streak, model, before + pulls, streak.numbers[EXCESS] + excess)
    # A pull that removes nearly all of a very wide prior ends its streak: `add_rewards` then keeps the digits.
    if streak.numbers[KEPT] < COLLAPSE and before == 0:
        end_streak(streak, model, arm)


@rarely_called
def end_streak(streak, model, arm):
    """Add the streak's rewards to the posterior, and begin a streak of this arm."""
    if streak.target[1] > 0:
        streak.numbers[SETTLED] -= log(streak.numbers[KEPT])
        add_rewards(streak.start, model, streak.target[0], streak.target[1], streak.numbers[EXCESS])
    begin_streak(streak, arm)


@jitable
def bend(streak):
    """Column a of roots would lose the pulled arm's column times `bend` and times its covariance with that arm."""
    return streak.numbers[PRECISION] * (1.0 - math.sqrt(streak.numbers[KEPT]))


@mean_now.implement(LazyPosterior)
def streak_mean(posterior, arm):
    return posterior.mean[arm] + posterior.start.covariance[arm] * posterior.numbers[MOVE]


@variance_now.implement(LazyPosterior)
def streak_variance(posterior, arm):
    precision, kept = posterior.numbers[PRECISION], posterior.numbers[KEPT]
    return variance_after(posterior.start.variance[arm], posterior.start.covariance[arm], precision, kept)


@information.implement(LazyPosterior)
def streak_information(posterior):
    """Each reward adds log(1 + w / s^2), w the arm's variance before it; over a streak these sum to -log(KEPT)."""
    return posterior.numbers[SETTLED] - log(posterior.numbers[KEPT])


@means_at.implement(LazyPosterior)
def streak_means_at(posterior, xi, means):
    rank, columns = posterior.roots.shape
    roots, target = posterior.roots, posterior.target[0]
    along = 0.0  # change of the pulled arm's mean at xi
    for i in range(rank):
        along += xi[i] * roots[i, target]
    shift = posterior.numbers[MOVE] - bend(posterior) * along
    for arm in range(columns):
        means[arm] = posterior.mean[arm] + posterior.start.covariance[arm] * shift
    add_rows(means, roots, xi)
