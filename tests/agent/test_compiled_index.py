"""Indices that divide by zero: plain Python would raise, the agent decides as the compiled simulation does."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import bayesregret as br
from agent.test_agent import World
from bayesregret.contracts import arm_index, confidence_width, posterior_mean

pytestmark = pytest.mark.compiled

BANDIT = br.BernoulliBandit([1.0] * 3, [1.0] * 3)
ROUNDS = 80


class AtCount(NamedTuple):
    count: int


class AtVariance(NamedTuple):
    variance: float


class Logarithm(NamedTuple):
    count: int


@arm_index.implement(AtCount)
def pole(policy, model, arm, count, total):
    return posterior_mean(model, arm, count, total) + 1.0 / (count - policy.count)


@arm_index.implement(Logarithm)
def logarithm(policy, model, arm, count, total):
    return posterior_mean(model, arm, count, total) - math.log((count - policy.count) / 100.0)


@confidence_width.implement(AtVariance)
def width_with_a_pole(policy, variance):
    return 1.0 / abs(float(variance) - policy.variance)


class Own(br.Policy):
    name = "test-pole"

    def __init__(self, settings):
        self.given = settings

    def settings(self, bandit, horizon):
        return self.given


del br.Policy.classes["test-pole"]


@pytest.mark.parametrize("settings", [AtCount(0), AtCount(20), Logarithm(0), AtVariance(1 / 24)], ids=repr)
def test_the_agent_decides_as_the_simulation(settings):
    world, agent, taken = World(BANDIT, 3), Own(settings).start(BANDIT, horizon=ROUNDS), []
    for _ in range(ROUNDS):
        taken.append(agent.select())
        agent.update(taken[-1], float(world.pull(taken[-1])))
    asked = {"horizon": ROUNDS, "runs": 1, "seed": 3, "checkpoints": range(1, ROUNDS + 1), "threads": 1}
    ran = br.simulate(BANDIT, Own(settings), **asked)["test-pole"]
    assert ran.mean_pulls.tolist() == np.bincount(taken, minlength=3).tolist()
    assert np.allclose(ran.curve.mean, np.cumsum(world.instance.gaps[taken]), rtol=1e-12, atol=1e-12)


def test_nan_decides_nothing_in_either():
    line = r"^logarithm must return a number, the index, as arm_index does, got nan$"
    with pytest.raises(ValueError, match=line):
        Own(Logarithm(2)).start(BANDIT).select()
    with pytest.raises(ValueError, match=line):
        br.simulate(BANDIT, Own(Logarithm(2)), horizon=10, runs=1)
