import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesregret import BayesUCB, GaussianBandit, LinearBandit, simulate
from bayesregret.models.linear_posterior import add_rewards, make_posterior, reset_posterior, set_target
from problems import FEATURES, linear_bandits
from reference.posteriors import History, posterior


@given(linear_bandits(), st.data())
def test_posterior_is_the_textbooks(bandit, data):
    """Streaks of pulls of one arm after another, taken in one by one, against a matrix inverse."""
    model, arms = bandit.model, bandit.arms
    ours, history = make_posterior(model), History([], [])
    reset_posterior(ours, model)
    streaks = data.draw(st.lists(st.tuples(st.integers(0, arms - 1), st.integers(1, 4)), max_size=8))
    rng = np.random.default_rng(1)
    for arm, pulls in streaks:
        rewards = rng.standard_normal(pulls)
        set_target(ours, arm)
        add_rewards(ours, model, arm, pulls, float((rewards - ours.mean[arm]).sum()))
        history.arms.extend([arm] * pulls)
        history.rewards.extend(rewards)
    expected = posterior(bandit, history)
    scale = 1.0 + np.abs(bandit.features @ bandit.covariance @ bandit.features.T).max()
    assert np.allclose(ours.mean[:arms], expected.mean, rtol=0.0, atol=1e-10 * scale)
    assert np.allclose(ours.variance[:arms], expected.variance, rtol=0.0, atol=1e-11 * scale)
    assert np.isneginf(ours.mean[arms:]).all()  # padding never leads
    assert not ours.variance[arms:].any()


@given(linear_bandits())
def test_the_root_is_a_root(bandit):
    root, covariance = bandit.covariance_root, bandit.covariance
    assert root.shape[0] == bandit.features.shape[1]
    assert root.shape[1] == np.linalg.matrix_rank(covariance, tol=1e-10 * (np.abs(covariance).max() or 1.0))
    assert np.allclose(root @ root.T, covariance, rtol=0.0, atol=1e-12 * np.abs(covariance).max())


def test_draws_lie_in_the_range_of_a_singular_covariance():
    direction = np.array([1.0, -2.0, 0.5])
    centre = np.array([0.3, 0.2, 0.1])
    bandit = LinearBandit(np.eye(3), centre, prior_cov=np.outer(direction, direction), reward_noise=1.0)
    for run in range(20):
        off = bandit.draw_instance(seed=1, run=run).parameter - centre
        assert np.linalg.norm(np.cross(off, direction)) < 1e-12 * np.linalg.norm(off)
        assert np.linalg.norm(off) > 0.0


def test_without_any_variance_every_instance_is_the_prior_mean():
    bandit = LinearBandit(FEATURES, [0.5, 0.1], prior_cov=np.zeros((2, 2)), reward_noise=1.0)
    assert bandit.covariance_root.shape == (2, 0)
    assert np.allclose(bandit.draw_means(5, seed=1), np.array(FEATURES) @ [0.5, 0.1], rtol=1e-15)
    assert simulate(bandit, BayesUCB(), horizon=50, runs=5, seed=1)["bayes-ucb"].mean == 0.0


def test_coordinates_of_very_different_size():
    """A prior may know one coordinate much better than another: neither is rounding."""
    small = 1e-7
    bandit = LinearBandit(np.eye(2), [0.0, 0.0], prior_cov=np.diag([1.0, small**2]), reward_noise=1.0)
    assert np.allclose(bandit.covariance_root @ bandit.covariance_root.T, bandit.covariance, rtol=1e-12, atol=0.0)
    assert 0.1 * small < np.abs(bandit.draw_means(10, seed=1)[:, 1]).max() < 10.0 * small


@pytest.mark.parametrize("width", [0.01, 1.0, 30.0])
def test_a_width_is_a_covariance(width):
    """prior_width=w and prior_cov=w^2 I are one distribution, and here one set of draws."""
    by_width = LinearBandit(FEATURES, [0.1, 0.2], prior_width=width, reward_noise=0.5)
    by_cov = LinearBandit(FEATURES, [0.1, 0.2], prior_cov=width**2 * np.eye(2), reward_noise=0.5)
    assert np.allclose(by_width.covariance, by_cov.covariance, rtol=1e-15)
    assert np.allclose(by_width.draw_means(50, seed=1), by_cov.draw_means(50, seed=1), rtol=1e-12, atol=1e-14 * width)
    first = simulate(by_width, BayesUCB(), horizon=40, runs=20, seed=1)["bayes-ucb"]
    second = simulate(by_cov, BayesUCB(), horizon=40, runs=20, seed=1)["bayes-ucb"]
    assert np.allclose(first.final_regret, second.final_regret, rtol=1e-10, atol=1e-12 * width)


def test_unit_vectors_make_a_gaussian_bandit():
    linear = LinearBandit(np.eye(3), [1.0, 0.0, -1.0], prior_width=2.0, reward_noise=1.0)
    assert np.array_equal(linear.draw_means(9, seed=4), GaussianBandit([1, 0, -1], 2, 1).draw_means(9, seed=4))


def test_slightly_asymmetric_covariance_is_taken_for_symmetric():
    bandit = LinearBandit(np.eye(2), [0, 0], prior_cov=[[1.0, 0.5 + 1e-14], [0.5, 1.0]], reward_noise=1.0)
    root = bandit.covariance_root
    assert np.allclose(root @ root.T, [[1.0, 0.5], [0.5, 1.0]], rtol=1e-12)


def test_slightly_negative_eigenvalues_are_rounding():
    covariance = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-14]])
    assert np.linalg.eigvalsh(covariance)[0] < 0.0
    assert LinearBandit(np.eye(2), [0, 0], prior_cov=covariance, reward_noise=1.0).covariance_root.shape == (2, 1)


@pytest.mark.parametrize("arms", [1, 15, 16, 17, 33])
def test_padding(arms):
    model = LinearBandit(np.ones((arms, 2)), [1, 1], prior_width=1, reward_noise=1).model
    assert model.arms == arms
    assert model.whitened.shape[1] % 16 == 0
    assert not model.whitened[:, arms:].any()
    assert model.offset[:arms].tolist() == [2.0] * arms
    assert np.isneginf(model.offset[arms:]).all()
    assert model.whitened.ctypes.data % 64 == 0
