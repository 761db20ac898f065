"""Bernoulli regret against an enumeration of all reward sequences, in fractions."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import arm_index, posterior_mean
from exact.bernoulli.enumeration import enumerate_runs, mean_of_best, probability_of_best

B, G = br.BernoulliBandit, br.GaussianBandit
NARROW = 0.999999
BOLD = 1e-300
BEST = 2e-4  # accuracy of the probability of pulling the best arm: with few rounds no thresholds are merged
compiled = pytest.mark.compiled


class Counted(NamedTuple):
    bonus: float


@arm_index.implement(Counted)
def counted_index(policy, model, arm, count, total):
    """Not a mean plus a width of the variance: the first pulls of an arm are worth more."""
    return posterior_mean(model, arm, count, total) + policy.bonus / (1 + count)


@dataclass(frozen=True)
class CountedBonus(br.Policy):
    name = "test-counted-bonus"
    bonus: float = 0.4

    def settings(self, bandit, horizon):
        return Counted(self.bonus)


# Name: bandit, policy, horizon. Few rounds first: those also run without a compiler.
SHORT = {
    "equal": (B([1, 1], [1, 1]), br.BayesUCB(), 4),
    "ties across kinds": (B([1, 2, 1], [2, 1, 1]), br.BayesUCB(delta=0.1), 4),
    "ucb1": (B([1, 2], [1, 1]), br.UCB1(), 4),
    "ucb1, halves": (B([0.5, 1.5], [0.5, 1]), br.UCB1(delta=0.2), 4),
    "wrong prior": (B([1, 2], [1, 1]), br.BayesUCB(prior=B([3, 1], [1, 1])), 4),
    "gaussian belief": (B([1, 1], [1, 1]), br.BayesUCB(prior=G([0.5, 0.5], 0.3, 0.5)), 4),
    "one arm": (B([3], [2]), br.BayesUCB(), 4),
    "one arm, ucb1": (B([3], [2]), br.UCB1(), 3),
    "one round": (B([3, 1], [2, 4]), br.BayesUCB(), 1),
    "one round, ucb1": (B([1, 4], [2, 1]), br.UCB1(), 1),
    "one round, one arm": (B([1], [1]), br.UCB1(), 1),
    "two rounds": (B([2, 2, 2], [1, 1, 1]), br.BayesUCB(), 2),
    "own index": (B([1, 1, 2], [1, 1, 3]), CountedBonus(), 4),
}
LONG = {
    "equal, ten rounds": (B([1, 1], [1, 1]), br.BayesUCB(), 10),
    "three equal": (B([2] * 3, [1] * 3), br.BayesUCB(delta=0.05), 8),
    "four equal": (B([1] * 4, [2] * 4), br.BayesUCB(delta=0.3), 7),
    "Beta(1, 2) and Beta(2, 1)": (B([1, 2], [2, 1]), br.BayesUCB(), 10),
    "Beta(2, 1) and Beta(1, 2)": (B([2, 1], [1, 2]), br.BayesUCB(), 10),
    "kinds in turn": (B([1, 2, 1, 2], [2, 1, 2, 1]), br.BayesUCB(delta=0.1), 7),
    "three kinds": (B([1, 2, 3], [3, 2, 1]), br.BayesUCB(), 8),
    "sharp and flat": (B([1, 20, 1], [1, 20, 30]), br.BayesUCB(delta=0.02), 8),
    "ucb1, equal": (B([1, 1, 1], [1, 1, 1]), br.UCB1(), 8),
    "ucb1, different": (B([1, 3, 2], [4, 1, 2]), br.UCB1(delta=0.4), 8),
    "ucb1, more arms than rounds": (B([1, 2, 1, 1, 3], [1, 1, 2, 1, 1]), br.UCB1(), 4),
    "wrong and equal": (B([1, 2, 3], [3, 2, 1]), br.BayesUCB(prior=B([1] * 3, [1] * 3)), 8),
    "wrong way round": (B([1, 4], [4, 1]), br.BayesUCB(prior=B([4, 1], [1, 4])), 9),
    "wrong and sure": (B([1, 1], [1, 1]), br.BayesUCB(prior=B([50, 10], [10, 50])), 9),
    "wrong, whole arms equal": (B([2, 2], [1, 1]), br.BayesUCB(prior=B([1, 2], [2, 1])), 9),
    "gaussian belief of ties": (B([1, 2, 1], [2, 1, 1]), br.BayesUCB(prior=G([0.5] * 3, 0.5, 0.5)), 8),
    "gaussian belief far off": (B([1, 2], [2, 1]), br.BayesUCB(prior=G([3.0, -1.0], 0.5, 0.5)), 9),
    "greedy": (B([1, 2, 1], [1, 2, 1]), br.BayesUCB(delta=NARROW), 8),
    "bold": (B([1, 2, 1], [1, 2, 1]), br.BayesUCB(delta=BOLD), 8),
    "ucb1, greedy": (B([1, 2], [1, 2]), br.UCB1(delta=NARROW), 9),
    "ucb1, bold": (B([1, 2], [1, 2]), br.UCB1(delta=BOLD), 9),
    "tenths": (B([0.3, 0.1], [0.7, 0.2]), br.BayesUCB(), 8),
    "halves, ties": (B([0.5, 1.5, 0.5], [1.5, 0.5, 0.5]), br.BayesUCB(delta=0.1), 7),
    "own index, longer": (B([1, 1, 2], [1, 1, 3]), CountedBonus(), 8),
}
CASES = [pytest.param(*case, id=name) for name, case in SHORT.items()] + [
    pytest.param(*case, id=name, marks=compiled) for name, case in LONG.items()
]


@pytest.mark.parametrize(("bandit", "policy", "horizon"), CASES)
def test_all_sequences(bandit, policy, horizon):
    found = br.exact_regret(bandit, policy, horizon=horizon)
    truth = enumerate_runs(bandit, policy, horizon)
    off = np.abs(found.curve - truth.regret)
    assert off.max() <= 1e-11 * horizon
    assert (off <= found.curve_error + 3e-14).all()
    assert found.error <= 1e-10
    assert np.abs(found.pulls - truth.pulls).max() <= 1e-10


WHOLE = [case for case in CASES if all(float(x).is_integer() for x in (*case.values[0].alpha, *case.values[0].beta))]


@compiled
@pytest.mark.parametrize(("bandit", "policy", "horizon"), WHOLE)
def test_probability_of_the_best_arm(bandit, policy, horizon):
    check_best_chance(bandit, policy, horizon)


@pytest.mark.parametrize("policy", [br.BayesUCB(), br.UCB1()], ids=lambda policy: policy.name)
def test_probability_of_the_best_arm_in_two_rounds(policy):
    check_best_chance(br.BernoulliBandit([1, 1], [1, 2]), policy, 2)


def check_best_chance(bandit, policy, horizon):
    found = br.exact_regret(bandit, policy, horizon=horizon)
    truth = enumerate_runs(bandit, policy, horizon)
    assert np.abs(found.best_chance - truth.best_chance).max() <= BEST
    assert found.best_share == pytest.approx(np.mean(truth.best_chance), rel=BEST)


@compiled
def test_a_wrong_problem_is_noticed():
    """The control: another order of the arms changes what ties do, and delta decides, by far more than is allowed."""
    bandit, policy, horizon = LONG["Beta(1, 2) and Beta(2, 1)"]
    found = br.exact_regret(bandit, policy, horizon=horizon)
    for other in (enumerate_runs(bandit, br.BayesUCB(delta=0.5), horizon), enumerate_runs(bandit, br.UCB1(), horizon)):
        assert np.abs(found.curve - other.regret).max() > 1e-4


def test_these_problems_have_ties():
    for name in ("equal", "ties across kinds", "gaussian belief", "two rounds"):
        assert enumerate_runs(*SHORT[name]).ties > 0.1
    for name in ("three equal", "kinds in turn", "ucb1, equal", "wrong and equal", "gaussian belief of ties"):
        assert enumerate_runs(*LONG[name]).ties > 0.1


def test_the_fractions_themselves():
    """Two uniform arms: E max is 2/3, and after a win of the first it is the better one with probability 2/3."""
    assert mean_of_best((1, 1), (1, 1)) == pytest.approx(2 / 3)
    assert probability_of_best(0, ((1, 1), (1, 1))) == 0.5
    assert float(probability_of_best(0, ((2, 1), (1, 1)))) == pytest.approx(2 / 3)
