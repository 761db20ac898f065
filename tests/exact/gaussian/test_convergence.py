"""Convergence of Gaussian regret with the order, its error estimates, and fast tables against the general one."""

import itertools

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator

import bayesregret as br
from bayesregret.exact.gaussian import exits as gaussian_exits
from bayesregret.exact.gaussian import regret as gaussian
from bayesregret.exact.gaussian.exits import ArmBelief
from exact.validate import random_problems

G = br.GaussianBandit
compiled = pytest.mark.compiled
ROUNDING = 1e-13
DIGITS = 12.5  # of series: aliased coefficients are damped by 10^-12.5


def regret_by_order(bandit, policy, horizon, order):
    """(horizon,): the curve with this order of all rules."""
    kinds = gaussian.gaussian_kinds(bandit, policy.settings(bandit, horizon), policy.belief(bandit), horizon)
    return np.cumsum(gaussian.gaussian_regret(bandit, kinds, horizon, order, DIGITS).regret)


CONVERGING = {
    "right": (G([0.5, 0.0, 0.0], 1.0, 1.0), br.BayesUCB(), 30),
    "little noise": (G([0.5, 0.0], 1.0, 0.2), br.BayesUCB(), 20),
    "much noise": (G([0.1, 0.0], 0.1, 1.0), br.BayesUCB(), 20),
    "ucb1": (G([0.5, 0.0, 0.0], 1.0, 1.0), br.UCB1(), 30),
    "wrong": (G([0.5, 0.0], 1.0, 1.0), br.BayesUCB(prior=G([0.0, 0.0], 1.6, 1.0)), 6),
    "wrong mean": (G([0.5, 0.0], 1.0, 0.7), br.BayesUCB(prior=G([2.0, 1.0], 1.0, 0.7)), 12),
}


@pytest.mark.parametrize("name", CONVERGING)
@compiled
@pytest.mark.slow
@pytest.mark.compiled
def test_spectral_rate(name):
    """Four orders more are two digits more at least, until rounding; and order 14 has ten digits."""
    problem = CONVERGING[name]
    truth = regret_by_order(*problem, 18)[-1]
    off = {order: abs(regret_by_order(*problem, order)[-1] - truth) / truth for order in (6, 8, 10, 12, 14)}
    assert off[6] < 1e-2
    assert off[10] < max(1e-2 * off[6], 1e-11)
    assert off[14] < max(1e-2 * off[10], 1e-11)
    assert off[12] < 1e-9
    assert off[14] < 1e-10


# Where something is sharp, narrow or far: width, noise, delta, what is wrong with the prior.
HARD = {
    "a sixteenth": (G([1.0, 0.0], 1.0, 0.25), br.BayesUCB(), 18),
    "weak": (G([1.0, 0.0], 2.5, 0.35), br.BayesUCB(delta=7e-4), 18),
    "weak, many": (G(np.linspace(0, 2, 9), 2.2, 0.5), br.BayesUCB(delta=0.02), 15),
    "very weak": (G([0.2, 0.0], 1.0, 1e-3), br.BayesUCB(), 12),
    "strong": (G([0.0, 5e-4], 1e-3, 1.0), br.BayesUCB(), 20),
    "greedy": (G([0.5, 0.0], 1.0, 1.0), br.BayesUCB(delta=1 - 1e-12), 12),
    "bold": (G([0.5, 0.0], 1.0, 1.0), br.BayesUCB(delta=1e-300), 12),
    "far below": (G([0.0, -6.0], 1.0, 1.0), br.BayesUCB(), 20),
    "ucb1, bold": (G([0.5, 0.0], 1.0, 1.0), br.UCB1(delta=1e-300), 20),
    "ucb1, greedy": (G([0.5, 0.0], 1.0, 1.0), br.UCB1(delta=1 - 1e-6), 20),
    "ucb1, strong": (G([0.0, 5e-4], 1e-3, 1.0), br.UCB1(), 20),
    "ucb1, weak": (G([0.5, 0.0], 1.0, 1e-3), br.UCB1(), 20),
    "far too high": (G([0.0, 0.0], 1.0, 1.0), br.BayesUCB(prior=G([20.0, 20.0], 1.0, 1.0)), 20),
    "far too low": (G([0.0, 0.0], 1.0, 1.0), br.BayesUCB(prior=G([-20.0, 0.0], 1.0, 1.0)), 20),
    "too high and strong": (G([0.0, 0.0], 0.1, 1.0), br.BayesUCB(prior=G([2.0, 2.0], 0.1, 1.0)), 20),
    "far too high and strong": (G([0.0, 0.0], 0.1, 1.0), br.BayesUCB(prior=G([10.0, 10.0], 0.1, 1.0)), 12),
    "too sure of too high": (G([0.0, 0.5], 1.0, 0.1), br.BayesUCB(prior=G([3.0, 1.0], 0.1, 0.1)), 5),
    "fifty": (G([0.0] * 50, 1.0, 1.0), br.BayesUCB(), 60),
    "fifty, ucb1": (G([0.0] * 50, 1.0, 1.0), br.UCB1(), 60),
}
SOME = itertools.islice(random_problems("gaussian", 3, 12), 9)
RANDOM = {f"random-{i}": tuple(problem[1:]) for i, problem in enumerate(SOME)}


