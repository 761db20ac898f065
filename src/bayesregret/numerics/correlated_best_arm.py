"""Probabilities of being the best of several correlated normal variables, by draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array

OPERATIONS = 4e9  # about half a second
BESIDE = 40  # operations for each variable beside its products
FEWEST, MOST = 10_000, 400_000  # draws
CHUNK = 4_000_000  # numbers in memory at a time
EQUAL = 1e-9  # relative: differences below this are rounding


def drawn_best(mean: Array, root: Array, *, seed: int, effort: float = 1.0) -> tuple[Array, Array]:
    """(variables,): probabilities of being the largest and their standard errors; `root.T @ root` is the covariance.

    `effort` is the fraction of the usual number of draws.

    Variables that are always equal share their probability, and so do those that can be exchanged.
    """
    every = np.vstack([mean, root])
    _, first, place, copies = np.unique(every, axis=1, return_index=True, return_inverse=True, return_counts=True)
    place = place.ravel()
    draws = max(1, int(effort * np.clip(OPERATIONS / (len(first) * (len(root) + BESIDE)), FEWEST, MOST)))
    wins = _wins(mean[first], root[:, first], draws, np.random.default_rng(seed))
    groups = _exchangeable(mean[first], root[:, first])
    sizes = np.bincount(groups)
    if len(sizes) == 1:  # all are alike
        return (1.0 / (sizes[0] * copies))[place], np.zeros(len(place))
    together = np.bincount(groups, wins) / draws
    stderr = np.sqrt(np.maximum(together * (1.0 - together), 1.0 / draws) / draws)  # that of no win is not 0
    share = sizes[groups] * copies
    return (together[groups] / share)[place], (stderr[groups] / share)[place]


def _wins(mean: Array, root: Array, draws: int, rng: np.random.Generator) -> Array:
    """(variables,): in how many draws each variable is the largest."""
    rank, variables = root.shape
    wins = np.zeros(variables)
    size = max(1, CHUNK // max(variables, rank))
    for start in range(0, draws, size):
        values = rng.standard_normal((min(size, draws - start), rank)) @ root + mean
        wins += np.bincount(values.argmax(axis=1), minlength=variables)
    return wins


def _exchangeable(mean: Array, root: Array) -> NDArray[np.intp]:
    """(variables,): number of the group of variables that may change places without changing the distribution."""
    covariance = root.T @ root
    variance = np.diagonal(covariance)
    rounding = EQUAL * (np.sqrt(variance.max()) + np.abs(mean).max())
    groups = np.full(len(mean), -1)
    for variable in range(len(mean)):
        if groups[variable] >= 0:
            continue
        groups[variable] = groups.max() + 1
        alike = (np.abs(mean - mean[variable]) <= rounding) & (
            np.abs(variance - variance[variable]) <= rounding**2 / EQUAL
        )
        for other in np.flatnonzero(alike & (groups < 0)):
            off = np.abs(covariance[variable] - covariance[other])
            off[[variable, other]] = 0.0
            if off.max() <= EQUAL * variance.max():
                groups[other] = groups[variable]
    return groups
