"""Greedy policies: the highest posterior mean, in all rounds or in most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import arm_index, choose_arm, choose_linear, confidence_width, posterior_mean
from bayesregret.policies.base import PosteriorPolicy, has_no_width, keep
from bayesregret.policies.linear_selection import highest_mean
from bayesregret.policies.selection import leading_arm
from bayesregret.rng import uniform

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class NoWidth(NamedTuple):
    """Posterior mean without a confidence width."""


@confidence_width.implement(NoWidth)
def no_width(policy, variance):
    return 0.0


class MeanAlone(NamedTuple):
    """Posterior mean, for beliefs without a variance proxy."""


@arm_index.implement(MeanAlone)
def mean_alone(policy, model, arm, count, total):
    return posterior_mean(model, arm, count, total)


@dataclass(frozen=True)
class Greedy(PosteriorPolicy):
    """Index policy: the posterior mean.

    Parameters
    ----------
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> Greedy().start(GaussianBandit([0, 0.5], prior_width=1, reward_noise=1)).select()
    1
    """

    name: ClassVar[str] = "greedy"
    prior: Bandit | None = None

    def settings(self, bandit: Bandit, horizon: int | None) -> NoWidth | MeanAlone:
        return MeanAlone() if has_no_width(self.belief(bandit)) else NoWidth()


class RandomOrGreedy(NamedTuple):
    epsilon: float


@choose_arm.implement(RandomOrGreedy)
def choose_random_or_greedy(policy, model, stats, round_, stream):
    u, stream = uniform(stream)
    arms = stats.counts.shape[0]
    if u < policy.epsilon:
        # Given that it is below epsilon, u / epsilon is uniform again.
        return min(arms - 1, int(u / policy.epsilon * arms)), stream
    return leading_arm(model, stats), stream


@choose_linear.implement(RandomOrGreedy)
def choose_linear_random_or_greedy(policy, posterior, stats, round_, stream):
    u, stream = uniform(stream)
    arms = stats.counts.shape[0]
    if u < policy.epsilon:
        return min(arms - 1, int(u / policy.epsilon * arms)), stream
    return highest_mean(posterior, stats), stream


@dataclass(frozen=True)
class EpsilonGreedy(PosteriorPolicy):
    """Policy that pulls a random arm with probability `epsilon`, otherwise the one with the highest posterior mean.

    Parameters
    ----------
    epsilon : float
        Probability of a random arm, from 0 to 1.
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> EpsilonGreedy(epsilon=0).start(GaussianBandit([0, 0.5], prior_width=1, reward_noise=1)).select()
    1
    """

    name: ClassVar[str] = "epsilon-greedy"
    epsilon: float = 0.1
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        keep(self, epsilon=checks.fraction("epsilon", self.epsilon))

    def settings(self, bandit: Bandit, horizon: int | None) -> RandomOrGreedy:
        return RandomOrGreedy(self.epsilon)
