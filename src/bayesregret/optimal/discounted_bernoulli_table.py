"""Table of Gittins indices with a discount of a Bernoulli arm, by pulls and successes.

The margin of a charge falls with the charge and rises with the successes. So for rising charges, each with its own
recursion (discounted_bernoulli.py), the fewest successes with a positive margin rise from 0 to all pulls, and the index
of every state on the way lies between two neighbouring charges. Where they pass one state at a time, both margins of
the state are known and the index is where the line through them is 0; the margin is convex, so that the index is at
most a little too high. Where they pass several, their order among each other is that of the interpolated boundary.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.optimal.discounted_bernoulli import keep_boundary, margin_before_pulls

# Charges for each number of pulls in the table, at least and at most so many.
CHARGES_PER_PULL, FEWEST_CHARGES, MOST_CHARGES = 4, 1_000, 4_000
# The mean reward is shown this many lifetimes after the end of the table, or after the largest number of pulls.
LIFETIMES, MOST_PULLS = 9, 60_000
CHUNKS = 32  # of charges, shared among threads
CERTAIN = 1e12  # pseudo-count beyond which pulls teach nothing
HALVINGS = 12  # of the interval that the highest index is in


class Boundary(NamedTuple):
    """Where the margins of a charge become positive, after 0, 1, ... pulls."""

    fewest: NDArray[np.int64]  # successes with a positive margin; one more than the pulls if none have one
    above: Array  # margin with as many successes; 0 if these are more than the pulls
    below: Array  # margin with one success less; extrapolated if this is less than none


def make_boundary(depth: int) -> Boundary:
    return Boundary(np.zeros(depth, np.int64), np.zeros(depth), np.zeros(depth))


@keep_boundary.implement(Boundary)
def keep_both_sides(record, pulls, value, start, lowest, top, one_pull):
    if pulls >= record.fewest.shape[0]:
        return
    fewest = lowest if value[lowest] > 0.0 else lowest + 1
    record.fewest[pulls] = fewest
    record.above[pulls] = value[fewest] if fewest <= top else 0.0
    record.below[pulls] = value[fewest - 1] if fewest > start else one_pull
    if fewest == 0 and top > 0:
        record.below[pulls] = 2.0 * value[0] - value[1]


def bernoulli_table(alpha: float, beta: float, lifetime: float, depth: int) -> Array:
    """Return indices after 0, ..., depth - 1 pulls: that after k pulls with s successes is at k (k + 1) / 2 + s."""
    pulls = np.repeat(np.arange(depth), np.arange(1, depth + 1))
    successes = np.arange(len(pulls)) - pulls * (pulls + 1) // 2
    table = np.asarray((alpha + successes) / (alpha + beta + pulls))
    if alpha + beta < CERTAIN:
        _raise_to_indices(alpha, beta, lifetime, depth, table)
    return table


def _raise_to_indices(alpha: float, beta: float, lifetime: float, depth: int, table: Array) -> None:
    """Replace posterior means, which no index is below, by indices."""
    shown = depth + min(MOST_PULLS, math.ceil(LIFETIMES * lifetime))
    charges = _charges(alpha, beta, lifetime, depth, shown)
    run = compile_kernel(_fill)

    def fill(part: Any) -> None:
        one, two = make_boundary(depth), make_boundary(depth)
        run(alpha, beta, lifetime, shown, charges[part[0] : part[-1] + 2], np.empty(shown + 3), one, two, table)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(fill, np.array_split(np.arange(len(charges) - 1), CHUNKS)))
    # Rounding must not make an index fall with the successes.
    compile_kernel(_never_fall)(depth, table)


def _charges(alpha: float, beta: float, lifetime: float, depth: int, shown: int) -> Array:
    """Rising charges that enclose the indices: evenly spaced in the angle in which all means are as uncertain."""
    high = _highest_index(alpha, beta, lifetime, depth, shown)
    begin, end = (2.0 * math.asin(math.sqrt(mean)) for mean in (alpha / (alpha + beta + depth), high))
    number = min(MOST_CHARGES, max(FEWEST_CHARGES, CHARGES_PER_PULL * depth))
    angles = begin + (end - begin) * (np.arange(number) + 0.5) / (number - 0.5)
    return np.asarray(np.sin(0.5 * np.minimum(angles, math.pi - 0.5 * (end - begin) / number)) ** 2)


def _highest_index(alpha: float, beta: float, lifetime: float, depth: int, shown: int) -> float:
    """Return a charge above all indices, but not far above them.

    An index is at most sqrt(2 log(lifetime + 3)) deviations above the mean, those of a sub-Gaussian posterior.
    """
    total, pulls = alpha + beta, np.arange(depth)
    means = (alpha + pulls) / (total + pulls)
    high = float(min(1.0, np.max(means + np.sqrt(math.log(lifetime + 3.0) / (2.0 * (total + pulls + 1.0))))))
    low = float(means[-1])
    run, value, boundary = compile_kernel(_boundary), np.empty(shown + 3), make_boundary(depth)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        run(alpha, beta, lifetime, shown, middle, value, boundary)
        low, high = (low, middle) if np.all(boundary.fewest > pulls) else (middle, high)
    return high


def _boundary(
    alpha: float, beta: float, lifetime: float, shown: int, charge: float, value: Array, boundary: Any
) -> None:
    margin_before_pulls(alpha, beta, lifetime, shown, charge, value, boundary)


def _fill(
    alpha: float, beta: float, lifetime: float, shown: int, charges: Array, value: Array, one: Any, two: Any, table: Any
) -> None:
    for i in range(charges.shape[0]):
        margin_before_pulls(alpha, beta, lifetime, shown, charges[i], value, two)
        if i > 0:
            _pass_states(charges[i - 1], charges[i], one, two, table)
        one, two = two, one


@jitable
def _pass_states(low, high, before, after, table):
    """Write the indices of the states whose margin is positive for the low charge and not for the high one."""
    for pulls in range(before.fewest.shape[0]):
        first, end = before.fewest[pulls], after.fewest[pulls]
        start = (pulls * (pulls + 1)) // 2
        if end == first + 1:
            part = before.above[pulls] / (before.above[pulls] - after.below[pulls])
            table[start + first] = max(table[start + first], low + (high - low) * part)
        elif end > first:
            begin = first - before.above[pulls] / (before.above[pulls] - before.below[pulls])
            finish = end - after.above[pulls] / (after.above[pulls] - after.below[pulls])
            for successes in range(first, end):
                part = min(1.0, max(0.0, (successes - begin) / (finish - begin)))
                table[start + successes] = max(table[start + successes], low + (high - low) * part)


def _never_fall(depth: int, table: Array) -> None:
    for pulls in range(depth):
        start = (pulls * (pulls + 1)) // 2
        for successes in range(1, pulls + 1):
            table[start + successes] = max(table[start + successes], table[start + successes - 1])
