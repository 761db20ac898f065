"""Bandits at the ends of what a prior allows, and the policies that are best there."""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.planning.other_horizons import other_horizons
from bayesregret.planning.scenarios import possibilities, scenarios
from bayesregret.planning.summary_text import horizon_lines, scenario_lines
from bayesregret.problem import common_bernoulli


def two_levels(probability=0.5, low=(2, 38), high=(30, 30)):
    bandits = [br.BernoulliBandit([a, a], [b, b]) for a, b in (low, high)]
    return br.MixtureBandit([1 - probability, probability], bandits)


def test_ends_of_levels():
    found = possibilities(two_levels(low=(2, 38), high=(20, 20)))
    assert [(place.field, place.end, place.value) for place in found] == [
        ("level", "low", 0.05),
        ("level", "high", 0.5),
    ]
    assert [place.bandit for place in found] == list(two_levels(high=(20, 20)).bandits)
    rare = possibilities(two_levels(0.01, low=(2, 38), high=(20, 20)))
    assert [place.value for place in rare] == [0.05, 0.05], "a level of one percent is outside of the interval"


def test_ends_of_widths():
    found = possibilities(two_levels(low=(5, 5), high=(50, 50)))
    assert [(place.field, place.end) for place in found] == [("width", "low"), ("width", "high")]
    assert [place.value for place in found] == pytest.approx([math.sqrt(0.25 / 101), math.sqrt(0.25 / 11)])


def test_what_is_known_has_no_ends():
    assert possibilities(common_bernoulli(arms=2)) == []
    assert possibilities(br.LinearBandit([[1, 0], [0, 2]], [0, 0], prior_width=1, reward_noise=1)) == []


def test_a_gaussian_level_is_a_covariance():
    covariance = 0.25 * np.eye(3) + 4.0
    bandit = br.LinearBandit(np.eye(3), [1.0, 1.0, 1.0], covariance, reward_noise=1.0)
    low, high = possibilities(bandit)
    assert (low.field, low.end, high.end) == ("level", "low", "high")
    assert [low.value, high.value] == pytest.approx([1 - 2 * 1.6448536, 1 + 2 * 1.6448536])
    assert low.bandit.covariance == pytest.approx(0.25 * np.eye(3))
    wide = br.LinearBandit(np.eye(3), [1.0, 1.0, 1.0], 9.0 * np.eye(3) + 4.0, reward_noise=1.0)
    both = possibilities(br.MixtureBandit([0.5, 0.5], [bandit, wide]))
    assert [(place.field, place.end) for place in both] == [
        *(("level", "low"), ("level", "high")),
        *(("width", "low"), ("width", "high")),
    ]
    assert [place.value for place in both[2:]] == pytest.approx([0.5, 3.0])


def by_name(regrets):
    """A simulation that looks regrets up."""
    return lambda world, policy: np.array(regrets[policy.name]) * (2.0 if world == two_levels().bandits[0] else 1.0)


def test_an_order_that_changes_is_flagged():
    bandit, policies = two_levels(), {"thompson": br.Thompson(), "ucb1": br.UCB1()}
    found = scenarios(bandit, policies, "thompson", by_name({"thompson": [5.0, 5.1, 4.9], "ucb1": [1.0, 1.1, 0.9]}))
    assert [scenario.compared.best for scenario in found] == ["ucb1", "ucb1", "ucb1", "ucb1"]
    assert all(scenario.compared.changes_order for scenario in found)
    noisy = scenarios(bandit, policies, "thompson", by_name({"thompson": [5.0, 1.0, 4.9], "ucb1": [1.0, 5.0, 0.9]}))
    assert not any(scenario.compared.changes_order for scenario in noisy)
    assert found[0].to_dict()["changes_order"]


def test_policies_keep_the_beliefs_of_the_plan():
    seen = []

    def simulate_on(world, policy):
        seen.append((policy.name, getattr(policy, "prior", None)))
        return np.ones(2)

    bandit = two_levels()
    matched = bandit.conjugate()
    scenarios(
        bandit,
        {"thompson": br.Thompson(prior=matched), "bayes-ucb": br.BayesUCB(), "ucb1": br.UCB1()},
        "ucb1",
        simulate_on,
    )
    assert set(seen) == {("thompson", matched), ("bayes-ucb", bandit), ("ucb1", None)}


def test_other_horizons():
    def regrets_over(rounds, policy):
        per_round = {"thompson": 1.0 + rounds / 100, "ucb1": 1.5}[policy.name]
        return rounds * per_round * np.array([0.99, 1.0, 1.01])

    found = other_horizons(40, {"thompson": br.Thompson(), "ucb1": br.UCB1()}, "thompson", regrets_over)
    assert [(other.name, other.horizon, other.compared.best) for other in found] == [
        ("half as long", 20, "thompson"),
        ("twice as long", 80, "ucb1"),
    ]
    assert [other.compared.changes_order for other in found] == [False, True]
    assert other_horizons(1, {"ucb1": br.UCB1()}, "ucb1", only_from(1, regrets_over))[0].horizon == 2
    assert other_horizons(40, {"ucb1": br.UCB1()}, "ucb1", only_from(81, regrets_over)) == []


def only_from(least, regrets_over):
    """A simulation that refuses shorter horizons, as of a policy that does not run over them."""

    def regrets(rounds, policy):
        if rounds < least:
            raise ValueError("horizon must be longer")
        return regrets_over(rounds, policy)

    return regrets


def test_a_plan_says_what_would_change_it():
    plan = br.plan(two_levels(), [br.BayesUCB(), br.UCB1()], horizon=12, runs=16)
    assert [scenario.field for scenario in plan.scenarios] == ["level", "level", "width", "width"]
    text = "\n".join(scenario_lines(plan))
    for scenario in plan.scenarios:
        flagged = f"The recommendation depends on the {scenario.field}: at the {scenario.end} end"
        assert (flagged in text) == scenario.compared.changes_order
    assert len(horizon_lines(plan)) == 2
    assert all(plan.best.name in line for line in horizon_lines(plan))
    assert all(line in str(plan) for line in (*scenario_lines(plan), *horizon_lines(plan)))
