"""Heteroscedastic Gaussian arms: each has its prior width and reward noise."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesregret as br
from bayesregret import GaussianBandit
from bayesregret.contracts import (
    add_reward,
    divergence_limit,
    draw_reward,
    empty_stats,
    posterior_draw,
    posterior_mean,
    posterior_quantile,
    prior_pulls,
    prior_total,
    variance_proxy,
)
from bayesregret.models.gaussian import GaussianModel
from bayesregret.models.gaussian_heteroscedastic import HeteroscedasticModel, HeteroscedasticRademacherModel
from bayesregret.models.no_prior import NoPriorArmsModel, NoPriorModel
from bayesregret.problem import load_problem, problem_from_dict, save_problem
from bayesregret.rng import REWARD, U, open_stream, run_word, seed_key
from conftest import JIT_IS_OFF
from draws import stream_of
from problems import BANDITS, decimals, gaussian_arms_bandits
from reference.posteriors import History, posterior

pytestmark = pytest.mark.long

ARMS = GaussianBandit([0.5, -1.0], prior_width=[0.5, 2.0], reward_noise=[2.0, 1.0])


def test_a_list_of_equal_numbers_is_that_number():
    listed = GaussianBandit([1, 0], prior_width=[2, 2.0], reward_noise=(3, 3))
    number = GaussianBandit([1, 0], prior_width=2, reward_noise=3)
    assert listed == number
    assert repr(listed) == repr(number)
    assert hash(listed) == hash(number)
    assert listed.to_dict() == number.to_dict()
    assert isinstance(listed.model, GaussianModel)
    assert not listed.arms_differ
    assert listed.prior_widths.tolist() == [2.0, 2.0]


def test_what_differs_picks_the_model():
    assert isinstance(GaussianBandit([0, 0], [1, 2], 1).model, HeteroscedasticModel)
    assert isinstance(GaussianBandit([0, 0], 1, [1, 2], "rademacher").model, HeteroscedasticRademacherModel)
    assert isinstance(GaussianBandit([0, 0], [1, 2], 1).no_prior_model(), NoPriorModel)
    assert isinstance(GaussianBandit([0, 0], 1, [1, 2]).no_prior_model(), NoPriorArmsModel)
    assert GaussianBandit([0, 0], 1, [1, 3]).reward_proxy == 9.0


def test_bandits_are_told_apart():
    others = [GaussianBandit([0, 0], 1, 1), GaussianBandit([0, 0], [1, 2], 1), GaussianBandit([0, 0], 1, [1, 2])]
    assert len({*others, *others}) == 3
    assert GaussianBandit([0, 0], [1, 2], 1) == GaussianBandit([0, 0], np.array([1.0, 2.0]), 1)


@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_files(tmp_path, suffix):
    save_problem(ARMS, tmp_path / f"arms.{suffix}")
    assert load_problem(tmp_path / f"arms.{suffix}") == ARMS
    assert problem_from_dict(ARMS.to_dict()) == ARMS
    assert ARMS.to_dict()["prior_width"] == [0.5, 2.0]


LISTED = "must be a list of positive numbers, one for each arm"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior_width": [1, 2, 3]}, "prior_width must be a number, or a list with one for each of the 2 arms, got 3"),
        ({"reward_noise": [1]}, "reward_noise must be a number, or a list with one for each of the 2 arms, got 1"),
        ({"prior_width": [1, 0]}, f"prior_width {LISTED}, but has the entry 0"),
        ({"prior_width": [1, "2"]}, f"prior_width {LISTED}, got"),
        ({"reward_noise": [[1, 2]]}, f"reward_noise {LISTED}, got"),
        ({"reward_noise": []}, f"reward_noise {LISTED}, got"),
        ({"reward_noise": [1, np.inf]}, f"reward_noise {LISTED}, but has an entry that is not a finite number"),
        ({"reward_noise": -1}, "reward_noise must be a positive number, got -1"),
    ],
)
def test_bad_input(change, message):
    arguments = {"prior_mean": [0, 0], "prior_width": 1, "reward_noise": 1} | change
    with pytest.raises(ValueError, match=f"^{re.escape(message)}[^\n]*$"):
        GaussianBandit(**arguments)


@given(gaussian_arms_bandits(), st.lists(st.tuples(st.integers(0, 5), decimals(-5, 5)), max_size=20))
def test_posterior_is_the_textbooks(bandit, data):
    arms, rewards = [arm % bandit.arms for arm, _ in data], [reward for _, reward in data]
    expected = posterior(bandit, History(arms, rewards))
    for arm in range(bandit.arms):
        count, total = arms.count(arm), sum(r for a, r in zip(arms, rewards, strict=True) if a == arm)
        mean = posterior_mean(bandit.model, arm, count, total)
        assert mean == pytest.approx(expected.mean[arm], rel=1e-12, abs=1e-11)
        assert variance_proxy(bandit.model, arm, count) == pytest.approx(expected.variance[arm], rel=1e-12)


def test_a_prior_is_worth_pulls():
    assert [prior_pulls(ARMS.model, arm) for arm in (0, 1)] == [16.0, 0.25]
    assert [prior_total(ARMS.model, arm) for arm in (0, 1)] == [8.0, -0.25]
    flat = ARMS.no_prior_model()
    assert [variance_proxy(flat, arm, 2) for arm in (0, 1)] == [2.0, 0.5]
    assert variance_proxy(flat, 1, 0) == np.inf
    assert prior_pulls(flat, 1) == prior_total(flat, 1) == 0.0


@pytest.mark.parametrize("arm", [0, 1])
def test_each_arm_is_a_bandit_of_its_own(arm):
    """Draws and limits of an arm are, to rounding, those of a bandit that has nothing else."""
    alone = GaussianBandit(ARMS.prior_mean[[arm]], ARMS.prior_width[arm], ARMS.reward_noise[arm])
    many, one = empty_stats(2), empty_stats(1)
    for reward in (0.3, -1.2, 2.0):
        add_reward(many, arm, reward)
        add_reward(one, 0, reward)
    with np.errstate(over="ignore"):
        assert draw_reward(ARMS.model, arm, 0.2, stream_of(3))[0] == draw_reward(alone.model, 0, 0.2, stream_of(3))[0]
        drawn = posterior_draw(ARMS.model, many, arm, stream_of(3))[0]
        assert drawn == pytest.approx(posterior_draw(alone.model, one, 0, stream_of(3))[0], rel=1e-13)
    quantile = posterior_quantile(ARMS.model, many, arm, 0.01)
    assert quantile == pytest.approx(posterior_quantile(alone.model, one, 0, 0.01), rel=1e-13)
    own, shared = ARMS.no_prior_model(), alone.no_prior_model()
    assert divergence_limit(own, arm, 0.2, 0.5) == divergence_limit(shared, 0, 0.2, 0.5)


def test_rademacher_rewards_are_one_step_off_the_mean():
    bandit = GaussianBandit([0.0, 0.0], 1.0, [0.5, 0.25], noise_kind="rademacher")
    with np.errstate(over="ignore"):
        rewards = {draw_reward(bandit.model, 1, 2.0, stream_of(seed))[0] for seed in range(20)}
    assert rewards == {1.75, 2.25}


def test_instances_have_the_priors_widths():
    """Four standard errors; with the arms' widths exchanged they are far outside."""
    means = ARMS.draw_means(400, seed=1)
    deviations = np.sqrt(((means - ARMS.prior_mean) ** 2).mean(axis=0))
    allowed = 4.0 / np.sqrt(2 * 400)
    assert np.all(np.abs(deviations / ARMS.prior_width - 1.0) < allowed)
    assert not np.any(np.abs(deviations / ARMS.prior_width[::-1] - 1.0) < allowed)


