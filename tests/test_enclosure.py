"""`optimal_regret`: the least regret of any policy, exactly or between two ends."""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.enclosure import Enclosure

GAUSSIAN = br.GaussianBandit([1.0, 0.0, 0.0], prior_width=1.0, reward_noise=1.0)
COINS = br.GaussianBandit([1.0, 0.0], prior_width=1.0, reward_noise=1.0, noise_kind="rademacher")
TWO = br.BernoulliBandit([1, 2], [1, 1])
LINEAR = br.LinearBandit(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
MODELS = {
    "heteroscedastic": br.GaussianBandit([0.5, 0.0], prior_width=[1.0, 2.0], reward_noise=[1.0, 0.5]),
    "bernoulli": br.BernoulliBandit([1, 1, 1, 2], [1, 1, 1, 3]),
    "poisson": br.PoissonBandit([2, 2], [1, 1]),
    "exponential": br.ExponentialBandit([4, 4], [3, 3]),
    "normal-gamma": br.NormalGammaBandit([0, 0], prior_pulls=1, shape=3, scale=2),
    "linear": LINEAR,
    "mixture": br.MixtureBandit([0.3, 0.7], [TWO, br.BernoulliBandit([1, 3], [5, 9])]),
}
HORIZON, STANDARD_ERRORS = 30, 4.0


def found(bandit, horizon=6, runs=100, **options):
    return br.optimal_regret(bandit, horizon=horizon, runs=runs, progress=False, **options)


def test_where_the_dynamic_programme_reaches_both_ends_are_the_least_regret():
    least, known = found(TWO), br.bayes_optimal_regret(TWO, horizon=6)
    assert least.exact
    assert least.upper - least.lower == pytest.approx(2.0 * known.error, abs=1e-15)
    assert 0.5 * (least.lower + least.upper) == pytest.approx(known.regret, abs=1e-14)
    assert (least.policy, least.how, least.lower_from) == ("bayes-optimal", "dynamic programme", "dynamic programme")
    assert least.table()[1][0] == least.table()[1][1]
    assert repr(least) == f"<least Bayes regret: {least.table()[1][0]}>"


def test_given_policies_are_not_those_of_the_programme():
    least = found(TWO, policies=["greedy", "ucb1"], exact=True)
    regrets = {name: br.exact_regret(TWO, name, horizon=6) for name in ("greedy", "ucb1")}
    best = min(regrets, key=lambda name: regrets[name].regret)
    assert (least.policy, least.how, least.lower_from) == (best, "computed", "certified_lower")
    assert least.upper == regrets[best].regret + regrets[best].error
    assert least.lower < br.bayes_optimal_regret(TWO, horizon=6).regret < least.upper


def test_gaussian_ends_are_a_certified_bound_and_an_exact_regret():
    least = found(GAUSSIAN)
    assert least.lower == br.bounds.certified_lower(GAUSSIAN, horizon=6).value
    exact = br.exact_regret(GAUSSIAN, br.Gittins(discount=5 / 6), horizon=6)
    assert least.upper == exact.regret + exact.error
    assert least.ratio == least.upper / least.lower
    assert 1.0 < least.ratio < 1.3
    assert least.stderr == 0.0


def test_policies_are_simulated_where_that_is_wanted():
    least = found(GAUSSIAN, exact=False, seed=3)
    simulated = br.simulate(GAUSSIAN, br.Gittins(discount=5 / 6), horizon=6, runs=100, seed=3)["gittins"]
    assert (least.upper, least.stderr, least.how) == (simulated.mean, simulated.stderr, "simulated")
    assert "± one standard error" in least.summary()
    other = found(GAUSSIAN, exact=False, seed=4)
    assert other.upper != least.upper
    assert other.lower == least.lower


def test_a_single_round_is_greedy():
    least = found(GAUSSIAN, horizon=1)
    assert least.policy == "greedy"
    assert least.lower == pytest.approx(least.upper, rel=1e-6), "the greedy choice is the best one"


@pytest.mark.parametrize("bandit", [br.GaussianBandit([1.0], 1.0, 1.0), br.BernoulliBandit([1], [1])], ids=["g", "b"])
def test_a_single_arm_has_no_regret(bandit):
    least = found(bandit)
    assert (least.lower, least.upper, least.ratio) == (0.0, 0.0, 1.0)


def test_without_a_lower_bound_the_ratio_is_unknown():
    least = found(COINS)
    assert (least.lower, least.lower_from, least.ratio) == (0.0, "none", math.inf)
    assert least.upper > 0.0
    assert least.table()[1][2] == ""
    assert least.records()[0]["ratio"] is None
    assert "no lower bound is known here" in least.summary()


def test_a_bandit_on_which_no_policy_runs_asks_for_one(monkeypatch):
    monkeypatch.setattr("bayesregret.enclosure._best_known", lambda bandit, horizon: iter(()))
    with pytest.raises(ValueError, match="policies must be given for a gaussian bandit"):
        found(GAUSSIAN)


@pytest.mark.parametrize(("field", "value"), [("horizon", 0), ("runs", 99), ("seed", -1)])
def test_bad_input_names_the_field(field, value):
    with pytest.raises(ValueError, match=f"{field} must be"):
        found(GAUSSIAN, **{field: value})


@pytest.mark.compiled
@pytest.mark.parametrize("name", MODELS)
def test_the_ends_enclose_the_least_regret_of_every_model(name):
    bandit = MODELS[name]
    least = found(bandit, HORIZON, runs=2_000)
    assert isinstance(least, Enclosure)
    assert least.lower > 0.0
    assert least.lower < least.upper + STANDARD_ERRORS * least.stderr
    rivals = br.simulate(bandit, ["thompson", "bayes-ucb", "greedy"], horizon=HORIZON, runs=2_000, seed=9)
    for rival in rivals.policies.values():
        error = math.hypot(rival.stderr, least.stderr)
        assert rival.mean + STANDARD_ERRORS * rival.stderr > least.lower
        assert rival.mean + STANDARD_ERRORS * error > least.upper, "no usual policy is better than the upper end"
    # The control: a lower end of twice the size would be above some policy.
    assert name == "linear" or 2.0 * least.lower > min(rival.mean for rival in rivals.policies.values())
