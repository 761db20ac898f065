"""Rising indices of a user: a reward may lower them, however good it is, and they must not fall with time."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, current_mean, empty_stats, rising_index
from bayesregret.contracts.fast import follows_belief
from bayesregret.policies.index_fast.upper_bounds import HighestRising, scratch_for_upper_bounds
from bayesregret.simulation import simulation
from draws import stream_of

ARMS, ROUNDS = 3, 60
BANDIT = br.BernoulliBandit([1.0] * ARMS, [1.0] * ARMS)


class Bonus(NamedTuple):
    """Posterior mean and a bonus; a success raises the mean less than it lowers the bonus."""

    factor: float
    power: float  # of the logarithm of the round: an index that falls has a negative one


@rising_index.implement(Bonus)
def mean_plus_bonus(policy, model, stats, arm, round_):
    time = math.log(round_ + 1.0) ** policy.power
    return current_mean(model, stats, arm) + policy.factor * time / (stats.counts[arm] + 1.0)


class WithBonus(br.Policy):
    name = "test-bonus"

    def __init__(self, power=1.0):
        self.power = power

    def settings(self, bandit, horizon):
        return Bonus(0.5, self.power)


del br.Policy.classes["test-bonus"]


def taken(settings, success_probability, seed=0):
    """(rounds, 2): the arms that are taken, and those with the highest index."""
    stats = empty_stats(ARMS, 0, scratch_for_upper_bounds(ARMS))
    rng, rows = np.random.default_rng(seed), []
    for round_ in range(1, ROUNDS + 1):
        arm, _ = choose_arm(HighestRising(settings), BANDIT.model, stats, round_, stream_of())
        indices = [rising_index(settings, BANDIT.model, stats, each, round_) for each in range(ARMS)]
        rows.append((arm, int(np.argmax(indices))))
        add_reward(stats, arm, float(rng.random() < success_probability))
    return np.array(rows)


@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize("probability", [0.0, 0.5, 0.9, 1.0])
def test_the_first_of_the_highest_is_taken(power, probability):
    for seed in range(5):
        rows = taken(Bonus(0.5, power), probability, seed)
        assert rows[:, 0].tolist() == rows[:, 1].tolist()


def test_an_index_that_may_fall_must_not_be_said_to_follow(monkeypatch):
    """The control: after a success arm 2 would stay, at a tie with the other arms."""
    assert taken(Bonus(0.5, 1.0), 1.0)[:6, 0].tolist() == [0, 1, 2, 0, 1, 2]
    monkeypatch.setitem(follows_belief.bodies, Bonus, lambda policy: True)
    assert taken(Bonus(0.5, 1.0), 1.0)[:6, 0].tolist() == [0, 1, 2, 2, 2, 0]


@pytest.mark.compiled
def test_agents_take_the_first_of_the_highest():
    agent, arms = WithBonus().start(BANDIT), []
    for _ in range(6):
        arms.append(agent.select())
        agent.update(arms[-1], 1)
    assert arms == [0, 1, 2, 0, 1, 2]


def test_an_index_that_falls_with_time_is_refused(monkeypatch):
    monkeypatch.setattr(simulation, "compile_kernel", lambda body, *classes: body)
    br.simulate(BANDIT, WithBonus(), horizon=20, runs=2)
    line = (
        r"^mean_plus_bonus must never fall from one round to a later one with the same data, got 1\.2213\d* in round 1 "
        r"and 0\.9551\d* in round 2: an index that falls needs choose_arm$"
    )
    with pytest.raises(ValueError, match=line):
        br.simulate(BANDIT, WithBonus(-1.0), horizon=20, runs=2)
