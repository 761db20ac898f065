"""KL-UCB of Garivier and Cappe (2011) and Cappe et al. (2013): the largest plausible mean, by divergence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import divergence_limit, rising_index
from bayesregret.contracts.fast import (
    divergence,
    follows_belief,
    index_multiplier,
    index_rise,
    index_tangent,
    index_time,
    limit_rise,
    normal_deviation,
)
from bayesregret.dispatch import jitable
from bayesregret.elementary import log
from bayesregret.policies.base import LARGEST_C, Policy, keep
from bayesregret.policies.index_fast.scaled_widths import multipliers_kept, scaled_index
from bayesregret.policies.index_fast.tangents import tangent_now

if TYPE_CHECKING:
    from bayesregret.models import Bandit


# Relative slack for rounding in a divergence, which is a difference of logarithms.
SLACK = 1e-12
STEEP = 1e3  # largest rise of an index, slope times exploration, at which its slope has enough digits
SMALLEST_MULTIPLIER = 1e-300


class MovingDivergence(NamedTuple):
    """KL-UCB for any divergence."""

    c: float


class ConcaveDivergence(NamedTuple):
    """KL-UCB where `limit_rise` bounds how fast the index rises."""

    c: float


@rising_index.implement(MovingDivergence)
@rising_index.implement(ConcaveDivergence)
def divergence_index(policy, model, stats, arm, round_):
    """Largest q with N kl(mean, q) <= log t + c log log t."""
    count = stats.counts[arm]
    if count == 0:
        return math.inf
    return divergence_limit(model, arm, stats.totals[arm] / count, exploration(policy.c, round_) / count)


@follows_belief.implement(MovingDivergence)
@follows_belief.implement(ConcaveDivergence)
def limit_follows(policy):
    """A reward raises the limit if it raises the likelihood of means above the limit, relative to the highest."""
    return True


@jitable
def exploration(c, round_):
    """log t + c log log t."""
    log_t = log(round_)
    return log_t + c * log(max(1.0, log_t)) if c > 0.0 else log_t


@index_time.implement(ConcaveDivergence)
def time_is_exploration(policy, round_):
    return exploration(policy.c, round_)


@index_rise.implement(ConcaveDivergence)
@jitable
def divergence_index_rise(policy, model, stats, arm, round_, index):
    count = stats.counts[arm]
    return limit_rise(model, arm, stats.totals[arm] / count, index) / count if count > 0 else 0.0


@index_tangent.implement(ConcaveDivergence)
def divergence_tangent(policy, model, stats, arm, round_, value):
    """Tangent where the index is `value`, which needs no inverse; in the current round if it never is, or if it rises
    steeply there, because its slope then has few digits."""
    count, now = stats.counts[arm], exploration(policy.c, round_)
    slope = divergence_index_rise(policy, model, stats, arm, round_, value)
    if not 0.0 < slope * now < STEEP:
        height, slope, time = tangent_now(policy, model, stats, arm, round_)
        return height, slope, time, height >= value
    enough = count * divergence(model, arm, stats.totals[arm] / count, value)
    slack = SLACK * (count + enough)
    return value, slope, enough - slack, enough + slack <= now


class NormalDivergence(NamedTuple):
    """KL-UCB for rewards treated as normal: kl is quadratic, and its limit the sample mean plus a width.

    The belief has no prior, so its mean is the sample mean.
    """

    c: float
    multipliers: Array  # of the first rounds, from round 0


@index_multiplier.implement(NormalDivergence)
def normal_multiplier(policy, round_):
    if round_ < policy.multipliers.shape[0]:
        return policy.multipliers[round_]
    return width_multiplier(policy.c, round_)


@jitable
def width_multiplier(c, round_):
    """Multiplier of the standard deviation; never 0, which times an infinite width would be nan."""
    return max(SMALLEST_MULTIPLIER, math.sqrt(2.0 * exploration(c, round_)))


rising_index.implement(NormalDivergence)(scaled_index)


def normal_multipliers(c: float, rounds: int) -> Array:
    return np.array([width_multiplier(c, max(1, round_)) for round_ in range(rounds)])


@dataclass(frozen=True)
class KLUCB(Policy):
    """Index policy: the largest mean q with N kl(sample mean, q) <= log t + c log log t in round t, each arm once at
    first.

    kl is the Kullback-Leibler divergence of rewards with these means. The policy uses no prior.

    Parameters
    ----------
    c : float
        Factor of log log t: the authors recommend 0, their proof needs 3.

    Examples
    --------
    >>> agent = KLUCB().start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]))
    >>> agent.update_many([0, 1], [0, 1])
    >>> agent.select()
    1
    """

    name: ClassVar[str] = "kl-ucb"
    more_than_posterior: ClassVar[str] = (
        "it has no prior, so its indices need the counts and sums of all rewards, and the number of the round"
    )
    needs: ClassVar[tuple[Any, ...]] = (divergence_limit,)
    c: float = 0.0

    def __post_init__(self) -> None:
        keep(self, c=checks.at_least("c", self.c, 0.0, LARGEST_C))

    def belief(self, bandit: Bandit) -> Any:
        rewards = bandit.representative.model
        return bandit.no_prior_model() if normal_deviation.supports(rewards) else rewards

    def settings(self, bandit: Bandit, horizon: int | None) -> MovingDivergence | ConcaveDivergence | NormalDivergence:
        c, belief = self.c, bandit.representative.model
        if normal_deviation.supports(belief):
            return NormalDivergence(c, normal_multipliers(c, multipliers_kept(horizon)))
        return ConcaveDivergence(c) if limit_rise.supports(belief) else MovingDivergence(c)
