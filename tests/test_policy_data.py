"""Policies as plain data and as text; their names in results; anything else is one line."""

import pytest

import bayesregret as br
from bayesregret.policy_data import as_policy, named, named_with_deltas, policy_from_dict, policy_to_dict, with_settings

BANDIT = br.GaussianBandit([1, 0], 1, 1)


@pytest.mark.parametrize("policy", [br.UCB1(), br.BayesUCB(delta=0.1, prior=BANDIT), br.ExploreCommit(explore=3)])
def test_a_policy_comes_back(policy):
    assert policy_from_dict(policy_to_dict(policy)) == policy


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "policy must have a name, one of bayes"),
        ({"name": ["ucb1"]}, "policy must be .*, got \\['ucb1'\\]"),
        ({"name": "ucb1", "width": 1}, "width is not a field of the policy ucb1, which may have "),
        ({"name": "bayes-ucb", "prior": {"model": "gaussian"}}, "prior_mean is missing; a gaussian problem must have"),
    ],
)
def test_anything_else_is_one_line(data, said):
    with pytest.raises(ValueError, match=f"^{said}") as caught:
        policy_from_dict(data)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("thompson", br.Thompson()),
        ("bayes-ucb:delta=0.1", br.BayesUCB(delta=0.1)),
        ("bayes-ucb:delta=1e-3,count_pending=false", br.BayesUCB(delta=0.001, count_pending=False)),
        ("explore-commit:explore=1e2", br.ExploreCommit(100)),
    ],
)
def test_a_text_names_a_policy(text, policy):
    assert as_policy(text) == policy
    assert as_policy(policy) is policy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bayesucb", "policy must be .*, got 'bayesucb'"),
        ("", "policy must be .*, got ''"),
        ("optimist", "policy must be .*, got 'optimist'; a policy of your own must be imported first$"),
        (
            "bayes-ucb:delta",
            "policy bayes-ucb must have settings as field=value; it has delta, count_pending, got 'delt",
        ),
        ("bayes-ucb:width=1", "policy bayes-ucb has no setting 'width'; it has delta, count_pending$"),
        ("bayes-ucb:prior=gaussian", "policy bayes-ucb has no setting 'prior'; it has delta, count_pending$"),
        ("thompson:c=1", "policy thompson has no setting 'c'; it has none$"),
        ("bayes-ucb:delta=2", "delta must be a number strictly between 0 and 1, got 2"),
        ("bayes-ucb:delta=half", "delta must be a number strictly between 0 and 1, got 'half'"),
    ],
)
def test_any_other_text_is_one_line(text, said):
    with pytest.raises(ValueError, match=f"^{said}") as caught:
        as_policy(text)
    assert str(caught.value).isprintable()


def test_a_class_is_no_policy():
    for given in (br.Thompson, [br.Thompson, "ucb1"], {"mine": br.Thompson}):
        with pytest.raises(ValueError, match=r"^policy must be .*, got a class: write Thompson\(\)$"):
            named(given)


def test_in_plans_a_given_delta_shows():
    given = ["ucb1", br.BayesUCB(delta=0.1)]
    assert list(named(given)) == ["ucb1", "bayes-ucb"]
    assert list(named_with_deltas(given)) == ["ucb1", "bayes-ucb(delta=0.1)"]
    assert list(named_with_deltas({"mine": br.BayesUCB(delta=0.1)})) == ["mine"]
    assert list(named_with_deltas("bayes-ucb")) == ["bayes-ucb"]


def test_names_show_only_what_tells_policies_apart():
    assert list(named(br.BayesUCB(delta=0.1))) == ["bayes-ucb"]
    assert list(named(["ucb1", "bayes-ucb:delta=0.1"])) == ["ucb1", "bayes-ucb"]
    assert list(named(["bayes-ucb", br.BayesUCB(0.1, BANDIT), br.BayesUCB(0.1, BANDIT)])) == [
        "bayes-ucb",
        "bayes-ucb(delta=0.1, prior=gaussian)",
        "bayes-ucb(delta=0.1, prior=gaussian)-2",
    ]
    assert list(named({"mine": "ucb1", "bayes-ucb-2": br.BayesUCB()})) == ["mine", "bayes-ucb-2"]


def test_settings_that_are_the_default_are_not_shown():
    assert with_settings(br.BayesUCB(count_pending=True)) == "bayes-ucb"
    assert with_settings(br.BayesUCB(count_pending=False)) == "bayes-ucb(count_pending=False)"
    assert with_settings(br.ExploreCommit(20)) == "explore-commit(explore=20)"
