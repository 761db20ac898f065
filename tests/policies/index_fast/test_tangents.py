"""Many arms with the same data, and so with the same index: the first is chosen, and few tangents are made."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, empty_stats, rising_index
from bayesregret.policies.index_fast import tangents
from bayesregret.policies.index_fast.tangents import HighestByTangents, scratch_for_tangents
from draws import stream_of

ARMS, ROUNDS = 40, 200
BANDIT = br.BernoulliBandit([1.0] * ARMS, [1.0] * ARMS)


def first_highest(settings, stats, round_):
    """Every index in every round."""
    indices = [rising_index(settings, BANDIT.model, stats, arm, round_) for arm in range(ARMS)]
    return int(np.argmax(indices))


def play(policy, success_probability):
    """(rounds, 2): the arms that are taken, and those with the highest index."""
    settings = policy.settings(BANDIT, ROUNDS)
    stats = empty_stats(ARMS, 0, scratch_for_tangents(ARMS))
    rng, taken = np.random.default_rng(3), []
    for round_ in range(1, ROUNDS + 1):
        arm, _ = choose_arm(HighestByTangents(settings), BANDIT.model, stats, round_, stream_of())
        taken.append((arm, first_highest(settings, stats, round_)))
        add_reward(stats, arm, float(rng.random() < success_probability))
    return np.array(taken)


@pytest.mark.parametrize("policy", [br.KLUCB(), br.KLUCB(c=3.0), br.QuantileUCB()], ids=repr)
@pytest.mark.parametrize("probability", [0.0, 0.5, 0.9, 1.0])
def test_the_first_of_equal_arms_is_taken(policy, probability):
    taken = play(policy, probability)
    assert taken[:, 0].tolist() == taken[:, 1].tolist()


def tangents_per_round(monkeypatch, probability):
    """Number of tangents per round."""
    seen = []
    keep = tangents.keep_tangent
    with monkeypatch.context() as patched:
        patched.setattr(tangents, "keep_tangent", lambda *given: (seen.append(given), keep(*given)))
        play(br.KLUCB(), probability)
    return len(seen) / ROUNDS


def test_equal_arms_get_no_new_tangents(monkeypatch):
    """The control: they do, if their index seems to rise."""
    assert tangents_per_round(monkeypatch, 0.9) < 2.0
    rise = tangents.index_rise
    monkeypatch.setattr(tangents, "index_rise", lambda *given: max(rise(*given), 1e-9))
    assert tangents_per_round(monkeypatch, 0.9) > 5.0
