"""Crossings found by simulation against those of exact regrets."""

import dataclasses
import math

import pytest

import bayesregret as br
from bayesregret.planning.misspecification import directions, prior_limits
from bayesregret.planning.perturbed_priors import shifted, stretched
from bayesregret.planning.summary_text import limit_line
from bayesregret.problem import common_gaussian

HORIZON = 20
BANDIT = common_gaussian(arms=2)


def simulated(bandit, horizon, runs, seed=0):
    def regrets(policy):
        return br.simulate(bandit, policy, horizon=horizon, runs=runs, seed=seed)[policy.name].final_regret

    return regrets


def exactly_more(believed):
    """Exact regret of BayesUCB that believes in a wrong prior minus that of UCB1."""
    without = br.exact_regret(BANDIT, br.UCB1(), horizon=HORIZON).regret
    return br.exact_regret(BANDIT, br.BayesUCB(prior=believed), horizon=HORIZON).regret - without


@pytest.mark.compiled
def test_crossings_are_those_of_exact_regrets():
    """They are where exact differences change their sign; narrow intervals are the control."""
    regrets = simulated(BANDIT, HORIZON, 20_000)
    found = {limit.direction: limit for limit in prior_limits(BANDIT, br.BayesUCB(), br.UCB1(), regrets)}
    high, narrow = found["too high"].off, found["too narrow"].off
    assert exactly_more(shifted(BANDIT, high.low)) < 0 < exactly_more(shifted(BANDIT, high.high))
    assert exactly_more(stretched(BANDIT, 1 / narrow.low)) < 0 < exactly_more(stretched(BANDIT, 1 / narrow.high))
    assert found["too wide"].off is None  # ever more like UCB1
    assert high.high - high.low < 0.25 * high.at
    assert narrow.high - narrow.low < 0.25 * narrow.at


def test_a_prior_can_be_wrong_in_four_ways():
    found = directions(BANDIT)
    assert [(way.field, way.name) for way in found] == [
        ("mean", "too low"),
        ("mean", "too high"),
        ("width", "too narrow"),
        ("width", "too wide"),
    ]
    low, high, narrow, wide = (way.believed(0.5) for way in found)
    assert low.prior_mean.tolist() == [0.5, -0.5]
    assert high.prior_mean.tolist() == [1.5, 0.5]
    assert (narrow.prior_width, wide.prior_width) == (math.exp(-0.5), math.exp(0.5))


def test_a_direction_that_ends_at_once_is_left_out():
    widest = br.BernoulliBandit([0.01, 0.01], [0.01, 0.01])
    assert [way.name for way in directions(widest)] == ["too low", "too high", "too narrow"]
    nearly_always = br.BernoulliBandit([1e4, 1e4], [1, 1])
    assert "too high" in [way.name for way in directions(nearly_always)]
    mixed = br.BernoulliBandit([1e4, 1], [1, 1])
    assert [way.name for way in directions(mixed)] == ["too low", "too narrow", "too wide"]


def test_the_true_prior_comes_first_and_limits_are_printed():
    found = prior_limits(BANDIT, br.BayesUCB(), br.UCB1(), simulated(BANDIT, 8, 64))
    assert [limit.points[0] for limit in found] == [0.0, 0.0, 1.0, 1.0]
    assert len({limit.differences[0] for limit in found}) == 1
    for limit in found:
        line = limit_line(dataclasses.replace(limit, policy="bayes-ucb", rival="ucb1"))
        assert f" prior {limit.field} " in line
        assert "bayes-ucb" in line
        assert ("still has less regret than ucb1" in line) == (limit.off is None and limit.is_sure)
        assert ("was not seen to have more regret than ucb1" in line) == (limit.off is None and not limit.is_sure)
        assert (limit.to_dict()["off"] is None) == (limit.off is None)


def test_no_limits_where_the_prior_is_of_no_use():
    assert prior_limits(BANDIT, br.BayesUCB(), br.BayesUCB(), simulated(BANDIT, 4, 8)) == []
