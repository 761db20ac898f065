"""The best play against all decision trees, in fractions, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import choose_arm, empty_stats
from exact.bernoulli.enumeration import mean_of_best
from optimal.fractions_by_hand import best_of_all_trees, best_reward, exact, reward_of

B = br.BernoulliBandit
PRIORS = {
    "two equal": ([1, 1], [1, 1]),
    "two different": ([0.5, 2.0], [1.5, 3.0]),
    "one almost known": ([1, 50], [1, 40]),
    "three equal": ([1, 1, 1], [1, 1, 1]),
    "three different": ([1, 0.5, 2], [2, 0.5, 1.25]),
}


def make_stats(pulls, wins):
    stats = empty_stats(len(pulls))
    stats.counts[:], stats.totals[:] = pulls, wins
    return stats


def chooser(policy, bandit, horizon):
    """A policy's decisions in plain Python."""
    settings, belief = policy.settings(bandit, horizon), policy.belief(bandit)
    return lambda pulls, wins, round_: choose_arm(settings, belief, make_stats(pulls, wins), round_, None)[0]


@pytest.mark.parametrize("name", PRIORS)
def test_no_decision_tree_is_better(name):
    alpha, beta = PRIORS[name]
    assert best_reward(alpha, beta, 3) == best_of_all_trees(alpha, beta, 3)


@pytest.mark.parametrize("horizon", [1, 2, 6])
@pytest.mark.parametrize("name", PRIORS)
def test_regret_in_fractions(name, horizon):
    alpha, beta = PRIORS[name]
    found = br.bayes_optimal_regret(B(alpha, beta), horizon=horizon)
    expected = horizon * mean_of_best(exact(alpha), exact(beta)) - float(best_reward(alpha, beta, horizon))
    assert abs(found.regret - float(expected)) <= found.error < 1e-11


@pytest.mark.parametrize("name", PRIORS)
def test_the_policy_earns_what_was_computed(name):
    alpha, beta = PRIORS[name]
    bandit, horizon = B(alpha, beta), 6
    earned = reward_of(chooser(br.BayesOptimal(), bandit, horizon), alpha, beta, horizon)
    best = best_reward(alpha, beta, horizon)
    assert float(best - earned) == pytest.approx(0.0, abs=1e-14)
    # The control: the best play for another horizon earns less, if never much.
    short = chooser(br.BayesOptimal(), bandit, 2)
    assert best - reward_of(short, alpha, beta, horizon) > Fraction(1, 1000) or name == "one almost known"


def test_two_uniform_arms_by_hand():
    """One round: nothing is known. Two: after a win stay, after a loss switch: 1/2 + 1/2 2/3 + 1/2 1/2 = 13/12."""
    assert br.bayes_optimal_regret(B([1, 1], [1, 1]), horizon=1).regret == pytest.approx(2 / 3 - 1 / 2, abs=1e-14)
    assert br.bayes_optimal_regret(B([1, 1], [1, 1]), horizon=2).regret == pytest.approx(4 / 3 - 13 / 12, abs=1e-14)


def test_an_arm_that_never_wins_is_no_arm():
    """Three arms are then two: two programmes, one answer."""
    three = br.bayes_optimal_regret(B([1, 1e-9, 2], [1, 1e3, 2]), horizon=8).regret
    assert three == pytest.approx(br.bayes_optimal_regret(B([1, 2], [1, 2]), horizon=8).regret, abs=1e-9)


def test_the_order_of_arms_does_not_matter():
    alpha, beta = np.array([1, 0.5, 2]), np.array([2, 0.5, 1.25])
    regrets = [
        br.bayes_optimal_regret(B(alpha[order], beta[order]), horizon=6).regret for order in ([0, 1, 2], [2, 0, 1])
    ]
    assert regrets[0] == pytest.approx(regrets[1], abs=1e-13)


def test_one_arm():
    found = br.bayes_optimal_regret(B([2], [1]), horizon=1000)
    assert (found.regret, found.error, found.horizon) == (0.0, 0.0, 1000)
    assert chooser(br.BayesOptimal(), B([2], [1]), 1000)((3,), (1,), 4) == 0


def test_how_it_is_printed():
    assert repr(br.bayes_optimal_regret(B([1, 1], [1, 1]), horizon=2)).startswith("<bayes-optimal: Bayes regret 0.25")


@pytest.mark.parametrize("arms", [2, 3])
def test_after_the_horizon_it_is_greedy(arms):
    """An agent may go on: there is nothing to learn for."""
    choose = chooser(br.BayesOptimal(), B([1] * arms, [1] * arms), 4)
    pulls, wins = (3, 2, 0)[:arms], (1, 2, 0)[:arms]
    assert choose(pulls, wins, 6) == 1


def test_a_prior_of_its_own():
    bandit, believed = B([1, 1], [1, 1]), B([1, 9], [9, 1])
    assert chooser(br.BayesOptimal(), bandit, 5)((0, 0), (0, 0), 1) == 0
    assert chooser(br.BayesOptimal(prior=believed), bandit, 5)((0, 0), (0, 0), 1) == 1


@pytest.mark.parametrize(
    ("bandit", "horizon", "message"),
    [
        (B([1, 1], [1, 1]), 501, r"^horizon must be at most 500 for bayes-optimal with 2 arms, got 501$"),
        (B([1] * 3, [1] * 3), 61, r"^horizon must be at most 60 for bayes-optimal with 3 arms, got 61$"),
        (B([1] * 4, [1] * 4), 5, r"^bandit must have at most 3 arms for bayes-optimal, got 4$"),
        (br.GaussianBandit([0, 0], 1, 1), 5, r"^bandit must be bernoulli for bayes-optimal, got a gaussian one$"),
        (B([1, 1], [1, 1]), 0, r"^horizon must be a whole number, at least 1, got 0$"),
        ("bernoulli", 5, r"^bandit must be a bandit such as GaussianBandit, got 'bernoulli'$"),
    ],
)
def test_what_is_refused(bandit, horizon, message):
    with pytest.raises(ValueError, match=message):
        br.bayes_optimal_regret(bandit, horizon=horizon)


def test_the_policy_refuses_the_same():
    with pytest.raises(ValueError, match=r"^bandit must be bernoulli for bayes-optimal, got a gaussian one$"):
        br.simulate(br.GaussianBandit([0, 0], 1, 1), br.BayesOptimal(), horizon=5, runs=1, seed=0)
    with pytest.raises(ValueError, match=r"^horizon must be given for bayes-optimal$"):
        br.BayesOptimal().start(B([1, 1], [1, 1]))
