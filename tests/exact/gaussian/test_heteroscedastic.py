"""Exact regret of heteroscedastic Gaussian arms: each has its prior width and reward noise."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from bayesregret import UCB1, BayesUCB, GaussianBandit, exact_regret, simulate
from bayesregret.numerics.expected_maximum import gaussian_best_above, heteroscedastic_best, prior_panel_edges

ARMS = GaussianBandit([0.5, 0.0, 0.0], [0.4, 1.0, 1.0], [1.5, 0.5, 1.0])


def best_of_two(means, widths):
    """E max(theta_1, theta_2) of two independent normal variables."""
    apart, spread = means[0] - means[1], math.hypot(*widths)
    density = math.exp(-0.5 * (apart / spread) ** 2) / math.sqrt(2.0 * math.pi)
    return means[0] * ndtr(apart / spread) + means[1] * ndtr(-apart / spread) + spread * density


@pytest.mark.parametrize("widths", [(1.0, 1.0), (0.3, 2.0), (1e-4, 1.0), (1.0, 1e-4)])
@pytest.mark.parametrize("apart", [0.0, 0.5, 5.0])
def test_the_best_of_two(widths, apart):
    made = heteroscedastic_best(np.array([apart, 0.0]), np.array(widths), np.ones(2), 12)
    assert made == pytest.approx(best_of_two((apart, 0.0), widths), rel=1e-12)


def test_the_best_of_many_of_one_width():
    means, counts = np.array([0.3, 0.0, -2.0]), np.array([1.0, 40.0, 3.0])
    expected = 0.3 + gaussian_best_above(means, counts, 0.7, 12)
    assert heteroscedastic_best(means, np.full(3, 0.7), counts, 12) == pytest.approx(expected, rel=1e-13)


def test_panels_are_short_only_where_a_prior_is_narrow():
    means, widths = np.array([0.0, 3.0]), np.array([1.0, 0.01])
    edges = prior_panel_edges(means, widths, means + 10.0 * widths, -9.0, 10.0)
    lengths, middles = np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    near = np.abs(middles - 3.0) < 0.09
    assert lengths[near].max() <= 0.0025 * (1.0 + 1e-9)
    assert np.median(lengths[~near]) > 0.1
    assert lengths.max() <= 0.25 * (1.0 + 1e-9)


def test_every_arm_once():
    """UCB1's first rounds cost the arms' mean gaps, by hand."""
    bandit = GaussianBandit([0.5, 0.0], [0.4, 1.3], [1.0, 0.2])
    best = best_of_two((0.5, 0.0), (0.4, 1.3))
    found = exact_regret(bandit, UCB1(delta=0.1), horizon=2)
    assert found.curve == pytest.approx([best - 0.5, 2.0 * best - 0.5], rel=1e-8)
    assert found.best_chance is None


@pytest.mark.parametrize("policy", [BayesUCB(delta=0.1), UCB1(delta=0.1)], ids=lambda policy: policy.name)
def test_nearly_equal_arms(policy):
    settings = {"policy": policy, "horizon": 5, "accuracy": 1e-4}
    equal = exact_regret(GaussianBandit([0.3, 0.0], 1.0, 1.0), **settings).regret
    near = exact_regret(GaussianBandit([0.3, 0.0], [1.0, 1.0 + 1e-9], 1.0), **settings).regret
    far = exact_regret(GaussianBandit([0.3, 0.0], [1.0, 1.1], 1.0), **settings).regret
    assert near == pytest.approx(equal, rel=1e-6)
    assert far != pytest.approx(equal, rel=1e-3)


def test_units_do_not_matter():
    doubled = GaussianBandit(3.0 + 2.0 * ARMS.prior_mean, 2.0 * ARMS.prior_width, 2.0 * ARMS.reward_noise)
    one, two = (exact_regret(bandit, BayesUCB(), horizon=5, accuracy=1e-4) for bandit in (ARMS, doubled))
    assert two.curve == pytest.approx(2.0 * one.curve, rel=1e-6)
    assert two.pulls == pytest.approx(one.pulls, rel=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "policy",
    [BayesUCB(), UCB1(), BayesUCB(prior=GaussianBandit([0.4, 0.0, 0.0], [0.5, 1.0, 0.8], [1.5, 0.6, 1.0]))],
    ids=["bayes-ucb", "ucb1", "another prior"],
)
def test_against_simulation(policy):
    """Four standard errors; the same arms in another order are outside: the control."""
    result = simulate(ARMS, policy, horizon=12, runs=60_000, seed=8)[policy.name]
    found = exact_regret(ARMS, policy, horizon=12)
    assert abs(found.regret - result.mean) < 4.0 * result.stderr + found.error
    assert found.pulls == pytest.approx(result.mean_pulls, abs=0.1)
    other = GaussianBandit(ARMS.prior_mean, ARMS.prior_width[::-1], ARMS.reward_noise)
    wrong = exact_regret(other, policy, horizon=12)
    assert abs(wrong.regret - result.mean) > 8.0 * result.stderr
