"""Properties of exact regret on any problem: sums, orders, invariances and limits."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

import bayesregret as br

G, B = br.GaussianBandit, br.BernoulliBandit
compiled = pytest.mark.compiled

PROBLEMS = {
    "gaussian": (G([0.5, 0.0, 0.2], 1.0, 1.0), br.BayesUCB()),
    "gaussian, equal": (G([0.0] * 4, 1.0, 0.7), br.BayesUCB(delta=0.05)),
    "gaussian, ucb1": (G([0.5, 0.0, 0.2], 1.0, 1.0), br.UCB1()),
    "gaussian, wrong": (G([0.5, 0.0, 0.2], 1.0, 1.0), br.BayesUCB(prior=G([0.0, 0.3, 0.0], 1.5, 1.0))),
    "bernoulli": (B([1, 2, 1], [1, 3, 2]), br.BayesUCB()),
    "bernoulli, equal": (B([1] * 4, [1] * 4), br.BayesUCB(delta=0.05)),
    "bernoulli, ucb1": (B([1, 2, 1], [1, 3, 2]), br.UCB1()),
    "bernoulli, wrong": (B([1, 2, 1], [1, 3, 2]), br.BayesUCB(prior=B([1, 1, 2], [1, 1, 1]))),
}
BEST = {"gaussian": 2e-5, "bernoulli": 2e-4}  # accuracy of the probability of pulling the best arm
EVERY = [pytest.param(*problem, id=name) for name, problem in PROBLEMS.items()]


def density(x):
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def positive_part(mean, deviation):
    """E[X^+] for a normal X."""
    u = mean / deviation
    return deviation * (u * float(ndtr(u)) + density(u))


# --- sums and orders -----------------------------------------------------------------------------------------------


def check_sums_and_orders(found, horizon):
    assert found.curve.shape == found.curve_error.shape == (horizon,)
    assert found.regret == found.curve[-1]
    assert found.error == found.curve_error[-1]
    assert found.imbalance <= 1e-10 * horizon
    assert found.pulls.sum() == pytest.approx(horizon, rel=1e-10)
    assert (found.pulls > -1e-10).all()
    assert (found.curve_error >= 0.0).all()
    assert (np.diff(found.curve_error) >= -1e-14).all()
    assert (np.diff(found.curve, prepend=0.0) >= -1e-11).all()


@pytest.mark.parametrize(("bandit", "policy"), EVERY)
@compiled
def test_sums_and_orders(bandit, policy):
    check_sums_and_orders(br.exact_regret(bandit, policy, horizon=25), 25)


@pytest.mark.parametrize("name", ["gaussian", "gaussian, ucb1", "bernoulli", "bernoulli, ucb1"])
def test_sums_and_orders_of_few_rounds(name):
    check_sums_and_orders(br.exact_regret(*PROBLEMS[name], horizon=4), 4)


@pytest.mark.parametrize(("bandit", "policy"), EVERY)
@compiled
@pytest.mark.slow
@pytest.mark.compiled
def test_the_best_arm_is_found_more_often(bandit, policy):
    found = br.exact_regret(bandit, policy, horizon=25)
    assert found.best_chance.shape == (25,)
    assert ((found.best_chance > 0.0) & (found.best_chance < 1.0)).all()
    assert found.best_chance[-1] > found.best_chance[0]  # something was learnt
    assert found.best_share == pytest.approx(found.best_chance.mean())


@pytest.mark.parametrize(("bandit", "policy"), EVERY)
@compiled
@pytest.mark.slow
@pytest.mark.compiled
def test_a_shorter_horizon_is_the_beginning_of_a_longer_one(bandit, policy):
    long = br.exact_regret(bandit, policy, horizon=20, delta=policy.delta or 0.1)
    short = br.exact_regret(bandit, policy, horizon=7, delta=policy.delta or 0.1)
    assert np.abs(long.curve[:7] - short.curve).max() <= 1e-10
    assert np.abs(long.best_chance[:7] - short.best_chance).max() <= BEST[bandit.kind]


@compiled
def test_delta_is_one_over_the_horizon_unless_given():
    bandit, _ = PROBLEMS["gaussian"]
    by_itself = br.exact_regret(bandit, br.BayesUCB(), horizon=8)
    for given in (
        br.exact_regret(bandit, br.BayesUCB(), horizon=8, delta=1 / 8),
        br.exact_regret(bandit, br.BayesUCB(delta=1 / 8), horizon=8),
        br.exact_regret(bandit, br.BayesUCB(delta=1 / 8), horizon=8, delta=1 / 8),
    ):
        assert np.abs(by_itself.curve - given.curve).max() <= 1e-13
        assert given.delta == by_itself.delta == 1 / 8
    assert br.exact_regret(bandit, br.BayesUCB(), horizon=8, delta=1 / 4).regret != pytest.approx(by_itself.regret)


# --- one round -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [br.BayesUCB(), br.UCB1()], ids=["bayes-ucb", "ucb1"])
def test_one_round(policy):
    """The first arm of the highest index is taken: its own prior mean against the mean of the best."""
    found = br.exact_regret(G([0.3, 0.3, 0.0], 2.0, 1.0), policy, horizon=1)
    assert found.pulls.tolist() == pytest.approx([1.0, 0.0, 0.0], abs=1e-11)
    two = br.exact_regret(G([0.3, -0.4], 2.0, 1.0), policy, horizon=1)
    assert two.regret == pytest.approx(positive_part(-0.7, 2.0 * math.sqrt(2.0)), rel=1e-11)
    assert two.best_chance[0] == pytest.approx(float(ndtr(0.7 / math.sqrt(8.0))), rel=2e-5)


@pytest.mark.parametrize(("arms", "best"), [(1, 0.0), (2, 1 / math.sqrt(math.pi)), (3, 1.5 / math.sqrt(math.pi))])
@pytest.mark.parametrize("policy", [br.BayesUCB(delta=0.1), br.UCB1(delta=0.1)], ids=["bayes-ucb", "ucb1"])
def test_first_round_of_equal_arms(arms, best, policy):
    """The mean of the best of 1, 2, 3 standard normals."""
    found = br.exact_regret(G([5.0] * arms, 3.0, 1.0), policy, horizon=3)
    assert found.curve[0] == pytest.approx(3.0 * best, rel=1e-11, abs=1e-11)
    assert found.best_chance[0] == pytest.approx(1.0 / arms, rel=2e-5)


def test_first_round_of_bernoulli_arms():
    """The best of three uniform arms has mean 3/4."""
    for policy in (br.BayesUCB(delta=0.1), br.UCB1(delta=0.1)):
        found = br.exact_regret(B([1] * 3, [1] * 3), policy, horizon=3)
        assert found.curve[0] == pytest.approx(0.25, rel=1e-11)


def test_first_round_is_on_the_highest_index():
    """Not on the highest mean: the width of what the policy believes counts."""
    found = br.exact_regret(G([0.0, 0.4], 1.0, 1.0), br.BayesUCB(prior=G([0.5, 0.2], 1.0, 1.0)), horizon=1, delta=0.1)
    assert found.pulls.tolist() == pytest.approx([1.0, 0.0], abs=1e-11)
    assert found.regret == pytest.approx(positive_part(0.4, math.sqrt(2.0)), rel=1e-11)


def test_one_arm_costs_nothing():
    for bandit in (G([0.3], 1.0, 2.0), B([2.0], [3.0])):
        for policy in (br.BayesUCB(), br.UCB1()):
            found = br.exact_regret(bandit, policy, horizon=4)
            assert np.abs(found.curve).max() <= 1e-10
            assert (found.curve_error >= 0.0).all()
            assert found.best_chance.tolist() == pytest.approx([1.0] * 4, rel=1e-10)


# --- invariances ---------------------------------------------------------------------------------------------------

MEANS = np.array([0.4, 0.0, 0.0, -0.3])
BELIEFS = {
    "right": lambda means, width, noise: br.BayesUCB(delta=0.03),
    "ucb1": lambda means, width, noise: br.UCB1(delta=0.03),
    "wrong mean": lambda means, width, noise: br.BayesUCB(delta=0.03, prior=G(means[::-1], width, noise)),
    "wrong width": lambda means, width, noise: br.BayesUCB(delta=0.03, prior=G(means, 1.6 * width, noise)),
}


def regret_of(belief, means, width=0.8, noise=1.1, horizon=10):
    return br.exact_regret(G(means, width, noise), BELIEFS[belief](means, width, noise), horizon=horizon)


@pytest.mark.parametrize("belief", BELIEFS)
@compiled
def test_a_shift_of_all_means_changes_nothing(belief):
    here, there = regret_of(belief, MEANS), regret_of(belief, MEANS + 37.5)
    assert np.abs(here.curve - there.curve).max() <= 1e-10
    assert np.abs(here.pulls - there.pulls).max() <= 1e-10


@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("factor", [1e-6, 8.0, 1e9])
@compiled
def test_other_units_scale_the_regret(belief, factor):
    here, there = regret_of(belief, MEANS), regret_of(belief, factor * MEANS, factor * 0.8, factor * 1.1)
    assert np.abs(here.curve - there.curve / factor).max() <= 1e-10
    assert np.abs(here.pulls - there.pulls).max() <= 1e-10


@pytest.mark.parametrize("belief", ["right", "ucb1"])
@compiled
def test_arms_may_come_in_any_order(belief):
    order = [3, 1, 0, 2]
    here, there = regret_of(belief, MEANS), regret_of(belief, MEANS[order])
    assert abs(here.regret - there.regret) <= 1e-10
    apart = [0, 3]  # the others tie, and the first of them is pulled first
    assert here.pulls[apart] == pytest.approx(there.pulls[[2, 0]], rel=1e-10)
    assert here.pulls[[1, 2]].sum() == pytest.approx(there.pulls[[1, 3]].sum(), rel=1e-10)


@compiled
def test_bernoulli_arms_may_come_in_any_order():
    """No two of these ever tie."""
    alpha, beta, order = np.array([1.1, 2.3, 0.7]), np.array([1.3, 2.9, 1.7]), [2, 0, 1]
    here = br.exact_regret(B(alpha, beta), br.BayesUCB(), horizon=20)
    there = br.exact_regret(B(alpha[order], beta[order]), br.BayesUCB(), horizon=20)
    assert np.abs(here.curve - there.curve).max() <= 1e-10
    assert np.abs(here.pulls[order] - there.pulls).max() <= 1e-10


@compiled
def test_rewards_and_failures_change_places_with_the_arms():
    """Not an invariance: an arm that fails is not one that wins. A control for the one above."""
    alpha, beta = np.array([1.1, 2.3, 0.7]), np.array([1.3, 2.9, 1.7])
    here = br.exact_regret(B(alpha, beta), br.BayesUCB(), horizon=20)
    there = br.exact_regret(B(beta, alpha), br.BayesUCB(), horizon=20)
    assert abs(here.regret - there.regret) > 1e-3


@pytest.mark.parametrize("below", [15.0, 60.0, 1e6])
@compiled
def test_an_arm_far_below_changes_nothing(below):
    here = br.exact_regret(G([0.4, 0.0], 1.0, 1.0), br.BayesUCB(delta=0.05), horizon=15)
    there = br.exact_regret(G([0.4, 0.0, -below], 1.0, 1.0), br.BayesUCB(delta=0.05), horizon=15)
    assert np.abs(here.curve - there.curve).max() <= 1e-10
    assert there.pulls == pytest.approx([*here.pulls, 0.0], abs=1e-10)


@compiled
def test_an_arm_near_by_changes_much():
    """The control for the one above."""
    here = br.exact_regret(G([0.4, 0.0], 1.0, 1.0), br.BayesUCB(delta=0.05), horizon=15)
    there = br.exact_regret(G([0.4, 0.0, -3.0], 1.0, 1.0), br.BayesUCB(delta=0.05), horizon=15)
    assert abs(here.regret - there.regret) > 1e-3


@pytest.mark.parametrize("arms", [2, 3, 6])
@compiled
def test_equal_arms(arms):
    """Earlier ones are pulled at least as often; UCB1 has no order once each was pulled."""
    found = br.exact_regret(G([0.2] * arms, 1.0, 1.0), br.BayesUCB(), horizon=3 * arms)
    assert (np.diff(found.pulls) < 1e-10).all()
    found = br.exact_regret(G([0.2] * arms, 1.0, 1.0), br.UCB1(), horizon=3 * arms)
    assert np.abs(found.pulls - 3.0).max() <= 1e-10


@compiled
def test_means_that_hardly_differ():
    """Only the order of the first pulls hangs on it."""
    equal = br.exact_regret(G([0.0, 0.0], 1.0, 1.0), br.BayesUCB(), horizon=20)
    second = br.exact_regret(G([0.0, 1e-12], 1.0, 1.0), br.BayesUCB(), horizon=20)
    assert np.abs(equal.curve - second.curve).max() <= 1e-10
    assert second.pulls == pytest.approx(equal.pulls[::-1], abs=1e-9)


@pytest.mark.parametrize("gap", [1e-15, 1e-11, 1e-8, 1e-5])
@compiled
def test_means_that_differ_a_little(gap):
    equal = br.exact_regret(G([0.0, 0.0, 0.0], 1.0, 1.0), br.BayesUCB(), horizon=12)
    found = br.exact_regret(G([0.0, gap, 2 * gap], 1.0, 1.0), br.BayesUCB(), horizon=12)
    assert abs(equal.regret - found.regret) <= 20 * gap + 1e-10
    assert found.imbalance <= 1e-9


@compiled
def test_a_wrong_prior_that_hardly_differs():
    """A slightly different pseudo-count uses another table, which must agree."""
    bandit = G([0.4, 0.0], 1.0, 1.0)
    right = br.exact_regret(bandit, br.BayesUCB(), horizon=10)
    found = br.exact_regret(bandit, br.BayesUCB(prior=G([0.4, 0.0], 1.0 + 1e-9, 1.0)), horizon=10)
    assert abs(right.regret - found.regret) <= 1e-8
    rademacher = br.BayesUCB(prior=G([0.4, 0.0], 1.0, 1.0, "rademacher"))
    assert br.exact_regret(bandit, rademacher, horizon=10).regret == pytest.approx(right.regret, rel=1e-12)


# --- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pseudo_count", [1e4, 1e6, 1e8, 1e10, 1e12])
@compiled
def test_narrow_priors_teach_nothing(pseudo_count):
    """All arms are about equal to the first one pulled; learning gains are of the order of sqrt(n / pseudo_count)."""
    width, horizon = 1.0 / math.sqrt(pseudo_count), 12
    found = br.exact_regret(G([0.0, 0.0], width, 1.0), br.BayesUCB(), horizon=horizon)
    nothing_learnt = horizon * width / math.sqrt(math.pi)
    assert abs(found.regret / nothing_learnt - 1.0) <= 2.0 * math.sqrt(horizon / pseudo_count) + 1e-9
    assert found.regret < nothing_learnt * (1.0 + 1e-10)
    assert found.imbalance <= 1e-8


def without_noise(gap, width, z, horizon):
    """Two arms, the second `gap` below, when one pull reveals a mean: the second is tried if its index is higher."""
    c = z * width - gap  # the second arm's first index, measured from the first arm's mean
    stay, _ = quad(lambda x: density(x / width) / width * positive_part(-gap - x, width), c, 12 * width)
    try_other, _ = quad(lambda x: density(x / width) / width * positive_part(x + gap, width), -12 * width, c)
    return positive_part(-gap, math.sqrt(2.0) * width) + (horizon - 1) * stay + try_other


@pytest.mark.parametrize("noise", [1e-2, 1e-3, 1e-5, 1e-8])
@compiled
def test_little_noise_tells_all_at_once(noise):
    limit = without_noise(0.5, 1.0, math.sqrt(2.0 * math.log(20.0)), 9)
    found = br.exact_regret(G([0.5, 0.0], 1.0, noise), br.BayesUCB(delta=0.05), horizon=9)
    assert abs(found.regret - limit) <= 10 * noise + 1e-9
    assert found.error <= 1e-8


def test_bold_policies_take_turns():
    """The width decides alone: four rounds are two of each arm."""
    for bandit in (G([0.3, 0.0], 1.0, 1.0), B([2.0, 2.0], [2.0, 2.0])):
        for policy in (br.BayesUCB(delta=1e-300), br.UCB1(delta=1e-300)):
            found = br.exact_regret(bandit, policy, horizon=4)
            assert found.pulls == pytest.approx([2.0, 2.0], abs=1e-4)


@compiled
def test_greedy_policies_are_a_limit():
    for policy in (br.BayesUCB, br.UCB1):
        bandit = G([0.3, 0.0], 1.0, 1.0)
        near, nearer = (br.exact_regret(bandit, policy(delta=1.0 - e), horizon=10) for e in (1e-8, 1e-14))
        assert abs(near.regret - nearer.regret) <= 1e-3  # widths are of the order of the root
        assert near.error <= 1e-8


@compiled
@pytest.mark.slow
@pytest.mark.compiled
def test_ucb1_is_the_limit_of_wide_beliefs():
    """A policy that believes in ever wider priors pulls every arm once and then does what UCB1 does."""
    bandit = G([0.3, 0.0], 1.0, 1.0)
    limit = br.exact_regret(bandit, br.UCB1(delta=0.1), horizon=6)
    off = []
    for width in (10.0, 20.0, 40.0):
        belief = br.BayesUCB(delta=0.1, prior=G([0.0, 0.0], width, 1.0))
        off.append(abs(br.exact_regret(bandit, belief, horizon=6).regret - limit.regret))
    assert off[1] < 0.3 * off[0]
    assert off[2] < 0.3 * off[1]
    assert off[2] < 1e-3


@compiled
def test_more_is_lost_with_a_wrong_prior():
    bandit = G([0.5, 0.0], 1.0, 1.0)
    right = br.exact_regret(bandit, br.BayesUCB(delta=0.1), horizon=15)
    wrong = br.exact_regret(bandit, br.BayesUCB(delta=0.1, prior=G([-1.0, 1.5], 1.0, 1.0)), horizon=15)
    assert wrong.regret > right.regret + 0.1
