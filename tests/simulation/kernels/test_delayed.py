"""Policies that look at all arms in every round: same bits everywhere, and ceilings that change no decision."""

import hashlib
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import bayesregret as br
from agent.test_agent import World
from bayesregret.contracts import choose_arm, rising_index
from bayesregret.policies.index_fast import scaled_widths, tangents
from bayesregret.simulation import simulation as runs_of
from bayesregret.simulation.kernels import select
from bayesregret.simulation.kernels.delayed import make_delayed_state
from bayesregret.simulation.kernels.select import Kernel
from bayesregret.simulation.kernels.setup import STATES
from simulation.test_engine import bits

WORLDS = {
    "gaussian": br.GaussianBandit([0.5, 0.0, 0.0, -0.5], 1.0, 1.5),
    "bernoulli": br.BernoulliBandit([1.0, 0.4, 3.0, 1.0], [1.0, 0.7, 2.0, 1.0]),
}
MOVING = {p.name: p for p in (br.Thompson(), br.QuantileUCB(), br.KLUCB(), br.EpsilonGreedy(0.2))}
STATIC = {p.name: p for p in (br.BayesUCB(delta=0.05), br.UCB1(delta=0.05), br.MOSS(), br.Greedy())}
LATE = [(0, 1), (3, 1), (0, 4), (5, 3)]

worlds = pytest.mark.parametrize("world", WORLDS)
moving = pytest.mark.parametrize("name", MOVING)
late = pytest.mark.parametrize(("delay", "batch"), LATE)


@pytest.fixture
def plain_python(monkeypatch):
    """Without waiting for the compiler: that its code gives the same bits is a test of its own."""
    monkeypatch.setattr(runs_of, "compile_kernel", lambda body, *classes: body)
    for kind in ("arms", "linear"):
        monkeypatch.setattr(f"bayesregret.agent.{kind}.compile_kernel", lambda body, *classes: body)


def regret(bandit, policy, **arguments):
    settings = {"horizon": 50, "runs": 1, "seed": 3, "threads": 1, "checkpoints": range(1, 51)} | arguments
    return br.simulate(bandit, policy, **settings)[policy.name]


def play(agent, world, rounds, delay, batch, stop=None):
    """The arms that an agent takes when it is told rewards late and in batches; stored and read back at `stop`."""
    taken, rewards, told = [], [], 0
    for round_ in range(rounds):
        due = max(0, round_ - round_ % batch - delay)
        agent.update_many(taken[told:due], rewards[told:due])
        told = max(told, due)
        if round_ == stop:
            agent = br.Agent.from_json(agent.to_json())
        taken.append(agent.select())
        rewards.append(float(world.pull(taken[-1])))
    return taken


@worlds
@moving
@late
def test_an_agent_takes_the_decisions_of_the_first_run(world, name, delay, batch, plain_python):
    bandit, policy = WORLDS[world], MOVING[name]
    first = regret(bandit, policy, delay=delay, batch=batch)
    for stop in (None, 20):
        drawn = World(bandit, 3)
        agent = policy.start(bandit, horizon=50, seed=3)
        taken = play(agent, drawn, 50, delay, batch, stop)
        assert np.bincount(taken, minlength=4).tolist() == first.mean_pulls.tolist()
        assert np.allclose(np.cumsum(drawn.instance.gaps[taken]), first.curve.mean, rtol=1e-12, atol=1e-12)


@worlds
def test_an_agent_with_another_seed_takes_others(world, plain_python):
    bandit, policy = WORLDS[world], br.Thompson()
    taken = [play(policy.start(bandit, seed=seed), World(bandit, 3), 50, 0, 1) for seed in (3, 4)]
    assert taken[0] != taken[1]


@worlds
@moving
def test_state_is_strict_json(world, name, plain_python):
    bandit = WORLDS[world]
    agent = MOVING[name].start(bandit, horizon=50, seed=5)
    play(agent, World(bandit, 5), 30, 0, 1)
    text = agent.to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(word))
    assert br.Agent.from_json(text).to_json() == text


def test_one_arm_is_strict_json_too(plain_python):
    for policy in MOVING.values():
        agent = policy.start(br.GaussianBandit([0.0], 1, 1), horizon=50)
        assert [agent.select() for _ in range(3)] == [0, 0, 0]
        json.loads(agent.to_json(), parse_constant=lambda word: pytest.fail(word))


BAD_STATES = [
    ("rounds", -1),
    ("rounds", 1.5),
    ("stream", [1, 2]),
    ("stream", [1, 2, 3, -4]),
    ("stream", [1, 2, 3, 2**64]),
    ("stream", "abcd"),
    ("memory", [None]),
    ("memory", "abc"),
    ("counts", [1, 2, 3, -1]),
    ("totals", [1, 2]),
]


