"""Charges at which the time when a Bernoulli arm is given up changes most: the indices of its most likely states."""

from __future__ import annotations

import numpy as np

from bayesregret.checks import Array
from bayesregret.optimal.discounted_bernoulli import bernoulli_boundaries

# States of fewer pulls than this are looked at, at this many charges; the largest jumps are found more exactly.
PULLS, CHARGES, LARGEST, POLISHED = 24, 64, 24, 2


def bernoulli_jumps(alpha: float, beta: float, horizon: int, index: float) -> Array:
    """Charges below the index at which a likely state of the arm is worth just the charge, in increasing order."""
    charges = index * (np.arange(CHARGES) + 0.5) / CHARGES
    boundaries = bernoulli_boundaries(alpha, beta, horizon, charges, PULLS)
    discount = 1.0 - 1.0 / horizon
    reached = np.array([_reached(alpha, beta, row) for row in boundaries])
    states = [(pulls, wins) for pulls in range(1, PULLS) for wins in range(pulls + 1)]
    sizes, brackets = [], []
    for pulls, wins in states:
        above = int(np.searchsorted(boundaries[:, pulls], wins, side="right"))
        inside = 0 < above < CHARGES
        sizes.append(discount**pulls * reached[above - 1, pulls, wins] if inside else 0.0)
        brackets.append(above)
    largest = [i for i in np.argsort(sizes)[::-1][:LARGEST] if sizes[i] > 0.0]
    pulls, wins = np.array([states[i] for i in largest], dtype=np.int64).reshape(-1, 2).T
    above = np.array([brackets[i] for i in largest], dtype=np.int64)
    return np.unique(_polish(alpha, beta, horizon, charges, boundaries, pulls, wins, above))


def _polish(
    alpha: float,
    beta: float,
    horizon: int,
    charges: Array,
    boundaries: Array,
    pulls: Array,
    wins: Array,
    above: Array,
) -> Array:
    """Charges at which boundaries pass the states, by interpolation in brackets that shrink."""
    low, high = charges[above - 1], charges[above]
    at_low, at_high = boundaries[above - 1, pulls] - wins, boundaries[above, pulls] - wins
    rows = np.arange(len(pulls))
    for _ in range(POLISHED):
        found = low - at_low * (high - low) / (at_high - at_low)
        at_found = bernoulli_boundaries(alpha, beta, horizon, found, PULLS)[rows, pulls] - wins
        below = at_found <= 0.0
        low, at_low = np.where(below, found, low), np.where(below, at_found, at_low)
        high, at_high = np.where(below, high, found), np.where(below, at_high, at_found)
    return low - at_low * (high - low) / (at_high - at_low)


def _reached(alpha: float, beta: float, boundary: Array) -> Array:
    """Probabilities that the arm gets to each number of pulls and successes before it is given up."""
    reached = np.zeros((PULLS, PULLS))
    reached[0, 0] = 1.0
    for pulls in range(PULLS - 1):
        wins = np.arange(pulls + 1)
        going_on = np.where(wins >= boundary[pulls], reached[pulls, : pulls + 1], 0.0)
        mean = (alpha + wins) / (alpha + beta + pulls)
        reached[pulls + 1, 1 : pulls + 2] += going_on * mean
        reached[pulls + 1, : pulls + 1] += going_on * (1.0 - mean)
    return reached
