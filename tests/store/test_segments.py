"""Arms that are paused, resumed and added: the new agent is one that was fed by hand."""

import dataclasses
import re

import pytest

import bayesregret as br
from bayesregret.store import ClosedError, ConflictError

ARMS = ["a", "b", "c"]
THREE = br.BernoulliBandit([1, 1, 1.5], [1, 1, 1.5])


def start(store, bandit=THREE, policy="bayes-ucb", **settings):
    return store.start("x", bandit, policy, **({"horizon": 100, "arms": ARMS, "seed": 4} | settings))


def play(experiment, rounds, settled):
    """Decide, and give rewards to the first ones; return the decisions."""
    decisions = experiment.decide_many(rounds)
    for decision in decisions[:settled]:
        experiment.reward(decision.id, float(decision.number % 2))
    return decisions


def fed_by_hand(experiment, policy, bandit, active, horizon, seed):
    """A fresh agent that was given all decisions and rewards of the active arms, in the order of the log."""
    names = [experiment.arms[arm] for arm in active]
    agent = policy.start(bandit, horizon=horizon, seed=seed, arms=names)
    for event in experiment.log():
        if event.arm not in active or event.kind not in ("decide", "reward"):
            continue
        if event.kind == "decide":
            agent.expect(active.index(event.arm))
        else:
            agent.update(active.index(event.arm), event.reward)
    return agent


def decided_for(experiment, arms):
    return sum(event.kind == "decide" and event.arm in arms for event in experiment.log())


OTHER = br.BernoulliBandit([2] * 3, [2] * 3)


@pytest.mark.parametrize("policy", [br.BayesUCB(), br.UCB1(), br.Thompson(), br.BayesUCB(prior=OTHER)], ids=str)
def test_pause_and_resume(sqlite, policy):
    """What the policy derived from the horizon stays; seeds are new in each segment."""
    experiment = start(sqlite, policy=policy)
    play(experiment, 9, 6)
    experiment.pause("b")
    fixed = dataclasses.replace(policy, delta=0.01) if hasattr(policy, "delta") else policy
    part = dataclasses.replace(fixed, prior=fixed.prior.subset([0, 2])) if getattr(fixed, "prior", None) else fixed
    others = decided_for(experiment, [1])
    assert others > 0
    agent = fed_by_hand(experiment, part, THREE.subset([0, 2]), [0, 2], 100 - others, 4 + 2**64)
    assert experiment.agent().to_json() == agent.to_json()
    assert {decision.name for decision in play(experiment, 6, 3)} <= {"a", "c"}
    experiment.resume(1)
    agent = fed_by_hand(experiment, fixed, THREE, [0, 1, 2], 100, 4 + 2 * 2**64)
    assert experiment.agent().to_json() == agent.to_json()
    experiment.replay()
    assert experiment.paused == ()


def test_a_paused_arm_takes_late_rewards_and_has_learned_from_them_when_it_is_back(sqlite):
    experiment = start(sqlite)
    decisions = play(experiment, 9, 0)
    experiment.pause("b")
    late = [decision for decision in decisions if decision.name == "b"]
    for decision in late:
        experiment.reward(decision.id, 1)
    assert experiment.agent().pulls.sum() == 0
    experiment.resume("b")
    assert experiment.agent().pulls.tolist() == [0, len(late), 0]
    experiment.replay()


def test_an_added_arm_has_its_own_prior(store):
    experiment = start(store, policy="greedy")
    play(experiment, 9, 6)
    experiment.add_arm("d", {"alpha": 50, "beta": 1})
    assert experiment.arms == (*ARMS, "d")
    assert experiment.problem == THREE.with_arm(alpha=50, beta=1)
    assert play(experiment, 1, 1)[0].name == "d"
    experiment.pause("a")
    experiment.add_arm("e", {"alpha": 1, "beta": 1})
    experiment.stop()
    experiment.replay()
    state = experiment.state()
    name = store.name
    with br.experiments(name) as other:
        assert other.experiment("x").state() == state
    assert [event.kind for event in experiment.log()][-3:] == ["pause", "add", "stop"]


