"""Two posteriors of a linear bandit: means from the rewards received, variances after all pulls."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import information, mean_now, means_at, variance_now
from bayesregret.models.linear_lazy_posterior import (
    add_linear_reward,
    copy_lazy_posterior,
    count_linear_pulls,
    make_lazy_posterior,
    pulls_in,
)
from bayesregret.models.linear_pending_posterior import count_missing, with_pending
from bayesregret.models.linear_posterior import UPDATES_UNTIL_REFRESH
from reference.posteriors import covariance_form

RNG = np.random.default_rng(11)
BANDIT = br.LinearBandit(
    RNG.standard_normal((5, 3)), [0.5, -0.2, 0.1], prior_cov=np.diag([2.0, 0.5, 0.1]) + 0.2, reward_noise=0.7
)


def brute_force(arms, rewards):
    """Mean and covariance of the parameter, by conditioning on all rewards at once."""
    taken = BANDIT.features[arms]
    return covariance_form(BANDIT.prior_mean, BANDIT.covariance, taken, rewards, BANDIT.reward_noise)


def variances(covariance):
    return np.einsum("ai,ij,aj->a", BANDIT.features, covariance, BANDIT.features)


@pytest.fixture
def played():
    """A posterior with 40 known rewards and 25 pending pulls, counted one by one as they were made."""
    arms, rewards = RNG.integers(5, size=65).tolist(), RNG.standard_normal(65).tolist()
    posterior = with_pending(make_lazy_posterior(BANDIT.model), BANDIT.model)
    for place, arm in enumerate(arms):
        count_linear_pulls(posterior.counted, BANDIT.model, arm, 1)
        if place >= 25:
            add_linear_reward(posterior.received, BANDIT.model, arms[place - 25], rewards[place - 25])
    return posterior, arms, rewards[:40]


def test_means_and_variances_are_those_of_brute_force(played):
    posterior, arms, rewards = played
    mean, _ = brute_force(arms[:40], rewards)
    _, covariance = brute_force(arms, [0.0] * len(arms))
    assert np.allclose([mean_now(posterior, arm) for arm in range(5)], BANDIT.features @ mean, rtol=1e-10, atol=1e-12)
    assert np.allclose([variance_now(posterior, arm) for arm in range(5)], variances(covariance), rtol=1e-10)
    log_ratio = np.linalg.slogdet(BANDIT.covariance)[1] - np.linalg.slogdet(covariance)[1]
    assert information(posterior) == pytest.approx(log_ratio, rel=1e-10)


def test_variances_of_received_rewards_alone_are_others(played):
    """The control."""
    posterior, arms, rewards = played
    _, received = brute_force(arms[:40], rewards)
    assert not np.allclose([variance_now(posterior, arm) for arm in range(5)], variances(received), rtol=0.05)


def test_means_at_a_draw_are_those_of_the_received_rewards(played):
    posterior = played[0]
    xi, ours, theirs = RNG.standard_normal(3), np.zeros(posterior.mean.shape), np.zeros(posterior.mean.shape)
    means_at(posterior, xi, ours)
    means_at(posterior.received, xi, theirs)
    assert np.array_equal(ours, theirs)


def test_pulls_counted_at_once_and_one_by_one(played):
    posterior, arms, _ = played
    other = with_pending(posterior.received, BANDIT.model)
    pending = np.bincount(arms[40:], minlength=5)
    count_missing(other, BANDIT.model, pending, anew=True)
    assert [pulls_in(other.counted, arm) for arm in range(5)] == np.bincount(arms, minlength=5).tolist()
    for arm in range(5):
        assert variance_now(other, arm) == pytest.approx(variance_now(posterior, arm), rel=1e-10)
    before = [variance_now(other, arm) for arm in range(5)]
    count_missing(other, BANDIT.model, pending, anew=False)  # nothing is missing
    assert [variance_now(other, arm) for arm in range(5)] == before


def test_a_copy_goes_its_own_way(played):
    received = played[0].received
    copy = make_lazy_posterior(BANDIT.model)
    copy_lazy_posterior(copy, received)
    before = [(mean_now(received, arm), variance_now(received, arm)) for arm in range(5)]
    assert [(mean_now(copy, arm), variance_now(copy, arm)) for arm in range(5)] == before
    count_linear_pulls(copy, BANDIT.model, 3, 7)
    assert [(mean_now(received, arm), variance_now(received, arm)) for arm in range(5)] == before
    assert variance_now(copy, 3) < variance_now(received, 3)


def test_thousands_of_pulls_keep_their_digits():
    """The posterior is recomputed now and then."""
    streak = make_lazy_posterior(BANDIT.model)
    pulled = [arm % 5 for arm in range(2 * UPDATES_UNTIL_REFRESH + 37)]
    for arm in pulled:
        count_linear_pulls(streak, BANDIT.model, arm, 1)
    _, covariance = brute_force(pulled, [0.0] * len(pulled))
    assert np.allclose([variance_now(streak, arm) for arm in range(5)], variances(covariance), rtol=1e-9)


def test_a_prior_a_hundred_million_times_as_wide_as_the_noise():
    bandit = br.LinearBandit(np.eye(3), np.zeros(3), prior_width=1e4, reward_noise=1e-4)
    streak = make_lazy_posterior(bandit.model)
    for arm, pulls in ((0, 1), (1, 5), (0, 3)):
        count_linear_pulls(streak, bandit.model, arm, pulls)
    assert variance_now(streak, 0) == pytest.approx(1e-8 / 4, rel=1e-6)
    assert variance_now(streak, 1) == pytest.approx(1e-8 / 5, rel=1e-6)
    assert variance_now(streak, 2) == 1e8
