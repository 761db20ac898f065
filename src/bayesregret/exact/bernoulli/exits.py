"""First exits of a Bernoulli arm: lattice points (pulls, successes) where its index is first below a threshold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.exact.bernoulli.cells import fewest_successes
from bayesregret.exact.bernoulli.lattice import NEGLIGIBLE, ONE, ZERO, polya_step
from bayesregret.models import BernoulliBandit
from bayesregret.policies.selection import as_index


class BernoulliExits(NamedTuple):
    """First exits of one arm below all thresholds, in the order of the thresholds; `threshold` is their position."""

    threshold: NDArray[np.int64]
    pulls: NDArray[np.int64]
    successes: NDArray[np.int64]
    mass: Array


def first_exits(
    bandit: BernoulliBandit, settings: Any, belief: Any, arm: int, horizon: int, thresholds: Array
) -> BernoulliExits:
    lowest = np.zeros((len(thresholds), horizon), np.uint64)
    find = compile_kernel(fewest_successes, type(settings), type(belief))
    find(as_index(settings), belief, arm, thresholds, lowest)
    most = 2 * horizon
    pulls, successes = np.zeros((len(thresholds), most), np.int64), np.zeros((len(thresholds), most), np.int64)
    mass, count = np.zeros((len(thresholds), most)), np.zeros(len(thresholds), np.int64)
    scratch = [np.zeros(horizon + 2), np.zeros(horizon + 2), np.arange(horizon + 2.0)]
    run = compile_kernel(list_exits)
    run(bandit.alpha[arm], bandit.beta[arm], lowest, *scratch, pulls, successes, mass, count)
    used = np.arange(most) < count[:, None]
    threshold = np.broadcast_to(np.arange(len(thresholds))[:, None], used.shape)
    return BernoulliExits(threshold[used], pulls[used], successes[used], mass[used])


def list_exits(alpha, beta, lowest, here, there, numbers, pulls, successes, mass, count):
    """Write, per threshold, the points at which an arm is first below it, with their probabilities."""
    for i in range(lowest.shape[0]):
        found = walk(alpha, alpha + beta, lowest[i], here, there, numbers, pulls[i], successes[i], mass[i])
        count[i] = found


@jitable
def walk(alpha, total, lowest, here, there, numbers, pulls, successes, mass):
    here[0] = 1.0
    low, high = ZERO, ZERO
    found = 0
    for k in range(lowest.shape[0]):
        if k > 0:
            polya_step(alpha, total, float(k) - 1.0, numbers, low, high, here, there)
            here, there = there, here
            high += ONE
        while low <= high and low < lowest[k]:
            pulls[found], successes[found], mass[found] = k, low, here[low]
            found += 1
            low += ONE
        if low > high:
            return found
        while high > low and here[high] < NEGLIGIBLE:
            high -= ONE
    return found
