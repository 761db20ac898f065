"""Bayes regret itself: values known from elsewhere, and what must be larger than what."""

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, LinearBandit, simulate

pytestmark = pytest.mark.compiled


def test_landmark():
    """Figure 1 of the paper at prior width 1 and prior gap 1; the values are those of an independent program."""
    bandit = GaussianBandit([1.0] + [0.0] * 9, prior_width=1.0, reward_noise=1.0)
    result = simulate(bandit, [BayesUCB(), UCB1()], horizon=1000, runs=40_000, seed=60)
    for name, landmark in [("bayes-ucb", 75.70), ("ucb1", 88.4)]:
        ours = result[name]
        assert abs(ours.mean - landmark) < 4.0 * ours.stderr
        assert abs(ours.mean - 1.05 * landmark) > 10.0 * ours.stderr
    difference = result.paired("ucb1", "bayes-ucb")
    assert difference.mean > 10.0 * difference.stderr


def first_round_regret(bandit):
    """Bayes regret of taking arm 0 once, by the prior alone: E max - E of arm 0, from many instances."""
    means = bandit.draw_means(400_000, seed=61)
    gaps = means.max(axis=1) - means[:, 0]
    return gaps.mean(), gaps.std() / np.sqrt(len(gaps))


def test_one_round_costs_the_expected_gap():
    bandit = GaussianBandit([0.0, 0.0], 1.0, 1.0)
    ours = simulate(bandit, UCB1(), horizon=1, runs=400_000, seed=62)["ucb1"]
    truth = 1.0 / np.sqrt(np.pi)  # the expected maximum of two standard normals
    assert abs(ours.mean - truth) < 4.0 * ours.stderr
    assert abs(ours.mean - 1.03 * truth) > 10.0 * ours.stderr
    mean, stderr = first_round_regret(bandit)
    assert abs(ours.mean - mean) < 4.0 * np.hypot(ours.stderr, stderr)


WRONG_PRIORS = [
    (GaussianBandit([1.0, 0.0, 0.0], 0.5, 1.0), GaussianBandit([0.0, 0.0, 1.0], 0.3, 1.0)),
    (BernoulliBandit([4, 1, 1], [1, 2, 2]), BernoulliBandit([1, 1, 8], [8, 1, 1])),
    (
        LinearBandit([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]], [0.5, 0.0], prior_width=0.5, reward_noise=1.0),
        LinearBandit([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]], [-0.5, 0.5], prior_width=0.2, reward_noise=1.0),
    ),
]


@pytest.mark.parametrize(("bandit", "wrong"), WRONG_PRIORS, ids=["gaussian", "bernoulli", "linear"])
def test_a_wrong_prior_costs_regret(bandit, wrong):
    policies = {"true": BayesUCB(), "wrong": BayesUCB(prior=wrong), "given": BayesUCB(prior=bandit)}
    result = simulate(bandit, policies, horizon=300, runs=4000, seed=63)
    difference = result.paired("wrong", "true")
    assert difference.mean > 10.0 * difference.stderr
    assert np.array_equal(result["given"].final_regret, result["true"].final_regret)


def test_standard_errors_are_honest():
    """Over many seeds, the means spread as their standard errors say."""
    bandit = GaussianBandit([0.5, 0.0], 1.0, 1.0)
    results = [simulate(bandit, BayesUCB(), horizon=50, runs=200, seed=seed)["bayes-ucb"] for seed in range(400)]
    means = np.array([result.mean for result in results])
    told = np.sqrt(np.mean([result.stderr**2 for result in results]))
    ratio = means.std(ddof=1) / told
    assert abs(ratio - 1.0) < 4.0 / np.sqrt(2 * 400)
    assert abs(1.5 * ratio - 1.0) > 10.0 / np.sqrt(2 * 400)
