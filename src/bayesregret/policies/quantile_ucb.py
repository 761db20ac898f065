"""Bayes-UCB of Kaufmann, Cappe and Garivier (2012): the arm whose posterior quantile is highest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import posterior_quantile, rising_index
from bayesregret.policies.policy import BelievingPolicy
from bayesregret.special import make_special_functions_ready

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class MovingQuantile(NamedTuple):
    slower: float  # (log n)^c


@rising_index.implement(MovingQuantile)
def quantile_index(policy, model, known, arm, round_):
    """The quantile of order 1 - 1 / (t (log n)^c): passed as its tail, which keeps all digits."""
    return posterior_quantile(model, known, arm, min(0.5, 1.0 / (round_ * policy.slower)))


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
        checks.at_least("c", self.c, 0.0)

    def settings(self, bandit: Bandit, horizon: int | None) -> MovingQuantile:
        make_special_functions_ready()
        if self.c == 0.0:
            return MovingQuantile(1.0)
        if horizon is None:
            raise ValueError("horizon must be given for quantile-ucb when c is not 0")
        return MovingQuantile(max(1.0, math.log(horizon)) ** self.c)
