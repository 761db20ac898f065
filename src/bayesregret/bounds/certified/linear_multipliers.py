"""Multipliers u of lower confidence limits for the index form of linear bandits, and the charges that they cost.

Every choice gives a valid bound: the search below only makes it small. Counts come in blocks with one multiplier each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bayesregret.bounds.bound import Setting
from bayesregret.bounds.certified.linear_knapsack import LARGEST_RATIO, prior_pulls
from bayesregret.bounds.certified.linear_learning import InformationLimits
from bayesregret.bounds.gaps.linear import Geometry
from bayesregret.checks import Array

# A multiplier far below -z: no pull has zeta <= u in a good round, and the regret of each round is charged by its mean.
NONE = -50.0
# Multipliers to choose from. Larger ones cost less than 1e-14 of a width.
GRID = np.concatenate([[-2.0, -1.0], np.arange(-0.5, 4.1, 0.25), [4.5, 5.0, 6.0, 8.0]])
COMMON = np.concatenate([[-1.0, -0.5, 0.0, 0.3], np.arange(0.6, 2.5, 0.2), [2.7, 3.0, 4.0, 8.0]])
# Charges per round to try, relative to the charge for the widths.
PER_ROUND = (0.0, 0.05, 0.2)
BEST = 3  # of those with a multiplier for each arm and block
# Blocks: the first ones are single counts; neighbouring sizes have at least this ratio.
SINGLE, RATIO, MOST_BLOCKS = 24, 1.15, 100
LARGEST_TABLE = 10**6
# Below this many draws, the expectation of small gaps is extrapolated: their density is about constant.
FEW = 48


class Multipliers(NamedTuple):
    """A multiplier for each arm and block of counts, and the charges for rounds with zeta > u."""

    start: Array  # (blocks,): the first count
    stop: Array  # (blocks,): the first count of the next block
    u: Array  # (arms or 1, blocks)
    per_round: float  # lambda
    per_width: float  # mu
    uncovered: float  # sum over arms and counts of what lambda + mu w does not cover
    noise: float
    prior_pulls: Array  # (arms,)

    def deviation(self, count: Array) -> Array:
        """(arms, counts): the posterior standard deviation after this many pulls of the arm alone."""
        return np.asarray(self.noise / np.sqrt(self.prior_pulls[:, None] + count))

    def charges(self, widths: float, horizon: int) -> float:
        """Regret of all rounds with zeta > u."""
        return self.per_round * horizon + self.per_width * widths + self.uncovered


def excess_above(z: float, u: Array) -> Array:
    """c(u) = E[(z + zeta); zeta > u] = z Q(u) + phi(u); for u = `NONE` it is z."""
    return np.asarray(z * ndtr(-u) + np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi))


def _above(grid: Array, setting: Setting) -> Array:
    """`NONE` and the multipliers above -z."""
    return np.append(NONE, grid[grid > -setting.z])


def candidates(arms: Geometry, limits: InformationLimits, setting: Setting, gaps: Array) -> Iterator[Multipliers]:
    """Yield one multiplier for all, for several values, and the best few with one for each arm and block."""
    pulls = prior_pulls(arms.prior_deviation, limits.noise)
    yield from _by_arm_and_block(arms, limits, setting, gaps, pulls)
    everything = np.array([0.0]), np.array([float(setting.horizon)])
    for u in _above(COMMON, setting)[::-1]:  # rising charges: the last ones may be left out
        per_width = float(excess_above(setting.z, u))
        yield Multipliers(*everything, np.array([[u]]), 0.0, per_width, 0.0, limits.noise, pulls)


def _by_arm_and_block(
    arms: Geometry, limits: InformationLimits, setting: Setting, gaps: Array, pulls: Array
) -> Iterator[Multipliers]:
    """Weigh the regret of good pulls, without limits on all arms' pulls together, against the charges."""
    u = _above(GRID, setting)
    start, stop = _blocks(setting.horizon, min(MOST_BLOCKS, LARGEST_TABLE // (arms.arms * len(u))))
    middle, size = 0.5 * (start + stop - 1.0), stop - start
    deviation = limits.noise / np.sqrt(pulls[:, None] + middle)
    thresholds = deviation[:, :, None] * (setting.z + u)
    good = np.stack([_below(gaps[:, arm], thresholds[arm]) for arm in range(arms.arms)])
    c, widths = excess_above(setting.z, u), limits.widths(setting.horizon)
    found = []
    for per_width in np.append(excess_above(setting.z, _above(COMMON[::2], setting)), 0.0):
        uncovered = deviation[:, :, None] * np.maximum(c - per_width, 0.0)
        for fraction in PER_ROUND:
            per_round = fraction * widths / setting.horizon
            cost = size[:, None] * (good + np.maximum(uncovered - per_round, 0.0))
            total = float(cost.min(axis=2).sum()) + per_round * setting.horizon + per_width * widths
            found.append((total, per_round, float(per_width), u[cost.argmin(axis=2)]))
    found.sort(key=lambda one: one[0])
    for _, per_round, per_width, chosen in found[:BEST]:
        rest = np.maximum(excess_above(setting.z, chosen) - per_width, 0.0)
        uncovered = _uncovered(start, stop, rest, per_round, limits.noise, pulls)
        yield Multipliers(start, stop, chosen, per_round, per_width, uncovered, limits.noise, pulls)


def _blocks(horizon: int, most: int) -> tuple[Array, Array]:
    """Starts and ends of blocks of counts 0, ..., horizon - 1."""
    if most <= SINGLE:
        return np.array([0.0]), np.array([float(horizon)])
    ratio = max(RATIO, (horizon / SINGLE) ** (1.0 / (most - SINGLE)))
    edges = list(map(float, range(min(SINGLE, horizon) + 1)))
    while edges[-1] < horizon:
        edges.append(min(float(horizon), math.ceil(edges[-1] * ratio)))
    return np.array(edges[:-1]), np.array(edges[1:])


def _below(gaps: Array, thresholds: Array) -> Array:
    """E[gap; gap <= threshold], about, from draws of the gap."""
    positive = np.sort(gaps[gaps > 0.0])
    if len(positive) == 0:
        return np.zeros(thresholds.shape)
    total = np.concatenate([[0.0], np.cumsum(positive)]) / len(gaps)
    few = min(FEW, len(positive))
    gaps = positive
    found = total[np.searchsorted(gaps, thresholds, side="right")]
    near = thresholds < gaps[few - 1]
    return np.where(near, total[few] * (np.clip(thresholds, 0.0, gaps[few - 1]) / gaps[few - 1]) ** 2, found)


def _uncovered(start: Array, stop: Array, rest: Array, per_round: float, noise: float, pulls: Array) -> float:
    """Upper bound on the sum over arms and counts k of (s / sqrt(r + k) rest - per_round)^+.

    The summand is convex in k, so it is at most its integral from k - 1/2 to k + 1/2; the first count of each block is
    taken as it is. `positive` counts are those up to which the difference is positive.
    """
    r = pulls[:, None]
    last = np.broadcast_to(stop, rest.shape)
    if per_round > 0.0:
        with np.errstate(over="ignore"):
            root = np.clip(noise * rest / per_round, 0.0, LARGEST_RATIO)
        last = np.clip(np.ceil(root * root - r), start, stop)
    counts = last - start
    more = np.maximum(counts - 1.0, 0.0)
    first = np.where(counts > 0.0, noise / np.sqrt(r + start), 0.0)
    after = 2.0 * noise * more / (np.sqrt(r + start + 0.5 + more) + np.sqrt(r + start + 0.5))
    return float(np.sum(np.maximum(rest * (first + after) - per_round * counts, 0.0)))
