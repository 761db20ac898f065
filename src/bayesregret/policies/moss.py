"""MOSS of Audibert and Bubeck (2009): a confidence width for the pulls that an arm may still get."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret.contracts import arm_index, variance_proxy
from bayesregret.policies.base import Policy

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class MossWidth(NamedTuple):
    pulls_each: float  # horizon / arms


@arm_index.implement(MossWidth)
def moss_index(policy, model, arm, count, total):
    """Sample mean + sqrt(4 s^2 log+(n / (K N)) / N): for rewards in [0, 1], s^2 = 1/4, it is the published one."""
    if count == 0:
        return math.inf
    level = max(0.0, math.log(policy.pulls_each / count))
    proxy = variance_proxy(model, arm, 1)  # of one reward around its mean
    return total / count + math.sqrt(4.0 * proxy * level / count)


@dataclass(frozen=True)
class MOSS(Policy):
    """Each arm once; then index: sample mean + sqrt(4 s^2 log+(n / (K N)) / N), s^2 the reward's variance proxy.

    It knows no prior but needs the horizon n.

    >>> MOSS()
    MOSS()
    """

    name: ClassVar[str] = "moss"

    def settings(self, bandit: Bandit, horizon: int | None) -> MossWidth:
        if horizon is None:
            raise ValueError("horizon must be given for moss")
        return MossWidth(horizon / bandit.arms)

    def belief(self, bandit: Bandit) -> Any:
        return bandit.no_prior_model()
