"""Policies that look at all arms in every round take the decisions of their slow twins, with late rewards too."""

import numpy as np
import pytest

from bayesregret import KLUCB, MOSS, BernoulliBandit, EpsilonGreedy, GaussianBandit, Greedy, QuantileUCB, simulate
from bayesregret.simulation import simulation as runs_of
from reference import moving

POLICIES = [
    Greedy(),
    EpsilonGreedy(0.3),
    QuantileUCB(),
    QuantileUCB(c=2.0),
    QuantileUCB(prior=GaussianBandit([0.3] * 4, 0.7, 1.0)),
    KLUCB(),
    KLUCB(c=3.0),
    MOSS(count_pending=False),
]
HORIZON, SEEDS = 60, range(5)
# Pseudo-counts of few digits would make different data tie.
WORLDS = {
    "gaussian": GaussianBandit([0.5, 0.0, 0.0, -0.5], 1.0, 1.5),
    "bernoulli": BernoulliBandit([1.137, 0.413, 3.071, 1.0], [1.071, 0.717, 2.019, 1.0]),
}


@pytest.fixture(autouse=True)
def plain_python(monkeypatch):
    """Other tests say that compiled code gives the same bits; here it would only take time."""
    monkeypatch.setattr(runs_of, "compile_kernel", lambda body, *classes: body)


def same_decisions(slow, bandit, policy, seed, delay, batch):
    """Whether the engine takes the arms that the twin took: regrets and pulls after every round say so."""
    gaps = bandit.draw_instance(seed=seed).gaps
    rounds = range(1, HORIZON + 1)
    ran = simulate(
        bandit, policy, horizon=HORIZON, runs=1, seed=seed, checkpoints=rounds, threads=1, delay=delay, batch=batch
    )[policy.name]
    same_pulls = ran.mean_pulls.tolist() == np.bincount(slow.arms, minlength=bandit.arms).tolist()
    return same_pulls and np.allclose(ran.curve.mean, np.cumsum(gaps[slow.arms]), rtol=1e-10, atol=1e-10)


def agreements(bandit, policy, delay=0, batch=1):
    """For each seed whose decisions do not hang on rounding, whether the two agree."""
    found = []
    for seed in SEEDS:
        slow = moving.play(bandit, policy, horizon=HORIZON, seed=seed, delay=delay, batch=batch)
        if not slow.is_close:
            found.append(same_decisions(slow, bandit, policy, seed, delay, batch))
    return found


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("delay", "batch"), [(0, 1), (3, 4)])
def test_the_engine_and_its_twin(world, policy, delay, batch):
    agree = agreements(WORLDS[world], policy, delay, batch)
    assert all(agree)
    assert len(agree) >= 3


def median_first(policy, bandit, history, round_, horizon):
    """Of the round before."""
    return moving.quantile_index(policy, bandit, history, max(1, round_ - 1), horizon)


def wrong_level(policy, bandit, history, round_, horizon):
    """The logarithm of one more."""
    return moving.divergence_index(policy, bandit, history, round_ + 1, horizon)


def wrong_horizon(policy, bandit, history, round_, horizon):
    return moving.moss_index(policy, bandit, history, round_, 1.1 * horizon)


def one_late(policy, bandit, history, round_, horizon):
    """Without the last reward."""
    return moving.mean_index(policy, bandit, moving.History(history.arms[:-1], history.rewards[:-1]), round_, horizon)


WRONG = [(QuantileUCB(), median_first), (KLUCB(), wrong_level), (MOSS(), wrong_horizon), (EpsilonGreedy(0.3), one_late)]


@pytest.mark.parametrize(("policy", "wrong"), WRONG)
def test_a_wrong_twin_is_noticed(policy, wrong, monkeypatch):
    """The control: these comparisons fail when the two differ by a detail."""
    assert all(agreements(WORLDS["gaussian"], policy))
    monkeypatch.setattr(moving, "indices", wrong)
    assert not all(agreements(WORLDS["gaussian"], policy))


@pytest.mark.parametrize(("delay", "batch"), [(3, 3), (2, 4), (0, 4), (3, 1)])
def test_rewards_at_another_time_are_noticed(delay, batch):
    bandit, policy = WORLDS["bernoulli"], QuantileUCB()
    slow = [moving.play(bandit, policy, horizon=HORIZON, seed=seed, delay=3, batch=4) for seed in SEEDS]
    assert all(same_decisions(run, bandit, policy, seed, 3, 4) for run, seed in zip(slow, SEEDS, strict=True))
    assert not all(
        same_decisions(run, bandit, policy, seed, delay, batch) for run, seed in zip(slow, SEEDS, strict=True)
    )
