"""Lower bounds for every policy at short horizons, from weights that stay at 1 before they fall.

Proof: docs/theory/certified-lower.md. With nonincreasing, log-concave weights w_t <= 1 whose sum is n, regret is at
least n (E max_a theta_a - high) + (integral of E What(sum of T_a) up to high), where T_a(y) is the number of pulls
after which arm a, alone, with its k-th pull weighted w_k, is given up against a charge y, and What(j) is the sum of the
weights after the first j. The T_a(y) are constant between neighbouring indices of the arms' states.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from bayesregret.bounds.bound import Parts
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit
from bayesregret.optimal.weighted_bernoulli import stopping_times, weighted_indices

# Weights that count for at most this many rounds are tried: time grows as the fourth power.
MOST_ROUNDS = 40
MOST_ARMS = 10
# Fraction of the horizon with a weight of 1, and when weights end, in horizons.
SHAPES = ((1.0, 1), (0.5, 2))
# Error of an index, at which a jump of the integrand lies; and of the integrand, relative to the horizon.
INDEX_ERROR, ROUNDING = 1e-11, 1e-13


class ArmKind(NamedTuple):
    """Equal arms."""

    alpha: float
    beta: float
    copies: int


def raise_to_weights(found: Parts, bandit: BernoulliBandit, horizon: int, best: tuple[float, float]) -> Parts:
    """Add what the best of the weights gain over the bound `found`, after the numerical errors of both.

    `best` is the expected mean of the best arm, and its error.
    """
    if bandit.arms > MOST_ARMS or horizon > MOST_ROUNDS:
        return found
    error = horizon * (INDEX_ERROR + ROUNDING + best[1])
    value = sum(found.terms.values()) - (found.error or 0.0)
    ones, other = max(_bounds(bandit, horizon, best[0]), key=itemgetter(1))
    if not other - error > value:
        return found
    return found._replace(
        terms={**found.terms, "weights": other - error - value}, details={**found.details, "weights of 1": float(ones)}
    )


def _bounds(bandit: BernoulliBandit, horizon: int, best: float) -> Iterator[tuple[int, float]]:
    """The bounds from all weights that are tried, each after the number of rounds with a weight of 1."""
    pairs, copies = np.unique(np.c_[bandit.alpha, bandit.beta], axis=0, return_counts=True)
    kinds = [ArmKind(a, b, count) for (a, b), count in zip(pairs.tolist(), copies.tolist(), strict=True)]
    for fraction, end in SHAPES:
        ones = int(fraction * horizon)
        if 1 <= ones != horizon - 1 and end * horizon <= MOST_ROUNDS:
            yield ones, weighted_bound(kinds, weights(horizon, ones, end * horizon), best)


def weights(horizon: int, ones: int, end: int) -> Array:
    """Weights that are 1 for this many rounds, then fall geometrically, and end; their sum is the horizon."""
    if ones == horizon:
        return np.ones(horizon)
    ratio, left = 0.0, horizon - ones
    for _ in range(100):  # 1 + ratio + ... + ratio^(end - ones - 1) = left
        ratio = 1.0 - (1.0 - ratio ** (end - ones)) / left
    return np.concatenate([np.ones(ones), ratio ** np.arange(end - ones)])


def weighted_bound(kinds: list[ArmKind], each: Array, best: float) -> float:
    """The bound from weights, with the expected mean of the best arm."""
    left = np.append(np.cumsum(each[::-1])[::-1], 0.0)
    indices = [weighted_indices(kind.alpha, kind.beta, each) for kind in kinds]
    high = max(float(states[0, 0]) for states in indices)
    charges = np.unique(np.concatenate([states[states <= high] for states in indices]))
    pulled = None
    for kind, states in zip(kinds, indices, strict=True):
        times = stopping_times(kind.alpha, kind.beta, states, charges)
        for _ in range(kind.copies):
            pulled = times if pulled is None else _sum(pulled, times)
    assert pulled is not None
    return float(left[0] * (best - high) + np.diff(charges) @ (pulled @ left)[:-1])


def _sum(first: Array, second: Array) -> Array:
    """Distribution of the sum of two independent numbers, row by row; what is beyond the last one is left out."""
    found = np.zeros_like(first)
    for number in range(first.shape[1]):
        found[:, number:] += first[:, number, None] * second[:, : first.shape[1] - number]
    return found
