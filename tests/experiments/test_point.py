"""A point is plain data in and plain data out."""

import json

import pytest

import bayesregret as br
from bayesregret.experiments.point import ALL_BOUNDS, point_settings, run_point
from bayesregret.problem import common_linear

BANDIT = br.GaussianBandit([1, 0, 0], 1, 1)
WRONG = {"name": "bayes-ucb", "prior": br.GaussianBandit([0, 0, 0], 0.5, 1).to_dict()}
POLICIES = [{"name": "bayes-ucb"}, {"name": "ucb1", "delta": 0.05}, WRONG]


def settings(**changes):
    return point_settings(BANDIT, POLICIES, **({"horizon": 40, "runs": 30, "seed": 3, "bounds": ALL_BOUNDS} | changes))


def test_result_is_that_of_a_simulation():
    wrong = br.BayesUCB(prior=br.GaussianBandit([0, 0, 0], 0.5, 1))
    expected = br.simulate(BANDIT, [br.BayesUCB(), br.UCB1(0.05), wrong], horizon=40, runs=30, seed=3)
    told = run_point(settings())["policies"]
    assert [policy["regret"] for policy in told] == [result.mean for result in expected.policies.values()]
    assert told[1]["more"] == expected.paired("ucb1", "bayes-ucb").mean
    assert told[0]["more"] == 0.0


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
    told = run_point(point_settings(noisy, POLICIES[:1], horizon=1, runs=2, seed=0, bounds=ALL_BOUNDS))["bounds"]
    assert "certified_index" not in told
    assert told["prior_dependent"]["value"] == "inf"


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
    with pytest.raises(KeyError):
        run_point(point_settings(BANDIT, [{"name": "nobody"}], horizon=1, runs=1, seed=0))
