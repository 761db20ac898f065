"""The steps of the proof of the all-gaps form, on runs of linear BayesUCB written out in plain NumPy."""

import numpy as np

import bayesregret as br
from bayesregret.bounds.bound import make_setting
from bayesregret.bounds.certified.linear import Knapsack, _bad_rounds
from bayesregret.bounds.certified.linear_learning import information_limits
from bayesregret.bounds.gaps.linear import geometry

PROBLEMS = 25
RUNS = 8
ROUNDING = 1e-9


def random_problem(rng):
    dimension, arms, horizon = rng.integers(1, 4), rng.integers(2, 7), int(rng.integers(2, 60))
    root = rng.normal(size=(dimension, dimension))
    bandit = br.LinearBandit(
        rng.normal(size=(arms, dimension)),
        prior_mean=rng.normal(size=dimension),
        prior_cov=root @ root.T,
        reward_noise=10.0 ** rng.uniform(-0.7, 0.7),
    )
    return bandit, make_setting(horizon, float(rng.choice([1.0 / horizon, 0.3, 0.05])))


def play(bandit, setting, rng):
    """The gaps, the regret of good rounds and of bad ones, and the sum of the taken arms' posterior deviations."""
    features, noise = bandit.features, bandit.reward_noise
    theta = rng.multivariate_normal(bandit.prior_mean, bandit.covariance)
    means = features @ theta
    gaps = means.max() - means
    center, spread = bandit.prior_mean.copy(), bandit.covariance.copy()
    regret = {True: 0.0, False: 0.0}
    deviations = 0.0
    for _ in range(setting.horizon):
        deviation = np.sqrt(np.maximum(np.einsum("ai,ij,aj->a", features, spread, features), 0.0))
        index = features @ center + setting.z * deviation
        arm = int(np.argmax(index))
        best = int(np.argmax(means))
        low = index[arm] - 2.0 * setting.z * deviation[arm]
        good = means[best] <= index[best] + ROUNDING and means[arm] >= low - ROUNDING
        regret[bool(good)] += gaps[arm]
        deviations += deviation[arm]
        gain = spread @ features[arm] / (noise**2 + deviation[arm] ** 2)
        center = center + gain * (means[arm] + noise * rng.normal() - features[arm] @ center)
        spread = spread - np.outer(gain, spread @ features[arm])
    return gaps, regret[True], regret[False], deviations


def test_good_rounds_fit_the_knapsack_and_bad_ones_cost_little():
    rng = np.random.default_rng(5)
    bad, bad_allowed, fullest = 0.0, 0.0, 0.0
    for _ in range(PROBLEMS):
        bandit, setting = random_problem(rng)
        arms, stats = geometry(bandit), information_limits(bandit, setting.horizon)
        knapsack = Knapsack(arms, stats, setting)
        bad_allowed += RUNS * _bad_rounds(arms, stats, setting)
        for _ in range(RUNS):
            gaps, good_regret, bad_regret, deviations = play(bandit, setting, rng)
            allowed = float(knapsack.regret(gaps[None, :])[0])
            assert good_regret <= allowed * (1.0 + ROUNDING) + ROUNDING
            assert deviations <= stats.widths(setting.horizon) * (1.0 + ROUNDING)
            fullest = max(fullest, good_regret / allowed if allowed > 0.0 else 0.0)
            bad += bad_regret
    assert bad <= bad_allowed
    assert fullest > 0.5  # the control: the limit is near, so that a smaller one would be broken
