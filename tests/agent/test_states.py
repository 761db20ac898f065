"""Saved states: what from_json accepts is an agent that works, and whatever an agent saves is accepted."""

import collections
import copy
import json
import pathlib
import pickle
import sys

import numpy as np
import pytest

import bayesregret as br
from agent import state_attack
from conftest import JIT_IS_OFF
from sealing import sealed

BERNOULLI = br.BernoulliBandit([1, 1], [1, 1])
GAUSSIAN = br.GaussianBandit([0, 0, 0], 1, 1)
LINEAR = br.LinearBandit([[1, 0], [0.6, 0.8], [0, 1]], [0, 0], prior_width=1, reward_noise=1)
MUTATIONS, HONEST = 3_000, 300


@pytest.mark.long
def test_changed_states_are_refused_or_work():
    """Without compilation, where a place outside of a table is an error and not a crash."""
    pool, seen = state_attack.Pool(), collections.Counter()
    for seed in range(MUTATIONS):
        seen[state_attack.attack(pool, seed, slow_rounds=3)] += 1
    assert seen["accepted"] > MUTATIONS // 20
    assert seen["refused"] > MUTATIONS // 2


@pytest.mark.long
def test_states_of_honest_agents_are_accepted():
    without = state_attack.SLOW_TABLES | {"information-directed"}  # slow without compilation
    honest = (state_attack.check_honest(np.random.default_rng(seed), 20, without) for seed in range(HONEST))
    assert len(collections.Counter(honest)) > 8


def test_the_attack_finds_a_missing_check(monkeypatch):
    """A control: without the check of sums, changed states make agents that do not work."""
    monkeypatch.setattr(br.BernoulliBandit, "check_sums", lambda *_: None)
    pool = state_attack.Pool([("bernoulli", "gittins")])
    with pytest.raises((AssertionError, IndexError)):
        all(state_attack.attack(pool, seed) for seed in range(900))


def changed(agent, *path, to):
    data = json.loads(agent.to_json())
    place = data["state"]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    return data


played = br.Thompson().start(BERNOULLI, seed=1)
played.update_many([0, 1] * 40, [1, 0] * 40)
played.select()
late = br.BayesUCB(delta=0.1).start(LINEAR)
late.update_many([0, 1, 2], [1.0, 0.0, 2.0])
late.select()
late.select()
streak = br.Thompson().start(LINEAR, seed=1)
streak.update_many([0, 1, 1], [1.0, 0.0, 2.0])
mixture = br.Thompson().start(state_attack.MIXTURES["mixture of bernoulli"])
mixture.update(0, 1)
BAD = {
    "totals beyond counts": (br.Gittins().start(BERNOULLI, horizon=9), ["totals", 0], 1e6, "totals must be whole"),
    "a table's place": (br.BayesOptimal().start(BERNOULLI, horizon=9), ["totals", 0], 1e6, "totals must be whole"),
    "more successes than pulls": (played, ["totals", 0], 500.0, "totals must be whole numbers of successes"),
    "half a success": (played, ["totals", 0], 0.5, "totals must be whole numbers of successes"),
    "squares of other rewards": (played, ["squares", 0], 3.0, "squares must follow from counts and successes"),
    "no such arm": (br.ExploreCommit(2).start(GAUSSIAN), ["memory", 0], 7.0, "memory must begin with 0 until"),
    "a winner too soon": (br.ExploreCommit(2).start(GAUSSIAN), ["memory", 0], 1.0, "memory must begin with 0 until"),
    "more than 64 bits": (br.UCB1(delta=0.1).start(GAUSSIAN), ["counts", 0], 2**63, r"counts\[0\] must be what"),
    "a whole number as float": (br.UCB1(delta=0.1).start(GAUSSIAN), ["counts", 0], 1.0, r"counts\[0\] must be what"),
    "too many in all": (br.UCB1(delta=0.1).start(GAUSSIAN), ["counts"], [2**53, 1, 0], "counts must be at most"),
    "rewards without pulls": (br.UCB1(delta=0.1).start(GAUSSIAN), ["totals", 0], 1.0, "totals must be sums of as many"),
    "squares of one reward": (streak, ["squares", 0], 1.0, "squares must be sums of squared deviations"),
    "squares not asked for": (br.UCB1(delta=0.1).start(GAUSSIAN), ["squares"], [0, 0, 0], "squares must be missing"),
    "absurd rounds": (played, ["rounds"], 2**64, "rounds must be what to_json wrote"),
    "rounds before pulls": (played, ["rounds"], 0, "rounds must be at least the 1 pending pulls, got 0"),
    "a stream": (played, ["stream", 0], 2**64, "stream must be whole numbers of 64 bits"),
    "an unknown field": (played, ["extra"], 1, "must be what to_json wrote: object contains unknown field extra"),
    "arms twice": (played, ["memory", 14], 0.0, "memory must hold each arm once"),
    "huge roots": (late, ["roots", 0], [1e300] * 3, "variance and roots must not exceed those of the prior"),
    "a root's sign": (late, ["roots", 0, 1], -0.3, "roots must have the covariances of the counts"),
    "a variance": (late, ["variance", 0], 0.9, "variance must be that of the counts"),
    "other counts": (late, ["counts", 0], 5, "variance must be that of the counts"),
    "an absurd mean": (late, ["mean", 0], 1e60, "mean must be one that as many rewards"),
    "an absurd surplus": (late, ["surplus", 0], 1e60, "surplus must be that of as many rewards"),
    "pulls nobody made": (late, ["pending"], [0, 0, 0], "counted must count no pulls but those received or pending"),
    "other pulls": (streak, ["counts", 0], 2, "squares must|counts must be those of the posterior and its streak"),
    "information": (streak, ["streak", "information"], 3.0, "information must be that of the counts"),
    "weights": (mixture, ["memory", -1], 0.5, "memory must hold the weights that follow"),
}


