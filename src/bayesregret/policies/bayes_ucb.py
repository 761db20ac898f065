"""BayesUCB, Algorithm 1 of the paper: take the arm with the highest Bayesian upper confidence bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import confidence_width, posterior_quantile, rising_index
from bayesregret.numerics.special import make_special_functions_ready
from bayesregret.policies.base import BelievingPolicy, has_no_width, log_inverse_delta

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class UpperConfidence(NamedTuple):
    """An upper confidence bound that fails with probability delta."""

    log_inverse_delta: float


@confidence_width.implement(UpperConfidence)
def upper_confidence_width(policy, variance):
    """sqrt(2 v log(1/delta)), Section 3."""
    if variance == math.inf:  # an arm never tried comes first even at horizon 1, where delta is 1
        return math.inf
    return math.sqrt(2.0 * variance * policy.log_inverse_delta)


class FixedQuantile(NamedTuple):
    """The same where tails are heavier than normal ones: no width is valid there, the quantile itself is."""

    tail: float


@rising_index.implement(FixedQuantile)
def fixed_quantile_index(policy, model, stats, arm, round_):
    return posterior_quantile(model, stats, arm, policy.tail)


@dataclass(frozen=True)
class BayesUCB(BelievingPolicy):
    """Index: posterior mean + sqrt(2 v log(1/delta)), v the posterior variance or its sub-Gaussian proxy.

    Where there is no such proxy (poisson, exponential and normal-gamma beliefs), the index is the posterior quantile of
    order 1 - delta, the median at least. `delta` is the failure probability of a confidence interval, 1/horizon if
    None. `prior` is a bandit whose prior the policy believes in, the true one if None.

    >>> BayesUCB(delta=0.01)
    BayesUCB(delta=0.01, prior=None)
    """

    name: ClassVar[str] = "bayes-ucb"
    delta: float | None = None
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None:
            checks.probability("delta", self.delta)

    def settings(self, bandit: Bandit, horizon: int | None) -> UpperConfidence | FixedQuantile:
        level, belief = log_inverse_delta(self.delta, horizon), self.belief(bandit)
        if has_no_width(belief) and type(belief) in posterior_quantile.bodies:
            make_special_functions_ready()
            return FixedQuantile(min(0.5, math.exp(-level)))
        return UpperConfidence(level)
