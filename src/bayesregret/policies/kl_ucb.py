"""KL-UCB of Garivier and Cappe (2011) and Cappe et al. (2013): what an arm's mean may be, by divergence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import (
    divergence,
    divergence_limit,
    index_level,
    index_rise,
    index_tangent,
    index_time,
    limit_rise,
    normal_deviation,
    rising_index,
)
from bayesregret.dispatch import jitable
from bayesregret.policies.base import LARGEST_C, Policy
from bayesregret.policies.index_fast.scaled_widths import levels_kept, scaled_index
from bayesregret.policies.index_fast.tangents import tangent_at_present

if TYPE_CHECKING:
    from bayesregret.models import Bandit


# A divergence is a difference of logarithms, whose rounding must not decide.
SLACK = 1e-12
STEEP = 1e3  # the rise of an index by then, beyond which its slope has too few digits
FEWEST = 1e-300


class MovingDivergence(NamedTuple):
    c: float


class ConcaveDivergence(NamedTuple):
    """The same for beliefs that know how fast the limits of a divergence rise."""

    c: float


@rising_index.implement(MovingDivergence)
@rising_index.implement(ConcaveDivergence)
def divergence_index(policy, model, stats, arm, round_):
    """The highest q with N kl(mean, q) <= log t + c log log t."""
    count = stats.counts[arm]
    if count == 0:
        return math.inf
    return divergence_limit(model, arm, stats.totals[arm] / count, divergence_level(policy.c, round_) / count)


@jitable
def divergence_level(c, round_):
    level = math.log(round_)
    return level + c * math.log(max(1.0, level)) if c > 0.0 else level


@index_time.implement(ConcaveDivergence)
def time_is_level(policy, round_):
    return divergence_level(policy.c, round_)


@index_rise.implement(ConcaveDivergence)
@jitable
def divergence_index_rise(policy, model, stats, arm, round_, index):
    count = stats.counts[arm]
    return limit_rise(model, arm, stats.totals[arm] / count, index) / count if count > 0 else 0.0


@index_tangent.implement(ConcaveDivergence)
def divergence_tangent(policy, model, stats, arm, round_, value):
    """Where the index is `value`, which needs no inverse; at the present if it never is, or if it rises steeply there,
    the slope being a difference of close numbers."""
    count, level = stats.counts[arm], divergence_level(policy.c, round_)
    slope = divergence_index_rise(policy, model, stats, arm, round_, value)
    if not 0.0 < slope * level < STEEP:
        height, slope, time = tangent_at_present(policy, model, stats, arm, round_)
        return height, slope, time, height >= value
    enough = count * divergence(model, arm, stats.totals[arm] / count, value)
    slack = SLACK * (count + enough)
    return value, slope, enough - slack, enough + slack <= level


class NormalDivergence(NamedTuple):
    """The same where rewards are taken for normal: kl is half a square, and its limit a mean plus a width.

    The belief is one of arms of which nothing is known: their mean is the sample mean.
    """

    c: float
    levels: Array  # of the first rounds, the first being round 0


@index_level.implement(NormalDivergence)
def normal_level(policy, round_):
    if round_ < policy.levels.shape[0]:
        return policy.levels[round_]
    return deviations(policy.c, round_)


@jitable
def deviations(c, round_):
    """Never 0, of which an arm without data has infinitely many."""
    return max(FEWEST, math.sqrt(2.0 * divergence_level(c, round_)))


rising_index.implement(NormalDivergence)(scaled_index)


def normal_levels(c: float, rounds: int) -> Array:
    return np.array([deviations(c, max(1, round_)) for round_ in range(rounds)])


@dataclass(frozen=True)
class KLUCB(Policy):
    """Each arm once; then index: the highest mean q with N kl(sample mean, q) <= log t + c log log t in round t.

    kl is the Kullback-Leibler divergence of rewards with these means. It knows no prior. c is 0 if not given, as its
    authors recommend; their proof needs 3.

    >>> KLUCB()
    KLUCB(c=0.0)
    """

    name: ClassVar[str] = "kl-ucb"
    needs: ClassVar[tuple[Any, ...]] = (divergence_limit,)
    c: float = 0.0

    def __post_init__(self) -> None:
        checks.at_least("c", self.c, 0.0, LARGEST_C)

    def belief(self, bandit: Bandit) -> Any:
        return bandit.no_prior_model() if type(bandit.model) in normal_deviation.bodies else bandit.model

    def settings(self, bandit: Bandit, horizon: int | None) -> MovingDivergence | ConcaveDivergence | NormalDivergence:
        c, belief = float(self.c), type(bandit.model)
        if belief in normal_deviation.bodies:
            return NormalDivergence(c, normal_levels(c, levels_kept(horizon)))
        return ConcaveDivergence(c) if belief in limit_rise.bodies else MovingDivergence(c)
