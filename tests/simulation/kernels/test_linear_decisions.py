"""Linear bandits: every policy takes the decisions of its slow twin, round by round, with rewards in time and late."""

import numpy as np
import pytest

from bayesregret import BayesUCB, EpsilonGreedy, Greedy, InformationDirected, LinearBandit, LinUCB, Thompson, simulate
from bayesregret.policies.explore_commit import ExploreCommit
from conftest import JIT_IS_OFF
from problems import BANDITS
from reference import linear_policies as twins
from reference.linear_policies import replay_linear

rng = np.random.default_rng(4)
FULL = LinearBandit(
    rng.standard_normal((7, 3)), rng.standard_normal(3), prior_cov=np.diag([2.0, 0.5, 0.1]) + 0.2, reward_noise=0.7
)


WORLDS = {"plane": BANDITS["linear"], "line": BANDITS["linear of one rank"], "space": FULL}
POLICIES = [
    Thompson(),
    Thompson(prior=LinearBandit(FULL.features, [0, 0, 0], prior_width=0.3, reward_noise=0.7)),
    LinUCB(),
    LinUCB(regularisation=0.2, bound=3.0, delta=0.01),
    LinUCB(count_pending=False),
    BayesUCB(),
    BayesUCB(count_pending=False),
    EpsilonGreedy(epsilon=0.3),
    ExploreCommit(explore=9),
    InformationDirected(draws=20),
    *([Greedy()] if JIT_IS_OFF else []),  # as BayesUCB, with no width: not worth compiling
]
HORIZON = 40


def agree(bandit, policy, seed, delay=0, batch=1):
    """Whether the engine takes the arms that the twin took; no two of these arms are alike."""
    slow = replay_linear(bandit, policy, horizon=HORIZON, seed=seed, delay=delay, batch=batch)
    assert not slow.is_close
    rounds = range(1, HORIZON + 1)
    ran = simulate(
        bandit, policy, horizon=HORIZON, runs=1, seed=seed, checkpoints=rounds, delay=delay, batch=batch, threads=1
    )[policy.name]
    same_pulls = ran.mean_pulls.tolist() == np.bincount(slow.arms, minlength=bandit.arms).tolist()
    return same_pulls and np.allclose(ran.curve.mean, slow.regret, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_decisions_in_space(policy):
    for seed, delay, batch in [(0, 0, 1), (1, 3, 1), (2, 0, 5), (3, 4, 3), (4, 2 * HORIZON, 1)]:
        assert agree(FULL, policy, seed, delay, batch)


@pytest.mark.parametrize("world", ["plane", "line"])
@pytest.mark.parametrize("policy", [Thompson(), InformationDirected(draws=20)], ids=repr)
def test_decisions_elsewhere(world, policy):
    for seed in range(3):
        assert agree(WORLDS[world], policy, seed)


def slightly_wider(features, prior_mean, prior_root, noise, history):
    return belief_after(features, prior_mean, 1.05 * prior_root, noise, history)


belief_after = twins.belief_after


@pytest.mark.parametrize("policy", [Thompson(), BayesUCB(), InformationDirected(draws=20)], ids=repr)
def test_a_wrong_belief_is_noticed(policy, monkeypatch):
    """The control: these comparisons fail when the two differ by a detail."""
    monkeypatch.setattr(twins, "belief_after", slightly_wider)
    assert not all(agree(FULL, policy, seed, delay=1) for seed in range(6))


@pytest.mark.parametrize("policy", [BayesUCB(), LinUCB()], ids=repr)
def test_pending_pulls_that_are_not_counted_are_noticed(policy, monkeypatch):
    """The control."""
    monkeypatch.setattr(twins, "with_pending", lambda belief, *rest: belief)
    assert not any(agree(FULL, policy, seed, batch=8) for seed in range(3))


@pytest.mark.parametrize("policy", [Thompson(), LinUCB(), BayesUCB()], ids=repr)
def test_a_late_twin_is_noticed(policy, monkeypatch):
    heard_in_time = twins.decide

    def decide_without_the_last(policy, bandit, belief, history, *rest):
        late = history._replace(arms=history.arms[:-1], rewards=history.rewards[:-1])
        belief = belief_after(bandit.features, *twins.prior_of(policy, bandit), bandit.reward_noise, late)
        return heard_in_time(policy, bandit, belief, late, *rest)

    monkeypatch.setattr(twins, "decide", decide_without_the_last)
    assert not all(agree(FULL, policy, seed, delay=1) for seed in range(6))
