"""MOSS of Audibert and Bubeck (2009): a confidence width that vanishes after horizon / arms pulls."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret.contracts import arm_index, variance_proxy
from bayesregret.dispatch import jitable
from bayesregret.elementary import log
from bayesregret.policies.base import Policy, keep
from bayesregret.policies.pending import checked_pending, mean_of_all, pending_index

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class MossWidth(NamedTuple):
    pulls_each: float  # horizon / arms


@arm_index.implement(MossWidth)
def moss_index(policy, model, arm, count, total):
    """Sample mean + sqrt(4 s^2 log+(n / (K N)) / N); for rewards in [0, 1], s^2 = 1/4, it is the published index."""
    return total / count + moss_width(policy, model, arm, count) if count > 0 else math.inf


@pending_index.implement(MossWidth)
def moss_index_with_pending(policy, model, stats, arm, pending):
    count = stats.counts[arm]
    if count + pending == 0:
        return math.inf
    mean = stats.totals[arm] / count if count > 0 else mean_of_all(stats)
    return mean + moss_width(policy, model, arm, count + pending)


@jitable
def moss_width(policy, model, arm, pulls):
    log_ratio = max(0.0, log(policy.pulls_each / pulls))
    proxy = variance_proxy(model, arm, 1)  # of one reward around its mean
    return math.sqrt(4.0 * proxy * log_ratio / pulls)


@dataclass(frozen=True)
class MOSS(Policy):
    """Index policy: sample mean + sqrt(4 s^2 log+(n / (K N)) / N), each arm once at first.

    s^2 is the reward's variance proxy. The policy uses no prior; it needs the horizon n. Pending pulls count
    as in UCB1.

    Parameters
    ----------
    count_pending : bool
        Whether N counts pending pulls; without it the policy repeats its choice until the next reward arrives.

    Examples
    --------
    >>> agent = MOSS().start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=100)
    >>> agent.update_many([0, 1], [0, 1])
    >>> agent.index.round(2).tolist()
    [1.98, 2.98]
    """

    name: ClassVar[str] = "moss"
    more_than_posterior: ClassVar[str] = "it has no prior, so its indices need the counts and sums of all rewards"
    count_pending: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        keep(self, count_pending=checked_pending(self.count_pending))

    def settings(self, bandit: Bandit, horizon: int | None) -> MossWidth:
        if horizon is None:
            raise ValueError("horizon must be given for moss")
        return MossWidth(horizon / bandit.arms)

    def belief(self, bandit: Bandit) -> Any:
        return bandit.no_prior_model()
