"""Kernel for linear bandits that computes all indices only when it must.

While one arm is pulled c times in a row, with w_a the covariance of arm a with it at the streak's start and w its own,
all means and variances follow from two numbers: with shrink = 1 / (s^2 + c w), every mean is m_a + w_a move, where
move = excess shrink, and of the variance that arm a has in common with the pulled one, w_a^2 / w, the
fraction kept = s^2 shrink is left. Three tests, each exact, each more expensive than the one before, decide whether the
arm still leads:

1. For the next few pulls the arm's own width is at least what it will be at their end, and no other index can exceed
   the highest of them when they were last looked at plus w_a (move - anchor) for the largest or smallest w_a: variances
   only fall. Both are linear in `excess` and c, so a round costs two comparisons.
2. The same with the arm's present width.
3. All indices.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import confidence_width, draw_means, draw_reward
from bayesregret.dispatch import jitable, order_free
from bayesregret.models.linear import LinearModel, aligned
from bayesregret.models.linear_posterior import (
    COLLAPSE,
    LinearPosterior,
    add_rewards,
    inverse_or_zero,
    make_posterior,
    reset_posterior,
    set_target,
    variance_after,
)
from bayesregret.policies.linear_selection import first_with, highest, is_refused
from bayesregret.policies.selection import NO_ARM
from bayesregret.rng import INSTANCE, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.run import add_pulls, best_arm, mark_checkpoints, play_run, refuse

# The cheap tests allow for rounding errors of this relative size; closer cases get the exact test.
ROUNDING = 1e-11
# A streak ends after this many pulls, so that an interrupt is noticed.
LONGEST_STREAK = 1 << 22


class LinearIndexState(NamedTuple):
    means: Array  # (arms,)
    indices: Array  # (columns,)
    streams: NDArray[np.uint64]  # (arms, 4)
    posterior: LinearPosterior


def make_linear_index_state(model: LinearModel) -> LinearIndexState:
    columns = model.whitened.shape[1]
    streams = np.empty((model.arms, 4), np.uint64)
    return LinearIndexState(np.empty(model.arms), aligned(columns), streams, make_posterior(model))


@play_run.implement(LinearIndexState)
def play_linear(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    posterior = state.posterior
    reset_posterior(posterior, belief)
    highest_index = look_for_highest(policy, posterior, state.indices)
    rounds = 0
    regret = 0.0
    marked = 0
    while True:
        if math.isnan(highest_index):
            refuse(plan, NO_ARM)
            return regret, best
        arm = first_with(state.indices, highest_index)
        set_target(posterior, arm)
        if posterior.counts[arm] == 0:
            stream = open_stream(key, start, REWARD + np.uint64(arm))
        else:
            stream = read_stream(state.streams, arm)
        left = min(plan.horizon - rounds, longest_streak(belief, posterior.covariance[arm]))
        pulls, excess, stream, highest_index = stay(state, world, policy, belief, arm, left, stream)
        write_stream(state.streams, arm, stream)

        gap = state.means[best] - state.means[arm]
        marked = mark_checkpoints(plan, curve, marked, rounds, pulls, regret, gap)
        regret += pulls * gap
        rounds += pulls
        if rounds >= plan.horizon or plan.stop[0]:
            posterior.counts[arm] += pulls
            return regret, best
        add_rewards(posterior, belief, arm, pulls, excess)
        if pulls == left:  # the streak was cut; no arm overtook
            highest_index = look_for_highest(policy, posterior, state.indices)


@jitable
def longest_streak(belief, variance):
    """A pull that removes nearly all of a very wide prior is a streak by itself: `learn` then keeps the digits."""
    return 1 if COLLAPSE * variance > belief.reward_noise * belief.reward_noise else LONGEST_STREAK


@jitable
def stay(state, world, policy, belief, arm, left, stream):
    """Pull an arm until another one leads, at most `left` times.

    Return the number of pulls, the excess of their rewards over the expected ones, the stream, and the highest index of
    the other arms, nan if one is nan.
    If another arm leads, `state.indices` holds all indices.
    """
    posterior = state.posterior
    true_mean = state.means[arm]
    mean, variance, own = posterior.mean[arm], posterior.variance[arm], posterior.covariance[arm]
    share = inverse_or_zero(own)
    noise = belief.reward_noise * belief.reward_noise
    posterior.covariance[arm] = 0.0  # so that the next line sees only the other arms
    rise, sink = extremes(posterior.covariance)
    posterior.covariance[arm] = own
    state.indices[arm] = -np.inf
    best_other = highest(state.indices)
    slack = ROUNDING * (abs(best_other) + abs(mean)) if best_other > -np.inf else 0.0
    anchor = 0.0
    pulls = 0
    excess = 0.0
    end = 1
    ahead_up, ahead_down = -1.0, -1.0  # most streaks have one pull, so the first is tested exactly
    scale = noise
    while True:
        while True:
            reward, stream = draw_reward(world, arm, true_mean, stream)
            excess += reward - mean
            pulls += 1
            scale += own
            if ahead_up * scale + (own - rise) * excess <= 0.0 or ahead_down * scale + (own - sink) * excess <= 0.0:
                break
            if pulls == end:
                break
        if pulls == left:
            return pulls, excess, stream, best_other
        # Test 2.
        scale = noise + pulls * own
        shrink = 1.0 / scale
        move = excess * shrink
        kept = noise * shrink
        index = mean + own * move + confidence_width(policy, variance_after(variance, own, share, kept))
        gain = max(rise * (move - anchor), sink * (move - anchor))
        if not index - slack > best_other + gain:
            # Test 3.
            if look(policy, posterior, state.indices, move, share, kept):
                return pulls, excess, stream, math.nan
            index = state.indices[arm]
            state.indices[arm] = -np.inf
            best_other = highest(state.indices)
            anchor = move
            if index <= best_other:
                if index < best_other or first_with(state.indices, best_other) < arm:
                    state.indices[arm] = index
                    return pulls, excess, stream, best_other
        # Test 1, for the next stretch of pulls.
        end = min(left, pulls + 4 + (pulls >> 2))
        width = confidence_width(policy, variance_after(variance, own, share, noise / (noise + end * own)))
        lead = mean + width - best_other - slack
        ahead_up = lead + rise * anchor
        ahead_down = lead + sink * anchor


@jitable
def look(policy, posterior, indices, move, share, kept):
    """Compute all indices after a streak that moved means by `move` and kept the fraction `kept` of shared variance.

    Return whether one is nan.
    """
    found_nan = False
    for arm in range(indices.shape[0]):
        covariance = posterior.covariance[arm]
        variance = variance_after(posterior.variance[arm], covariance, share, kept)
        index = posterior.mean[arm] + covariance * move + confidence_width(policy, variance)
        found_nan |= is_refused(policy, index)
        indices[arm] = index
    return found_nan


@jitable
def look_for_highest(policy, posterior, indices):
    """Compute all indices; return the highest, or nan if one is nan."""
    return math.nan if look(policy, posterior, indices, 0.0, 0.0, 1.0) else highest(indices)


@order_free
def extremes(values):
    """The largest and the smallest value."""
    largest = smallest = values[0]
    for value in values:
        largest = max(largest, value)
        smallest = min(smallest, value)
    return largest, smallest


@add_pulls.implement(LinearIndexState)
def add_linear_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += state.posterior.counts[arm]
    return state.posterior.counts[best]