@pytest.mark.parametrize("name", [*HARD, *RANDOM])
@compiled
@pytest.mark.slow
@pytest.mark.compiled
def test_the_error_is_honest(name):
    """A much finer computation is within the reported error, at every round up to rounding."""
    bandit, policy, horizon = (HARD | RANDOM)[name]
    found = br.exact_regret(bandit, policy, horizon=horizon)
    off = np.abs(found.curve - regret_by_order(bandit, policy, horizon, 18))
    assert off[-1] <= found.error
    assert (off <= found.curve_error + ROUNDING * found.regret).all()


# The policy's prior is a hundred widths off: the reported error is valid, but not small.
HOPELESS = "far too high and strong"


@pytest.mark.parametrize("name", [name for name in (*HARD, *RANDOM) if name != HOPELESS])
@compiled
def test_digits(name):
    """At least six digits are promised, whatever the problem."""
    bandit, policy, horizon = (HARD | RANDOM)[name]
    found = br.exact_regret(bandit, policy, horizon=horizon)
    assert found.error <= 1e-6 * max(found.regret, bandit.prior_width)
    assert found.imbalance <= 1e-7


def test_the_error_is_honest_for_few_rounds():
    bandit, policy = G([0.5, 0.0], 1.0, 0.6), br.BayesUCB()
    found = br.exact_regret(bandit, policy, horizon=3)
    off = np.abs(found.curve - regret_by_order(bandit, policy, 3, 16))
    assert (off <= found.curve_error + ROUNDING).all()


@pytest.mark.parametrize("name", ["right", "ucb1", "wrong", "wrong mean", "much noise"])
@compiled
def test_few_digits_are_honest(name):
    """For plots: an accuracy of 1e-4 is met, and the error reported with it is valid."""
    bandit, policy, horizon = CONVERGING[name]
    all_digits = br.exact_regret(bandit, policy, horizon=horizon)
    found = br.exact_regret(bandit, policy, horizon=horizon, accuracy=1e-4)
    off = np.abs(found.curve - all_digits.curve)
    assert (off <= found.curve_error + all_digits.curve_error).all()
    assert found.error <= 1e-4 * found.regret
    assert found.error > 10 * all_digits.error
    assert br.exact_regret(bandit, policy, horizon=horizon, accuracy=1e-5).regret == all_digits.regret


@compiled
def test_a_low_order_is_noticed():
    """The control: order 6 is further off than the error of order 12 allows."""
    bandit, policy, horizon = CONVERGING["right"]
    found = br.exact_regret(bandit, policy, horizon=horizon)
    assert abs(regret_by_order(bandit, policy, horizon, 6)[-1] - found.regret) > 100 * found.error


# --- tables of exits -----------------------------------------------------------------------------------------------


def arm_belief(horizon, believed_pulls, shift=0.0, width=1.0, noise=1.0, log_delta=2.0, first=None):
    pulls = np.maximum(believed_pulls + np.arange(horizon), 1e-300)
    widths = noise * np.sqrt(2.0 * log_delta / pulls)
    if first is not None:
        widths[0] = first
    return ArmBelief(horizon, width, noise, believed_pulls, shift, widths)


