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


def test_other_bandits_have_upper_limits():
    bandit = br.GaussianBandit([1.0, 0.0], prior_width=1.0, reward_noise=1.0)
    result = br.simulate(bandit, [br.Greedy(), br.UCB1()], horizon=5, runs=50, seed=1)
    found, bound = result.over_optimal(), br.bounds.certified_lower(bandit, horizon=5)
    assert (found.exact, found.least.source, found.least.regret) == (False, "certified_lower", bound.value)
    assert list(found) == ["greedy", "ucb1"]
    assert dict(found) == dict(found.items()) == dict(found.ratios)
    assert found.get("thompson") is None
    assert found["ucb1"].mean == pytest.approx(result["ucb1"].mean / bound.value)
    assert "over optimal, at most" in result.table(found)[0]
    assert found.summary().endswith("(certified_lower): the ratios are upper limits")
    enclosed = br.optimal_regret(bandit, horizon=5)
    assert dict(result.over_optimal(enclosed).ratios) == dict(found.ratios)
    assert found.to_dict()["over"]["ucb1"]["ratio"] == found["ucb1"].mean


def test_late_rewards_make_upper_limits():
    late = br.simulate(BANDIT, br.UCB1(), horizon=20, runs=50, seed=1, delay=2).over_optimal()
    assert (late.exact, late.least.source) == (False, "dynamic programme")
    assert RESULT.over_optimal().exact


def test_without_a_lower_bound_cells_are_empty():
    coins = br.GaussianBandit([1.0, 0.0], prior_width=1.0, reward_noise=1.0, noise_kind="rademacher")
    result = br.simulate(coins, br.UCB1(), horizon=5, runs=50, seed=1)
    found = result.over_optimal()
    assert (len(found), found.exact, found.least.regret) == (0, False, 0.0)
    headings, row = result.table(found)
    assert row[headings.index(found.heading)] == ""
    assert found.summary().startswith("no lower bound on the regret of every policy is known here")
