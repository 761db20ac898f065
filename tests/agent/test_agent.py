"""The online agent: the simulation's decisions, late rewards, bad updates, and state that survives."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesregret as br
from bayesregret.contracts import draw_reward
from bayesregret.rng import REWARD, U, open_stream, run_word, seed_key
from sealing import sealed

GAUSSIAN = br.GaussianBandit([1.0, 0.0, 0.0, 0.5], 1.0, 1.0)
BERNOULLI = br.BernoulliBandit([1, 0.5, 2], [1, 3, 2])
LINEAR = br.LinearBandit(
    [[1, 0], [0, 1], [0.6, 0.8], [0.6, 0.8]], [0.5, -0.5], prior_cov=[[1, 0.3], [0.3, 2]], reward_noise=0.7
)
BANDITS = [GAUSSIAN, BERNOULLI, LINEAR]
POLICIES = [br.BayesUCB(delta=0.01), br.UCB1(delta=0.01)]
bandits = pytest.mark.parametrize("bandit", BANDITS, ids=lambda bandit: bandit.kind)
policies = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)


class World:
    """The instance and the noise of run 0 of a simulation, one reward at a time."""

    def __init__(self, bandit, seed):
        key = seed_key(seed)
        with np.errstate(over="ignore"):
            start = run_word(key, 0)
            self.streams = [open_stream(key, start, REWARD + U(arm)) for arm in range(bandit.arms)]
        self.bandit = bandit
        self.instance = bandit.draw_instance(seed=seed)

    def pull(self, arm):
        with np.errstate(over="ignore"):
            reward, self.streams[arm] = draw_reward(
                self.bandit.model, arm, self.instance.mean_rewards[arm], self.streams[arm]
            )
        return reward


def play(agent, world, rounds):
    taken = []
    for _ in range(rounds):
        arm = agent.select()
        agent.update(arm, world.pull(arm))
        taken.append(arm)
    return taken


@bandits
@policies
@pytest.mark.parametrize("seed", range(5))
def test_agent_decides_as_the_simulation_does(bandit, policy, seed):
    rounds = 80
    world = World(bandit, seed)
    taken = play(policy.start(bandit), world, rounds)
    result = br.simulate(bandit, policy, horizon=rounds, runs=1, seed=seed, checkpoints=range(1, rounds + 1))
    regret = np.cumsum(world.instance.gaps[taken])
    assert np.allclose(regret, result[policy.name].curve.mean, rtol=1e-12, atol=1e-12)
    assert np.array_equal(np.bincount(taken, minlength=bandit.arms), result[policy.name].mean_pulls)


@bandits
@policies
def test_stopping_and_going_on_equals_never_stopping_bit_for_bit(bandit, policy):
    never, world = policy.start(bandit), World(bandit, 3)
    stopping, same_world = policy.start(bandit), World(bandit, 3)
    for _ in range(30):
        taken = play(never, world, 20)
        stopping = br.Agent.from_json(stopping.to_json())
        assert play(stopping, same_world, 20) == taken
        assert np.array_equal(never.index, stopping.index)
    assert never.to_json() == stopping.to_json()


@bandits
def test_state_is_strict_json_with_a_version(bandit):
    agent = br.BayesUCB().start(bandit, horizon=100)
    data = json.loads(agent.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert data["format"] == "bayesregret agent"
    assert data["version"] == 2
    assert data["horizon"] == 100
    assert data["problem"] == bandit.to_dict()


def test_misspecified_prior_survives_too():
    policy = br.BayesUCB(delta=0.1, prior=br.GaussianBandit([0, 0, 0, 3], 0.1, 1.0))
    agent = policy.start(GAUSSIAN)
    assert agent.select() == 3
    assert br.Agent.from_json(agent.to_json()).policy == policy


@bandits
@policies
def test_late_rewards_may_come_in_any_order(bandit, policy):
    """Rewards of 0 and 1 add up exactly, so the order can leave no trace."""
    rng = np.random.default_rng(1)
    arms = rng.integers(bandit.arms, size=200)
    rewards = rng.integers(2, size=200)
    in_order, late = policy.start(bandit), policy.start(bandit)
    in_order.update_many(arms, rewards)
    for i in rng.permutation(200):
        late.update(arms[i], rewards[i])
    assert np.array_equal(in_order.pulls, late.pulls)
    if bandit is LINEAR and policy.name == "bayes-ucb":
        assert np.allclose(in_order.index, late.index, rtol=1e-9)
    else:
        assert np.array_equal(in_order.index, late.index)


@bandits
def test_a_batch_equals_its_updates(bandit):
    one_by_one, at_once = POLICIES[0].start(bandit), POLICIES[0].start(bandit)
    for arm, reward in [(0, 1), (2, 0), (0, 0), (1, 1)]:
        one_by_one.update(arm, reward)
    at_once.update_many([0, 2, 0, 1], [1, 0, 0, 1])
    assert one_by_one.to_json() == at_once.to_json()


BAD_UPDATES = [
    (GAUSSIAN, 4, 0.0, "arm must be a whole number, at least 0 and at most 3, got 4"),
    (GAUSSIAN, -1, 0.0, "arm must be a whole number, at least 0 and at most 3, got -1"),
    (GAUSSIAN, 1.0, 0.0, "arm must be a whole number, at least 0 and at most 3, got 1.0"),
    (GAUSSIAN, True, 0.0, "arm must be a whole number, at least 0 and at most 3, got True"),
    (GAUSSIAN, 0, math.nan, "reward must be a finite number, got nan"),
    (GAUSSIAN, 0, math.inf, "reward must be a finite number, got inf"),
    (GAUSSIAN, 0, "1", "reward must be a finite number, got '1'"),
    (GAUSSIAN, 0, None, "reward must be a finite number, got None"),
    (GAUSSIAN, 0, 1e300, "reward must be at most 1e+50 in size, got 1e+300"),
    (BERNOULLI, 0, 0.5, "reward must be 0 or 1, got 0.5"),
    (BERNOULLI, 0, 2, "reward must be 0 or 1, got 2"),
    (BERNOULLI, 0, math.nan, "reward must be 0 or 1, got nan"),
    (LINEAR, 9, 0.0, "arm must be a whole number, at least 0 and at most 3, got 9"),
    (LINEAR, 0, math.nan, "reward must be a finite number, got nan"),
]


@pytest.mark.parametrize(("bandit", "arm", "reward", "line"), BAD_UPDATES)
def test_bad_update_raises_and_changes_nothing(bandit, arm, reward, line):
    agent = POLICIES[0].start(bandit)
    agent.update(1, 1)
    before, index = agent.to_json(), agent.index
    with pytest.raises(ValueError, match=f"^{re.escape(line)}$"):
        agent.update(arm, reward)
    with pytest.raises(ValueError, match=f"^{re.escape(line)}$"):
        agent.update_many([0, arm], [1, reward])
    assert agent.to_json() == before
    assert np.array_equal(agent.index, index)


def test_batch_of_unequal_lengths_is_refused():
    agent = POLICIES[0].start(GAUSSIAN)
    with pytest.raises(ValueError, match=r"^arms must be a list, with an arm for each reward, got 'blue'$"):
        agent.update_many("blue", [1])
    with pytest.raises(ValueError, match="arms and rewards must be equally many, got 2 and 1"):
        agent.update_many([0, 1], [1])
    assert agent.pulls.sum() == 0


def test_true_and_false_are_bernoulli_rewards():
    agent = POLICIES[0].start(BERNOULLI)
    agent.update_many([0, 0], [True, False])
    assert agent.pulls[0] == 2


def test_delta_needs_a_horizon_or_a_value():
    with pytest.raises(ValueError, match="delta must be given"):
        br.BayesUCB().start(GAUSSIAN)
    with pytest.raises(ValueError, match="horizon must be a whole number, at least 1, got 0"):
        br.BayesUCB().start(GAUSSIAN, horizon=0)
    with pytest.raises(ValueError, match="bandit must be a bandit"):
        br.BayesUCB(delta=0.1).start("gaussian")


GOOD = json.loads(POLICIES[0].start(GAUSSIAN).to_json())
GOOD_LINEAR = json.loads(POLICIES[0].start(LINEAR).to_json())


def changed(data, *path, to):
    copy = json.loads(json.dumps(data))
    at = copy
    for name in path[:-1]:
        at = at[name]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return sealed(copy)


BAD_STATES = [
    "",
    "null",
    "[]",
    "{}",
    "[" * 100_000,
    changed(GOOD, "format", to="other"),
    changed(GOOD, "version", to=3),
    changed(GOOD, "version", to=None),
    changed(GOOD, "policy", to=None),
    changed(GOOD, "policy", to=[]),
    changed(GOOD, "policy", "name", to="nobody"),
    changed(GOOD, "policy", "delta", to=2),
    changed(GOOD, "policy", "gamma", to=2),
    changed(GOOD, "problem", "model", to="other"),
    changed(GOOD, "problem", "prior_width", to=-1),
    changed(GOOD, "horizon", to=0),
    changed(GOOD, "state", to=None),
    changed(GOOD, "state", to=[]),
    changed(GOOD, "state", "counts", to=[1, 2]),
    changed(GOOD, "state", "counts", to=[-1, 0, 0, 0]),
    changed(GOOD, "state", "counts", to=[0.5, 0, 0, 0]),
    changed(GOOD, "state", "totals", to=["a", 0, 0, 0]),
    changed(GOOD_LINEAR, "state", "roots", to=[[1.0]]),
    changed(GOOD_LINEAR, "state", "variance", to=[-1, 0, 0, 0]),
    changed(GOOD_LINEAR, "state", "counts", to=[-1, 0, 0, 0]),
    changed(GOOD_LINEAR, "state", "updates", to=-1),
]


@pytest.mark.parametrize("text", BAD_STATES, ids=range(len(BAD_STATES)))
def test_bad_state_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        br.Agent.from_json(text)


@pytest.mark.compiled
@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_anything_else_is_refused_in_one_line(data):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        br.Agent.from_json(json.dumps(data))


@pytest.mark.compiled
@pytest.mark.parametrize("part", ["policy", "problem", "state", "horizon"])
@settings(max_examples=100, deadline=None)
@given(data=st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_a_part_that_is_something_else_is_refused_or_read(part, data):
    try:
        agent = br.Agent.from_json(sealed(GOOD | {part: data}))
    except ValueError as error:
        lines = str(error).splitlines()
    else:
        lines = [f"read; takes arm {agent.select()}"]
    assert len(lines) == 1


def test_ties_go_to_the_lowest_arm():
    agent = POLICIES[0].start(br.GaussianBandit([0, 0, 0], 1, 1))
    assert agent.select() == 0
    agent.update(0, -5.0)
    assert agent.select() == 1


def test_agents_with_many_arms_and_any_thread():
    import threading

    agent = POLICIES[1].start(br.BernoulliBandit([1] * 50, [1] * 50))
    threads = [threading.Thread(target=lambda arm=arm: [agent.update(arm, 1) for _ in range(200)]) for arm in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agent.pulls[:8].tolist() == [200] * 8
    assert agent.select() == 8


@pytest.mark.parametrize("policy", [br.UCB1(delta=0.01), br.Thompson()], ids=lambda policy: policy.name)
def test_sums_of_the_largest_numbers_survive(policy):
    agent = policy.start(br.GaussianBandit([1e50, 0.0, -1e50], 1e50, 1e50), seed=1)
    for _ in range(12):
        agent.update(agent.select(), 1e50)
        assert br.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


def test_a_state_with_memory_that_is_no_longer_needed():
    """Earlier versions kept memory for Thompson sampling on Poisson arms: such states still load."""
    agent = br.Thompson().start(br.PoissonBandit([0.5, 1.0], [1.0, 1.0]), seed=4)
    agent.update(1, 2.0)
    saved = json.loads(agent.to_json())
    assert saved["state"]["memory"] == []
    saved["state"]["memory"], saved["version"] = [0.5] * 20, 1
    with pytest.raises(ValueError, match="must be what to_json wrote"):
        br.Agent.from_json(json.dumps(saved | {"version": 2}))
    del saved["checksum"]
    again = br.Agent.from_json(json.dumps(saved))
    assert again.pulls.tolist() == [0, 1]
    assert [again.select() for _ in range(20)] == [agent.select() for _ in range(20)]
