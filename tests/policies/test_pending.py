"""Indices that count pending pulls: exact where widths depend on counts alone, and the switch."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import add_reward, confidence_width, current_mean, empty_stats, rising_index
from bayesregret.policies.pending import counts_pending, counts_pending_linear, pending_index

BANDITS = {
    "gaussian": br.GaussianBandit([0.5, 0.0, -0.5], [1.0, 0.5, 2.0], [1.5, 0.7, 4.0]),
    "bernoulli": br.BernoulliBandit([1.0, 0.4, 3.0], [1.0, 0.7, 2.0]),
    "poisson": br.PoissonBandit([1.5, 2.0, 3.0], [1.0, 1.0, 2.0]),
    "exponential": br.ExponentialBandit([3.0, 3.0, 4.0], [2.0, 3.0, 4.0]),
    "normal-gamma": br.NormalGammaBandit([0.5, 0.0, -0.5], [1.0, 1.0, 2.0], [3.0, 3.0, 2.0], [2.0, 3.0, 2.0]),
}
WIDTHS = ["gaussian", "bernoulli"]
POLICY = br.BayesUCB(delta=0.01)
kinds = pytest.mark.parametrize("kind", BANDITS)


def known(bandit, counts, reward=1.0):
    stats = empty_stats(bandit.arms)
    for arm, count in enumerate(counts):
        for _ in range(count):
            add_reward(stats, arm, reward)
    return stats


def index(bandit, stats, arm, pending, policy=POLICY):
    return pending_index(policy.settings(bandit, 100), policy.belief(bandit), stats, arm, pending)


@kinds
def test_without_pending_pulls_it_is_the_index_of_the_policy(kind):
    bandit = BANDITS[kind]
    stats = known(bandit, [1, 2, 0])
    now = [index(bandit, stats, arm, 0) for arm in range(3)]
    if kind in WIDTHS:
        agent = br.BayesUCB(delta=0.01, count_pending=False).start(bandit)
        agent.update_many([0, 1, 1], [1.0, 1.0, 1.0])
        assert now == agent.index.tolist()
    else:
        quantile = POLICY.settings(bandit, 100)
        assert now == [rising_index(quantile, bandit.model, stats, arm, 1) for arm in range(3)]


@pytest.mark.parametrize("kind", WIDTHS)
def test_the_width_is_the_one_that_rewards_will_leave(kind):
    """Whatever they are: width and mean add up to the index after rewards that leave the mean as it is."""
    bandit = BANDITS[kind]
    for reward in (0.0, 1.0):
        before, after = known(bandit, [2, 2, 2], reward), known(bandit, [7, 7, 7], reward)
        for arm in range(3):
            width = index(bandit, before, arm, 5) - current_mean(bandit.model, before, arm)
            later = index(bandit, after, arm, 0) - current_mean(bandit.model, after, arm)
            assert width == pytest.approx(later, rel=1e-12)


def test_a_normal_gamma_width_is_exact_for_a_variance_that_stays():
    """Student's quantile with the degrees of freedom and the scale of the rewards received."""
    bandit, stats = BANDITS["normal-gamma"], known(BANDITS["normal-gamma"], [4, 3, 2])
    for arm in range(3):
        pulls, mean = bandit.prior_pulls[arm] + stats.counts[arm], current_mean(bandit.model, stats, arm)
        width = index(bandit, stats, arm, 0) - mean
        assert index(bandit, stats, arm, 6) - mean == pytest.approx(width * math.sqrt(pulls / (pulls + 6)), rel=1e-12)


def test_a_poisson_width_is_near_the_one_after_rewards_at_the_mean():
    bandit, stats = BANDITS["poisson"], known(BANDITS["poisson"], [4, 6, 8])
    for arm in range(3):
        mean = current_mean(bandit.model, stats, arm)
        plugged = known(bandit, [4, 6, 8])
        for _ in range(10):
            add_reward(plugged, arm, mean)
        assert index(bandit, stats, arm, 10) == pytest.approx(index(bandit, plugged, arm, 0), rel=0.05)
        assert index(bandit, stats, arm, 0) != pytest.approx(index(bandit, plugged, arm, 0), rel=0.1)  # the control


