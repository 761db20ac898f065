"""LinUCB as in Abbasi-Yadkori, Pal and Szepesvari (2011): optimism in an ellipsoid around ridge regression."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import choose_linear, information, mean_now, variance_now
from bayesregret.policies.base import Policy, fixed_delta, keep, log_inverse_delta, optional_probability
from bayesregret.policies.linear_selection import first_highest
from bayesregret.policies.pending import checked_pending

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class Ellipsoid(NamedTuple):
    noise: float
    log_inverse_delta: float
    pull_to_zero: float  # sqrt(lambda) S: largest bias by regularisation


@choose_linear.implement(Ellipsoid)
def choose_in_ellipsoid(policy, posterior, stats, round_, stream):
    """Theorem 2 of the paper: with V = lambda I + sum of x x', the parameter is within
    s sqrt(2 log(det(V)^(1/2) lambda^(-d/2) / delta)) + sqrt(lambda) S of the estimate, in the norm of V. The posterior
    variances are s^2 x' V^-1 x."""
    radius = math.sqrt(information(posterior) + 2.0 * policy.log_inverse_delta) + policy.pull_to_zero / policy.noise
    indices = stats.scratch[: posterior.mean.shape[0]]
    for arm in range(indices.shape[0]):
        indices[arm] = mean_now(posterior, arm) + radius * math.sqrt(variance_now(posterior, arm))
    return first_highest(indices), stream


@dataclass(frozen=True)
class LinUCB(Policy):
    """Index policy: the arm's highest mean reward for parameters in the confidence ellipsoid around ridge regression.

    The policy uses no prior. Where rewards are late, the ellipsoid has its centre from the rewards received and its
    shape from all pulls, pending ones included.

    Parameters
    ----------
    regularisation : float
        The factor lambda of ridge regression.
    bound : float
        Assumed upper bound on the norm of the parameter.
    delta : float, optional
        Probability that the ellipsoid ever misses the parameter; by default 1/horizon.
    count_pending : bool
        Whether the ellipsoid's shape counts pending pulls.

    Examples
    --------
    >>> bandit = LinearBandit(features=[[1, 0], [0.6, 0.8]], prior_mean=[0, 0], prior_width=1, reward_noise=1)
    >>> agent = LinUCB(delta=0.05).start(bandit)
    >>> agent.update_many([0] * 9, [1.0] * 9)
    >>> agent.select()
    1
    """

    name: ClassVar[str] = "lin-ucb"
    more_than_posterior: ClassVar[str] = "it has no prior, so its ellipsoid needs the counts and sums of all rewards"
    regularisation: float = 1.0
    bound: float = 1.0
    delta: float | None = None
    count_pending: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        keep(
            self,
            regularisation=checks.positive("regularisation", self.regularisation),
            bound=checks.at_least("bound", self.bound, 0.0),
            delta=optional_probability("delta", self.delta),
            count_pending=checked_pending(self.count_pending),
        )

    def fixed_for(self, bandit: Bandit, horizon: int | None) -> LinUCB:
        return replace(self, delta=fixed_delta(self.delta, horizon))

    def settings(self, bandit: Bandit, horizon: int | None) -> Ellipsoid:
        noise = self.belief(bandit).reward_noise
        pull_to_zero = math.sqrt(self.regularisation) * self.bound
        return Ellipsoid(noise, log_inverse_delta(self.delta, horizon), pull_to_zero)

    def belief(self, bandit: Bandit) -> Any:
        if not hasattr(bandit, "ridge_model"):
            raise ValueError(
                f"policy must be one that runs on {bandit.a_kind} bandit, got lin-ucb, which needs features"
            )
        return bandit.ridge_model(self.regularisation)