def at_thresholds(table, thresholds):
    """Distribution and excess at any thresholds, by interpolation at the Chebyshev points of a table's panels."""
    nodes = -np.cos(np.pi * (np.arange(table.order) + 0.5) / table.order)
    distribution, excess = [], []
    for threshold in thresholds:
        depth = table.top - threshold
        panel = int(np.clip(np.searchsorted(table.edges, depth) - 1, 0, len(table.edges) - 2))
        low, high = table.edges[panel], table.edges[panel + 1]
        rows = slice(panel * table.order, (panel + 1) * table.order)
        for values, found in ((table.distribution, distribution), (table.excess, excess)):
            found.append(BarycentricInterpolator(nodes, values[rows])(2.0 * (depth - low) / (high - low) - 1.0))
    return np.array(distribution), np.array(excess)


@pytest.mark.parametrize("shift", [0.0, 0.7, -0.4])
@pytest.mark.parametrize("noise", [1.0, 0.4, 3.0])
@compiled
def test_one_barrier_against_a_barrier_by_threshold(shift, noise):
    arm = arm_belief(8, noise**2, shift, noise=noise)
    one, many = gaussian_exits._one_barrier(arm, 12), gaussian_exits._barrier_by_threshold(arm, 12)
    assert np.array_equal(one.edges, many.edges)
    assert one.top == many.top
    assert np.abs(one.distribution - many.distribution).max() <= 1e-9
    assert np.abs(one.excess - many.excess).max() <= 1e-9


def test_one_barrier_against_a_barrier_by_threshold_in_few_rounds():
    arm = arm_belief(3, 1.0, 0.3)
    one, many = gaussian_exits._one_barrier(arm, 4), gaussian_exits._barrier_by_threshold(arm, 4)
    assert np.abs(one.distribution - many.distribution).max() <= 1e-3
    assert np.abs(one.distribution[:, 1] - many.distribution[:, 1]).max() <= 1e-14


@pytest.mark.parametrize(("width", "noise"), [(1.0, 1.0), (1.0, 0.5), (0.5, 1.5)])
@compiled
def test_no_prior_against_a_barrier_by_threshold(width, noise):
    """The general table has no infinite first index, but a high one makes no difference to lower thresholds."""
    arm = arm_belief(8, 0.0, width=width, noise=noise)
    quick = gaussian_exits._without_prior(arm, 12)
    thresholds = np.linspace(-2.0, 3.0, 9) * arm.deviation
    general = gaussian_exits._barrier_by_threshold(
        arm_belief(8, 1e-13, 0.0, width, noise, first=4.0 * arm.deviation), 12
    )
    for mine, other in zip(at_thresholds(quick, thresholds), at_thresholds(general, thresholds), strict=True):
        assert np.abs(mine - other).max() <= 2e-9


@pytest.mark.parametrize("table", [gaussian_exits._one_barrier, gaussian_exits._without_prior])
@compiled
def test_tables_against_draws(table):
    """First exits of a million simulated arms, at three thresholds."""
    horizon, noise, width = 12, 0.8, 1.3
    pseudo_count = (noise / width) ** 2
    arm = arm_belief(horizon, pseudo_count if table is gaussian_exits._one_barrier else 0.0, width=width, noise=noise)
    thresholds = np.array([-1.0, 0.5, 1.5])
    distribution, excess = at_thresholds(table(arm, 12), thresholds)
    rng, runs = np.random.default_rng(4), 1_000_000
    theta, total = width * rng.standard_normal(runs), np.zeros(runs)
    alive = np.ones((3, runs), bool)
    for k in range(1, horizon):
        total += theta + noise * rng.standard_normal(runs)
        index = total / (arm.prior_pulls + k) + arm.widths[k]
        posterior = total / (pseudo_count + k)
        for i, threshold in enumerate(thresholds):
            gone = alive[i] & (index < threshold)
            alive[i] &= ~gone
            short = np.where(gone, posterior - threshold, 0.0)
            assert abs(gone.mean() - distribution[i, k]) <= 4.5 * np.sqrt(distribution[i, k] / runs) + 1e-9
            assert abs(short.mean() - excess[i, k]) <= 4.5 * short.std() / np.sqrt(runs) + 1e-9
    assert (alive.mean(axis=1) > 0.01).any()
