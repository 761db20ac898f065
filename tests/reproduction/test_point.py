"""Points: settings and results are plain data."""

import json

import pytest

import bayesregret as br
from bayesregret.problem import common_linear
from bayesregret.reproduction import point
from bayesregret.reproduction.point import ALL_BOUNDS, point_settings, run_point

BANDIT = br.GaussianBandit([1, 0, 0], 1, 1)
WRONG = {"name": "bayes-ucb", "prior": br.GaussianBandit([0, 0, 0], 0.5, 1).to_dict()}
POLICIES = [{"name": "bayes-ucb"}, {"name": "ucb1", "delta": 0.05}, WRONG]


def settings(**changes):
    return point_settings(BANDIT, POLICIES, **({"horizon": 40, "runs": 30, "seed": 3, "bounds": ALL_BOUNDS} | changes))


def test_result_is_that_of_a_simulation():
    wrong = br.BayesUCB(prior=br.GaussianBandit([0, 0, 0], 0.5, 1))
    expected = br.simulate(BANDIT, [br.BayesUCB(), br.UCB1(0.05), wrong], horizon=40, runs=30, seed=3)
    found = run_point(settings())["policies"]
    assert [policy["regret"] for policy in found] == [result.mean for result in expected.policies.values()]
    assert found[1]["more"] == expected.paired("ucb1", "bayes-ucb").mean
    assert found[0]["more"] == 0.0


def test_settings_and_result_survive_json_bit_for_bit():
    plain = json.loads(json.dumps(settings(), allow_nan=False))
    assert plain == settings()
    result = run_point(plain)
    assert json.loads(json.dumps(result, allow_nan=False)) == result == run_point(settings())


def test_bounds_are_those_asked_for():
    all_of_them = run_point(settings())["bounds"]
    assert all_of_them["certified_index"]["value"] == br.bounds.certified_index(BANDIT, horizon=40).value
    assert all_of_them["gap_dependent"]["form"] == "paper"
    assert list(run_point(settings(bounds=["certified"]))["bounds"]) == ["certified"]
    assert run_point(settings(bounds=()))["bounds"] == {}


def test_forms_that_refuse_are_left_out_and_infinities_are_words():
    noisy = br.GaussianBandit([1, 0], 1, 1, noise_kind="rademacher")
    found = run_point(point_settings(noisy, POLICIES[:1], horizon=1, runs=2, seed=0, bounds=ALL_BOUNDS))["bounds"]
    assert "certified_index" not in found
    assert found["prior_dependent"]["value"] == "inf"


def test_exact_regrets_on_request():
    policies = [{"name": "bayes-ucb"}, {"name": "ucb1", "delta": 0.05}]
    asked = point_settings(BANDIT, policies, horizon=5, runs=10, seed=3, exact=True)
    every = run_point(asked)["policies"]
    for policy, found in zip((br.BayesUCB(), br.UCB1(0.05)), every, strict=True):
        expected = br.exact_regret(BANDIT, policy, horizon=5, accuracy=point.EXACT_ENOUGH)
        assert (found["exact"], found["exact_error"]) == (expected.regret, expected.error)
    plain = point_settings(BANDIT, policies, horizon=5, runs=10, seed=3)
    assert asked == plain | {"exact": True}
    without = [{name: value for name, value in found.items() if not name.startswith("exact")} for found in every]
    assert run_point(plain)["policies"] == without


def test_exact_regrets_of_some_policies():
    asked = point_settings(BANDIT, [*POLICIES[:1], {"name": "greedy"}], horizon=5, runs=10, seed=3, exact=["greedy"])
    assert asked["exact"] == ["greedy"]
    assert ["exact" in found for found in point.compute_point(asked).exact] == [False, True]
    assert "exact" not in point_settings(BANDIT, POLICIES[:1], horizon=5, runs=10, seed=3, exact=())


def test_points_without_exact_regrets_have_the_key_that_they_always_had():
    assert list(settings()) == ["problem", "policies", "horizon", "runs", "seed", "bounds", "accuracy"]


def test_impossible_requests_fail_before_any_simulation(monkeypatch):
    monkeypatch.setattr(point, "simulate", lambda *_, **__: pytest.fail("simulated"))
    noisy = br.GaussianBandit([1, 0], 1, 1, noise_kind="rademacher")
    with pytest.raises(ValueError, match="noise_kind must be gaussian"):
        run_point(point_settings(noisy, POLICIES[:1], horizon=5, runs=10, seed=0, exact=True))


def test_accuracy_reaches_the_bounds_that_can_use_it():
    linear = common_linear(arms=8, dimension=4)
    errors = []
    for accuracy in (0.1, None):
        asked = point_settings(
            linear, POLICIES[:1], horizon=20, runs=2, seed=0, bounds=["gap_dependent", "sqrt"], accuracy=accuracy
        )
        errors.append(run_point(asked)["bounds"]["gap_dependent"]["error"])
    assert errors[0] > errors[1]


def test_a_policy_that_is_not_there():
    with pytest.raises(ValueError, match=r"policy must be .*, got 'nobody'"):
        run_point(point_settings(BANDIT, [{"name": "nobody"}], horizon=1, runs=1, seed=0))
