"""Certified forms: what they are in closed cases, what they must obey, and that simulated regret stays below them."""

import math
import warnings

import numpy as np
import pytest

from bayesregret import BayesUCB, LinearBandit, simulate
from bayesregret.bounds.bound import NUMERICAL_ERROR, Formula, make_setting
from bayesregret.bounds.catalog import (
    certified_all_gaps,
    certified_gap_free,
    certified_index,
    certified_lower,
    certified_min_gap,
    certified_trivial,
    gap_dependent,
)
from bayesregret.bounds.certified import linear_index, linear_lower
from bayesregret.bounds.certified.linear import Knapsack
from bayesregret.bounds.certified.linear_learning import information_limits
from bayesregret.bounds.gaps import linear as linear_gaps
from bayesregret.bounds.gaps.linear import expected_inverse_gap, geometry
from bayesregret.problem import common_linear

pytestmark = pytest.mark.compiled  # nothing here is needed for coverage, which makes it slow

CERTIFIED = (certified_all_gaps, certified_gap_free, certified_index, certified_min_gap, certified_trivial)
EVERY_BODY = [formula for formula in Formula.every.values() if formula.covers(LinearBandit)]


def random_problem(seed):
    """A bandit, a horizon and a delta: widths and noises over two decades, a singular prior now and then."""
    rng = np.random.default_rng(seed)
    arms, dimension = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    features = rng.standard_normal((arms, dimension))
    if seed % 5 == 0:
        features[-1] = features[0]
    root = rng.standard_normal((dimension, int(rng.integers(1, dimension + 1)))) * 10 ** rng.uniform(-1, 0.5)
    prior_mean = rng.standard_normal(dimension) * rng.integers(0, 2)
    noise = float(10 ** rng.uniform(-1, 0.5))
    bandit = LinearBandit(features, prior_mean, prior_cov=root @ root.T, reward_noise=noise)
    return bandit, int(rng.choice([1, 5, 60, 200])), [None, 0.3, 0.9][seed % 3]


@pytest.mark.compiled
def test_simulated_regret_stays_below():
    """On 120 problems; the control is the same form without its bad rounds, which fails where delta is large."""
    broken = 0
    for seed in range(120):
        bandit, horizon, delta = random_problem(seed)
        policy = BayesUCB(delta=delta)
        regret = simulate(bandit, policy, horizon=horizon, runs=400, seed=80 + seed, progress=False)["bayes-ucb"]
        for formula in CERTIFIED:
            bound = formula(bandit, horizon=horizon, delta=delta)
            assert regret.mean - 4.0 * regret.stderr <= bound.value + 1e-12, (seed, formula)
        without = certified_all_gaps(bandit, horizon=horizon, delta=delta).leading
        broken += regret.mean - 4.0 * regret.stderr > without
    assert broken > 10


@pytest.mark.compiled
def test_the_common_problem():
    """Values of the first version, with the simulated regret 59.5 beneath; Theorem 6 prints 26 361."""
    bandit = common_linear()
    regret = simulate(bandit, BayesUCB(), horizon=1000, runs=400, seed=81, progress=False)["bayes-ucb"].mean
    assert certified_all_gaps(bandit, horizon=1000).value == pytest.approx(627.0, rel=0.01)
    assert certified_gap_free(bandit, horizon=1000).value == pytest.approx(808.53, rel=1e-3)
    assert certified_min_gap(bandit, horizon=1000).value == pytest.approx(1604.0, rel=0.01)
    assert gap_dependent(bandit, horizon=1000).value == pytest.approx(26_361.0, rel=0.01)
    assert regret < 70.0


