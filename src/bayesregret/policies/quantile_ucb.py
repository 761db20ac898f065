"""Bayes-UCB of Kaufmann, Cappe and Garivier (2012): the arm whose posterior quantile is highest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import (
    index_level,
    index_rise,
    normal_deviation,
    posterior_quantile,
    quantile_rise,
    rising_index,
)
from bayesregret.dispatch import jitable
from bayesregret.numerics.special import make_special_functions_ready, ndtri
from bayesregret.policies.base import LARGEST_C, BelievingPolicy
from bayesregret.policies.index_fast.scaled_widths import levels_kept, scaled_index

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class MovingQuantile(NamedTuple):
    slower: float  # (log n)^c


class ConcaveQuantile(NamedTuple):
    """The same for beliefs that know how fast their quantiles rise."""

    slower: float


@rising_index.implement(MovingQuantile)
@rising_index.implement(ConcaveQuantile)
def quantile_index(policy, model, stats, arm, round_):
    """The quantile of order 1 - 1 / (t (log n)^c): passed as its tail, which keeps all digits."""
    return posterior_quantile(model, stats, arm, tail_in_round(policy, round_))


@jitable
def tail_in_round(policy, round_):
    return min(0.5, 1.0 / (round_ * policy.slower))


@index_rise.implement(ConcaveQuantile)
def quantile_index_rise(policy, model, stats, arm, round_, index):
    return quantile_rise(model, stats, arm, tail_in_round(policy, round_), index)


class MovingScore(NamedTuple):
    """The same where posteriors are normal: the mean plus so many deviations, the same number for all arms."""

    slower: float
    levels: Array  # of the first rounds, the first being round 0


@index_level.implement(MovingScore)
def score_level(policy, round_):
    if round_ < policy.levels.shape[0]:
        return policy.levels[round_]
    return -ndtri(tail_in_round(policy, round_))


rising_index.implement(MovingScore)(scaled_index)


def score_levels(slower: float, rounds: int) -> Array:
    import scipy.special

    with np.errstate(divide="ignore"):
        tails = np.minimum(0.5, 1.0 / (np.arange(rounds) * slower))
    return np.asarray(-scipy.special.ndtri(tails))


@dataclass(frozen=True)
class QuantileUCB(BelievingPolicy):
    """Index: the posterior quantile of order 1 - 1/(t (log n)^c) in round t, the median at least.

    c is 0 if not given, as its authors recommend; their proof needs 5. With another c a horizon is needed. `prior` is a
    bandit whose prior the policy believes in, the true one if None.

    >>> QuantileUCB()
    QuantileUCB(c=0.0, prior=None)
    """

    name: ClassVar[str] = "quantile-ucb"
    needs: ClassVar[tuple[Any, ...]] = (posterior_quantile,)
    c: float = 0.0
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.at_least("c", self.c, 0.0, LARGEST_C)

    def settings(self, bandit: Bandit, horizon: int | None) -> MovingQuantile | ConcaveQuantile | MovingScore:
        make_special_functions_ready()
        slower = self._slower(horizon)
        belief = type(self.belief(bandit))
        if belief in normal_deviation.bodies:
            return MovingScore(slower, score_levels(slower, levels_kept(horizon)))
        return ConcaveQuantile(slower) if belief in quantile_rise.bodies else MovingQuantile(slower)

    def _slower(self, horizon: int | None) -> float:
        if self.c == 0.0:
            return 1.0
        if horizon is None:
            raise ValueError("horizon must be given for quantile-ucb when c is not 0")
        return float(max(1.0, math.log(horizon)) ** self.c)
