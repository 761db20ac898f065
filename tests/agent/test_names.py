"""Names of arms: rewards by name, saved states, bad names, and what an agent prints."""

import copy
import json
import pickle
import re

import numpy as np
import pytest

import bayesregret as br
from sealing import sealed

BANDIT = br.BernoulliBandit([1, 1, 2], [1, 1, 2])
NAMES = ["blue", "green", "0.5 mg"]


def named(policy=None, **options):
    return (policy or br.Thompson()).start(BANDIT, seed=1, arms=NAMES, **options)


def test_arms_go_by_name_or_number():
    agent, by_number = named(), br.Thompson().start(BANDIT, seed=1)
    agent.update("green", 1)
    agent.update(0, 0)
    agent.update_many(["0.5 mg", 1], [1, 0])
    by_number.update_many([1, 0, 2, 1], [1, 0, 1, 0])
    assert agent.pulls.tolist() == by_number.pulls.tolist() == [1, 2, 1]
    assert [agent.select() for _ in range(20)] == [by_number.select() for _ in range(20)]
    arm = int(agent.pending.argmax())
    agent.forget(agent.name_of(arm))
    by_number.forget(arm)
    assert agent.pending.tolist() == by_number.pending.tolist()
    assert type(agent.select()) is int


def test_names_are_the_numbers_as_texts_if_there_are_none():
    agent = br.UCB1(delta=0.1).start(BANDIT)
    assert agent.arms == ("0", "1", "2")
    assert agent.name_of(2) == "2"
    agent.update("1", 1)
    assert agent.pulls.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"^arm must be a whole number, at least 0 and at most 2, got '3'$"):
        agent.update("3", 1)
    with pytest.raises(ValueError, match=r"^arm must be a whole number, at least 0 and at most 2, got 3$"):
        agent.name_of(3)


def test_an_unknown_name_is_refused_and_changes_nothing():
    agent = named()
    before = agent.to_json()
    line = r"^arm must be the number of an arm or one of blue, green, 0\.5 mg, got 'red'$"
    for change in (
        lambda: agent.update("red", 1),
        lambda: agent.update_many(["blue", "red"], [1, 1]),
        lambda: agent.forget("red"),
    ):
        with pytest.raises(ValueError, match=line):
            change()
    with pytest.raises(ValueError, match=r"^arm must be the number of an arm or one of blue, green, 0\.5 mg, got '1'$"):
        agent.update("1", 1)
    with pytest.raises(ValueError, match=r"^arm must be a whole number, at least 0 and at most 2, got 3$"):
        agent.update(3, 1)
    assert agent.to_json() == before


