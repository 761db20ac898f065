"""KL-UCB of Garivier and Cappe (2011) and Cappe et al. (2013): what an arm's mean may be, by divergence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import divergence_limit, rising_index
from bayesregret.policies.policy import Policy

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class MovingDivergence(NamedTuple):
    c: float


@rising_index.implement(MovingDivergence)
def divergence_index(policy, model, known, arm, round_):
    """The highest q with N kl(mean, q) <= log t + c log log t."""
    count = known.counts[arm]
    if count == 0:
        return math.inf
    level = math.log(round_)
    if policy.c > 0.0:
        level += policy.c * math.log(max(1.0, level))
    return divergence_limit(model, arm, known.totals[arm] / count, level / count)


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
        checks.at_least("c", self.c, 0.0)

    def settings(self, bandit: Bandit, horizon: int | None) -> MovingDivergence:
        return MovingDivergence(float(self.c))
