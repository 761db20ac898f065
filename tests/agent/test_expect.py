"""`Agent.expect`: pulls that were decided elsewhere."""

import numpy as np
import pytest

import bayesregret as br

INDEPENDENT = br.BernoulliBandit([1, 1, 1], [1, 2, 1])
LINEAR = br.LinearBandit([[1, 0], [0.6, 0.8], [0, 1]], [0, 0], prior_width=1, reward_noise=1)
# One agent of each kind: an index by rewards alone, with pending pulls, of every round, and both linear ones.
AGENTS = [
    (br.Greedy(), INDEPENDENT),
    (br.BayesUCB(delta=0.01), INDEPENDENT),
    (br.KLUCB(), INDEPENDENT),
    (br.BayesUCB(delta=0.01), LINEAR),
    (br.LinUCB(delta=0.01), LINEAR),
]


@pytest.mark.parametrize(("policy", "bandit"), AGENTS, ids=lambda each: getattr(each, "name", None) or each.kind)
def test_a_pull_from_elsewhere_counts_as_one_of_its_own(policy, bandit):
    """An agent that expects the decisions of another decides, learns and is saved as the other does."""
    one, other = policy.start(bandit), policy.start(bandit)
    for round_ in range(12):
        arm = one.select()
        other.expect(arm)
        if round_ % 3:
            for agent in (one, other):
                agent.update(arm, 1.0)
        if round_ == 7:
            for agent in (one, other):
                agent.forget(int(np.argmax(agent.pending)))
    assert one.pending.tolist() == other.pending.tolist()
    assert one.pending.any()
    assert [one.select() for _ in range(5)] == [other.select() for _ in range(5)]
    assert br.Agent.from_json(other.to_json()).select() == one.select()


def test_counting_it_matters():
    """The control: without them an agent decides otherwise."""
    one, other = (br.BayesUCB(delta=0.01).start(INDEPENDENT) for _ in range(2))
    for _ in range(5):
        one.select()
    assert [one.select() for _ in range(5)] != [other.select() for _ in range(5)]


def test_names_and_wrong_arms():
    agent = br.Greedy().start(INDEPENDENT, arms=["a", "b", "c"])
    agent.expect("b")
    assert agent.pending.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="arm must be the number of an arm or one of a, b, c, got 'd'"):
        agent.expect("d")