@pytest.mark.parametrize(("agent", "path", "to", "line"), BAD.values(), ids=BAD)
def test_a_number_that_does_not_fit_is_refused(agent, path, to, line):
    with pytest.raises(ValueError, match=rf"^agent state(?:'s)? (?:{line})[^\n]*$"):
        br.Agent.from_json(sealed(changed(agent, *path, to=to)))


def test_the_checksum_finds_a_change_that_fits():
    data = changed(br.UCB1(delta=0.1).start(GAUSSIAN), "pending", to=[1, 0, 0])
    with pytest.raises(ValueError, match=r"^agent state must be what to_json wrote, but its checksum says[^\n]*$"):
        br.Agent.from_json(json.dumps(data))
    assert br.Agent.from_json(sealed(data)).pending.tolist() == [1, 0, 0]


def test_layout_does_not_matter():
    text = played.to_json()
    spaced = json.dumps(dict(reversed(json.loads(text).items())), indent=2)
    assert br.Agent.from_json(spaced).to_json() == br.Agent.from_json(text.encode()).to_json() == text


def test_version_1_is_read_after_the_same_checks():
    data = json.loads(played.to_json()) | {"version": 1}
    with pytest.raises(ValueError, match="version must be 2, because it has a checksum"):
        br.Agent.from_json(json.dumps(data))
    del data["checksum"]
    with pytest.raises(ValueError, match="checksum must be given"):
        br.Agent.from_json(json.dumps(data | {"version": 2}))
    again = br.Agent.from_json(json.dumps(data))
    assert again.pulls.tolist() == [40, 40]
    assert json.loads(again.to_json())["version"] == 2
    data["state"]["totals"][0] = 500.0
    with pytest.raises(ValueError, match="totals must be whole numbers of successes"):
        br.Agent.from_json(json.dumps(data))


SETTINGS = [
    (br.BayesUCB(delta=np.float32(0.1)), {}),
    (br.ExploreCommit(np.int64(20)), {}),
    (br.EpsilonGreedy(epsilon=np.float64(0.1)), {}),
    (br.UCB1(count_pending=np.False_), {"horizon": np.int64(1000)}),
    (br.LinUCB(np.float32(1), np.int32(1)), {"horizon": 1000}),
    (br.Thompson(), {"seed": np.int64(1)}),
    (br.Thompson(), {"seed": 2**200}),
]


@pytest.mark.parametrize(("policy", "options"), SETTINGS, ids=str)
def test_what_starts_can_be_saved(policy, options):
    agent = policy.start(LINEAR if isinstance(policy, br.LinUCB) else GAUSSIAN, **options)
    agent.update(agent.select(), 1.0)
    text = agent.to_json()
    assert br.Agent.from_json(text).to_json() == text


