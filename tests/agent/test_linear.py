"""Online agents of moving policies on linear bandits: the simulation's decisions, late rewards, state that survives."""

import json

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import draw_reward
from bayesregret.models.linear_posterior import UPDATES_UNTIL_REFRESH
from bayesregret.policies.explore_commit import ExploreCommit
from bayesregret.rng import REWARD, U, open_stream, run_word, seed_key
from conftest import JIT_IS_OFF
from sealing import sealed

LINEAR = br.LinearBandit(
    [[1, 0], [0, 1], [0.6, 0.8], [0.6, 0.8], [-0.4, 0.7]], [0.5, -0.5], prior_cov=[[1, 0.3], [0.3, 2]], reward_noise=0.7
)
POLICIES = [
    br.Thompson(),
    br.Thompson(prior=br.LinearBandit(LINEAR.features, [0, 0], prior_width=0.5, reward_noise=1.0)),
    br.LinUCB(delta=0.01),
    ExploreCommit(explore=20),
    br.BayesUCB(delta=0.05),
]
policies = pytest.mark.parametrize("policy", POLICIES, ids=repr)
ROUNDS = 60 if JIT_IS_OFF else UPDATES_UNTIL_REFRESH + 60


class World:
    """The instance and the noise of run 0 of a simulation; rewards come `delay` rounds late and in batches."""

    def __init__(self, seed, delay=0, batch=1):
        key = seed_key(seed)
        with np.errstate(over="ignore"):
            self.streams = [open_stream(key, run_word(key, 0), REWARD + U(arm)) for arm in range(LINEAR.arms)]
        self.means = LINEAR.draw_means(1, seed=seed)[0]
        self.taken, self.rewards, self.told = [], [], 0
        self.delay, self.batch = delay, batch

    def play(self, agent, rounds):
        for _ in range(rounds):
            now = len(self.taken)
            due = max(self.told, now - now % self.batch - self.delay)
            agent.update_many(self.taken[self.told : due], self.rewards[self.told : due])
            self.told = due
            arm = agent.select()
            with np.errstate(over="ignore"):
                reward, self.streams[arm] = draw_reward(LINEAR.model, arm, self.means[arm], self.streams[arm])
            self.taken.append(arm)
            self.rewards.append(float(reward))


@policies
@pytest.mark.parametrize(("delay", "batch"), [(0, 1), (5, 1), (3, 7)])
def test_agent_decides_as_the_simulation_does(policy, delay, batch):
    world = World(3, delay, batch)
    world.play(policy.start(LINEAR, seed=3), ROUNDS)
    rounds = range(1, ROUNDS + 1)
    ran = br.simulate(
        LINEAR, policy, horizon=ROUNDS, runs=1, seed=3, checkpoints=rounds, delay=delay, batch=batch, threads=1
    )[policy.name]
    assert ran.mean_pulls.tolist() == np.bincount(world.taken, minlength=LINEAR.arms).tolist()
    regret = np.cumsum((world.means.max() - world.means)[world.taken])
    assert np.allclose(ran.curve.mean, regret, rtol=1e-12, atol=1e-12)


def test_another_seed_makes_other_decisions():
    """The control."""
    world, other = World(3), World(3)
    world.play(br.Thompson().start(LINEAR, seed=3), 60)
    other.play(br.Thompson().start(LINEAR, seed=4), 60)
    assert world.taken != other.taken


@policies
def test_stopping_and_going_on_equals_never_stopping_bit_for_bit(policy):
    never, world = policy.start(LINEAR, seed=5), World(5, delay=2)
    stopping, same_world = policy.start(LINEAR, seed=5), World(5, delay=2)
    for _ in range(6):
        world.play(never, ROUNDS // 6)
        stopping = br.Agent.from_json(stopping.to_json())
        same_world.play(stopping, ROUNDS // 6)
        assert world.taken == same_world.taken
    assert never.to_json() == stopping.to_json()
    assert np.array_equal(never.pulls, stopping.pulls)


def test_an_agent_saved_in_every_round_makes_the_same_decisions():
    """A leader is repeated, and other arms are pulled now and then."""
    bandit = br.LinearBandit(np.eye(3), [1.5, 0.0, 0.0], prior_width=1.0, reward_noise=1.0)
    never, stopping, taken = br.Thompson().start(bandit, seed=2), br.Thompson().start(bandit, seed=2), []
    for _ in range(60):
        stopping = br.Agent.from_json(stopping.to_json())
        taken.append(never.select())
        assert stopping.select() == taken[-1]
        for agent in (never, stopping):
            agent.update(taken[-1], [1.2, 0.1, 0.3][taken[-1]])
    assert never.to_json() == stopping.to_json()
    assert set(taken) == {0, 1, 2}


def test_rewards_may_come_before_the_first_choice():
    agent = br.Thompson().start(LINEAR, seed=1)
    agent.update_many([1] * 100, [50.0] * 100)
    assert agent.pulls.tolist() == [0, 100, 0, 0, 0]
    assert agent.select() == 1
    with pytest.raises(AttributeError, match="thompson has no index"):
        _ = agent.index


GOOD = br.LinUCB(delta=0.1).start(LINEAR).to_json()
BAD_STATES = [
    (["posterior", "roots"], [[1.0]], "agent state's roots must have 2 entries, got 1"),
    (
        ["posterior", "updates"],
        0.5,
        "agent state's posterior.updates must be what to_json wrote: expected int, got float",
    ),
    (["counts"], [0, 0, 0, 0, -1], r"agent state's counts\[4\] must be what to_json wrote: expected int >= 0"),
    (
        ["streak", "information"],
        -1,
        "agent state's streak.information must be what to_json wrote: expected float >= 0.0",
    ),
    (["streak", "arm"], 5, "agent state's arm must be at most 4, got 5"),
    (["streak", "pulls"], -1, "agent state's streak.pulls must be what to_json wrote: expected int >= 0"),
    (["streak"], {}, "agent state's streak must be what to_json wrote: object missing required field arm"),
]


@pytest.mark.parametrize(("path", "to", "line"), BAD_STATES)
def test_bad_state_is_refused_in_one_line(path, to, line):
    data = json.loads(GOOD)
    place = data["state"]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    with pytest.raises(ValueError, match=f"^{line}$"):
        br.Agent.from_json(sealed(data))
