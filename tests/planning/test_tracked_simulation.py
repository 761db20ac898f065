"""Probability that a round is on the best arm, from regret curves that are constant there."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.planning.tracked_simulation import paired, track
from bayesregret.problem import common_bernoulli, common_gaussian, common_linear
from bayesregret.simulation.engines.threads import ThreadsEngine

HORIZON = 4  # short enough that every round is tracked


def tracked(bandit, policy, horizon=HORIZON, runs=100, threads=2):
    return track(
        bandit, policy, horizon=horizon, runs=runs, seed=5, engine=ThreadsEngine(threads), on_progress=lambda _: None
    )


@pytest.mark.parametrize(
    "bandit", [common_bernoulli(arms=3), common_gaussian(arms=3), common_linear(arms=4, dimension=2)]
)
@pytest.mark.parametrize("policy", [br.BayesUCB(), br.Thompson(), br.ExploreCommit(2)])
def test_rounds_on_the_best_arm_are_those_that_simulate_counts(bandit, policy):
    found = tracked(bandit, policy)
    result = br.simulate(bandit, policy, horizon=HORIZON, runs=100, seed=5)[policy.name]
    assert found.rounds.tolist() == [1, 2, 3, 4]
    assert round(100 * found.on_best.sum()) == result.best_pulls.sum()
    assert np.array_equal(found.final_regret, result.final_regret)
    assert found.curve == pytest.approx(result.curve.mean)
    assert found.curve_stderr == pytest.approx(result.curve.stderr)


def test_threads_change_nothing():
    bandit = common_bernoulli(arms=3)
    one, three = (tracked(bandit, br.BayesUCB(), horizon=30, runs=200, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.on_best, three.on_best)
    assert np.array_equal(one.curve, three.curve)


def test_the_only_arm_is_the_best():
    found = tracked(common_gaussian(arms=1), br.BayesUCB(), horizon=20, runs=10)
    assert (found.on_best == 1.0).all()
    assert (found.on_best_stderr > 0.0).all()  # ten runs do not make it sure


def test_the_probability_at_horizon_1_is_one_over_the_arms():
    found = tracked(common_bernoulli(arms=4), br.BayesUCB(), horizon=1, runs=2_000)
    assert found.rounds.tolist() == [1]
    assert abs(found.on_best[0] - 1 / 4) < 4 * found.on_best_stderr[0]
    assert abs(found.on_best[0] - 1 / 2) > 10 * found.on_best_stderr[0]  # the control


def test_pairs_are_the_runs_that_both_have():
    assert paired(np.array([3.0, 5.0, 9.0]), np.array([1.0, 1.0])).mean == 3.0
