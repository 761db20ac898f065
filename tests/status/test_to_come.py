"""Regret of the rounds that are left: computed, simulated from the posterior, or from the agent's state."""

import dataclasses

import numpy as np
import pytest

import bayesregret as br
from bayesregret.status import to_come as module
from bayesregret.status.continuation import continued_regrets
from bayesregret.status.to_come import lower_bound, stopping, to_come, upper_bound
from status.cases import BANDITS, after_log, progress
from status.truth_study import Run, continued


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(module, "MOST_RUNS", 128)


@pytest.mark.compiled
def test_computed():
    at = progress(BANDITS["gaussian"], br.BayesUCB(), many=20, horizon=60)
    found = to_come(at, seed=0)
    remaining = at.agent.remaining()
    exact = br.exact_regret(remaining.bandit, remaining.policy, horizon=40)
    assert (found.regret, found.how, found.runs, found.note) == (exact.regret, "computed", 0, "")


@pytest.mark.parametrize("policy", [br.Thompson(), br.UCB1(), br.EpsilonGreedy(), br.MOSS(), br.KLUCB()])
def test_simulated(policy):
    """A mean over instances of the posterior, against agents that play one decision at a time."""
    at = progress(BANDITS["bernoulli"], policy, many=15, horizon=40)
    found = to_come(at, seed=0)
    assert (found.how, found.runs) == ("simulated", 128)
    rng, regrets = np.random.default_rng(1), []
    for number in range(150):
        means = rng.beta(at.posterior.alpha, at.posterior.beta)
        own = dataclasses.replace(at, agent=after_log(policy.start(at.bandit, horizon=40, seed=number), at))
        regrets.append(continued(Run(own, means, lambda arm: float(rng.random() < means[arm])), at.left))  # noqa: B023
    stderr = np.hypot(found.error, np.std(regrets) / np.sqrt(150))
    assert found.regret == pytest.approx(np.mean(regrets), abs=4 * stderr)


def test_a_policy_goes_on_with_its_counts():
    """UCB1 that began anew would pull the bad arm again; the control does."""
    bandit = br.BernoulliBandit([1] * 2, [1] * 2)
    agent = br.UCB1(delta=0.5).start(bandit, horizon=120)
    arms, rewards = [0] * 50 + [1] * 50, [1.0] * 50 + [0.0] * 50
    agent.update_many(arms, rewards)
    at = module.Progress(bandit, agent, 120, np.array([50, 50]), arms, rewards)
    assert continued_regrets(at, 50, seed=0).max() == 0.0
    anew = br.simulate(at.posterior, br.UCB1(delta=0.5), horizon=20, runs=50, seed=0)["ucb1"]
    assert anew.mean > 0.5


def test_pending_rewards_arrive_first():
    bandit = br.GaussianBandit([0, 0], 1, 0.1)
    agent = br.MOSS().start(bandit, horizon=30)
    pulled = [agent.select() for _ in range(10)]
    decisions = np.bincount(pulled, minlength=2)
    at = module.Progress(bandit, agent, 30, decisions, [], [])
    assert at.pending.tolist() == decisions.tolist()
    with_news = continued_regrets(at, 100, seed=0).mean()
    lost = module.Progress(bandit, agent, 30, decisions, [], [], pending=np.zeros(2, int))
    assert with_news < continued_regrets(lost, 100, seed=0).mean()
    assert to_come(progress(BANDITS["bernoulli"], br.Thompson()), 0).note == ""
    thompson = br.Thompson().start(bandit, horizon=30)
    arm = thompson.select()
    waits = module.Progress(bandit, thompson, 30, np.bincount([arm], minlength=2), [], [])
    assert to_come(waits, 0).note == "without 1 pending reward"


def test_what_takes_too_long_says_so(monkeypatch):
    at = progress(BANDITS["bernoulli"], br.Thompson(), horizon=10**12)
    assert to_come(at, seed=0) == "a simulation of 999,999,999,970 rounds takes long"
    at = progress(BANDITS["bernoulli"], br.UCB1(), horizon=10**12)
    assert to_come(at, seed=0) == "a simulation of 999,999,999,970 rounds takes long"
    at = progress(BANDITS["linear"], br.LinUCB())
    assert to_come(at, seed=0) == "the rest of lin-ucb on a linear bandit cannot be simulated from its state"


def test_stopping_keeps_the_leader_of_the_arms_that_are_not_paused():
    bandit = br.GaussianBandit([0, 0, 0], 1, 1)
    rest = br.GaussianBandit([0, 0], 1, 1)
    agent = br.Thompson().start(rest, horizon=30)
    agent.update_many([0, 1], [1.0, 2.0])
    at = module.Progress(
        bandit, agent, 30, np.array([1, 1, 1]), [0, 1, 2], [1.0, 9.0, 2.0], paused=(1,), pending=np.zeros(3, int)
    )
    kept = stopping(at, module.Estimate(0.5, 0.1))
    assert (kept.leader, kept.loss, kept.error) == (2, 27 * 0.5, 27 * 0.1)
    assert at.rest == br.GaussianBandit([0, 0], 1, 1).after([1, 1], [1.0, 2.0])


@pytest.mark.compiled
def test_bounds_of_the_posterior():
    at = progress(BANDITS["gaussian"], br.BayesUCB(), many=20, horizon=60)
    found = to_come(at, seed=0)
    bound, least = upper_bound(at), lower_bound(at)
    assert least.regret <= found.regret <= bound.value
    assert bound.value <= br.bounds.certified(at.posterior, horizon=40, delta=1 / 60).value * (1 + 1e-9)
    # Without a posterior that is enough for the policy only the trivial bound holds.
    assert upper_bound(progress(BANDITS["gaussian"], br.UCB1())).name == "certified_trivial"
    assert lower_bound(progress(BANDITS["poisson"], br.Thompson())) is None
