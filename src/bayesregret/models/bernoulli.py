"""The K-armed Bernoulli bandit with Beta priors, Section 3.2 of the paper."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import draw_means, draw_reward, prior_pulls, prior_total, variance_proxy
from bayesregret.models.bandit import Bandit
from bayesregret.rng import beta, uniform


class BernoulliModel(NamedTuple):
    alpha: Array
    beta: Array
    pseudo_count: Array  # alpha + beta: the pulls that the prior is worth


class BernoulliBandit(Bandit):
    """Independent Beta priors with positive pseudo-counts, rewards 0 or 1.

    >>> BernoulliBandit(alpha=[1, 1], beta=[1, 3])
    BernoulliBandit(alpha=[1., 1.], beta=[1., 3.])
    """

    kind: ClassVar[str] = "bernoulli"

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha = checks.positive_vector("alpha", alpha)
        self.beta = checks.positive_vector("beta", beta)
        if len(self.alpha) != len(self.beta):
            raise ValueError(
                f"alpha and beta must have one entry for each arm, got {len(self.alpha)} and {len(self.beta)} entries"
            )
        self.arms = len(self.alpha)
        self.reward_proxy = 0.25
        self.model = BernoulliModel(self.alpha, self.beta, self.alpha + self.beta)

    def check_reward(self, reward: Any) -> float:
        number = checks.real("reward", float(reward) if isinstance(reward, bool) else reward, "0 or 1")
        if number not in (0.0, 1.0):
            raise checks.fail("reward", "0 or 1", reward)
        return number

    def accepts_rewards_of(self, other: Bandit) -> bool:
        return isinstance(other, BernoulliBandit)


@draw_means.implement(BernoulliModel)
def bernoulli_means(model, means, stream):
    for arm in range(means.shape[0]):
        means[arm], stream = beta(model.alpha[arm], model.beta[arm], stream)
    return stream


@draw_reward.implement(BernoulliModel)
def bernoulli_reward(model, arm, mean, stream):
    u, stream = uniform(stream)
    return (1.0 if u < mean else 0.0), stream


@prior_pulls.implement(BernoulliModel)
def bernoulli_prior_pulls(model, arm):
    return model.pseudo_count[arm]


@prior_total.implement(BernoulliModel)
def bernoulli_prior_total(model, arm):
    return model.alpha[arm]


@variance_proxy.implement(BernoulliModel)
def bernoulli_variance_proxy(model, arm, count):
    """The Beta posterior's sub-Gaussian variance proxy (Marchal and Arbel 2017)."""
    return 0.25 / (model.pseudo_count[arm] + count + 1.0)
