"""Common problems, which need no file."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.problem import COMMON_PROBLEMS, common_bernoulli, common_gaussian, common_linear, common_normal_gamma


def test_gaussian_has_the_first_arm_ahead():
    assert common_gaussian() == br.GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0)
    made = common_gaussian(arms=2, prior_gap=-3, prior_width=0.5, reward_noise=2, noise_kind="rademacher")
    assert made == br.GaussianBandit([-3.0, 0.0], 0.5, 2.0, "rademacher")


def test_bernoulli_arms_are_alike():
    assert common_bernoulli(arms=3, alpha=0.5) == br.BernoulliBandit([0.5] * 3, [1.0] * 3)


def test_arms_of_skewed_rewards_are_alike():
    assert COMMON_PROBLEMS["poisson"](arms=2, shape=4) == br.PoissonBandit([4.0] * 2, [1.0] * 2)
    assert COMMON_PROBLEMS["exponential"](arms=2, rate=0.5) == br.ExponentialBandit([3.0] * 2, [0.5] * 2)
    made = common_normal_gamma(arms=2, prior_gap=0.5, prior_pulls=2)
    assert made == br.NormalGammaBandit([0.5, 0.0], prior_pulls=2.0, shape=3.0, scale=2.0)


def test_linear_is_the_papers():
    bandit = common_linear()
    assert bandit.features.shape == (30, 10)
    assert bandit.prior_width == bandit.reward_noise == 1.0
    np.testing.assert_array_equal(bandit.features[:10], np.eye(10))
    np.testing.assert_array_equal(bandit.prior_mean, [1.0] + [-1.0] * 9)
    others = bandit.features[10:]
    assert (others > 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(others, axis=1), 1.0, rtol=1e-15)
    assert np.argmax(bandit.features @ bandit.prior_mean) == 0


def test_linear_features_depend_on_their_seed_alone():
    assert common_linear() == common_linear(features_seed=0)
    assert common_linear() != common_linear(features_seed=1)
    np.testing.assert_array_equal(common_linear(prior_gap=5, arms=12).features, common_linear(arms=30).features[:12])
    # Golden: printed once by this code. Other bits would mean other problems under the same command.
    assert common_linear().features[10, 0] == 0.5229512517071518


def test_linear_features_share_no_bits_with_a_simulation():
    instances = br.GaussianBandit(np.zeros(10), 1.0, 1.0).draw_means(20, seed=0)
    drawn = common_linear(features_seed=0).features[10:]
    same = np.abs(instances) / np.linalg.norm(instances, axis=1, keepdims=True)
    assert np.abs(same - drawn).max() > 0.1


@pytest.mark.compiled
def test_linear_features_are_uniform_on_the_positive_part_of_the_sphere():
    """In three dimensions every coordinate of such a point is uniform on [0, 1] (Archimedes)."""
    points = 10_000
    sample = common_linear(arms=points + 3, dimension=3, features_seed=5).features[3:]
    grid = (np.arange(points) + 0.5) / points
    distances = [np.abs(np.sort(coordinate) - grid).max() for coordinate in sample.T]
    assert max(distances) < 1.95 / np.sqrt(points)  # Kolmogorov and Smirnov's bound at 1 in 1000
    scaled_cube = np.random.default_rng(0).random((points, 3))  # the control: uniform in the cube, then scaled
    scaled_cube /= np.linalg.norm(scaled_cube, axis=1, keepdims=True)
    assert np.abs(np.sort(scaled_cube[:, 0]) - grid).max() > 4 / np.sqrt(points)


def test_as_many_arms_as_features_is_the_basis():
    np.testing.assert_array_equal(common_linear(arms=4, dimension=4).features, np.eye(4))


@pytest.mark.parametrize(
    ("problem", "options", "said"),
    [
        ("gaussian", {"arms": 0}, "arms must be a whole number, at least 1 and at most 10000000, got 0"),
        ("gaussian", {"arms": "x"}, "arms must be a whole number"),
        ("gaussian", {"prior_gap": float("inf")}, "prior_gap must be a finite number, got inf"),
        ("gaussian", {"prior_gap": 1e60}, r"prior_gap must be between -1e\+50 and 1e\+50, got 1e\+60"),
        ("gaussian", {"prior_width": -1}, "prior_width must be a positive number, got -1"),
        ("bernoulli", {"alpha": 0}, "alpha must be a positive number, got 0"),
        ("bernoulli", {"beta": "x"}, "beta must be a positive number, got 'x'"),
        ("poisson", {"rate": -1}, "rate must be a positive number, got -1"),
        ("exponential", {"shape": 0}, "shape must be a positive number, got 0"),
        ("normal-gamma", {"prior_gap": "x"}, "prior_gap must be a finite number, got 'x'"),
        ("normal-gamma", {"shape": 0.5}, "shape must be above 0.5"),
        ("linear", {"arms": 5}, "arms must be at least the dimension, 10, got 5"),
        ("linear", {"dimension": 0}, "dimension must be a whole number"),
        ("linear", {"arms": 10**6, "dimension": 10**3}, "arms times dimension must be at most 100000000"),
        ("linear", {"features_seed": -1}, "features_seed must be a whole number, at least 0, got -1"),
    ],
)
def test_bad_settings_are_one_line(problem, options, said):
    with pytest.raises(ValueError, match=said):
        COMMON_PROBLEMS[problem](**options)
