"""Tables of Gittins indices with a discount, by pulls: what the policy `Gittins` looks up.

A discount d gives an arm a lifetime of 1 / (1 - d) pulls, the rounds of the finite horizon that it stands for.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from bayesregret.checks import Array
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.optimal.discounted_bernoulli_table import bernoulli_table
from bayesregret.optimal.discounted_gaussian import solve_for_indices
from bayesregret.optimal.gittins import check_has_indices, kinds_of_bernoulli, lifetime_of, pseudo_counts_of

LARGEST_HORIZON = {"bernoulli": 5_000, "gaussian": 10_000_000}
# Entries of the tables of all kinds of arms: half a gigabyte.
MOST_ENTRIES = 1 << 26
# From this many lifetimes on, the index exceeds the mean by almost a constant over the pulls, and tables end.
LIFETIMES = 10
DEGREE = 3
WEAK = 1e4  # beyond this pseudo-count all priors use the same scale of pulls
CERTAIN = 1e13  # pseudo-count beyond which pulls teach nothing, to all digits


def depth_of_tables(bandit: Bandit, horizon: int | None, discount: float) -> int:
    """Return how many numbers of pulls the tables have, from 0; ValueError if they would be too large."""
    check_has_indices(bandit)
    enough = math.ceil(min(LIFETIMES * lifetime_of(discount), 1e15))
    if isinstance(bandit, BernoulliBandit):
        kinds = len(kinds_of_bernoulli(bandit)[0])
        room = math.isqrt(2 * MOST_ENTRIES // kinds) - 2
    else:
        kinds = len(pseudo_counts_of(bandit)[0])  # type: ignore[arg-type]
        room = MOST_ENTRIES // kinds - 2
    largest = min(LARGEST_HORIZON[bandit.kind], room)
    if horizon is not None and horizon > largest < enough:
        many = f" with {kinds} kinds of arms" if room < LARGEST_HORIZON[bandit.kind] else ""
        raise ValueError(
            f"horizon must be at most {largest} for gittins on {bandit.a_kind} bandit{many} and a discount of "
            f"{discount:.10g}, got {horizon}"
        )
    return min(largest if horizon is None else horizon, largest, enough) + 2  # a simulation looks one reward ahead


def gaussian_tables(bandit: GaussianBandit, discount: float, depth: int) -> tuple[Array, NDArray[np.int64]]:
    """One row of widths per kind of arm, by pulls, and the kind of every arm."""
    pseudo_counts, kind = pseudo_counts_of(bandit)
    return _gaussian_tables(tuple(pseudo_counts.tolist()), lifetime_of(discount), depth), kind


def bernoulli_tables(bandit: BernoulliBandit, discount: float, depth: int) -> tuple[Array, NDArray[np.int64]]:
    """One row of indices per kind of arm, by failures and successes, and the kind of every arm."""
    kinds, kind = kinds_of_bernoulli(bandit)
    return _bernoulli_tables(tuple(map(tuple, kinds.tolist())), lifetime_of(discount), depth), kind


@functools.lru_cache(maxsize=4)
def _gaussian_tables(pseudo_counts: tuple[float, ...], lifetime: float, depth: int) -> Array:
    return np.stack([gaussian_widths(pseudo_count, lifetime, depth) for pseudo_count in pseudo_counts])


@functools.lru_cache(maxsize=4)
def _bernoulli_tables(kinds: tuple[Any, ...], lifetime: float, depth: int) -> Array:
    return np.stack([by_failures(bernoulli_table(alpha, beta, lifetime, depth), depth) for alpha, beta in kinds])


def by_failures(table: Array, depth: int) -> Array:
    """Order a table by failures and then successes, given one by pulls and then successes."""
    pulls = np.arange(depth)
    first = pulls * (pulls + 1) // 2
    return np.concatenate([table[first[failures:] + pulls[: depth - failures]] for failures in range(depth)])


def gaussian_widths(pseudo_count: float, lifetime: float, depth: int) -> Array:
    """Index minus posterior mean after 0, ..., depth - 1 pulls of an arm with noise 1.

    The recursion knows them after each pull at first and then at ever longer distances, between which the logarithm of
    the width is a smooth function of the logarithm of all pulls, the prior pseudo-count included.
    """
    if pseudo_count >= CERTAIN:
        return np.zeros(depth)
    solved = solve_for_indices(pseudo_count, lifetime)
    wanted, known = np.arange(depth), solved.pulls
    if depth <= len(known) and known[depth - 1] == depth - 1:
        return solved.widths[:depth].copy()
    scaled, at = (np.log1p(pulls / min(pseudo_count, WEAK)) for pulls in (known, wanted))
    logarithms = make_interp_spline(scaled, np.log(solved.widths), k=min(DEGREE, len(known) - 1))(at)
    return np.asarray(np.exp(logarithms))
