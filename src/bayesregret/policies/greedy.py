"""Greedy policies: the highest posterior mean, always or nearly always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import arm_index, choose_arm, choose_linear, confidence_width, posterior_mean
from bayesregret.policies.base import BelievingPolicy, has_no_width
from bayesregret.policies.linear_selection import highest_mean
from bayesregret.policies.selection import leading_arm
from bayesregret.rng import uniform

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class NoWidth(NamedTuple):
    """Nothing to set."""


@confidence_width.implement(NoWidth)
def no_width(policy, variance):
    return 0.0


class MeanAlone(NamedTuple):
    """Nothing to set: for beliefs that have no variance to make a width of."""


@arm_index.implement(MeanAlone)
def mean_alone(policy, model, arm, count, total):
    return posterior_mean(model, arm, count, total)


@dataclass(frozen=True)
class Greedy(BelievingPolicy):
    """Index: the posterior mean. `prior` is a bandit whose prior the policy believes in, the true one if None.

    >>> Greedy()
    Greedy(prior=None)
    """

    name: ClassVar[str] = "greedy"
    prior: Bandit | None = None

    def settings(self, bandit: Bandit, horizon: int | None) -> NoWidth | MeanAlone:
        return MeanAlone() if has_no_width(self.belief(bandit)) else NoWidth()


class SometimesAny(NamedTuple):
    epsilon: float


@choose_arm.implement(SometimesAny)
def choose_sometimes_any(policy, model, stats, round_, stream):
    u, stream = uniform(stream)
    arms = stats.counts.shape[0]
    if u < policy.epsilon:
        # Given that it is below epsilon, u / epsilon is uniform again.
        return min(arms - 1, int(u / policy.epsilon * arms)), stream
    return leading_arm(model, stats), stream


@choose_linear.implement(SometimesAny)
def choose_sometimes_any_linear(policy, posterior, stats, round_, stream):
    u, stream = uniform(stream)
    arms = stats.counts.shape[0]
    if u < policy.epsilon:
        return min(arms - 1, int(u / policy.epsilon * arms)), stream
    return highest_mean(posterior, stats), stream


@dataclass(frozen=True)
class EpsilonGreedy(BelievingPolicy):
    """The highest posterior mean, but in a share `epsilon` of the rounds an arm at random.

    `prior` is a bandit whose prior the policy believes in, the true one if None.

    >>> EpsilonGreedy(epsilon=0.05)
    EpsilonGreedy(epsilon=0.05, prior=None)
    """

    name: ClassVar[str] = "epsilon-greedy"
    epsilon: float = 0.1
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.share("epsilon", self.epsilon)

    def settings(self, bandit: Bandit, horizon: int | None) -> SometimesAny:
        return SometimesAny(float(self.epsilon))
