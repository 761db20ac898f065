import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesregret import GaussianBandit
from bayesregret.contracts import draw_reward, posterior_mean, prior_pulls, prior_total, variance_proxy
from bayesregret.models.gaussian import GaussianModel, RademacherModel
from draws import stream_of
from problems import decimals
from reference.posteriors import History, posterior


@given(decimals(-2, 2), decimals(0.01, 10), decimals(0.01, 10), st.lists(decimals(-5, 5), max_size=20))
def test_posterior_is_the_textbooks(prior_mean, width, noise, rewards):
    bandit = GaussianBandit([prior_mean], width, noise)
    expected = posterior(bandit, History([0] * len(rewards), rewards))
    count, total = len(rewards), math.fsum(rewards)
    mean = posterior_mean(bandit.model, 0, count, total)
    assert mean == pytest.approx(expected.mean[0], rel=1e-12, abs=1e-13 * max(1.0, abs(total)))
    assert variance_proxy(bandit.model, 0, count) == pytest.approx(expected.variance[0], rel=1e-12)


def test_a_prior_is_worth_pulls():
    model = GaussianBandit([0.5, -1.0], prior_width=0.5, reward_noise=2.0).model
    assert prior_pulls(model, 1) == 16.0
    assert prior_total(model, 1) == -16.0
    assert prior_total(model, 0) == 8.0


def test_the_noise_kind_picks_the_model():
    assert isinstance(GaussianBandit([0], 1, 1).model, GaussianModel)
    assert isinstance(GaussianBandit([0], 1, 1, "rademacher").model, RademacherModel)


def test_rademacher_rewards_are_one_step_off_the_mean():
    model = GaussianBandit([0.0], 1.0, 0.25, noise_kind="rademacher").model
    stream, rewards = stream_of(1), []
    with np.errstate(over="ignore"):
        for _ in range(50):
            reward, stream = draw_reward(model, 0, 2.0, stream)
            rewards.append(reward)
    assert set(rewards) == {1.75, 2.25}


def test_reward_proxy_is_the_variance():
    assert GaussianBandit([0], 1, 3).reward_proxy == 9.0
    assert GaussianBandit([0], 1, 3, "rademacher").reward_proxy == 9.0
