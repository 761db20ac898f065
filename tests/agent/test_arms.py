"""Pending pulls of online agents: decisions before feedback, rewards that never come, and states that hold them."""

import json
import threading

import numpy as np
import pytest

import bayesregret as br
from agent.test_agent import World
from sealing import sealed

BANDITS = {
    "gaussian": br.GaussianBandit([0.5, 0.0, 0.01, -0.5], [1.0, 1.0, 2.0, 1.0], 1.5),
    "bernoulli": br.BernoulliBandit([1.137, 0.413, 3.071, 1.0], [1.071, 0.717, 2.019, 1.0]),
    "poisson": br.PoissonBandit([1.5, 2.03, 3.07], [1.0, 1.1, 2.0]),
    "linear": br.LinearBandit(
        [[1, 0], [0, 1], [0.6, 0.8], [-0.4, 0.7]], [0.5, -0.5], prior_cov=[[1, 0.3], [0.3, 2]], reward_noise=0.7
    ),
}
COUNTING = [
    *((kind, br.BayesUCB()) for kind in BANDITS),
    *((kind, br.UCB1()) for kind in ("gaussian", "bernoulli", "linear")),
    ("bernoulli", br.MOSS()),
    ("linear", br.LinUCB()),
]
INDEXED = [(kind, policy) for kind, policy in COUNTING if not isinstance(policy, br.LinUCB)]
ROUNDS = 60
counting = pytest.mark.parametrize(("kind", "policy"), COUNTING, ids=str)
indexed = pytest.mark.parametrize(("kind", "policy"), INDEXED, ids=str)


def start(kind, policy):
    return policy.start(BANDITS[kind], horizon=ROUNDS)


def play_late(agent, world, rounds, delay, batch, save=False):
    """Arms taken by an agent whose rewards arrive late and in batches; saved and read back before every round."""
    taken, rewards, given = [], [], 0
    for round_ in range(rounds):
        due = max(given, round_ - round_ % batch - delay)
        agent.update_many(taken[given:due], rewards[given:due])
        given = due
        if save:
            agent = br.Agent.from_json(agent.to_json())
        taken.append(agent.select())
        rewards.append(float(world.pull(taken[-1])))
    return taken, agent


@counting
@pytest.mark.parametrize(("delay", "batch"), [(0, 10), (7, 1), (3, 5)])
def test_an_agent_makes_the_decisions_of_the_simulation(kind, policy, delay, batch):
    bandit, world = BANDITS[kind], World(BANDITS[kind], 3)
    taken, agent = play_late(start(kind, policy), world, ROUNDS, delay, batch)
    asked = {"horizon": ROUNDS, "runs": 1, "seed": 3, "checkpoints": range(1, ROUNDS + 1), "threads": 1}
    ran = br.simulate(bandit, policy, delay=delay, batch=batch, **asked)[policy.name]
    assert ran.mean_pulls.tolist() == np.bincount(taken, minlength=bandit.arms).tolist()
    assert np.allclose(ran.curve.mean, np.cumsum(world.instance.gaps[taken]), rtol=1e-12, atol=1e-12)
    assert (agent.pulls + agent.pending).tolist() == np.bincount(taken, minlength=bandit.arms).tolist()
    assert agent.pending.sum() == ROUNDS - max(0, (ROUNDS - 1) - (ROUNDS - 1) % batch - delay)


@counting
def test_a_saved_agent_keeps_its_pending_pulls(kind, policy):
    taken, agent = play_late(start(kind, policy), World(BANDITS[kind], 4), 40, 3, 4)
    again, stopping = play_late(start(kind, policy), World(BANDITS[kind], 4), 40, 3, 4, save=True)
    assert again == taken
    assert stopping.to_json() == agent.to_json()
    assert stopping.pending.tolist() == agent.pending.tolist()
    assert agent.pending.sum() > 0


@counting
def test_rewards_at_once_bring_the_decisions_of_before(kind, policy):
    """Nothing is pending at any decision."""
    without = type(policy)(count_pending=False)
    taken = [play_late(start(kind, each), World(BANDITS[kind], 5), ROUNDS, 0, 1)[0] for each in (policy, without)]
    assert taken[0] == taken[1]


@counting
def test_an_agent_asked_often_spreads_its_choices(kind, policy):
    agent, without = start(kind, policy), start(kind, type(policy)(count_pending=False))
    taken = {agent.select() for _ in range(20)}
    assert len(taken) >= 2
    assert len({without.select() for _ in range(20)}) == 1
    assert agent.pending.sum() == without.pending.sum() == 20


@pytest.mark.parametrize("policy", [br.BayesUCB(delta=0.01), br.UCB1(delta=0.01), br.MOSS()], ids=repr)
def test_equal_arms_take_turns(policy):
    agent = policy.start(br.BernoulliBandit([1] * 4, [1] * 4), horizon=100)
    assert [agent.select() for _ in range(12)] == [0, 1, 2, 3] * 3


@counting
def test_rewards_from_elsewhere_are_learned(kind, policy):
    """They take no pending pull away, and leave decisions as if nothing had been pending."""
    agent, other = start(kind, policy), start(kind, policy)
    for each in (agent, other):
        each.update_many([0, 1, 0], [1.0, 0.0, 1.0])
    assert agent.pending.tolist() == [0] * BANDITS[kind].arms
    assert agent.pulls[:2].tolist() == [2, 1]
    chosen = agent.select()
    elsewhere = (chosen + 1) % BANDITS[kind].arms
    agent.update(elsewhere, 1.0)
    assert agent.pending[chosen] == 1
    agent.update(chosen, 0.0)
    other.update_many([elsewhere, chosen], [1.0, 0.0])
    assert agent.pending.sum() == 0
    assert agent.select() == other.select()