def test_linear_arms_have_learned_from_those_that_are_paused(sqlite):
    bandit = br.LinearBandit([[1, 0], [0.6, 0.8], [0, 1]], [0, 0], prior_width=1, reward_noise=0.1)
    experiment = start(sqlite, bandit, br.Greedy())
    for decision in experiment.decide_many(3):
        experiment.reward(decision.id, 5.0)
    paused = next(event.arm for event in experiment.log())
    before = experiment.agent().posterior().mean
    experiment.pause(paused)
    rest = [arm for arm in range(3) if arm != paused]
    assert experiment.agent().posterior().mean == pytest.approx(before[rest], rel=1e-9)
    assert abs(before[rest]).max() > 0.5  # the control: without the paused arm's rewards it would be 0
    experiment.replay()


def test_the_same_change_again_does_nothing(sqlite):
    experiment = start(sqlite)
    for _ in range(2):
        experiment.pause("a")
        experiment.add_arm("d", {"alpha": 1, "beta": 1})
    experiment.resume("b")
    assert [event.kind for event in experiment.log()] == ["pause", "add"]
    with pytest.raises(ConflictError, match="arm 'd' is there already, with another prior"):
        experiment.add_arm("d", {"alpha": 1, "beta": 2})
    with pytest.raises(ConflictError, match="arm 'a' is there already"):
        experiment.add_arm("a", {"alpha": 1, "beta": 1})


def test_the_last_arm_cannot_be_paused(sqlite):
    experiment = start(sqlite)
    experiment.pause("a")
    experiment.pause("b")
    with pytest.raises(ValueError, match="arm c is the only one that is not paused"):
        experiment.pause("c")
    assert [decision.name for decision in play(experiment, 2, 2)] == ["c", "c"]


@pytest.mark.parametrize(
    ("name", "prior", "message"),
    [
        ("d", {"alpha": 1}, "beta must be given for an arm of a bernoulli bandit"),
        ("d", {"mean": 1}, "must have the fields alpha, beta, got 'mean'"),
        ("d", [1, 1], 'prior must be the fields of one arm, such as {"alpha": 1, "beta": 30}, got [1, 1]'),
        ("1", {"alpha": 1, "beta": 1}, "name must be names that are no whole numbers"),
        ("", {"alpha": 1, "beta": 1}, "name must be printable texts of 1 to 200 letters, got ''"),
    ],
)
def test_a_bad_arm_is_refused_in_one_line(sqlite, name, prior, message):
    experiment = start(sqlite)
    with pytest.raises(ValueError, match=re.escape(message)):
        experiment.add_arm(name, prior)
    assert list(experiment.log()) == []


def test_a_change_that_the_policy_cannot_make_changes_nothing(sqlite):
    two = br.BernoulliBandit([1, 1], [1, 1])
    experiment = start(sqlite, two, br.BayesOptimal(), horizon=20, arms=["a", "b"])
    play(experiment, 3, 2)
    experiment.add_arm("c", {"alpha": 1, "beta": 1})
    before = experiment.state()
    with pytest.raises(ValueError, match="arms"):
        experiment.add_arm("d", {"alpha": 1, "beta": 1})
    assert experiment.state() == before
    experiment.replay()


@pytest.mark.parametrize("arm", ["d", 3, -1, "0"])
def test_wrong_arms_are_refused(sqlite, arm):
    with pytest.raises(ValueError, match="arm must be"):
        start(sqlite).pause(arm)


def test_no_change_after_the_end(sqlite):
    experiment = start(sqlite)
    experiment.stop()
    changes = [
        lambda: experiment.pause("a"),
        lambda: experiment.add_arm("d", {"alpha": 1, "beta": 1}),
    ]
    for change in changes:
        with pytest.raises(ClosedError, match="the experiment was stopped"):
            change()
