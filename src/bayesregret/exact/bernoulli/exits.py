"""First exits of a Bernoulli arm: where, on the lattice of pulls and successes, its index is first below a level."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.exact.bernoulli.cells import fewest_successes
from bayesregret.exact.bernoulli.lattice import NOTHING, ONE, ZERO, polya_step
from bayesregret.models import BernoulliBandit
from bayesregret.policies.base import as_index


class Exits(NamedTuple):
    """All first exits of one arm below all levels, one level after the other."""

    level: NDArray[np.int64]
    pulls: NDArray[np.int64]
    successes: NDArray[np.int64]
    mass: Array


def first_exits(bandit: BernoulliBandit, settings: Any, belief: Any, arm: int, horizon: int, levels: Array) -> Exits:
    lowest = np.zeros((len(levels), horizon), np.uint64)
    find = compile_kernel(fewest_successes, type(settings), type(belief))
    find(as_index(settings), belief, arm, levels, lowest)
    most = 2 * horizon
    pulls, successes = np.zeros((len(levels), most), np.int64), np.zeros((len(levels), most), np.int64)
    mass, count = np.zeros((len(levels), most)), np.zeros(len(levels), np.int64)
    scratch = [np.zeros(horizon + 2), np.zeros(horizon + 2), np.arange(horizon + 2.0)]
    run = compile_kernel(list_exits)
    run(bandit.alpha[arm], bandit.beta[arm], lowest, *scratch, pulls, successes, mass, count)
    used = np.arange(most) < count[:, None]
    level = np.broadcast_to(np.arange(len(levels))[:, None], used.shape)
    return Exits(level[used], pulls[used], successes[used], mass[used])


def list_exits(alpha, beta, lowest, here, there, numbers, pulls, successes, mass, count):
    """For each level the points at which an arm is first below it, with their chances."""
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
        while high > low and here[high] < NOTHING:
            high -= ONE
    return found