TO_COMPILE = [br.BayesUCB(), br.KLUCB()]
POLICIES = [*TO_COMPILE, br.UCB1(), br.Greedy(), br.EpsilonGreedy(), br.Thompson(), br.QuantileUCB(), br.MOSS()]
SLOW = [br.Gittins(), br.InformationDirected(), br.InformationDirected("variance")]


# Each kernel takes seconds to compile; without compilation all are played.
@pytest.mark.parametrize("policy", POLICIES + SLOW if JIT_IS_OFF else TO_COMPILE, ids=repr)
def test_agents_and_simulations_agree(policy):
    """With the same seed an agent takes the arms of the first run, whatever the policy."""
    bandit, horizon = BANDITS["gaussian arms"], 6 if policy in SLOW else 25
    pulls = simulate_by_agent(bandit, policy, horizon, seed=5)
    result = br.simulate(bandit, policy, horizon=horizon, runs=1, seed=5, threads=1)[policy.name]
    assert result.mean_pulls.tolist() == pulls


def simulate_by_agent(bandit, policy, horizon, seed):
    key = seed_key(seed)
    means = bandit.draw_instance(seed=seed).mean_rewards
    agent = policy.start(bandit, horizon=horizon, seed=seed)
    with np.errstate(over="ignore"):
        streams = [open_stream(key, run_word(key, 0), REWARD + U(arm)) for arm in range(bandit.arms)]
        for _ in range(horizon):
            arm = agent.select()
            reward, streams[arm] = draw_reward(bandit.model, arm, means[arm], streams[arm])
            agent.update(arm, float(reward))
    again = br.Agent.from_json(agent.to_json())
    assert again.problem == bandit
    assert again.pulls.tolist() == agent.pulls.tolist()
    return agent.pulls.tolist()


def test_noise_decides_what_a_pull_tells():
    """UCB1's index is wide where rewards are noisy; in a bandit of one noise it is not: the control."""
    noisy = br.UCB1(delta=0.1).start(GaussianBandit([0, 0], 1, [3, 1]))
    plain = br.UCB1(delta=0.1).start(GaussianBandit([0, 0], 1, 1))
    for agent in (noisy, plain):
        agent.update_many([0, 1], [0.0, 0.1])
    assert (noisy.select(), plain.select()) == (0, 1)
    index = br.MOSS().start(GaussianBandit([0, 0], 1, [3, 1]), horizon=50)
    index.update_many([0, 1], [0.0, 0.0])
    assert index.index[0] == pytest.approx(3.0 * index.index[1])
