"""The lower bound for linear bandits: closed cases, the observation that it allows, and simulated regret above it."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from bayesregret import BayesUCB, GaussianBandit, LinearBandit, Thompson, simulate
from bayesregret.bounds.catalog import certified_lower
from bayesregret.bounds.certified.linear_lower import _observation
from bayesregret.bounds.gaps.linear import geometry
from bayesregret.problem import common_linear

ROUNDING = 1e-9


def safe(bandit, horizon):
    return certified_lower(bandit, horizon=horizon).value


def test_one_round_is_known():
    """E max of two arms less the better prior mean."""
    bandit = LinearBandit([[1.0, 0.5], [0.0, 1.0]], [0.2, 0.4], prior_width=0.7, reward_noise=1.0)
    apart, deviation = 0.4 - 0.4, 0.7 * math.hypot(1.0, 0.5)
    exact = deviation * norm.pdf(apart / deviation)
    bound = certified_lower(bandit, horizon=1)
    assert abs(bound.leading - exact) <= bound.error
    assert bound.error < 0.05 * exact


def test_one_dimension_is_a_sum():
    """Two arms x and -x: after k rounds the posterior mean has the variance k/(k + 1), and the best arm is |zeta|."""
    bandit = LinearBandit([[1.0], [-1.0]], [0.0], prior_width=1.0, reward_noise=1.0)
    k = np.arange(150)
    exact = math.sqrt(2.0 / math.pi) * float(np.sum(1.0 - np.sqrt(k / (k + 1.0))))
    bound = certified_lower(bandit, horizon=150)
    assert abs(bound.leading - exact) <= bound.error + 1e-3 * exact  # the design is the best one up to 0.1 percent
    assert bound.error < 0.05 * exact
    delayed = math.sqrt(2.0 / math.pi) * float(np.sum(1.0 - np.sqrt((k + 1.0) / (k + 2.0))))
    assert abs(bound.leading - delayed) > 3.0 * bound.error, "the control: one observation more is seen"


@pytest.mark.parametrize("seed", range(8))
def test_the_observation_tells_more_than_any_arm(seed):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((int(rng.integers(2, 12)), int(rng.integers(1, 6))))
    features[:, 0] *= 10.0 ** rng.uniform(-4.0, 4.0)
    bandit = LinearBandit(features, np.zeros(features.shape[1]), prior_width=1.0, reward_noise=1.0)
    found, gain = _observation(geometry(bandit))
    needed = np.sum(found**2 / gain, axis=1)
    assert needed.max() <= 1.0 + 1e-6
    assert needed.max() > 0.5, "the control: half of the precision would not do"
    assert np.allclose(found @ found.T, features @ features.T, rtol=1e-6, atol=1e-9 * np.abs(features).max() ** 2)
    everything = np.linalg.slogdet(found.T @ found)[1]
    assert np.log(gain).sum() <= everything + ROUNDING, "and at most as much as all arms' rewards together"


@pytest.mark.compiled
def test_independent_arms_are_a_gaussian_bandit():
    """The better bound, whatever the coordinates; with a little correlation it is not for us to use."""
    turn = np.linalg.qr(np.random.default_rng(6).standard_normal((3, 3)))[0]
    linear = LinearBandit(np.diag([1.0, 2.0, 0.5]) @ turn, turn.T @ [0.3, 0.0, 0.0], prior_width=0.8, reward_noise=1.0)
    gaussian = GaussianBandit([0.3, 0.0, 0.0], [0.8, 1.6, 0.4], 1.0)
    assert safe(linear, 60) == pytest.approx(safe(gaussian, 60), rel=1e-9)
    near = LinearBandit(linear.features + 1e-6, linear.prior_mean, prior_width=0.8, reward_noise=1.0)
    assert safe(near, 60) < 0.9 * safe(linear, 60)


def test_copies_of_arms_tell_nothing():
    features = np.random.default_rng(5).standard_normal((4, 2))
    once = LinearBandit(features, [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
    twice = LinearBandit(np.vstack([features] * 3), [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
    assert certified_lower(twice, horizon=50).value == pytest.approx(certified_lower(once, horizon=50).value, rel=1e-9)


@pytest.mark.compiled
def test_every_policy_has_more_regret():
    """The control is the regret of a policy that never learns, in place of a lower bound: it is above."""
    rng = np.random.default_rng(92)
    above = 0
    for seed in range(12):
        arms, dimension, horizon = int(rng.integers(2, 7)), int(rng.integers(1, 4)), int(rng.integers(2, 60))
        bandit = LinearBandit(
            rng.standard_normal((arms, dimension)), np.zeros(dimension), prior_width=1.0, reward_noise=0.5
        )
        policies = [BayesUCB(delta=0.3), Thompson()]
        result = simulate(bandit, policies, horizon=horizon, runs=1000, seed=seed, progress=False)
        for policy in ("bayes-ucb", "thompson"):
            assert safe(bandit, horizon) <= result[policy].mean + 4.0 * result[policy].stderr
        above += horizon * safe(bandit, 1) > result["bayes-ucb"].mean + 4.0 * result["bayes-ucb"].stderr
    assert above > 6


@pytest.mark.compiled
def test_the_common_problem():
    """More than 2.3, from seeing all arms' rewards, and far below the regret of BayesUCB, 59.5."""
    assert 2.9 < safe(common_linear(), 1000) < 3.3