@pytest.mark.parametrize(("field", "value"), BAD_STATES)
def test_a_bad_state_is_refused_in_one_line(field, value, plain_python):
    data = json.loads(br.Thompson().start(WORLDS["gaussian"]).to_json())
    data["state"][field] = value
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        br.Agent.from_json(json.dumps(data))


def test_an_agent_that_moves_has_no_index(plain_python):
    agent = br.Thompson().start(WORLDS["gaussian"])
    with pytest.raises(AttributeError, match=r"^thompson has no index"):
        agent.index  # noqa: B018
    agent.update(2, 0.5)
    assert agent.pulls.tolist() == [0, 0, 1, 0]


@worlds
def test_threads_do_not_matter(world, plain_python):
    arguments = {"horizon": 8, "runs": 66, "seed": 12, "delay": 2, "batch": 3}
    alone, both = (
        br.simulate(WORLDS[world], list(MOVING.values()), threads=threads, **arguments) for threads in (1, 2)
    )
    assert bits(alone) == bits(both)


@worlds
@pytest.mark.parametrize("name", STATIC)
def test_rewards_in_time_are_those_of_the_other_kernel(world, name, plain_python, monkeypatch):
    """Looking at all arms in every round and staying on the leader are the same, but for the sums' rounding."""
    expected = regret(WORLDS[world], STATIC[name], runs=3)
    monkeypatch.setattr(select, "moves_with_time", lambda settings: True)
    every_round = regret(WORLDS[world], STATIC[name], runs=3)
    assert every_round.mean_pulls.tolist() == expected.mean_pulls.tolist()
    assert np.allclose(every_round.curve.mean, expected.curve.mean, rtol=1e-12, atol=1e-12)
    late = regret(WORLDS[world], STATIC[name], runs=3, delay=3)
    assert not np.allclose(late.curve.mean, expected.curve.mean, rtol=1e-12, atol=1e-12)


def test_rewards_that_never_come(plain_python):
    """Nothing is ever known: a policy without chance stays where it began."""
    for arguments in ({"delay": 50}, {"batch": 50}, {"delay": 10**12}, {"batch": 10**12}):
        assert regret(WORLDS["gaussian"], br.QuantileUCB(), **arguments).mean_pulls.tolist() == [50, 0, 0, 0]


class Every(NamedTuple):
    policy: Any


@choose_arm.implement(Every)
def choose_by_looking_at_every_arm(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        index = rising_index(policy.policy, model, stats, arm, round_)
        if index > highest:
            best, highest = arm, index
    return best, stream


@dataclass(frozen=True)
class LooksAtEvery(br.Policy):
    """Another policy without ceilings."""

    name: ClassVar[str] = "looks-at-every"
    of: br.Policy

    def settings(self, bandit, horizon):
        return Every(self.of.settings(bandit, horizon))

    def belief(self, bandit):
        return self.of.belief(bandit)


del br.Policy.classes["looks-at-every"]
RISING = [br.QuantileUCB(), br.QuantileUCB(c=2.0), br.KLUCB(), br.KLUCB(c=3.0)]
TEN = {
    "gaussian": br.GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0),
    "bernoulli": br.BernoulliBandit([1.0] * 10, [1.0] * 10),
    "bernoulli of any pseudo-counts": br.BernoulliBandit([1.0, 0.3, 4.0], [1.0, 0.7, 2.0]),
    "bernoulli with indices that round to 1": br.BernoulliBandit([2.7, 0.6, 3.1], [0.12, 0.39, 0.08]),
    "gaussian of any widths": br.GaussianBandit([0.5, 0.0, 0.0], [1.0, 0.3, 2.0], [1.5, 1.0, 0.5]),
    "poisson": br.PoissonBandit([2.0, 1.1, 1.3], [1.0, 0.7, 1.1]),
}