def test_gap_free_by_hand():
    """Two arms of one dimension: the information is that of one mean."""
    bandit = LinearBandit([[1.0], [-1.0]], [0.0], prior_width=1.0, reward_noise=1.0)
    setting = make_setting(100)
    W = 100 * math.sqrt(math.exp(math.log1p(100.0) / 100) - 1.0)
    bound = certified_gap_free(bandit, horizon=100)
    assert bound.leading == pytest.approx(setting.z * W, rel=1e-9)
    assert bound.remainder == pytest.approx(100 * setting.excess * 2.0, rel=1e-9)


def test_min_gap_by_hand():
    bandit, n = common_linear(arms=8, dimension=3), 400
    setting, stats = make_setting(n), information_limits(bandit, n)
    factor, most = 8 * setting.L * stats.variances(n), 2 * setting.z * stats.widths(n)
    bound = certified_min_gap(bandit, horizon=n)
    assert bound.leading == pytest.approx(factor * expected_inverse_gap(bandit, factor / most).value, rel=1e-12)
    bad = n * setting.excess * 8 + 2 * setting.z * setting.tail * 8 * stats.widths(n)  # every arm's deviation is 1
    assert bound.terms["failures"] == pytest.approx(bad, rel=1e-9)
    older = n * 8 * (setting.density + setting.z * setting.tail)  # with n S' for W, the simpler form
    assert bad < older


def slow_knapsack(gaps, deviations, stats, setting):
    """The most regret by linear programming, with the information of n pulls."""
    from scipy.optimize import linprog

    s, n = stats.noise, setting.horizon
    caps = [
        0 if gap <= 0 else min(n, max(0, math.floor(8 * setting.L * s**2 / gap**2 - s**2 / deviation**2) + 1))
        for gap, deviation in zip(gaps, deviations, strict=True)
    ]
    prices = np.log1p(gaps**2 / (8 * setting.L * s**2))
    bounds = [(0, cap) for cap in caps]
    free = linprog(-gaps, A_ub=[prices], b_ub=[float(stats.information(n))], bounds=bounds)
    both = linprog(-gaps, A_ub=[prices, np.ones_like(prices)], b_ub=[float(stats.information(n)), n], bounds=bounds)
    return -free.fun, -both.fun


def test_knapsack_against_linear_programming():
    """Never above the program without the limit on rounds or on information; where neither helps, equal to it."""
    bandit = common_linear(arms=8, dimension=3)
    setting = make_setting(300)
    arms, stats = geometry(bandit), information_limits(bandit, 300)
    knapsack = Knapsack(arms, stats, setting)
    rng = np.random.default_rng(82)
    gaps = np.abs(rng.standard_normal((60, 8)))
    gaps[np.arange(60), rng.integers(0, 8, 60)] = 0.0
    ours = knapsack.regret(gaps)
    slow = np.array([slow_knapsack(row, arms.prior_deviation, stats, setting) for row in gaps])
    assert (ours <= slow[:, 0] * (1.0 + 1e-9)).all()
    assert (ours <= knapsack.most * (1.0 + 1e-12)).all()
    one = np.zeros((1, 8))
    one[0, 3] = 1.0  # a single worse arm: its own pulls are the limit
    assert knapsack.regret(one)[0] == pytest.approx(math.floor(8 * setting.L - 1.0) + 1)


def test_all_gaps_is_never_above_what_it_contains():
    """Without the bad rounds they share: at most 2 z W, and at most the smallest-gap form."""
    for seed in range(30):
        bandit, horizon, delta = random_problem(seed)
        ours, theirs = (f(bandit, horizon=horizon, delta=delta) for f in (certified_all_gaps, certified_min_gap))
        assert ours.leading <= theirs.leading + 4.0 * (ours.error + theirs.error) + 1e-12
        assert ours.terms["failures"] == theirs.terms["failures"]
        trivial = certified_trivial(bandit, horizon=horizon, delta=delta)
        assert ours.leading <= trivial.value + 4.0 * (ours.error + trivial.error) + 1e-12


