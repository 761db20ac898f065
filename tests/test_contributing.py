"""The how-to guides for a policy, a model, a bound and an experiment of your own: their examples do what they say."""

import importlib.util
import pathlib
import re
import sys

import numpy as np
import pytest

import bayesregret as br
from bayesregret.bounds.bound import Formula

GUIDES = pathlib.Path(__file__).parents[1] / "docs" / "how-to"
EXAMPLES = {
    name: code
    for guide in GUIDES.glob("write-*.md")
    for name, code in re.findall(r"<!-- example: ([\w ]+) -->\n```python\n(.*?)```", guide.read_text(), re.DOTALL)
}


@pytest.fixture
def example(tmp_path, request):
    """An example as a module of its own, outside the package."""
    name = "outside_" + request.param.replace(" ", "_")
    path = tmp_path / f"{name}.py"
    path.write_text(EXAMPLES[request.param])
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]
    br.Policy.classes.pop("optimist", None)
    br.Policy.classes.pop("posterior-moss", None)
    br.Policy.classes.pop("softmax", None)
    br.Policy.classes.pop("rising-bonus", None)
    Formula.every.pop("one_pull_each", None)


def test_all_examples_are_tried():
    policies = {"a policy", "an index", "a choice", "a rising index"}
    assert set(EXAMPLES) == policies | {"a model", "a bound", "an experiment"}


@pytest.mark.parametrize("example", ["a policy"], indirect=True)
def test_own_policy_is_bayes_ucb_when_the_widths_agree(example):
    policies = [br.BayesUCB(delta=np.exp(-2.0)), example.Optimist(2.0)]  # sqrt(2 log(1/delta)) = 2
    linear = br.LinearBandit([[1, 0], [0.6, 0.8], [0, 1]], [0, 0], prior_width=1, reward_noise=1)
    for bandit in (br.GaussianBandit([1, 0, 0], 1, 1), br.BernoulliBandit([1, 2], [1, 1]), linear):
        result = br.simulate(bandit, [*policies, example.Optimist(0.5)], horizon=60, runs=20, seed=3)
        assert np.array_equal(result["optimist"].final_regret, result["bayes-ucb"].final_regret)
        assert not np.array_equal(result["optimist(multiplier=0.5)"].final_regret, result["bayes-ucb"].final_regret)


@pytest.mark.parametrize("example", ["a policy"], indirect=True)
def test_own_policy_has_an_agent_that_can_be_saved(example):
    agent = example.Optimist(1.0).start(br.GaussianBandit([0, 0], 1, 1))
    agent.update(0, -3.0)
    again = br.Agent.from_json(agent.to_json())
    assert agent.select() == again.select() == 1
    assert again.policy == example.Optimist(1.0)


@pytest.mark.parametrize("example", ["an index"], indirect=True)
def test_own_index_runs_and_explores(example):
    bandit = br.BernoulliBandit([1, 1, 1], [1, 1, 1])
    result = br.simulate(bandit, example.PosteriorMoss(), horizon=100, runs=200, seed=1)["posterior-moss"]
    assert (result.mean_pulls > 1).all()
    assert result.best_share > 1 / 3 + 0.1


@pytest.mark.parametrize("example", ["an index"], indirect=True)
def test_own_index_does_not_fit_a_linear_bandit(example):
    linear = br.LinearBandit([[1, 0], [0, 1]], [0, 0], prior_width=1, reward_noise=1)
    with pytest.raises(ValueError, match="policy must be one that runs on a linear bandit, got"):
        br.simulate(linear, example.PosteriorMoss(), horizon=10, runs=1, seed=1)
    with pytest.raises(ValueError, match="policy must be one that runs on a linear bandit, got"):
        example.PosteriorMoss().start(linear, horizon=10)


@pytest.mark.parametrize("example", ["a choice"], indirect=True)
def test_own_choice_cools_down_to_the_greedy_one(example):
    bandit = br.GaussianBandit([1, 0.5, 0], 1, 1)  # no ties
    policies = [br.Greedy(), example.Softmax(1e-6), example.Softmax(1e6)]
    result = br.simulate(bandit, policies, horizon=40, runs=200, seed=3)
    cold = result["softmax(temperature=1e-06)"]
    assert np.allclose(cold.final_regret, result["greedy"].final_regret, rtol=1e-12, atol=1e-12)
    assert result["softmax(temperature=1e+06)"].mean_pulls == pytest.approx([40 / 3] * 3, rel=0.05)
    agent = example.Softmax(1e6).start(bandit, seed=1)
    assert {agent.select() for _ in range(50)} == {0, 1, 2}


@pytest.mark.parametrize("example", ["a rising index"], indirect=True)
def test_own_rising_index_returns_to_every_arm(example):
    bandit = br.BernoulliBandit([1, 1, 1], [1, 1, 1])
    policies = {"greedy": example.RisingBonus(0.0), "curious": example.RisingBonus(0.5)}
    result = br.simulate(bandit, policies, horizon=100, runs=200, seed=1)
    assert result["curious"].best_share > result["greedy"].best_share + 0.05


@pytest.mark.parametrize("example", ["a model"], indirect=True)
def test_own_model_is_a_bandit_like_any_other(example):
    bandit = example.UniformNoiseBandit(arms=4, prior_width=1.0, spread=2.0)
    assert bandit == example.UniformNoiseBandit(4, 1, 2)
    assert repr(bandit) == "UniformNoiseBandit(arms=4, prior_width=1.0, spread=2.0)"
    result = br.simulate(bandit, [br.BayesUCB(), br.UCB1()], horizon=200, runs=300, seed=5)
    assert result["bayes-ucb"].best_share > 0.6
    # With noise of this variance the Gaussian bandit is nearly the same problem.
    gaussian = br.GaussianBandit([0.0] * 4, 1.0, bandit.reward_proxy**0.5)
    like_it = br.simulate(gaussian, br.BayesUCB(), horizon=200, runs=300, seed=6)["bayes-ucb"]
    off = result["bayes-ucb"].mean - like_it.mean
    assert abs(off) < 4 * np.hypot(result["bayes-ucb"].stderr, like_it.stderr)
    assert abs(off - 0.5 * like_it.mean) > 4 * np.hypot(result["bayes-ucb"].stderr, like_it.stderr)


@pytest.mark.parametrize("example", ["a bound"], indirect=True)
def test_own_bound_is_among_the_others(example):
    bandit = br.GaussianBandit([1, 0, 0], 1, 1)
    found = br.bounds.table(bandit, horizon=10)["one_pull_each"]
    assert found.value == pytest.approx(10 * br.bounds.ucb1_prior_dependent(bandit, horizon=10).terms["first pulls"])
    assert found.value > br.bounds.certified(bandit, horizon=10).value
    assert found.error < 1e-9 * found.value


@pytest.mark.compiled
@pytest.mark.parametrize("example", ["an experiment"], indirect=True)
def test_own_experiment_is_run_once_and_published(example, tmp_path):
    first = example.run(tmp_path)[0]
    assert first.run == 3
    assert [claim.verdict for claim in first.claims] == ["holds"]
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "figures" / "figure-noise.pdf").exists()
    again = example.run(tmp_path)[0]
    assert again.run == 0
    assert again.table == first.table