def test_the_state_keeps_the_names():
    agent = named(horizon=50)
    agent.update("green", 1)
    text = agent.to_json()
    assert json.loads(text)["arms"] == NAMES
    twins = [br.Agent.from_json(text), pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
    for twin in twins:
        assert twin.arms == agent.arms == tuple(NAMES)
        assert twin.to_json() == text
        twin.update("0.5 mg", 1)
        assert twin.pulls.tolist() == [0, 1, 1]


def test_agents_without_names_save_what_they_saved_before():
    agent = br.Thompson().start(BANDIT, seed=1)
    agent.update(1, 1)
    fields = ["format", "version", "policy", "problem", "horizon", "state", "seed", "checksum"]
    assert list(json.loads(agent.to_json())) == fields
    assert json.loads(agent.to_json())["checksum"] == "b3538bd71f1961f7"


def test_the_checksum_covers_the_names():
    data = json.loads(named().to_json())
    for names in (["green", "blue", "0.5 mg"], ["blue", "green", "0.5 g"]):
        with pytest.raises(ValueError, match=r"^agent state must be what to_json wrote, but its checksum says[^\n]*$"):
            br.Agent.from_json(json.dumps(data | {"arms": names}))
        assert br.Agent.from_json(sealed(data | {"arms": names})).arms == tuple(names)
    without = {name: value for name, value in data.items() if name != "arms"}
    with pytest.raises(ValueError, match=r"its checksum says"):
        br.Agent.from_json(json.dumps(without))
    old = {name: value for name, value in data.items() if name != "checksum"} | {"version": 1}
    with pytest.raises(ValueError, match=r"^agent state's version must be 2, because it has names of arms, got 1$"):
        br.Agent.from_json(json.dumps(old))


TEXTS = "a list of different texts, one for each arm"
PRINTABLE = "printable texts of 1 to 200 letters"
BAD = [
    ("abc", f"arms must be {TEXTS}, got 'abc'"),
    (3, f"arms must be {TEXTS}, got 3"),
    ({"a", "b", "c"}, f"arms must be {TEXTS}, got "),
    (["a", "b"], f"arms must be {TEXTS}, got 2 for 3 arms"),
    ([], f"arms must be {TEXTS}, got 0 for 3 arms"),
    (["a", "b", "a"], f"arms must be {TEXTS}, but 'a' is there twice"),
    (["a", "b", 3], f"arms must be {TEXTS}, got 3"),
    (["a", "b", None], f"arms must be {TEXTS}, got None"),
    (["a", "b", b"c"], f"arms must be {TEXTS}, got b'c'"),
    (["a", "b", ""], f"arms must be {PRINTABLE}, got ''"),
    (["a", "b", " "], f"arms must be {PRINTABLE}, got ' '"),
    (["a", "b", "x" * 201], f"arms must be {PRINTABLE}, got 'xxx"),
    (["a", "b", "c\nd"], f"arms must be {PRINTABLE}, got 'c"),
    (["a", "b", "\ud800"], f"arms must be {PRINTABLE}, got '"),
    *(
        (["a", "b", number], "arms must be names that are no whole numbers, which would be taken for numbers of arms")
        for number in ("1", "-1", "+7", " 2 ", "1_0", "\N{ARABIC-INDIC DIGIT THREE}")
    ),
]


@pytest.mark.parametrize(("arms", "line"), BAD, ids=range(len(BAD)))
def test_bad_names_are_refused_in_one_line(arms, line):
    with pytest.raises(ValueError, match=f"^{re.escape(line)}[^\n]*$") as raised:
        br.Thompson().start(BANDIT, arms=arms)
    assert str(raised.value).isprintable()
    if isinstance(arms, list) and all(isinstance(name, str) for name in arms):
        data = json.loads(named().to_json()) | {"arms": arms}
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            br.Agent.from_json(json.dumps(data))


@pytest.mark.parametrize(
    "arms", [("x", "y", "z" * 200), np.array(["x", "y", "z"]), (c for c in "xyz"), ["é", "日本", "a b"]]
)
def test_any_list_of_texts_will_do(arms):
    agent = br.Thompson().start(BANDIT, arms=arms)
    assert all(type(name) is str for name in agent.arms)
    assert br.Agent.from_json(agent.to_json()).arms == agent.arms
    agent.update(agent.arms[2], 1)
    assert agent.pulls.tolist() == [0, 0, 1]


def test_what_an_agent_prints():
    agent = named(br.BayesUCB(), horizon=1000)
    assert repr(agent) == "<agent of bayes-ucb on a bernoulli bandit, 3 arms, horizon 1,000, after 0 rewards>"
    agent.update_many(["green"] * 3, [1, 1, 0])
    agent.select()
    assert repr(agent).endswith("after 3 rewards, 1 pending>")
    assert str(agent).splitlines() == [
        "arm     pulls  pending",
        "----------------------",
        "blue        0        1",
        "green       3        0",
        "0.5 mg      0        0",
        "bayes-ucb on a bernoulli bandit, 3 arms, horizon 1,000, after 3 rewards, 1 pending",
    ]


def test_an_agent_with_many_arms_prints_little():
    prior = br.GaussianBandit(np.arange(1000.0), 1, 1)
    agent = br.Thompson(prior=prior).start(br.GaussianBandit(np.zeros(1000), 1, 1))
    assert len(repr(agent)) < 100
    assert "\n" not in repr(agent)
    assert len(str(agent).splitlines()) < 30
    assert "and 980 more arms" in str(agent)