@pytest.mark.parametrize("formula", [*CERTIFIED, certified_lower], ids=repr)
@pytest.mark.parametrize("change", ["permuted", "scaled", "rotated", "repeated"])
def test_invariance(formula, change):
    rng = np.random.default_rng(83)
    features, mean, width, noise, scale = rng.standard_normal((6, 3)), np.array([0.5, 0.0, -0.5]), 0.8, 1.5, 1.0
    bandit = LinearBandit(features, mean, prior_width=width, reward_noise=noise)
    if change == "permuted":
        features = features[rng.permutation(6)]
    elif change == "scaled":
        scale = 2.5
        mean, width, noise = scale * mean, scale * width, scale * noise
    elif change == "repeated":
        features = np.vstack([features, features[:2]])
    else:
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        features, mean = features @ turn, mean @ turn
    other = LinearBandit(features, mean, prior_width=width, reward_noise=noise)
    ours, theirs = formula(bandit, horizon=300), formula(other, horizon=300)
    spread = 4.0 * math.hypot(scale * ours.error, theirs.error)
    assert abs(scale * ours.value - theirs.value) <= spread + 1e-9 * theirs.value


def test_one_arm_or_many_copies_of_it_have_no_regret():
    for features in ([[1.0, 2.0]], [[1.0, 2.0]] * 4):
        bandit = LinearBandit(features, [0.5, 0.1], prior_width=1.0, reward_noise=1.0)
        for formula in (*CERTIFIED, certified_lower):
            assert formula(bandit, horizon=50).value == 0.0


def test_a_known_parameter_has_no_regret():
    bandit = LinearBandit([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.1], prior_cov=np.zeros((2, 2)), reward_noise=1.0)
    for formula in (certified_all_gaps, certified_gap_free, certified_index, certified_lower, certified_min_gap):
        assert formula(bandit, horizon=50).value == 0.0
    assert certified_trivial(bandit, horizon=50).value == pytest.approx(50 * 0.4)


EDGES = [{"horizon": 1}, {"horizon": 1000}, {"horizon": 2**53}, {"horizon": 1000, "delta": 1e-300}]
EDGES += [{"horizon": 10, "delta": 1.0 - 1e-12}, {"horizon": 10, "epsilon": 1e-50}, {"horizon": 10, "epsilon": 1e50}]


@pytest.mark.parametrize("setting", EDGES, ids=str)
def test_every_number_is_finite_at_the_edges(setting, monkeypatch):
    monkeypatch.setattr(linear_gaps, "ACCURACY", 1.0)  # the first few points are enough here
    monkeypatch.setattr(linear_lower, "ACCURACY", 1.0 - 1e-9)
    monkeypatch.setattr(linear_index, "PILOT", 32)
    rng = np.random.default_rng(84)
    features = np.clip(rng.standard_normal((5, 2)), -1.0, 1.0)
    bandits = [
        LinearBandit(features * size, [0.0, 1.0], prior_width=width, reward_noise=noise)
        for size in (1e-50, 1.0, 1e50)
        for width in (1e-50, 1.0, 1e50)
        for noise in (1e-50, 1.0, 1e50)
    ]
    bandits += [
        LinearBandit(features[:2], [0.0, 1.0], prior_width=1.0, reward_noise=1.0),
        LinearBandit(features, [0.0, 1.0], prior_cov=np.zeros((2, 2)), reward_noise=1.0),
        LinearBandit(features, [0.0, 1.0], prior_cov=[[1.0, 0.5], [0.5, 0.25]], reward_noise=1.0),
        LinearBandit(np.vstack([features, 0.0 * features]), [0.0, 1.0], prior_width=1.0, reward_noise=1.0),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for bandit in bandits:
            for formula in EVERY_BODY:
                bound = formula(bandit, **setting)
                assert math.isfinite(bound.value), (bandit, bound)
                assert math.isfinite(bound.error)
                assert min(term for name, term in bound.terms.items() if name != NUMERICAL_ERROR) >= 0.0
                assert bound.value >= 0.0
