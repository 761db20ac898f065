"""BayesUCB, Algorithm 1 of the paper: pull the arm with the highest Bayesian upper confidence bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bayesregret.contracts import confidence_width, current_mean, posterior_quantile, prior_pulls, rising_index
from bayesregret.elementary import exp
from bayesregret.numerics.special import make_special_functions_ready
from bayesregret.policies.base import (
    PosteriorPolicy,
    fixed_delta,
    has_no_width,
    keep,
    log_inverse_delta,
    optional_probability,
)
from bayesregret.policies.pending import checked_pending, pending_index

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class UpperConfidence(NamedTuple):
    """Upper confidence bound that fails with probability delta."""

    log_inverse_delta: float


@confidence_width.implement(UpperConfidence)
def upper_confidence_width(policy, variance):
    """sqrt(2 v log(1/delta)), Section 3."""
    if variance == math.inf:  # an unpulled arm comes first even at horizon 1, where delta is 1
        return math.inf
    return math.sqrt(2.0 * variance * policy.log_inverse_delta)


class FixedQuantile(NamedTuple):
    """Posterior quantile as the index, for tails heavier than normal ones, where no width is valid."""

    tail: float


@rising_index.implement(FixedQuantile)
def fixed_quantile_index(policy, model, stats, arm, round_):
    return posterior_quantile(model, stats, arm, policy.tail)


@pending_index.implement(FixedQuantile)
def fixed_quantile_with_pending(policy, model, stats, arm, pending):
    """The quantile's distance above the mean shrinks as one over the square root of the pulls, pseudo-count included.

    The rewards to come change this distance too. For normal-gamma arms it is exact if they leave the estimate of the
    variance as it is; for Poisson arms the posterior deviation shrinks so if their mean is the posterior mean.
    """
    quantile, mean = posterior_quantile(model, stats, arm, policy.tail), current_mean(model, stats, arm)
    if pending == 0 or quantile <= mean:  # below the mean there is no width to shrink
        return quantile
    pulls = prior_pulls(model, arm) + stats.counts[arm]
    return mean + (quantile - mean) * math.sqrt(pulls / (pulls + pending))


@dataclass(frozen=True)
class BayesUCB(PosteriorPolicy):
    """Index policy: posterior mean + sqrt(2 v log(1/delta)), v the posterior variance or its sub-Gaussian proxy.

    Where there is no such proxy (poisson, exponential and normal-gamma beliefs), the index is the posterior quantile of
    order 1 - delta, or the median if that is higher.

    Where rewards are late, the width counts pulls whose reward is still pending (Desautels, Krause and Burdick 2014).

    Parameters
    ----------
    delta : float, optional
        Failure probability of a confidence interval; by default 1/horizon.
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.
    count_pending : bool
        Whether widths count pending pulls; without it the policy repeats its choice until the next reward arrives.

    Examples
    --------
    >>> agent = BayesUCB(delta=0.01).start(GaussianBandit([0, 0.5], prior_width=[1, 0.1], reward_noise=1))
    >>> agent.index.round(2).tolist()
    [3.03, 0.8]
    """

    name: ClassVar[str] = "bayes-ucb"
    delta: float | None = None
    prior: Bandit | None = None
    count_pending: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        keep(self, delta=optional_probability("delta", self.delta), count_pending=checked_pending(self.count_pending))

    def fixed_for(self, bandit: Bandit, horizon: int | None) -> BayesUCB:
        return replace(self, delta=fixed_delta(self.delta, horizon))

    def settings(self, bandit: Bandit, horizon: int | None) -> UpperConfidence | FixedQuantile:
        log_inverse, belief = log_inverse_delta(self.delta, horizon), self.belief(bandit)
        if has_no_width(belief) and posterior_quantile.supports(belief):
            make_special_functions_ready()
            return FixedQuantile(min(0.5, exp(-log_inverse)))
        return UpperConfidence(log_inverse)
