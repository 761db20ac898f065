"""The best delta by simulation, and where exact regrets say it is."""

import pytest

import bayesregret as br
from bayesregret.planning.delta_tuning import advise_delta
from bayesregret.planning.summary_text import delta_line
from bayesregret.problem import common_bernoulli, common_gaussian

BANDIT = common_gaussian(arms=2)


def simulated(horizon, runs):
    def regrets(policy):
        return br.simulate(BANDIT, policy, horizon=horizon, runs=runs, seed=1)[policy.name].final_regret

    return regrets


@pytest.mark.compiled
def test_the_interval_holds_the_exact_best_one(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.delta_tuning.QUICK_HORIZON", {})
    found = advise_delta(BANDIT, br.BayesUCB(), simulated(50, 40_000), 50)
    exact = br.best_delta(BANDIT, br.BayesUCB(), horizon=50)
    assert found.low < exact.delta < found.high
    assert not found.low < 1 / 50 < found.high  # the control
    cost = exact.usual_regret - exact.regret
    assert abs(found.usual_cost.mean - cost) < 4 * found.usual_cost.stderr
    assert abs(found.usual_cost.mean - 2 * cost) > 10 * found.usual_cost.stderr


def test_exact_regrets_are_used_where_they_are_quick():
    bandit = common_bernoulli(arms=2)
    found = advise_delta(bandit, br.BayesUCB(), None, 4)
    exact = br.best_delta(bandit, br.BayesUCB(), horizon=4)
    assert found.is_exact
    assert (found.best, found.usual_cost.mean) == (exact.delta, exact.usual_regret - exact.regret)
    assert "(computed)" in delta_line(found)
    assert found.to_dict()["exact"]


def test_a_simulated_one_is_printed_with_its_cost(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.delta_tuning.QUICK_HORIZON", {})
    found = advise_delta(BANDIT, br.BayesUCB(), simulated(6, 16), 6)
    assert found.low <= found.best <= found.high
    assert found.usual_cost.mean >= 0.0
    assert set(found.costs) <= {"ten times smaller", "ten times larger"}
    assert f"The best delta for bayes-ucb is {found.best:.2g} (" in delta_line(found)


def test_where_no_delta_matters_there_is_no_advice():
    assert advise_delta(BANDIT, br.BayesUCB(), None, 1) is None
    assert advise_delta(common_gaussian(arms=1), br.BayesUCB(), None, 10) is None