def same_regrets(one, other):
    """But for the sums' rounding: another decision is more than that."""
    return np.allclose(one.final_regret, other.final_regret, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("world", TEN)
@pytest.mark.parametrize("policy", RISING, ids=repr)
def test_ceilings_change_no_decision(world, policy, plain_python):
    for delay, batch in ((0, 1), (4, 3)):
        asked = {"horizon": 150, "runs": 2, "seed": 5, "delay": delay, "batch": batch, "checkpoints": [150]}
        looked = regret(TEN[world], LooksAtEvery(policy), **asked)
        assert same_regrets(regret(TEN[world], policy, **asked), looked)


@pytest.mark.parametrize("world", ["gaussian", "gaussian of any widths"])
@pytest.mark.parametrize("policy", RISING, ids=repr)
def test_levels_that_are_not_kept_change_no_decision(world, policy, plain_python, monkeypatch):
    asked = {"horizon": 300, "runs": 1, "seed": 5, "checkpoints": [300]}
    looked = regret(TEN[world], LooksAtEvery(policy), **asked)
    monkeypatch.setattr(scaled_widths, "MULTIPLIERS_KEPT", 20)
    assert same_regrets(regret(TEN[world], policy, **asked), looked)


@pytest.mark.slow
@pytest.mark.parametrize("policy", RISING, ids=repr)
@pytest.mark.parametrize("world", TEN)
def test_ceilings_change_no_decision_for_long(world, policy):
    asked = {"horizon": 20_000, "runs": 20, "seed": 6, "checkpoints": [20_000]}
    looked = regret(TEN[world], LooksAtEvery(policy), **asked)
    assert same_regrets(regret(TEN[world], policy, **asked), looked)


COMPARE_ALL = scaled_widths.compare_all


def ceiling_now(policy, model, stats, arm, round_, later, ceilings, until):
    ceilings[arm], until[arm] = rising_index(policy, model, stats, arm, round_), later


def look_at_present(stats, early, late):
    return COMPARE_ALL(stats, early, early)


KEEP_TANGENT = tangents.keep_tangent


def keep_without_slope(stats, arm, height, slope, time):
    KEEP_TANGENT(stats, arm, height, 0.0, time)


TOO_LOW = {
    "poisson": ("index_fast.upper_bounds.set_upper_bound", ceiling_now),
    "gaussian": ("index_fast.scaled_widths.compare_all", look_at_present),
    "bernoulli": ("index_fast.tangents.keep_tangent", keep_without_slope),
}


@pytest.mark.parametrize("world", TOO_LOW)
def test_a_ceiling_that_is_too_low_is_noticed(world, plain_python, monkeypatch):
    """The control: with ceilings for the present alone, decisions are others."""
    asked = {"horizon": 150, "runs": 4, "seed": 5, "checkpoints": [150]}
    looked = regret(TEN[world], LooksAtEvery(br.KLUCB()), **asked)
    name, too_low = TOO_LOW[world]
    monkeypatch.setattr(f"bayesregret.policies.{name}", too_low)
    assert not same_regrets(regret(TEN[world], br.KLUCB(), **asked), looked)


@worlds
@moving
def test_rewards_at_once_are_late_ones_without_delay(world, name, plain_python, monkeypatch):
    """The kernel for rewards that come at once is the other one, but for the sums' rounding."""
    bandit, policy = WORLDS[world], MOVING[name]
    at_once = regret(bandit, policy, runs=3)
    for kernel in (Kernel.EVERY_ROUND, Kernel.GUARANTEED_LEADER):
        delayed = lambda chosen, arms, late: make_delayed_state(arms, chosen.memory, chosen.scratch, 1)  # noqa: E731
        monkeypatch.setitem(STATES, kernel, delayed)
    queued = regret(bandit, policy, runs=3)
    assert queued.mean_pulls.tolist() == at_once.mean_pulls.tolist()
    assert queued.best_pulls.tolist() == at_once.best_pulls.tolist()
    assert np.allclose(queued.curve.mean, at_once.curve.mean, rtol=1e-12, atol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("policy", [br.Thompson(), br.QuantileUCB()], ids=repr)
def test_ten_million_rounds(policy):
    """One run with arms far apart: it ends, and the other arm is tried a few times in a logarithm of the rounds."""
    bandit = br.GaussianBandit([0.0, 0.0], 3.0, 1.0)
    horizon = 10_000_000
    result = br.simulate(bandit, policy, horizon=horizon, runs=1, seed=2)[policy.name]
    gap = bandit.draw_instance(seed=2).min_gap
    assert 1 <= horizon - result.best_pulls[0] <= 10.0 * math.log(horizon) / gap**2


COMPILED = {"gaussian": [br.Thompson(), br.QuantileUCB()], "bernoulli": [br.Thompson(), br.KLUCB()]}


def hash_of_bits(world, threads, **late):
    ran = br.simulate(WORLDS[world], COMPILED[world], horizon=60, runs=20, seed=2, threads=threads, **late)
    return hashlib.sha256(bits(ran)).hexdigest()


BITS_OF_ALL = """
from simulation.kernels.test_delayed import WORLDS, hash_of_bits
for world in WORLDS:
    print(world, hash_of_bits(world, 1, delay=1, batch=2), hash_of_bits(world, 1), sep=": ")
"""


@pytest.mark.compiled
def test_plain_python_gives_the_same_bits(pytestconfig):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(pytestconfig.rootpath / "tests"), os.environ.get("PYTHONPATH", "")]
    )
    plain = [sys.executable, "-W", "error", "-c", BITS_OF_ALL]
    ran = subprocess.run(plain, env=environment, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    ours = {world: [hash_of_bits(world, 2, delay=1, batch=2), hash_of_bits(world, 2)] for world in WORLDS}
    plainly = {world: bits for world, *bits in (line.split(": ") for line in ran.stdout.splitlines())}
    assert plainly == ours
