"""Policies as plain data come back as they were; anything else is one line."""

import pytest

import bayesregret as br
from bayesregret.policy_data import policy_from_dict, policy_to_dict

BANDIT = br.GaussianBandit([1, 0], 1, 1)


@pytest.mark.parametrize("policy", [br.UCB1(), br.BayesUCB(delta=0.1, prior=BANDIT), br.ExploreCommit(explore=3)])
def test_a_policy_comes_back(policy):
    assert policy_from_dict(policy_to_dict(policy)) == policy


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "policy must be .*, got None"),
        ({"name": ["ucb1"]}, "policy must be .*, got \\['ucb1'\\]"),
        ({"name": "ucb1", "width": 1}, "width is not a field of the policy ucb1, which may have "),
        ({"name": "bayes-ucb", "prior": {"model": "gaussian"}}, "prior_mean is missing; a gaussian problem must have"),
    ],
)
def test_anything_else_is_one_line(data, said):
    with pytest.raises(ValueError, match=f"^{said}") as caught:
        policy_from_dict(data)
    assert str(caught.value).isprintable()
