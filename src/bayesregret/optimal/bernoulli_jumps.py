"""Charges at which the time when a Bernoulli arm is given up changes most: the indices of its most likely states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.optimal.discounted_bernoulli import bernoulli_boundaries

# States of fewer pulls than this are looked at, at this many charges; the likeliest are found more exactly.
PULLS, CHARGES, LIKELIEST, POLISHED = 24, 64, 24, 2
NEGLIGIBLE = 1e-6


def bernoulli_jumps(alpha: float, beta: float, horizon: int, index: float) -> Array:
    """Charges below the index at which a likely state of the arm is worth just the charge, in increasing order."""
    charges = index * (np.arange(CHARGES) + 0.5) / CHARGES
    boundaries = bernoulli_boundaries(alpha, beta, horizon, charges, PULLS)
    reached = np.array([_reached(alpha, beta, row) for row in boundaries])
    pulls, wins = np.tril_indices(PULLS)
    # The first charge that is too high for each state.
    above = np.array([np.searchsorted(boundaries[:, k], s, side="right") for k, s in zip(pulls, wins, strict=True)])
    inside = (pulls > 0) & (above > 0) & (above < CHARGES)
    pulls, wins, above = pulls[inside], wins[inside], above[inside]
    sizes = (1.0 - 1.0 / horizon) ** pulls * reached[above - 1, pulls, wins]
    most = np.argsort(sizes)[::-1][:LIKELIEST]
    most = most[sizes[most] > NEGLIGIBLE]
    pulls, wins, above = pulls[most], wins[most], above[most]
    low, high = charges[above - 1], charges[above]
    at_low, at_high = boundaries[above - 1, pulls] - wins, boundaries[above, pulls] - wins
    for _ in range(POLISHED):
        found = _between(low, at_low, high, at_high)
        at_found = bernoulli_boundaries(alpha, beta, horizon, found, PULLS)[np.arange(len(pulls)), pulls] - wins
        below = at_found <= 0.0
        low, at_low = np.where(below, found, low), np.where(below, at_found, at_low)
        high, at_high = np.where(below, high, found), np.where(below, at_high, at_found)
    return np.unique(_between(low, at_low, high, at_high))


def _between(low: Array, at_low: Array, high: Array, at_high: Array) -> Array:
    """Zero of the line through two points; they may be one."""
    rise = at_high - at_low
    return np.asarray(low - np.where(rise > 0.0, at_low / np.where(rise > 0.0, rise, 1.0), 0.0) * (high - low))


def _reached(alpha: float, beta: float, boundary: Array) -> NDArray[np.float64]:
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
