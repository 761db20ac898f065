"""Gittins indices: of one arm for anyone who asks, and as tables for the policy that goes by them."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import prior_pulls, prior_total, reward_deviation
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.optimal.gittins_bernoulli import bernoulli_index, bernoulli_table
from bayesregret.optimal.gittins_gaussian import gaussian_width
from bayesregret.optimal.gittins_gaussian_table import gaussian_table

LARGEST_HORIZON = {"bernoulli": 300, "gaussian": 2_000}
# Half a gigabyte: of Gaussian arms of so many kinds, the tables for the largest horizon.
MOST_KINDS = 16
MOST_ROUNDS, LARGEST_DISCOUNT = 10_000, 0.999
# Of a discounted sum, what may come after the rounds that are looked at.
REST = 1e-9


def gittins_index(
    bandit: Bandit,
    arm: int = 0,
    *,
    pulls: int = 0,
    total: float = 0.0,
    rounds: int | None = None,
    discount: float | None = None,
) -> float:
    """The Gittins index of an arm that was pulled so many times for this total of rewards.

    It is the highest charge for each pull at which pulling the arm, and stopping at the best moment, does not lose:
    within so many `rounds`, or with no end, when each round counts for `discount` times the one before. It has twelve
    digits for Bernoulli bandits and six for Gaussian ones.

    >>> from bayesregret.models import BernoulliBandit
    >>> round(gittins_index(BernoulliBandit(alpha=[1], beta=[1]), discount=0.9), 4)
    0.7029
    """
    if not isinstance(bandit, Bandit):
        raise checks.fail("bandit", "a bandit such as GaussianBandit", bandit)
    check_has_indices(bandit)
    arm = checks.whole("arm", arm, 0, bandit.arms - 1)
    pulls = checks.whole("pulls", pulls, 0)
    looked_at, factor = _rounds_and_discount(rounds, discount)
    if isinstance(bandit, BernoulliBandit):
        wins = checks.real("total", total)
        if wins != int(wins) or not 0.0 <= wins <= pulls:
            raise checks.fail("total", f"a whole number, at least 0 and at most {pulls}", total)
        return bernoulli_index(bandit.alpha[arm] + wins, bandit.beta[arm] + pulls - wins, looked_at, factor)
    all_pulls = float(prior_pulls(bandit.model, arm) + pulls)
    mean = (prior_total(bandit.model, arm) + checks.real("total", total)) / all_pulls
    return float(mean + reward_deviation(bandit.model, arm) * gaussian_width(all_pulls, looked_at, factor))


def _rounds_and_discount(rounds: Any, discount: Any) -> tuple[int, float]:
    if (rounds is None) == (discount is None):
        raise ValueError("rounds or discount must be given, and not both")
    if discount is None:
        return checks.whole("rounds", rounds, 1, MOST_ROUNDS), 1.0
    factor = checks.probability("discount", discount)
    if factor > LARGEST_DISCOUNT:
        raise checks.fail("discount", f"at most {LARGEST_DISCOUNT:g}", discount)
    return math.ceil(math.log(REST) / math.log(factor)), factor


def check_has_indices(bandit: Bandit) -> None:
    if not isinstance(bandit, BernoulliBandit | GaussianBandit):
        raise ValueError(f"bandit must be gaussian or bernoulli for gittins, got {bandit.a_kind} one")


def check_within_horizon(bandit: Bandit, horizon: int | None) -> int:
    """A horizon for which there are tables."""
    check_has_indices(bandit)
    if horizon is None:
        raise ValueError("horizon must be given for gittins")
    largest, kinds = LARGEST_HORIZON[bandit.kind], 1
    if isinstance(bandit, GaussianBandit):
        kinds = len(_strengths(bandit)[0])
        largest = min(largest, math.isqrt(largest**2 * MOST_KINDS // kinds))
    if horizon > largest:
        many = f" with {kinds} kinds of arms" if kinds > MOST_KINDS else ""
        raise ValueError(
            f"horizon must be at most {largest} for gittins on {bandit.a_kind} bandit{many}, got {horizon}"
        )
    return horizon


def bernoulli_tables(bandit: BernoulliBandit, horizon: int) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """A row of indices for each kind of arm, the kind of every arm, and where in a row so many pulls begin."""
    priors = np.stack([bandit.alpha, bandit.beta], axis=1)
    kinds, kind = np.unique(priors, axis=0, return_inverse=True)
    made = [_bernoulli_table(alpha, beta, horizon) for alpha, beta in kinds.tolist()]
    return np.stack([table for table, _ in made]), kind.ravel().astype(np.int64), made[0][1]


def gaussian_tables(bandit: GaussianBandit, horizon: int) -> tuple[Array, NDArray[np.int64]]:
    """A table of widths for each kind of arm, and the kind of every arm."""
    strengths, kind = _strengths(bandit)
    return _gaussian_tables(tuple(strengths.tolist()), horizon), kind


def _strengths(bandit: GaussianBandit) -> tuple[Array, NDArray[np.int64]]:
    """The pulls that priors are worth: scale and shift leave nothing else of an arm. And the kind of every arm."""
    strengths, kind = np.unique(np.full(bandit.arms, bandit.model.strength), return_inverse=True)
    return strengths, kind.astype(np.int64)


@functools.lru_cache(maxsize=4)
def _gaussian_tables(strengths: tuple[float, ...], horizon: int) -> Array:
    tables = np.empty((len(strengths), horizon, horizon))
    for kind, strength in enumerate(strengths):
        tables[kind] = gaussian_table(strength, horizon)
    return tables


_bernoulli_table = functools.lru_cache(maxsize=16)(bernoulli_table)
