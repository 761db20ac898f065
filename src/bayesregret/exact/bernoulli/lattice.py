"""Bernoulli arms on the lattice of pulls and successes: distribution of the number of pulls above a threshold.

An arm starts at (0, 0); from (k, s) it moves to (k + 1, s + 1) with its posterior mean as the probability, otherwise to
(k + 1, s). Its index at each point is known, so there are finitely many thresholds. `mass` holds, at points whose index
is below the threshold, the probability that the arm arrives there from above; that mass waits. Lowering the threshold
releases the mass of some points, which moves on until it is below the new threshold.

Array indices are unsigned: with signed ones Numba handles negative indices, and the inner loop is five times slower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import arm_index
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.policies.selection import as_index

U = np.uint64
ZERO, ONE = U(0), U(1)
# Masses below this are lost in rounding.
NEGLIGIBLE = 1e-20


class Lattices(NamedTuple):
    """Lattices of all kinds of arms; axes are kinds, pulls, successes."""

    alpha: Array
    beta: Array
    indices: Array  # (kinds, horizon, horizon + 1), infinite where successes exceed pulls
    mass: Array
    lowest: NDArray[
        np.uint64
    ]  # by kind and pulls: the fewest successes with which the index is not below the threshold
    here: Array  # masses in motion
    there: Array
    numbers: Array  # 0, 1, 2, ...
    best: float  # expected mean of the best arm, the reference for losses


def index_table(settings: Any, belief: Any, arm: int, horizon: int) -> Array:
    """Return the arm's index at every lattice point, as the engine computes it."""
    table = np.full((horizon, horizon + 1), np.inf)
    with np.errstate(all="ignore"):
        compile_kernel(fill_indices, type(settings), type(belief))(as_index(settings), belief, arm, table)
    falls = (table[:, 1:] < table[:, :-1])[np.tril_indices(horizon, -1)]
    if np.isnan(table).any() or falls.any():
        raise ValueError("policy must have an index that never falls with an arm's successes for an exact regret")
    return table


def fill_indices(settings: Any, belief: Any, arm: int, table: Array) -> None:
    for k in range(table.shape[0]):
        for s in range(k + 1):
            table[k, s] = arm_index(settings, belief, arm, k, float(s))


def make_lattices(alpha: Array, beta: Array, best: float, index: Array) -> Lattices:
    kinds, horizon = len(index), index.shape[1]
    mass = np.zeros_like(index)
    mass[:, 0, 0] = 1.0
    return Lattices(
        alpha,
        beta,
        index,
        mass,
        np.tile(np.arange(1, horizon + 1, dtype=np.uint64), (kinds, 1)),
        np.zeros(horizon + 2),
        np.zeros(horizon + 2),
        np.arange(horizon + 2, dtype=np.float64),
        best,
    )


@jitable
def lower_threshold(lattices, kind, threshold, first, last, limit, distribution, loss):
    """Lower the threshold of a kind, which releases only points with `first` to `last` pulls.

    Adds the changes of the distribution and of the loss, by pulls below the limit, and returns the released mass.
    """
    index, mass, lowest = lattices.indices[kind], lattices.mass[kind], lattices.lowest[kind]
    alpha, total = lattices.alpha[kind], lattices.alpha[kind] + lattices.beta[kind]
    here, there = lattices.here, lattices.there
    low, high = ONE, ZERO  # an empty band
    freed = 0.0
    k = U(first)
    while k < U(limit):
        if low <= high:
            polya_step(alpha, total, float(k) - 1.0, lattices.numbers, low, high, here, there)
            here, there = there, here
            high += ONE
        inverse_total = 1.0 / (total + float(k))
        while lowest[k] > ZERO and index[k, lowest[k] - ONE] >= threshold:
            s = lowest[k] - ONE
            lowest[k] = s
            waiting = mass[k, s]
            mass[k, s] = 0.0
            if waiting > 0.0:
                freed += waiting
                distribution[k] -= waiting
                loss[k] -= waiting * (lattices.best - (alpha + float(s)) * inverse_total)
                if low > high:
                    low, high = s, s
                    here[s] = 0.0
                while low > s:
                    low -= ONE
                    here[low] = 0.0
                while high < s:
                    high += ONE
                    here[high] = 0.0
                here[s] += waiting
        while low <= high and low < lowest[k]:
            x = here[low]
            mass[k, low] += x
            distribution[k] += x
            loss[k] += x * (lattices.best - (alpha + float(low)) * inverse_total)
            low += ONE
        if low <= high:
            while high > low and here[high] < NEGLIGIBLE:
                high -= ONE
        elif k >= U(last):
            break
        k += ONE
    return freed


@jitable
def polya_step(alpha, total, pulls, numbers, low, high, here, there):
    """Move the masses at low..high successes by one more pull (Polya urn)."""
    inverse_total = 1.0 / (total + pulls)
    fail, win = (total - alpha + pulls) * inverse_total, (alpha - 1.0) * inverse_total
    there[low] = here[low] * (fail - inverse_total * numbers[low])
    for s in range(low + ONE, high + ONE):
        x = inverse_total * numbers[s]
        there[s] = here[s] * (fail - x) + here[s - ONE] * (win + x)
    there[high + ONE] = here[high] * (win + inverse_total * numbers[high + ONE])
