"""Thompson sampling (Thompson 1933): draw every arm's mean reward from its posterior and choose the highest.

On Beta and normal posteriors most draws are avoided: see thompson_fast/near_and_far.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret.contracts import choose_arm, choose_linear, means_at, posterior_draw
from bayesregret.contracts.fast import normal_deviation, pseudo_counts
from bayesregret.contracts.mixture import MixtureModel
from bayesregret.policies.base import PosteriorPolicy
from bayesregret.policies.linear_selection import draw_normals, first_highest
from bayesregret.policies.mixture_selection import HighestDrawInMixture
from bayesregret.policies.thompson_fast.beta import NEAR_AND_FAR_BETA, NearAndFarBeta, scratch_for_beta
from bayesregret.policies.thompson_fast.near_and_far import memory_for_near_and_far
from bayesregret.policies.thompson_fast.normal import NEAR_AND_FAR_NORMAL, NearAndFarNormal, scratch_for_normal

if TYPE_CHECKING:
    from bayesregret.contracts import Stats
    from bayesregret.models import Bandit


class HighestDraw(NamedTuple):
    """Draw every arm in every round."""


@choose_arm.implement(HighestDraw)
def choose_highest_draw(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        value, stream = posterior_draw(model, stats, arm, stream)
        if value > highest:
            best, highest = arm, value
    return best, stream


@choose_linear.implement(HighestDraw)
def choose_highest_linear_draw(policy, posterior, stats, round_, stream):
    """Draw the parameter, and with it all arms."""
    rank, columns = posterior.roots.shape
    means, xi = stats.scratch[:columns], stats.scratch[columns : columns + rank]
    stream = draw_normals(xi, stream)
    means_at(posterior, xi, means)
    return first_highest(means), stream


@dataclass(frozen=True)
class Thompson(PosteriorPolicy):
    """Thompson sampling: choose each arm with the posterior probability that it is the best one.

    Parameters
    ----------
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> agent = Thompson().start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), seed=1)
    >>> agent.update_many([0] * 20 + [1] * 20, [1] * 18 + [0] * 22)
    >>> agent.select()
    0
    """

    name: ClassVar[str] = "thompson"
    needs: ClassVar[tuple[Any, ...]] = (posterior_draw,)
    prior: Bandit | None = None

    def settings(
        self, bandit: Bandit, horizon: int | None
    ) -> HighestDraw | HighestDrawInMixture | NearAndFarBeta | NearAndFarNormal:
        belief = self.belief(bandit)
        if isinstance(belief, MixtureModel):
            return HighestDrawInMixture()
        if normal_deviation.supports(belief):
            return NEAR_AND_FAR_NORMAL
        if pseudo_counts.supports(belief):
            return NEAR_AND_FAR_BETA
        return HighestDraw()

    def memory(self, bandit: Bandit) -> int:
        belief = self.belief(bandit)
        is_fast = normal_deviation.supports(belief) or pseudo_counts.supports(belief)
        return memory_for_near_and_far(bandit.arms) if is_fast else 0

    def scratch(self, bandit: Bandit) -> int:
        belief = self.belief(bandit)
        if normal_deviation.supports(belief):
            return scratch_for_normal(bandit.arms)
        return scratch_for_beta(bandit.arms) if pseudo_counts.supports(belief) else 0

    def check_memory(self, settings: tuple[Any, ...], belief: tuple[Any, ...], stats: Stats, rounds: int) -> None:
        if isinstance(settings, NearAndFarBeta | NearAndFarNormal):
            # Imported here because only agents that are loaded need it.
            from bayesregret.policies.thompson_fast.saved_memory import check_near_and_far

            check_near_and_far(settings, belief, stats, rounds)
