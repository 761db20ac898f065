"""Ratios of simulated regret to the optimal regret."""

import pytest

import bayesregret as br

BANDIT = br.BernoulliBandit([1, 2], [1, 1])
RESULT = br.simulate(BANDIT, [br.Greedy(), br.UCB1()], horizon=20, runs=50, seed=1)


def test_ratios_and_their_errors():
    least = br.bayes_optimal_regret(BANDIT, horizon=20)
    found = RESULT.over_optimal()
    assert found == RESULT.over_optimal(least)
    for name in ("greedy", "ucb1"):
        assert found[name].mean * least.regret == pytest.approx(RESULT[name].mean)
        assert found[name].stderr * least.regret == pytest.approx(RESULT[name].stderr)


def test_the_table_has_a_column_for_them_if_wanted():
    found = RESULT.over_optimal()
    headings, greedy, _ = RESULT.table(found)
    assert greedy[headings.index("over optimal")] == str(found["greedy"])
    assert "over optimal" not in RESULT.table()[0]


def test_another_problems_optimum_is_refused():
    with pytest.raises(ValueError, match="optimal must be for the bandit and horizon of the simulation"):
        RESULT.over_optimal(br.bayes_optimal_regret(BANDIT, horizon=19))


def test_one_arm_has_no_ratio():
    single = br.simulate(br.BernoulliBandit([1], [1]), br.UCB1(), horizon=5, runs=5, seed=1)
    with pytest.raises(ValueError, match="the ratio to optimal regret is undefined"):
        single.over_optimal()