@kinds
def test_the_index_falls_with_every_pending_pull_to_the_mean(kind):
    bandit, stats = BANDITS[kind], known(BANDITS[kind], [1, 2, 0])
    for arm in range(3):
        falling = [index(bandit, stats, arm, pending) for pending in (0, 1, 2, 10, 10**6, 10**12)]
        assert sorted(falling, reverse=True) == falling
        assert falling[-1] == pytest.approx(current_mean(bandit.model, stats, arm), abs=1e-4)


def test_a_quantile_below_the_mean_stays_as_it_is():
    """A heavy tail: the mean lies far above the median."""
    bandit = br.ExponentialBandit([1.05, 3.0], [1.0, 1.0])
    policy, stats = br.BayesUCB(delta=0.5), empty_stats(2)
    assert index(bandit, stats, 0, 0, policy) < current_mean(bandit.model, stats, 0)
    assert index(bandit, stats, 0, 9, policy) == index(bandit, stats, 0, 0, policy)


@pytest.mark.parametrize("policy", [br.UCB1(delta=0.1), br.MOSS()], ids=repr)
def test_without_a_prior_the_mean_of_all_rewards_stands_for_a_missing_one(policy):
    bandit = BANDITS["bernoulli"]
    nothing = empty_stats(3)
    assert index(bandit, nothing, 0, 0, policy) == math.inf
    assert 0.0 < index(bandit, nothing, 0, 2, policy) < math.inf
    stats = known(bandit, [3, 1, 0])
    stats.totals[:] = [1.0, 1.0, 0.0]
    width = index(bandit, nothing, 0, 2, policy)  # mean 0
    assert index(bandit, stats, 2, 2, policy) == pytest.approx(0.5 + width, rel=1e-12)
    assert index(bandit, stats, 2, 0, policy) == math.inf


class Deviations(NamedTuple):
    multiplier: float


@confidence_width.implement(Deviations)
def width_in_deviations(policy, variance):
    return policy.multiplier * math.sqrt(variance)


@dataclass(frozen=True)
class Optimist(br.Policy):
    name: ClassVar[str] = "optimist-with-pending"

    def settings(self, bandit, horizon):
        return Deviations(2.0)


@dataclass(frozen=True)
class Stubborn(Optimist):
    count_pending: ClassVar[bool] = False


del br.Policy.classes["optimist-with-pending"]


def test_a_policy_of_ones_own_counts_them_too():
    bandit = br.GaussianBandit([0.0] * 3, 1.0, 1.0)
    agents = Optimist().start(bandit), Stubborn().start(bandit)
    assert [[agent.select() for _ in range(6)] for agent in agents] == [[0, 1, 2] * 2, [0] * 6]


@pytest.mark.parametrize(
    "policy", [br.Thompson(), br.QuantileUCB(), br.KLUCB(), br.EpsilonGreedy(), br.ExploreCommit(3)], ids=repr
)
def test_policies_that_depend_on_time_or_draws_do_not(policy):
    bandit = BANDITS["bernoulli"]
    assert not counts_pending(policy, policy.settings(bandit, 100))


def test_linear_policies():
    bandit = br.LinearBandit(np.eye(2), [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
    answers = {policy: counts_pending_linear(policy, policy.settings(bandit, 100)) for policy in LINEAR_POLICIES}
    assert answers == LINEAR_POLICIES


LINEAR_POLICIES = {
    br.BayesUCB(): True,
    br.BayesUCB(count_pending=False): False,
    br.LinUCB(): True,
    br.LinUCB(count_pending=False): False,
    br.Thompson(): False,
}


@pytest.mark.parametrize("policy", [br.BayesUCB, br.UCB1, br.MOSS, br.LinUCB])
@pytest.mark.parametrize("value", ["false", 0, None, 1.0])
def test_the_switch_is_true_or_false(policy, value):
    with pytest.raises(ValueError, match=rf"^count_pending must be True or False, got {value!r}$"):
        policy(count_pending=value)
    assert policy().count_pending
