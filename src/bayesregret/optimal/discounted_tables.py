"""Tables of Gittins indices with a discount, by pulls, that the policy `Gittins` uses."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.optimal.gittins import check_has_indices, pseudo_counts_of
from bayesregret.optimal.gittins_bernoulli import bernoulli_index
from bayesregret.optimal.gittins_gaussian import gaussian_width

LARGEST_HORIZON = {"bernoulli": 5_000, "gaussian": 10_000_000}
# Entries of all tables together: half a gigabyte.
MOST_ENTRIES = 1 << 26
# Without a horizon, a table ends after this many times the pulls that count, 1 / (1 - discount).
LIFETIMES = 10
SHALLOWEST = 16


def depth_of_tables(bandit: Bandit, horizon: int | None, discount: float) -> int:
    """Return how many numbers of pulls the tables have, from 0; ValueError if they would be too large."""
    check_has_indices(bandit)
    largest, kinds = LARGEST_HORIZON[bandit.kind], len(_kinds_of(bandit)[0])
    each = MOST_ENTRIES // kinds
    if isinstance(bandit, BernoulliBandit):
        each = math.isqrt(2 * each)
    largest = min(largest, each - 2)
    if horizon is None:
        return max(SHALLOWEST, min(largest, math.ceil(LIFETIMES / (1.0 - discount)))) + 2
    if horizon > largest:
        many = f" with {kinds} kinds of arms" if largest < LARGEST_HORIZON[bandit.kind] else ""
        raise ValueError(
            f"horizon must be at most {largest} for gittins on {bandit.a_kind} bandit{many}, got {horizon}"
        )
    return horizon + 2  # a simulation looks one reward ahead


def gaussian_tables(bandit: GaussianBandit, discount: float, depth: int) -> tuple[Array, NDArray[np.int64]]:
    """One row of widths per kind of arm, by pulls, and the kind of every arm."""
    pseudo_counts, kind = pseudo_counts_of(bandit)
    return _gaussian_tables(tuple(pseudo_counts.tolist()), discount, depth), kind


def bernoulli_tables(bandit: BernoulliBandit, discount: float, depth: int) -> tuple[Array, NDArray[np.int64]]:
    """One row of indices per kind of arm, by pulls and successes, and the kind of every arm."""
    kinds, kind = _kinds_of(bandit)
    return _bernoulli_tables(tuple(map(tuple, kinds.tolist())), discount, depth), kind


def _kinds_of(bandit: Any) -> tuple[Array, NDArray[np.int64]]:
    if isinstance(bandit, GaussianBandit):
        return pseudo_counts_of(bandit)
    kinds, kind = np.unique(np.stack([bandit.alpha, bandit.beta], axis=1), axis=0, return_inverse=True)
    return kinds, kind.ravel().astype(np.int64)


@functools.lru_cache(maxsize=4)
def _gaussian_tables(pseudo_counts: tuple[float, ...], discount: float, depth: int) -> Array:
    rounds = math.ceil(math.log(1e-9) / math.log(discount))
    return np.array([[gaussian_width(q + k, rounds, discount) for k in range(depth)] for q in pseudo_counts])


@functools.lru_cache(maxsize=4)
def _bernoulli_tables(kinds: tuple[tuple[float, float], ...], discount: float, depth: int) -> Array:
    rounds = math.ceil(math.log(1e-9) / math.log(discount))
    return np.array(
        [
            [bernoulli_index(a + s, b + k - s, rounds, discount) for k in range(depth) for s in range(k + 1)]
            for a, b in kinds
        ]
    )
