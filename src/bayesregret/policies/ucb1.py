"""UCB1 as in Section 4.2 of the paper: BayesUCB with an infinitely wide prior, each arm taken once at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bayesregret import checks
from bayesregret.policies.base import Policy, log_inverse_delta
from bayesregret.policies.bayes_ucb import UpperConfidence

if TYPE_CHECKING:
    from bayesregret.models import Bandit


@dataclass(frozen=True)
class UCB1(Policy):
    """Each arm once, in order; then index: sample mean + sqrt(2 s^2 log(1/delta) / N).

    s^2 is the reward's variance proxy: reward_noise^2, or 1/4 for Bernoulli rewards. Arms of a linear bandit are
    treated as independent. `delta` is 1/horizon if None.

    >>> UCB1()
    UCB1(delta=None)
    """

    name: ClassVar[str] = "ucb1"
    delta: float | None = None

    def __post_init__(self) -> None:
        if self.delta is not None:
            checks.probability("delta", self.delta)

    def settings(self, bandit: Bandit, horizon: int | None) -> UpperConfidence:
        return UpperConfidence(log_inverse_delta(self.delta, horizon))

    def belief(self, bandit: Bandit) -> Any:
        return bandit.no_prior_model()
