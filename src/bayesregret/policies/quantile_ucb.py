"""Bayes-UCB of Kaufmann, Cappe and Garivier (2012): pull the arm with the highest posterior quantile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import posterior_quantile, rising_index
from bayesregret.contracts.fast import follows_belief, index_multiplier, index_rise, normal_deviation, quantile_rise
from bayesregret.dispatch import jitable
from bayesregret.elementary import exp, log
from bayesregret.numerics.normal_tails import ndtri, ndtri_of_each
from bayesregret.numerics.special import make_special_functions_ready
from bayesregret.policies.base import LARGEST_C, BelievingPolicy, keep
from bayesregret.policies.index_fast.scaled_widths import multipliers_kept, scaled_index

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class MovingQuantile(NamedTuple):
    """Posterior quantile whose tail is 1 / (t tail_divisor) in round t."""

    tail_divisor: float  # (log n)^c


class ConcaveQuantile(NamedTuple):
    """The same where `quantile_rise` bounds how fast the index rises."""

    tail_divisor: float


@rising_index.implement(MovingQuantile)
@rising_index.implement(ConcaveQuantile)
def quantile_index(policy, model, stats, arm, round_):
    """Quantile of order 1 - 1 / (t (log n)^c), from its tail, which keeps all digits."""
    return posterior_quantile(model, stats, arm, tail_in_round(policy, round_))


@follows_belief.implement(MovingQuantile)
@follows_belief.implement(ConcaveQuantile)
def quantile_follows(policy):
    return True


@jitable
def tail_in_round(policy, round_):
    return min(0.5, 1.0 / (round_ * policy.tail_divisor))


@index_rise.implement(ConcaveQuantile)
def quantile_index_rise(policy, model, stats, arm, round_, index):
    return quantile_rise(model, stats, arm, tail_in_round(policy, round_), index)


class NormalQuantile(NamedTuple):
    """The same for normal posteriors: the mean plus a multiple of the standard deviation, the same for all arms."""

    tail_divisor: float
    multipliers: Array  # of the first rounds, from round 0


@index_multiplier.implement(NormalQuantile)
def normal_multiplier(policy, round_):
    if round_ < policy.multipliers.shape[0]:
        return policy.multipliers[round_]
    return -ndtri(tail_in_round(policy, round_))


rising_index.implement(NormalQuantile)(scaled_index)


def normal_multipliers(tail_divisor: float, rounds: int) -> Array:
    with np.errstate(divide="ignore"):
        tails = np.minimum(0.5, 1.0 / (np.arange(rounds) * tail_divisor))
    return -ndtri_of_each(tails)


@dataclass(frozen=True)
class QuantileUCB(BelievingPolicy):
    """Index policy: the posterior quantile of order 1 - 1/(t (log n)^c) in round t, or the median if that is higher.

    Parameters
    ----------
    c : float
        Exponent of log n: the authors recommend 0, their proof needs 5. Any c but 0 needs a horizon n.
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> agent = QuantileUCB().start(GaussianBandit([0, 0.5], prior_width=1, reward_noise=1))
    >>> agent.select()
    1
    """

    name: ClassVar[str] = "quantile-ucb"
    more_than_posterior: ClassVar[str] = "its quantile depends on the number of the round"
    needs: ClassVar[tuple[Any, ...]] = (posterior_quantile,)
    c: float = 0.0
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        keep(self, c=checks.at_least("c", self.c, 0.0, LARGEST_C))

    def settings(self, bandit: Bandit, horizon: int | None) -> MovingQuantile | ConcaveQuantile | NormalQuantile:
        tail_divisor = self._tail_divisor(horizon)
        belief = self.belief(bandit)
        if normal_deviation.supports(belief):
            return NormalQuantile(tail_divisor, normal_multipliers(tail_divisor, multipliers_kept(horizon)))
        make_special_functions_ready()
        return ConcaveQuantile(tail_divisor) if quantile_rise.supports(belief) else MovingQuantile(tail_divisor)

    def _tail_divisor(self, horizon: int | None) -> float:
        if self.c == 0.0:
            return 1.0
        if horizon is None:
            raise ValueError("horizon must be given for quantile-ucb when c is not 0")
        return exp(self.c * log(max(1.0, log(horizon))))
