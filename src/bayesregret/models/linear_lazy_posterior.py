"""The posterior of a linear bandit one reward at a time, with the rank-one update put off while an arm is repeated.

While one arm is pulled c times in a row, all means and covariances follow from those at the streak's start and a few
numbers, as in simulation/linear.py: with w_a the covariance of arm a with the pulled one, w its own and
shrink = 1 / (s^2 + c w), means have moved by w_a excess shrink, and columns of roots would lose the pulled arm's times
w_a bend. So a reward costs no look at other arms until another arm is pulled. Nothing here is kept out of its callers:
a posterior is so many arrays that passing it on costs as much as half an update.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import (
    Stats,
    empty_stats,
    information,
    lead_root,
    least_leads,
    mean_now,
    means_at,
    repeat,
    repeated,
    variance_now,
)
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.models.linear import LinearModel, aligned
from bayesregret.models.linear_posterior import (
    COLLAPSE,
    LinearPosterior,
    add_rows,
    aim,
    forget,
    inverse_or_zero,
    learn,
    make_posterior,
    variance_after,
)

# A lead's variance is a difference of variances: this share of their size is left to rounding.
ROUNDING = 1e-11
# Places in `numbers`.
EXCESS, MOVE, SHARE, KEPT, SETTLED = range(5)


class LazyPosterior(NamedTuple):
    belief: LinearModel
    start: LinearPosterior  # as it was when the streak began
    mean: Array  # (columns,): of `start`
    roots: Array  # (r, columns): of `start`
    target: NDArray[np.int64]  # (2,): the arm of the streak, and its pulls, which may be none
    numbers: Array  # what the streak has changed, and the information of `start`


def make_lazy_posterior(model: LinearModel) -> LazyPosterior:
    start = make_posterior(model)
    streak = LazyPosterior(model, start, start.mean, start.roots, np.zeros(2, np.int64), np.zeros(5))
    reset_lazy_posterior(streak, model)
    return streak


def linear_empty_stats(model: LinearModel, memory: int, scratch: int) -> Stats:
    """What a policy with a `choose_linear` knows at first beside the posterior; its scratch is as fast as that."""
    return empty_stats(model.arms, memory)._replace(scratch=aligned(scratch))


@jitable
def reset_lazy_posterior(streak, model):
    """Back to the prior, nothing seen."""
    forget(streak.start, model)
    streak.numbers[SETTLED] = 0.0
    begin(streak, 0)


@rarely_called
def begin(streak, arm):
    """Begin a streak of no pulls."""
    aim(streak.start, arm)
    streak.target[0], streak.target[1] = arm, 0
    streak.numbers[EXCESS] = 0.0
    streak.numbers[MOVE] = 0.0
    streak.numbers[SHARE] = inverse_or_zero(streak.start.covariance[arm])
    streak.numbers[KEPT] = 1.0


@jitable
def stretch(streak, model, pulls, excess):
    """Let the streak be of so many pulls, whose rewards exceed what was expected at its start by `excess` in sum."""
    noise = model.reward_noise * model.reward_noise
    whole = noise + pulls * streak.start.covariance[streak.target[0]]
    shrink = 1.0 / whole
    streak.target[1] = pulls
    streak.numbers[EXCESS] = excess
    streak.numbers[MOVE] = excess * shrink
    streak.numbers[KEPT] = noise * shrink


@jitable
def learn_one(streak, model, arm, reward):
    """Take in one reward."""
    if arm != streak.target[0]:
        turn_to(streak, model, arm)
    stretch(streak, model, streak.target[1] + 1, streak.numbers[EXCESS] + (reward - streak.start.mean[arm]))
    # A pull that takes away nearly all of a very wide prior is a streak of its own: `learn` then keeps the digits.
    if streak.numbers[KEPT] < COLLAPSE and streak.target[1] == 1:
        turn_to(streak, model, arm)


@rarely_called
def turn_to(streak, model, arm):
    """End the streak, whose rewards go into the posterior at once, and begin one of this arm."""
    if streak.target[1] > 0:
        streak.numbers[SETTLED] -= math.log(streak.numbers[KEPT])
        learn(streak.start, model, streak.target[0], streak.target[1], streak.numbers[EXCESS])
    begin(streak, arm)


@jitable
def bend(streak):
    """Columns of roots would lose the pulled arm's times this and their covariance with it."""
    return streak.numbers[SHARE] * (1.0 - math.sqrt(streak.numbers[KEPT]))


@mean_now.implement(LazyPosterior)
def streak_mean(posterior, arm):
    return posterior.mean[arm] + posterior.start.covariance[arm] * posterior.numbers[MOVE]


@variance_now.implement(LazyPosterior)
def streak_variance(posterior, arm):
    share, kept = posterior.numbers[SHARE], posterior.numbers[KEPT]
    return variance_after(posterior.start.variance[arm], posterior.start.covariance[arm], share, kept)


@information.implement(LazyPosterior)
def streak_information(posterior):
    """Each reward adds log(1 + w / s^2), w the arm's variance before it: a streak's sum is minus the log of KEPT."""
    return posterior.numbers[SETTLED] - math.log(posterior.numbers[KEPT])


@means_at.implement(LazyPosterior)
def streak_means_at(posterior, xi, means):
    rank, columns = posterior.roots.shape
    roots, target = posterior.roots, posterior.target[0]
    along = 0.0  # how far xi takes the pulled arm
    for i in range(rank):
        along += xi[i] * roots[i, target]
    shift = posterior.numbers[MOVE] - bend(posterior) * along
    for arm in range(columns):
        means[arm] = posterior.mean[arm] + posterior.start.covariance[arm] * shift
    add_rows(means, roots, xi)


@repeated.implement(LazyPosterior)
def streak_arm(posterior):
    return posterior.target[0], posterior.target[1], posterior.numbers[MOVE], posterior.numbers[KEPT]


@repeat.implement(LazyPosterior)
def streak_of(posterior, arm):
    turn_to(posterior, posterior.belief, arm)


@least_leads.implement(LazyPosterior)
def streak_leads(posterior, band, squares):
    start, share, kept = posterior.start, posterior.numbers[SHARE], posterior.numbers[KEPT]
    target, move = posterior.target[0], posterior.numbers[MOVE]
    mean, own = start.mean[target], start.covariance[target]
    reach = band * math.sqrt(kept * share)
    low, high = move - reach, move + reach
    for arm in range(squares.shape[0]):
        ahead = own - start.covariance[arm]
        lead = mean - start.mean[arm] + min(ahead * low, ahead * high)
        both = own + start.variance[arm]
        variance = variance_after(both - 2.0 * start.covariance[arm], ahead, share, kept) + ROUNDING * both
        squares[arm] = lead * lead / variance if lead > 0.0 else 0.0
    return low, high


@lead_root.implement(LazyPosterior)
def streak_lead_root(posterior, arm, root):
    target, covariance = posterior.target[0], posterior.start.covariance
    kept = 1.0 - bend(posterior) * (covariance[target] - covariance[arm])
    for i in range(root.shape[0]):
        root[i] = posterior.roots[i, arm] - kept * posterior.roots[i, target]
