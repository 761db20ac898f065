"""UCB1 as in Section 4.2 of the paper: BayesUCB with an infinitely wide prior, each arm once at first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bayesregret.policies.base import Policy, fixed_delta, keep, log_inverse_delta, optional_probability
from bayesregret.policies.bayes_ucb import UpperConfidence
from bayesregret.policies.pending import checked_pending

if TYPE_CHECKING:
    from bayesregret.models import Bandit


@dataclass(frozen=True)
class UCB1(Policy):
    """Index policy: sample mean + sqrt(2 s^2 log(1/delta) / N), each arm once at first.

    s^2 is the reward's variance proxy: reward_noise^2, or 1/4 for Bernoulli rewards. Arms of a linear bandit are
    treated as independent. The policy uses no prior.

    Where rewards are late, N counts pulls whose reward is still pending (Desautels, Krause and Burdick 2014), and until
    the first reward of an arm arrives, the mean of all rewards received stands for its sample mean.

    Parameters
    ----------
    delta : float, optional
        Failure probability of a confidence interval; by default 1/horizon.
    count_pending : bool
        Whether N counts pending pulls; without it the policy repeats its choice until the next reward arrives.

    Examples
    --------
    >>> agent = UCB1(delta=0.01).start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]))
    >>> agent.update_many([0, 1], [0, 1])
    >>> agent.index.round(2).tolist()
    [1.52, 2.52]
    """

    name: ClassVar[str] = "ucb1"
    more_than_posterior: ClassVar[str] = "it has no prior, so its indices need the counts and sums of all rewards"
    delta: float | None = None
    count_pending: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        keep(self, delta=optional_probability("delta", self.delta), count_pending=checked_pending(self.count_pending))

    def fixed_for(self, bandit: Bandit, horizon: int | None) -> UCB1:
        return replace(self, delta=fixed_delta(self.delta, horizon))

    def settings(self, bandit: Bandit, horizon: int | None) -> UpperConfidence:
        return UpperConfidence(log_inverse_delta(self.delta, horizon))

    def belief(self, bandit: Bandit) -> Any:
        return bandit.no_prior_model()
