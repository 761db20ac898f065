"""The code that a plan prints runs, and its agent is the recommended policy."""

import json

import pytest

import bayesregret as br
from bayesregret.planning.beliefs import believed_bandit, with_belief, without_belief
from bayesregret.problem import common_bernoulli, common_gaussian, save_problem

# Plus-minus noise: no exact regrets, which take long in plain Python.
COINS = common_gaussian(arms=3, noise_kind="rademacher")
TEN = br.GaussianBandit([1] + [0] * 9, prior_width=1, reward_noise=1)
MIXTURE = br.MixtureBandit([0.5, 0.5], [br.BernoulliBandit([2, 2], [38, 38]), br.BernoulliBandit([20, 20], [20, 20])])


def run(code, **given):
    """Run the printed code for one round."""
    names = dict(given)
    exec(code, names)
    return names


@pytest.mark.parametrize(
    "bandit",
    [common_bernoulli(arms=3), COINS, MIXTURE],
    ids=lambda b: b.kind,
)
def test_the_printed_code_runs(bandit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = br.plan(bandit, horizon=6, runs=4)
    save_problem(bandit, "problem.toml")
    (tmp_path / "agent.json").write_text(plan.agent().to_json())
    for names in ({}, {"problem": "problem.toml"}, {"agent": "agent.json"}):
        ran = run(plan.snippet(**names), reward=1)
        assert ran["agent"].policy == plan.best.policy
        assert ran["agent"].problem == plan.bandit
        assert ran["arm"] == plan.agent().select()
        assert br.Agent.from_json(ran["state"]).pulls.sum() == 1


def test_batches():
    plan = br.plan(common_bernoulli(arms=2), br.BayesUCB(), horizon=6, runs=4, batch=3)
    ran = run(plan.snippet(), rewards=[1, 0, 1])
    assert len(ran["arms"]) == 3
    assert ran["agent"].pulls.sum() == 3
    costs = br.plan(common_bernoulli(arms=2), br.BayesUCB(), horizon=6, runs=4, batch=3, minimise=True)
    ran = run(costs.snippet(), costs=[1, 0, 1])
    assert sum(json.loads(ran["state"])["state"]["totals"]) == 1.0


def test_costs_become_rewards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    costs = br.BernoulliBandit([1, 1], [3, 3])
    save_problem(costs, "costs.toml")
    plan = br.plan(costs, br.BayesUCB(), horizon=4, runs=4, minimise=True)
    ran = run(plan.snippet(problem="costs.toml"), cost=0)
    assert ran["agent"].problem == costs.for_costs()
    assert json.loads(ran["state"])["state"]["totals"][ran["arm"]] == 1.0
    gaussian = br.plan(COINS, br.BayesUCB(), horizon=4, runs=4, minimise=True)
    assert "agent.update(arm, -cost)" in gaussian.snippet()


def test_other_settings_are_printed():
    plan = br.plan(
        common_bernoulli(arms=2), [br.BayesUCB(delta=0.5, prior=common_bernoulli(arms=2, alpha=2))], horizon=6, runs=4
    )
    policy = plan["bayes-ucb(delta=0.5, prior=bernoulli)"].policy
    code = br.planning.running.snippet(policy, plan.bandit, 6, minimise=False)
    assert run(code, reward=0)["agent"].policy == policy


def test_a_long_problem_is_read_from_its_file():
    plan = br.plan(common_bernoulli(arms=40), br.UCB1(), horizon=2, runs=4)
    assert 'br.load_problem("problem.toml")  # the problem of this plan' in plan.snippet()
    assert run(br.plan(TEN, br.UCB1(), horizon=2, runs=4).snippet(), reward=0)["agent"].problem == TEN


def test_beliefs_of_a_mixture():
    matched = believed_bandit(MIXTURE)
    assert matched == MIXTURE.conjugate()
    assert with_belief(br.Thompson(), MIXTURE) == br.Thompson(prior=matched)
    assert with_belief(br.UCB1(), MIXTURE) == br.UCB1()
    own = br.Thompson(prior=common_bernoulli(arms=2))
    assert with_belief(own, MIXTURE) is own
    assert without_belief(br.Thompson(prior=matched), MIXTURE) == br.Thompson()
    assert without_belief(own, MIXTURE) is own
    assert believed_bandit(common_bernoulli(arms=2)) == common_bernoulli(arms=2)
    heavy = [br.NormalGammaBandit([0, 0], 1, shape, 1) for shape in (0.6, 0.7)]
    assert believed_bandit(br.MixtureBandit([0.5, 0.5], heavy)).kind == "mixture"


def test_given_policies_believe_in_the_matched_prior():
    plan = br.plan(MIXTURE, [br.Thompson(), br.UCB1()], horizon=6, runs=4)
    assert plan["thompson"].policy.prior == MIXTURE.conjugate()
    assert br.Agent.from_json(plan.agent().to_json()).policy == plan.best.policy
