"""Thompson sampling (Thompson 1933): draw every arm's mean from its posterior, take the highest.

Most draws need not be made: likely_highest.py tells how.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret.contracts import (
    choose_arm,
    choose_linear,
    normal_deviation,
    posterior_draw,
    pseudo_counts,
)
from bayesregret.numerics.special import make_special_functions_ready
from bayesregret.policies.base import BelievingPolicy
from bayesregret.policies.thompson_fast.beta import BY_BETAS, LikelyHighestBeta
from bayesregret.policies.thompson_fast.beta_sampler import PREPARED as PER_BETA
from bayesregret.policies.thompson_fast.linear import choose_likely_leader, scratch_for_rivals
from bayesregret.policies.thompson_fast.near_and_far import memory_for_likely
from bayesregret.policies.thompson_fast.normal import BY_NORMALS, LikelyHighestNormal
from bayesregret.policies.thompson_fast.normal import PER_ARM as PER_NORMAL

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class HighestDraw(NamedTuple):
    """For beliefs that can be drawn from, and no more."""


@choose_arm.implement(HighestDraw)
def choose_highest_draw(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        value, stream = posterior_draw(model, stats, arm, stream)
        if value > highest:
            best, highest = arm, value
    return best, stream


choose_linear.implement(HighestDraw)(choose_likely_leader)


@dataclass(frozen=True)
class Thompson(BelievingPolicy):
    """Each arm is taken with the chance that it is the best one, given the data.

    `prior` is a bandit whose prior the policy believes in, the true one if None.

    >>> Thompson()
    Thompson(prior=None)
    """

    name: ClassVar[str] = "thompson"
    needs: ClassVar[tuple[Any, ...]] = (posterior_draw,)
    prior: Bandit | None = None

    def settings(self, bandit: Bandit, horizon: int | None) -> HighestDraw | LikelyHighestBeta | LikelyHighestNormal:
        belief = type(self.belief(bandit))
        if belief in normal_deviation.bodies:
            return BY_NORMALS
        if belief in pseudo_counts.bodies:
            make_special_functions_ready()
            return BY_BETAS
        return HighestDraw()

    def memory(self, bandit: Bandit) -> int:
        return memory_for_likely(bandit.arms)

    def scratch(self, bandit: Bandit) -> int:
        return max(PER_BETA, PER_NORMAL) * bandit.arms

    def linear_scratch(self, rank: int, columns: int) -> int:
        return scratch_for_rivals(rank, columns)
