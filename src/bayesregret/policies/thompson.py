"""Thompson sampling (Thompson 1933): draw every arm's mean from its posterior, take the highest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret.contracts import choose_arm, choose_linear, means_at, posterior_draw
from bayesregret.policies.linear_indices import draw_normals, first_highest
from bayesregret.policies.policy import BelievingPolicy

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class HighestDraw(NamedTuple):
    """Nothing to set."""


@choose_arm.implement(HighestDraw)
def choose_highest_draw(policy, model, known, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(known.counts.shape[0]):
        value, stream = posterior_draw(model, known, arm, stream)
        if value > highest:
            best, highest = arm, value
    return best, stream


@choose_linear.implement(HighestDraw)
def choose_highest_linear_draw(policy, posterior, known, round_, stream):
    """One draw of the parameter is a draw of all arms."""
    rank, columns = posterior.roots.shape
    xi, means = known.scratch[columns : columns + rank], known.scratch[:columns]
    stream = draw_normals(xi, stream)
    means_at(posterior, xi, means)
    return first_highest(means), stream


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

    def settings(self, bandit: Bandit, horizon: int | None) -> HighestDraw:
        return HighestDraw()
