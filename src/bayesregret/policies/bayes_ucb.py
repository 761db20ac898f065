"""BayesUCB, Algorithm 1 of the paper: take the arm with the highest Bayesian upper confidence bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import confidence_width
from bayesregret.policies.policy import Policy, log_inverse_delta

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


@dataclass(frozen=True)
class BayesUCB(Policy):
    """Index: posterior mean + sqrt(2 v log(1/delta)), v the posterior variance or its sub-Gaussian proxy.

    `delta` is the failure probability of a confidence interval, 1/horizon if None. `prior` is a bandit whose prior the
    policy believes in, the true one if None.

    >>> BayesUCB(delta=0.01)
    BayesUCB(delta=0.01, prior=None)
    """

    name: ClassVar[str] = "bayes-ucb"
    delta: float | None = None
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        if self.delta is not None:
            checks.probability("delta", self.delta)
        is_bandit = hasattr(self.prior, "accepts_rewards_of") and not isinstance(self.prior, type)
        if self.prior is not None and not is_bandit:
            raise checks.fail("prior", "a bandit", self.prior)

    def settings(self, bandit: Bandit, horizon: int | None) -> UpperConfidence:
        return UpperConfidence(log_inverse_delta(self.delta, horizon))

    def belief(self, bandit: Bandit) -> Any:
        if self.prior is None:
            return bandit.model
        if self.prior.arms != bandit.arms:
            raise ValueError(f"prior must have the bandit's {bandit.arms} arms, got {self.prior.arms}")
        if not self.prior.accepts_rewards_of(bandit):
            raise ValueError(
                f"prior must be one that can learn from {bandit.kind} rewards, got a {self.prior.kind} one"
            )
        return self.prior.model
