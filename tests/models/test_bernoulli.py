import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesregret import BernoulliBandit, GaussianBandit
from bayesregret.contracts import draw_reward, posterior_mean, prior_pulls, prior_total, variance_proxy
from draws import stream_of
from problems import decimals
from reference.posteriors import History, posterior


@given(decimals(0.001, 50), decimals(0.001, 50), st.lists(st.sampled_from([0.0, 1.0]), max_size=30))
def test_posterior_is_the_textbooks(alpha, beta, rewards):
    bandit = BernoulliBandit([alpha], [beta])
    expected = posterior(bandit, History([0] * len(rewards), rewards))
    assert posterior_mean(bandit.model, 0, len(rewards), sum(rewards)) == pytest.approx(expected.mean[0], rel=1e-13)
    assert variance_proxy(bandit.model, 0, len(rewards)) == pytest.approx(expected.variance[0], rel=1e-13)


def test_a_prior_is_worth_pulls():
    model = BernoulliBandit([1.0, 0.25], [1.0, 0.5]).model
    assert prior_pulls(model, 1) == 0.75
    assert prior_total(model, 1) == 0.25
    assert variance_proxy(model, 0, 0) == 1.0 / 12.0


def test_rewards_are_zero_or_one():
    model = BernoulliBandit([1.0], [1.0]).model
    for mean, possible in [(0.0, {0.0}), (1.0, {1.0}), (0.5, {0.0, 1.0})]:
        stream, rewards = stream_of(1), set()
        with np.errstate(over="ignore"):
            for _ in range(50):
                reward, stream = draw_reward(model, 0, mean, stream)
                rewards.add(reward)
        assert rewards == possible


def test_rewards_that_it_can_learn_from():
    bandit = BernoulliBandit([1], [1])
    assert bandit.accepts_rewards_of(BernoulliBandit([2], [2]))
    assert not bandit.accepts_rewards_of(GaussianBandit([0], 1, 1))
    assert bandit.reward_proxy == 0.25


@pytest.mark.parametrize("reward", [0, 1, 0.0, 1.0, True, np.int64(1), np.float64(0.0)])
def test_good_rewards(reward):
    assert BernoulliBandit([1], [1]).check_reward(reward) == float(reward)


@pytest.mark.parametrize("reward", [0.5, -1, 2, np.nan, np.inf, "1", None, pytest.param(10**400, id="huge")])
def test_bad_rewards(reward):
    with pytest.raises(ValueError, match=r"^reward must be 0 or 1, got"):
        BernoulliBandit([1], [1]).check_reward(reward)
