"""Certified bounds hold: simulated regret is below each of them, on a hundred random problems of each model.

The controls are the formulas as printed, which a simulation refutes.
"""

import math

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, bounds, simulate
from bayesregret.bounds.bound import COARSE, Formula, make_setting

PROBLEMS, RUNS = 100, 400


def random_gaussian(rng):
    arms = int(rng.integers(2, 7))
    spread = rng.choice([0.0, 0.3, 1.0, 3.0])
    means = np.round(spread * rng.standard_normal(arms), rng.integers(0, 3))
    return GaussianBandit(means, 10.0 ** rng.uniform(-1.5, 1.0), 10.0 ** rng.uniform(-1.5, 1.0))


def random_bernoulli(rng):
    arms = int(rng.integers(2, 4))
    counts = np.round(10.0 ** rng.uniform(-0.7, 1.3, size=(2, arms)), 1)
    if rng.random() < 0.5:
        counts[:] = counts[:, :1]
    return BernoulliBandit(*counts)


def certified_values(bandit, horizon, delta):
    """Of every certified upper bound, by one rule: its error is far below a standard error."""
    setting = make_setting(horizon, delta)
    for formula in Formula.every.values():
        if (formula.form, formula.kind) != ("certified", "upper") or formula.name == "certified":
            continue
        if formula.covers(bandit):
            parts = formula.body(bandit)(bandit, setting, COARSE)
            assert parts.why_not is None
            for policy in ("bayes-ucb", "ucb1"):
                if formula.is_about(policy):
                    yield formula.name, policy, math.fsum(parts.terms.values())


@pytest.mark.compiled
@pytest.mark.parametrize("draw", [random_gaussian, random_bernoulli], ids=["gaussian", "bernoulli"])
def test_certified_bounds_hold(draw):
    rng = np.random.default_rng(90)
    nearest, seen = math.inf, set()
    for problem in range(PROBLEMS):
        bandit = draw(rng)
        horizon = int(10.0 ** rng.uniform(0.3, 2.6))
        delta = None if rng.random() < 0.5 else float(10.0 ** rng.uniform(-4.0, -0.05))
        result = simulate(bandit, [BayesUCB(delta=delta), UCB1(delta=delta)], horizon=horizon, runs=RUNS, seed=problem)
        for name, policy, value in certified_values(bandit, horizon, delta):
            regret = result[policy]
            assert value >= regret.mean - 4.0 * regret.stderr, (name, bandit, horizon, delta)
            seen.add(name)
            if regret.mean > 0.0:
                nearest = min(nearest, value / regret.mean)
    assert len(seen) >= 5
    assert nearest < 2.5, "some bound is near enough to the regret for a mistake to be seen"


REFUTED = [
    # A narrow prior: pulls are counted as negative ones.
    (GaussianBandit([1.0] + [0.0] * 9, 0.1, 1.0), 1_000, None, -343.6),
    # Little noise: the pull that shows the gap is not counted.
    (GaussianBandit([0.0] * 10, 1.0, 0.01), 1_000, 1e-6, 1.70),
]


@pytest.mark.compiled
@pytest.mark.parametrize(("bandit", "horizon", "delta", "printed"), REFUTED, ids=["narrow prior", "little noise"])
def test_theorem_1_as_printed_does_not_hold(bandit, horizon, delta, printed):
    theorem = bounds.gap_dependent(bandit, horizon=horizon, delta=delta)
    assert theorem.value == pytest.approx(printed, abs=0.05)
    regret = simulate(bandit, BayesUCB(delta=delta), horizon=horizon, runs=4_000, seed=91)["bayes-ucb"]
    assert regret.mean - 10.0 * regret.stderr > theorem.value
    for name in ("certified_floor", "certified_epsilon", "certified_index", "certified"):
        assert getattr(bounds, name)(bandit, horizon=horizon, delta=delta).value >= regret.mean - 4.0 * regret.stderr


@pytest.mark.compiled
def test_theorem_5_as_printed_does_not_hold():
    """A sharp prior far below the others: the arm that is surely bad is charged a negative number of pulls."""
    bandit = BernoulliBandit([5.0, 5.0, 1.0], [1.0, 1.0, 1000.0])
    theorem = bounds.gap_dependent(bandit, horizon=200)
    assert theorem.value < 0.0
    regret = simulate(bandit, BayesUCB(), horizon=200, runs=2_000, seed=92)["bayes-ucb"]
    assert regret.mean > 10.0 * regret.stderr
    assert bounds.certified(bandit, horizon=200).value >= regret.mean - 4.0 * regret.stderr


@pytest.mark.compiled
def test_the_landmark_lies_between():
    bandit = GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0)
    result = simulate(bandit, [BayesUCB(), UCB1()], horizon=1_000, runs=4_000, seed=93)
    for name, times in [("certified_index", 1.64), ("certified_ucb1", 2.47)]:
        bound = getattr(bounds, name)(bandit, horizon=1_000)
        regret = result[bound.policy]
        spread = 4.0 * bound.value * regret.stderr / regret.mean**2
        assert abs(bound.value / regret.mean - times) < spread + 0.01