ABSURD = [
    (lambda: br.UCB1().start(GAUSSIAN, horizon=10**400), "horizon must be at most 9007199254740992"),
    (lambda: br.UCB1(delta=0.1).start(GAUSSIAN, seed=10**400), "seed must be at most"),
    (lambda: br.InformationDirected(draws=10**9), "draws must be at most 1000000"),
    (lambda: br.ExploreCommit(2**63), "explore must be at most 9007199254740992"),
    (lambda: br.InformationDirected().start(br.GaussianBandit([0.0] * 1000, 1, 1)), 'gain must be "variance"'),
]


@pytest.mark.parametrize(("make", "line"), ABSURD, ids=[line for _, line in ABSURD])
def test_absurd_settings_are_refused_at_once(make, line):
    with pytest.raises(ValueError, match=f"^{line}"):
        make()


def test_huge_pseudo_counts_are_saved_and_read():
    for prior in ([1e30, 1.0], [10**30, 1]):
        agent = br.Thompson().start(br.BernoulliBandit(prior, [1, 1e30]), seed=1)
        for _ in range(20):
            agent.update(agent.select(), np.True_)
        assert br.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize("agent", [played, late, streak, mixture], ids=lambda agent: agent.policy.name)
def test_agents_and_bandits_can_be_pickled_and_copied(agent):
    twins = pickle.loads(pickle.dumps(agent)), copy.copy(agent), copy.deepcopy(agent)
    assert {twin.to_json() for twin in twins} == {agent.to_json()}
    decisions = [[twin.select() for _ in range(5)] for twin in twins]
    assert decisions[0] == decisions[1] == decisions[2]
    assert pickle.loads(pickle.dumps(agent.problem)) == copy.deepcopy(agent.problem) == agent.problem


def test_a_full_count_stays_full():
    """After 2**53 rewards an agent goes on, and learns no more."""
    data = changed(br.BayesUCB(delta=0.1).start(GAUSSIAN), "counts", to=[2**53, 0, 0])
    agent = br.Agent.from_json(sealed(data))
    agent.update(1, 1.0)
    assert agent.pulls.tolist() == [2**53, 0, 0]
    assert br.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


def test_a_state_that_is_not_finite_is_not_saved():
    """A model or a policy of a user may make one."""
    agent = br.Thompson().start(GAUSSIAN)
    agent._stats.totals[0] = np.nan
    with pytest.raises(ValueError, match=r"^agent must have finite statistics to be saved"):
        agent.to_json()


@pytest.mark.both
@pytest.mark.parametrize("policy", [br.BayesUCB(delta=0.1), br.LinUCB(delta=0.1)], ids=lambda policy: policy.name)
def test_linear_agents_with_pending_pulls_run_compiled(policy):
    agent = policy.start(LINEAR)
    arms = [agent.select() for _ in range(6)]
    assert len(set(arms)) > 1
    again = br.Agent.from_json(agent.to_json())
    agent.update(arms[0], 1.0)
    again.update(arms[0], 1.0)
    assert again.select() == agent.select()
    assert again.to_json() == agent.to_json()
    assert JIT_IS_OFF or "numba" in sys.modules


VERSION_1 = json.loads(pathlib.Path(__file__).parent.parent.joinpath("golden", "agents_version_1.json").read_text())


# Thompson sampling sorts its arms again: the same probabilities, other random bits.
SORTED_AGAIN = {"thompson on bernoulli", "thompson on gaussian"}


@pytest.mark.parametrize("name", VERSION_1)
def test_agents_that_version_1_saved_go_on(name):
    """The file holds what agents saved before version 2, and their next five decisions."""
    saved = VERSION_1[name]
    agent = br.Agent.from_json(json.dumps(saved["text"]))
    decisions = [agent.select() for _ in range(5)]
    if name not in SORTED_AGAIN:
        assert decisions == saved["next"]
    assert br.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("agent.json", "; this looks like a file name: pass the text in the file"),
        ('{"format": "bayesregret agent", ', "; it is cut off after 32 characters"),
        ('{"format": x}', "; it is not JSON at character 11"),
        ("[1]", ""),
        ("", ""),
    ],
)
def test_a_text_that_is_no_state(text, hint):
    with pytest.raises(ValueError, match=rf"^agent state must be the text that to_json wrote, got [^;]*{hint}$"):
        br.Agent.from_json(text)
