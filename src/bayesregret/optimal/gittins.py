"""`gittins_index` of one arm, and the tables of indices that the policy `Gittins` uses."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import prior_pulls, prior_total
from bayesregret.contracts.fast import reward_deviation
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.optimal.discounted_bernoulli import bernoulli_discounted_index
from bayesregret.optimal.discounted_gaussian import solve_for_indices
from bayesregret.optimal.gittins_bernoulli import bernoulli_index, bernoulli_table
from bayesregret.optimal.gittins_gaussian import gaussian_width
from bayesregret.optimal.gittins_gaussian_table import gaussian_table

LARGEST_HORIZON = {"bernoulli": 300, "gaussian": 2_000}
# Kinds of Gaussian arms whose tables for the largest horizon take half a gigabyte.
MOST_KINDS = 16
MOST_ROUNDS, LARGEST_DISCOUNT = 10_000, {"bernoulli": 0.9999, "gaussian": 0.9999999}
# Up to this discount every round is looked ahead, until the discount is negligible.
ROUND_BY_ROUND, NEGLIGIBLE = 0.999, 1e-9


def gittins_index(
    bandit: BanditLike,
    arm: int = 0,
    *,
    pulls: int = 0,
    total: float = 0.0,
    rounds: int | None = None,
    discount: float | None = None,
) -> float:
    """Compute the Gittins index of an arm.

    The index is the highest charge per pull at which pulling the arm, and stopping at the best time, does not lose in
    expectation. Give either `rounds` (a finite horizon) or `discount` (an infinite one).

    Parameters
    ----------
    bandit : Bandit
        A Gaussian or Bernoulli bandit.
    arm : int
        Number of the arm, from 0.
    pulls : int
        Number of pulls of the arm so far.
    total : float
        Sum of their rewards; for Bernoulli arms the number of successes.
    rounds : int, optional
        Rounds left, at most 10,000.
    discount : float, optional
        Weight of each round relative to the one before, at most 0.9999 for Bernoulli bandits and 0.9999999 for
        Gaussian ones.

    Returns
    -------
    float
        The index, accurate to twelve digits for Bernoulli bandits and six for Gaussian ones; to four digits if the
        discount is above 0.999.

    Examples
    --------
    >>> round(gittins_index(BernoulliBandit(alpha=[1], beta=[1]), discount=0.9), 4)
    0.7029
    """
    bandit = as_bandit(bandit)
    check_has_indices(bandit)
    arm = checks.whole("arm", arm, 0, bandit.arms - 1)
    pulls = checks.whole("pulls", pulls, 0)
    rounds_ahead, factor = _rounds_and_discount(bandit, rounds, discount)
    lifetime = lifetime_of(factor) if ROUND_BY_ROUND < factor < 1.0 else None
    if isinstance(bandit, BernoulliBandit):
        wins = checks.real("total", total)
        if wins != int(wins) or not 0.0 <= wins <= pulls:
            raise checks.fail("total", f"a whole number, at least 0 and at most {pulls}", total)
        alpha, beta = float(bandit.alpha[arm] + wins), float(bandit.beta[arm] + pulls - wins)
        if lifetime is not None:
            return bernoulli_discounted_index(alpha, beta, lifetime)
        return bernoulli_index(alpha, beta, rounds_ahead, factor)
    all_pulls = float(prior_pulls(bandit.model, arm) + pulls)
    mean = (prior_total(bandit.model, arm) + checks.real("total", total)) / all_pulls
    if lifetime is not None:
        width = float(solve_for_indices(all_pulls, lifetime).widths[0])
    else:
        width = gaussian_width(all_pulls, rounds_ahead, factor)
    return float(mean + reward_deviation(bandit.model, arm) * width)


def lifetime_of(discount: float) -> float:
    """Return 1 / (1 - discount), as a whole number where it is one but for rounding."""
    lifetime = 1.0 / (1.0 - discount)
    return float(round(lifetime)) if abs(lifetime - round(lifetime)) < 1e-9 * lifetime else lifetime


def _rounds_and_discount(bandit: Bandit, rounds: Any, discount: Any) -> tuple[int, float]:
    if (rounds is None) == (discount is None):
        raise ValueError("rounds or discount must be given, and not both")
    if discount is None:
        return checks.whole("rounds", rounds, 1, MOST_ROUNDS), 1.0
    factor = checks.probability("discount", discount)
    largest = LARGEST_DISCOUNT[bandit.kind]
    if factor > largest:
        raise checks.fail("discount", f"at most {checks.in_full(largest)} for {bandit.a_kind} bandit", discount)
    return math.ceil(math.log(NEGLIGIBLE) / math.log(factor)), factor


def check_has_indices(bandit: Bandit) -> None:
    if not isinstance(bandit, BernoulliBandit | GaussianBandit):
        raise ValueError(f"bandit must be gaussian or bernoulli for gittins, got {bandit.a_kind} one")


def longest_horizon(bandit: Bandit) -> int:
    """Return the longest horizon whose tables by remaining rounds are small enough."""
    check_has_indices(bandit)
    largest = LARGEST_HORIZON[bandit.kind]
    if not isinstance(bandit, GaussianBandit):
        return largest
    kinds = len(pseudo_counts_of(bandit)[0])
    return min(largest, math.isqrt(largest**2 * MOST_KINDS // kinds))


def bernoulli_tables(bandit: BernoulliBandit, horizon: int) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """One row of indices per kind of arm, the kind of every arm, and the offset in a row by number of pulls."""
    kinds, kind = kinds_of_bernoulli(bandit)
    made = [_bernoulli_table(alpha, beta, horizon) for alpha, beta in kinds.tolist()]
    return np.stack([table for table, _ in made]), kind, made[0][1]


def gaussian_tables(bandit: GaussianBandit, horizon: int) -> tuple[Array, NDArray[np.int64]]:
    """One table of widths per kind of arm, and the kind of every arm."""
    pseudo_counts, kind = pseudo_counts_of(bandit)
    return _gaussian_tables(tuple(pseudo_counts.tolist()), horizon), kind


def pseudo_counts_of(bandit: GaussianBandit) -> tuple[Array, NDArray[np.int64]]:
    """Distinct prior pseudo-counts, which determine an arm up to scale and shift, and the kind of every arm."""
    pseudo_counts, kind = np.unique(np.full(bandit.arms, bandit.model.pseudo_count), return_inverse=True)
    return pseudo_counts, kind.astype(np.int64)


def kinds_of_bernoulli(bandit: BernoulliBandit) -> tuple[Array, NDArray[np.int64]]:
    """Distinct priors, (kinds, 2), and the kind of every arm."""
    kinds, kind = np.unique(np.stack([bandit.alpha, bandit.beta], axis=1), axis=0, return_inverse=True)
    return kinds, kind.ravel().astype(np.int64)


@functools.lru_cache(maxsize=4)
def _gaussian_tables(pseudo_counts: tuple[float, ...], horizon: int) -> Array:
    tables = np.empty((len(pseudo_counts), horizon, horizon))
    for kind, pseudo_count in enumerate(pseudo_counts):
        tables[kind] = gaussian_table(pseudo_count, horizon)
    return tables


_bernoulli_table = functools.lru_cache(maxsize=16)(bernoulli_table)
