"""A Bernoulli arm alone, whose k-th pull counts with weight w_k: indices of its states, and when it is given up.

The index of a state is the charge per pull at which it is just worth while to pull at least once more. Against a charge
the arm is given up as soon as its index is no higher.
"""

from __future__ import annotations

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable

# Newton's method on a margin, which is convex and piecewise linear: it ends after a few steps, the last one this short.
# The zero is then at most as many times as far away as later weights are more, in sum, than that of the next pull.
MOST_STEPS, LAST_STEP = 100, 1e-13


def weighted_indices(alpha: float, beta: float, weights: Array) -> Array:
    """Indices by pulls (rows) and successes; `weights` are positive and those of all pulls that count."""
    rounds = len(weights)
    indices = np.full((rounds, rounds), np.nan)
    compile_kernel(_fill_indices)(alpha, beta, weights, indices, np.empty(rounds + 1), np.empty(rounds + 1))
    return indices


def stopping_times(alpha: float, beta: float, indices: Array, charges: Array) -> Array:
    """Probabilities that the arm is given up after 0, 1, ..., all pulls that count; a row for each charge."""
    times = np.empty((len(charges), len(indices) + 1))
    compile_kernel(_fill_times)(alpha, beta, indices, charges, times, np.empty(len(indices) + 1))
    return times


def _fill_indices(alpha: float, beta: float, weights: Array, indices: Array, value: Array, time: Array) -> None:
    for pulls in range(weights.shape[0]):
        for wins in range(pulls + 1):
            a, b = alpha + wins, beta + (pulls - wins)
            indices[pulls, wins] = _index(a, b, weights[pulls:], value, time)


@jitable
def _index(alpha, beta, weights, value, time):
    """Charge at which the margin is 0."""
    index = alpha / (alpha + beta)
    for _ in range(MOST_STEPS):
        left, slope = _margin(alpha, beta, index, weights, value, time)
        index += left / slope
        if abs(left) <= LAST_STEP * slope:
            break
    return index


@jitable
def _margin(alpha, beta, charge, weights, value, time):
    """Expected weighted rewards minus charges from at least one pull, and minus its slope: the expected weights."""
    rounds = weights.shape[0]
    value[: rounds + 1] = 0.0
    time[: rounds + 1] = 0.0
    left = slope = 0.0
    for pulls in range(rounds - 1, -1, -1):
        inverse_total = 1.0 / (alpha + beta + pulls)
        for wins in range(pulls + 1):
            mean = (alpha + wins) * inverse_total
            left = weights[pulls] * (mean - charge) + mean * value[wins + 1] + (1.0 - mean) * value[wins]
            slope = weights[pulls] + mean * time[wins + 1] + (1.0 - mean) * time[wins]
            value[wins] = left if left > 0.0 else 0.0
            time[wins] = slope if left > 0.0 else 0.0
    return left, slope


def _fill_times(alpha: float, beta: float, indices: Array, charges: Array, times: Array, reached: Array) -> None:
    for row in range(charges.shape[0]):
        _stopping_time(alpha, beta, indices, charges[row], times[row], reached)


@jitable
def _stopping_time(alpha, beta, indices, charge, times, reached):
    """Probabilities of stopping times, from those with which the arm gets to each number of successes."""
    rounds = indices.shape[0]
    times[:] = 0.0
    reached[0] = 1.0
    for pulls in range(rounds):
        inverse_total = 1.0 / (alpha + beta + pulls)
        reached[pulls + 1] = 0.0
        for wins in range(pulls, -1, -1):
            here = reached[wins]
            reached[wins] = 0.0
            if indices[pulls, wins] > charge:
                mean = (alpha + wins) * inverse_total
                reached[wins + 1] += here * mean
                reached[wins] = here * (1.0 - mean)
            else:
                times[pulls] += here
    for wins in range(rounds + 1):
        times[rounds] += reached[wins]
