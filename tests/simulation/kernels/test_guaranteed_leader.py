"""Leases: a run that stays on its leader makes the decisions that an agent makes round by round."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import bayesregret as br
from agent.test_agent import World
from bayesregret.policies.thompson import HighestDraw
from bayesregret.simulation.kernels import guaranteed_leader
from simulation.kernels.test_delayed import play

POLICIES = [br.Thompson(), br.QuantileUCB(), br.KLUCB()]
# Noisy rewards, of an arm that is far ahead and of close ones.
WORLDS = {
    "far ahead": br.GaussianBandit([3.0, 0.0, 0.0, 0.5], 1.0, 1.0),
    "close": br.GaussianBandit([0.0] * 4, 0.3, 1.0),
    "equal rewards": br.GaussianBandit([0.0] * 4, 0.5, 1.0, noise_kind="rademacher"),
    "heteroscedastic": br.GaussianBandit([0.5, 0.0, 0.0], [1.0, 0.3, 2.0], [1.5, 1.0, 0.5]),
    "alone": br.GaussianBandit([0.0], 1.0, 1.0),
    "bernoulli": br.BernoulliBandit([1.0] * 5, [1.0] * 5),
    "bernoulli, far ahead": br.BernoulliBandit([9.0, 1.0, 1.0, 1.0], [1.0, 5.0, 5.0, 9.0]),
    "two bernoulli arms": br.BernoulliBandit([1.0, 1.0], [1.0, 1.0]),
    "one bernoulli arm": br.BernoulliBandit([3.0], [1.0]),
}
HORIZON = 200


@pytest.fixture
def plain_python(monkeypatch):
    """Skip the compiler: another test shows that compiled code gives the same bits."""
    for place in ("simulation.simulation", "simulation.kernels.width_table", "agent.arms", "agent.linear"):
        monkeypatch.setattr(f"bayesregret.{place}.compile_kernel", lambda body, *classes: body)


def simulated(bandit, policy, seed, **late):
    asked = {"horizon": HORIZON, "runs": 1, "threads": 1, "checkpoints": range(1, HORIZON + 1)}
    return br.simulate(bandit, policy, seed=seed, **asked, **late)[policy.name]


def same_decisions(bandit, policy, seed, stop=None, delay=0, batch=1):
    """Whether a run and an agent, which may be stored and read back on the way, take the same arms in all rounds."""
    world = World(bandit, seed)
    taken = play(policy.start(bandit, horizon=HORIZON, seed=seed), world, HORIZON, delay, batch, stop)
    ran = simulated(bandit, policy, seed, delay=delay, batch=batch)
    same_pulls = ran.mean_pulls.tolist() == np.bincount(taken, minlength=bandit.arms).tolist()
    return same_pulls and np.allclose(ran.curve.mean, np.cumsum(world.instance.gaps[taken]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_an_agent_takes_the_decisions_of_a_run(world, policy, plain_python, monkeypatch):
    bandit = WORLDS[world]
    assert same_decisions(bandit, policy, seed=1)
    assert same_decisions(bandit, policy, seed=2, stop=140)
    assert same_decisions(bandit, policy, seed=3, stop=90, delay=3, batch=2)
    monkeypatch.setattr(guaranteed_leader, "LONGEST_STREAK", 7)
    assert same_decisions(bandit, policy, seed=1)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_a_lease_that_does_not_end_is_noticed(policy, plain_python, monkeypatch):
    """The control: a run whose leader never falls behind takes other decisions."""
    monkeypatch.setattr(guaranteed_leader, "keeps_lead", lambda *args: True)
    worlds = ("two bernoulli arms",) if policy.name == "thompson" else ("close", "far ahead")
    assert not all(same_decisions(WORLDS[world], policy, seed) for world in worlds for seed in range(8))


def test_most_rounds_are_leased(plain_python, monkeypatch):
    calls = []
    take_lead = guaranteed_leader.take_lead
    monkeypatch.setattr(guaranteed_leader, "take_lead", lambda *args: calls.append(args) or take_lead(*args))
    for policy in POLICIES:
        calls.clear()
        simulated(WORLDS["bernoulli, far ahead" if policy.name == "thompson" else "far ahead"], policy, seed=1)
        assert 0 < len(calls) < HORIZON / 2


@dataclass(frozen=True)
class DrawsAll(br.Policy):
    """Thompson sampling that draws every arm in every round."""

    name: ClassVar[str] = "draws-all"

    def settings(self, bandit, horizon):
        return HighestDraw()


del br.Policy.classes["draws-all"]


@pytest.mark.slow
def test_leases_leave_the_regret_of_thompson_sampling():
    """Against a draw of every arm in every round, on the same instances; a belief in another prior is noticed."""
    bandit = br.BernoulliBandit([3.0, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 2.0])
    wrong = br.Thompson(prior=br.BernoulliBandit([9.0, 3.0, 3.0, 3.0], [3.0, 6.0, 6.0, 6.0]))
    policies = {"leased": br.Thompson(), "drawn": DrawsAll(), "wrong": wrong}
    ran = br.simulate(bandit, policies, horizon=300, runs=20_000, seed=4, checkpoints=[300])

    def errors_apart(one, other):
        off = ran[one].final_regret - ran[other].final_regret
        return abs(off.mean()) / (off.std() / math.sqrt(len(off)))

    assert errors_apart("leased", "drawn") < 4.0
    assert errors_apart("wrong", "drawn") > 8.0
