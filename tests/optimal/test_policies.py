"""Gittins and BayesOptimal at play: against the computed optimum, against others, and by all arms in every round."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, empty_stats
from bayesregret.policies.gittins import gittins_now
from optimal.fractions_by_hand import best_reward, reward_of
from optimal.test_bayes_optimal import chooser, make_stats

BERNOULLI = br.BernoulliBandit([1, 2, 1, 0.5], [1, 1, 3, 0.5])
GAUSSIAN = br.GaussianBandit([0.3, 0.0, 0.0, -0.2], prior_width=1.0, reward_noise=1.5)
HETEROSCEDASTIC = br.GaussianBandit([0.3, 0.0, 0.0, -0.2], prior_width=[0.5, 1.0, 1.0, 2.0], reward_noise=1.5)
STANDARD_ERRORS = 4.0


def gittins_chooser(bandit, horizon):
    """Without upper bounds: the highest index of all arms in every round."""
    settings = br.Gittins().settings(bandit, horizon)

    def choose(pulls, wins, round_):
        stats = make_stats(pulls, wins)
        return int(np.argmax([gittins_now(settings, bandit.model, stats, a, round_) for a in range(bandit.arms)]))

    return choose


@pytest.mark.parametrize(
    "bandit", [BERNOULLI, GAUSSIAN, HETEROSCEDASTIC], ids=["bernoulli", "gaussian", "heteroscedastic"]
)
def test_upper_bounds_change_no_decision(bandit):
    horizon, rng = 9, np.random.default_rng(2)
    settings = br.Gittins().settings(bandit, horizon)
    looks_at_all = gittins_chooser(bandit, horizon)
    looked_up = []
    for _ in range(20):
        stats = empty_stats(bandit.arms, 0, br.Gittins().scratch(bandit))
        for round_ in range(1, horizon + 3):  # an agent may go on after the horizon
            arm, _ = choose_arm(settings, bandit.model, stats, round_, None)
            assert arm == looks_at_all(stats.counts, stats.totals, round_)
            looked_up.append(arm)
            reward = float(rng.random() < 0.5) if bandit is BERNOULLI else float(rng.normal())
            add_reward(stats, arm, reward)
    assert len(set(looked_up)) >= 3


def test_rewards_from_elsewhere():
    """More rewards than rounds: the table ends at the horizon, and so do the rounds that an arm is given."""
    settings = br.Gittins().settings(BERNOULLI, 6)
    index = gittins_now(settings, BERNOULLI.model, make_stats((4, 0, 0, 7), (3, 0, 0, 2)), 0, 1)
    assert index == pytest.approx(br.gittins_index(BERNOULLI, 0, pulls=4, total=3, rounds=2), abs=1e-9)
    beyond = gittins_now(settings, BERNOULLI.model, make_stats((4, 0, 0, 7), (3, 0, 0, 2)), 3, 1)
    assert beyond == pytest.approx(2.5 / 8.0)


def test_gittins_is_nearly_the_best():
    """In fractions: the index is not optimal over a finite horizon, but within a thousandth here; greedy is not."""
    alpha, beta, horizon = [1, 0.5], [1.5, 0.5], 8
    bandit = br.BernoulliBandit(alpha, beta)
    best = best_reward(alpha, beta, horizon)

    def greedy(pulls, wins, round_):
        return int(np.argmax([(alpha[a] + wins[a]) / (alpha[a] + beta[a] + pulls[a]) for a in (0, 1)]))

    lost = best - reward_of(gittins_chooser(bandit, horizon), alpha, beta, horizon)
    assert 0 <= lost < best / 1000
    assert best - reward_of(greedy, alpha, beta, horizon) > best / 1000


def is_above(regret, error, optimum):
    return regret > optimum - STANDARD_ERRORS * error


@pytest.mark.compiled
def test_simulated_regret_is_the_computed_one():
    bandit, horizon = br.BernoulliBandit([1, 2], [1, 1]), 60
    best = br.simulate(bandit, br.BayesOptimal(), horizon=horizon, runs=30_000, seed=11)["bayes-optimal"]
    assert abs(best.mean - br.bayes_optimal_regret(bandit, horizon=horizon).regret) < STANDARD_ERRORS * best.stderr
    # The control: the optimum of a shorter horizon is noticed.
    assert abs(best.mean - br.bayes_optimal_regret(bandit, horizon=45).regret) > STANDARD_ERRORS * best.stderr


@pytest.mark.compiled
def test_late_rewards():
    """Every state that late rewards can leave is one with a decision."""
    bandit = br.BernoulliBandit([1, 1], [1, 1])
    prompt = br.simulate(bandit, br.BayesOptimal(), horizon=40, runs=4_000, seed=3)["bayes-optimal"]
    late = br.simulate(bandit, br.BayesOptimal(), horizon=40, runs=4_000, seed=3, delay=3, batch=4)["bayes-optimal"]
    assert late.mean > prompt.mean + STANDARD_ERRORS * prompt.stderr


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("priors", [([1, 2], [1, 1]), ([1, 0.5, 2], [1, 0.5, 1])], ids=["two arms", "three arms"])
def test_no_policy_is_better(priors):
    bandit, horizon = br.BernoulliBandit(*priors), 50
    others = [
        br.Gittins(),
        br.Thompson(),
        br.BayesUCB(),
        br.QuantileUCB(),
        br.KLUCB(),
        br.MOSS(),
        br.Greedy(),
        br.UCB1(),
    ]
    result = br.simulate(bandit, [br.BayesOptimal(), *others], horizon=horizon, runs=50_000, seed=11)
    optimum = br.bayes_optimal_regret(bandit, horizon=horizon).regret
    for policy in others:
        found, more = result[policy.name], result.paired(policy.name, "bayes-optimal")
        assert is_above(found.mean, found.stderr, optimum)
        assert more.mean > (-1.0 if policy.name == "gittins" else 1.0) * STANDARD_ERRORS * more.stderr
    # The control: a tenth less than the best is noticed.
    best = result["bayes-optimal"]
    assert not is_above(0.9 * best.mean, best.stderr, optimum)


def test_an_agent():
    agent = br.Gittins().start(GAUSSIAN, horizon=5)
    assert agent.select() == 0
    agent.update(0, reward=-3.0)
    assert agent.select() == 1
    best = br.BayesOptimal().start(br.BernoulliBandit([1, 1, 1], [1, 1, 1]), horizon=5)
    assert best.select() == 0
    best.update(0, reward=0)
    assert best.select() == 1


@pytest.mark.parametrize(
    ("bandit", "horizon", "message"),
    [
        (BERNOULLI, 5001, r"^horizon must be at most 5000 for gittins on a bernoulli bandit and a discount of 0\.9998"),
        (GAUSSIAN, 10**7 + 1, r"^horizon must be at most 10000000 for gittins on a gaussian bandit and a discount of "),
        (GAUSSIAN, None, r"^horizon or discount must be given for gittins$"),
        (
            br.LinearBandit([[1.0, 0.0]], [0, 0], prior_width=1, reward_noise=1),
            5,
            r"^bandit must be gaussian or bernoulli for gittins, got a linear one$",
        ),
    ],
)
def test_what_gittins_refuses(bandit, horizon, message):
    with pytest.raises(ValueError, match=message):
        br.Gittins().settings(bandit, horizon)


def test_a_belief_of_another_kind():
    """Gaussian beliefs about rewards of 0 and 1."""
    bandit = br.BernoulliBandit([1, 1], [1, 1])
    policy = br.Gittins(prior=br.GaussianBandit([0.5, 0.6], 0.3, 0.5))
    assert chooser_of_belief(policy, bandit) == 1


def chooser_of_belief(policy, bandit):
    settings, belief = policy.settings(bandit, 6), policy.belief(bandit)
    stats = empty_stats(bandit.arms, 0, policy.scratch(bandit))
    return choose_arm(settings, belief, stats, 1, None)[0]


def test_names():
    assert br.Policy.classes["gittins"] is br.Gittins
    assert br.Policy.classes["bayes-optimal"] is br.BayesOptimal
    assert chooser(br.BayesOptimal(), br.BernoulliBandit([1, 1], [1, 1]), 3)((1, 0), (0, 0), 2) == 1