@indexed
def test_the_index_falls_with_a_choice_and_forgetting_restores_it(kind, policy):
    agent = start(kind, policy)
    agent.update_many([0, 1, 2], [1.0, 0.0, 1.0])
    before = agent.index
    if before.max() == np.inf:  # without a prior: an arm that was never pulled
        agent.update(3, 1.0)
        before = agent.index
    arm = agent.select()
    assert agent.index[arm] < before[arm]
    agent.forget(arm)
    assert agent.pending.sum() == 0
    assert np.array_equal(agent.index, before)
    assert agent.select() == arm


@counting
def test_a_reward_that_never_comes_is_forgotten(kind, policy):
    agent = start(kind, policy)
    agent.update(0, 1.0)
    chosen = [agent.select() for _ in range(6)]
    for arm in chosen[1:]:
        agent.forget(arm)
    assert agent.pending.tolist() == np.bincount(chosen[:1], minlength=BANDITS[kind].arms).tolist()
    assert agent.select() == chosen[1]
    agent.forget(chosen[0])
    agent.forget(chosen[1])
    assert agent.select() == chosen[0]


@pytest.mark.parametrize("policy", [br.BayesUCB(), br.Thompson(), br.BayesUCB(count_pending=False)], ids=repr)
def test_only_a_pending_pull_can_be_forgotten(policy):
    agent = start("gaussian", policy)
    arm = agent.select()
    other = (arm + 1) % 4
    with pytest.raises(ValueError, match=f"^arm must be one with a pending pull, got {other}$"):
        agent.forget(other)
    with pytest.raises(ValueError, match=r"^arm must be a whole number, at least 0 and at most 3, got 4$"):
        agent.forget(4)
    agent.forget(arm)
    with pytest.raises(ValueError, match=f"^arm must be one with a pending pull, got {arm}$"):
        agent.forget(arm)
    assert agent.pulls.sum() == 0


def test_every_agent_has_its_pending_pulls():
    agent = br.Thompson().start(BANDITS["gaussian"], seed=1)
    taken = [agent.select() for _ in range(10)]
    agent.update(taken[0], 0.5)
    assert agent.pending.tolist() == np.bincount(taken[1:], minlength=4).tolist()
    assert br.Agent.from_json(agent.to_json()).pending.tolist() == agent.pending.tolist()


@counting
def test_states_of_earlier_versions_have_nothing_pending(kind, policy):
    """They also lack the policy's new field; those of quantile indices have the fields of another kind of agent."""
    old = start(kind, type(policy)(count_pending=False))
    old.update_many([0, 1, 0, 2], [1.0, 0.0, 1.0, 1.0])
    data = json.loads(old.to_json())
    del data["state"]["pending"], data["policy"]["count_pending"], data["checksum"]
    data["version"] = 1
    agent = br.Agent.from_json(json.dumps(data))
    assert agent.policy == policy
    assert agent.pending.tolist() == [0] * BANDITS[kind].arms
    assert agent.pulls.tolist() == old.pulls.tolist()
    assert agent.select() == old.select()


@pytest.mark.parametrize("kind", ["gaussian", "linear"])
@pytest.mark.parametrize(
    ("pending", "line"),
    [
        ([-1, 0, 0, 0], r"agent state's pending\[0\] must be what to_json wrote: expected int >= 0"),
        ([0.5, 0, 0, 0], r"agent state's pending\[0\] must be what to_json wrote: expected int, got float"),
        ([0, 0], "agent state's pending must have 4 entries, got 2"),
        ("abc", "agent state's pending must be what to_json wrote: expected array, got str"),
        (None, "agent state's pending must be what to_json wrote: expected array, got null"),
    ],
)
def test_a_bad_state_is_refused_in_one_line(kind, pending, line):
    data = json.loads(start(kind, br.BayesUCB()).to_json())
    data["state"]["pending"] = pending
    with pytest.raises(ValueError, match=f"^{line}$"):
        br.Agent.from_json(sealed(data))


def test_a_bad_posterior_of_pending_pulls_is_refused_in_one_line():
    agent = start("linear", br.BayesUCB())
    for _ in range(3):
        agent.select()
    data = json.loads(agent.to_json())
    data["state"]["counted"]["variance"][0] = -1.0
    line = r"agent state's counted.variance\[0\] must be what to_json wrote: expected float >= 0.0"
    with pytest.raises(ValueError, match=f"^{line}$"):
        br.Agent.from_json(sealed(data))


def test_any_thread_may_ask():
    agent = br.UCB1(delta=0.01).start(br.BernoulliBandit([1] * 8, [1] * 8))
    threads = [threading.Thread(target=lambda: [agent.select() for _ in range(100)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agent.pending.tolist() == [100] * 8


def test_an_agent_of_many_arms_decides_fast():
    """Only arms that were just chosen or rewarded cost anything, however many wait."""
    agent = br.UCB1(delta=0.01).start(br.BernoulliBandit([1] * 500, [1] * 500))
    computed = []
    kept, agent._refresh_index = agent._refresh_index, lambda: (computed.append(len(agent._stale)), kept())
    agent.update_many(range(500), [1] * 500)
    for _ in range(50):
        agent.select()
    assert computed[0] == 500
    assert max(computed[1:]) == 1
