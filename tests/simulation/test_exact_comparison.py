"""Simulated regret against the exact one."""

import json
import math

import pytest

from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, exact_regret, simulate
from bayesregret.simulation.estimates import Estimate
from bayesregret.simulation.exact_comparison import ExactComparison, RegretDifference
from problems import BANDITS

SMALL = {"horizon": 5, "runs": 200, "seed": 3}


def deviation(mean, stderr, exact=1.0, error=0.0, runs=1000):
    return RegretDifference(Estimate(mean, stderr), exact, error, runs)


# --- on real runs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_a_simulation_agrees(kind):
    result = simulate(BANDITS[kind], [BayesUCB(), UCB1(delta=0.3)], **SMALL)
    against = result.against_exact()
    assert list(against) == list(result) == ["bayes-ucb", "ucb1"]
    for name, policy in (("bayes-ucb", BayesUCB()), ("ucb1", UCB1(delta=0.3))):
        exact, found = exact_regret(BANDITS[kind], policy, horizon=5), against[name]
        assert (found.exact, found.error) == (exact.regret, exact.error)
        assert found.z == pytest.approx((result[name].mean - exact.regret) / result[name].stderr, rel=1e-6)
        assert found.by_chance
    assert against.summary().startswith("simulated and exact regret agree, at most ")


def test_a_wrong_regret_is_noticed():
    """The control: runs of one policy, exact regrets of another."""
    bandit = BANDITS["bernoulli"]
    result = simulate(bandit, BayesUCB(), horizon=20, runs=200, seed=3)
    wrong = result.against_exact({"bayes-ucb": exact_regret(bandit, UCB1(), horizon=20)})
    assert not wrong["bayes-ucb"].by_chance
    assert "differ by more than chance: bayes-ucb is -" in wrong.summary()


def test_each_policy_is_computed_as_it_ran():
    """Two policies with the same name and different priors are computed separately."""
    other = BernoulliBandit([5.0, 1.0, 1.0, 1.0], [1.0, 5.0, 5.0, 5.0])
    result = simulate(BANDITS["bernoulli"], [BayesUCB(), BayesUCB(prior=other)], horizon=20, runs=200, seed=3)
    against = result.against_exact()
    assert list(against) == ["bayes-ucb", "bayes-ucb(prior=bernoulli)"]
    assert against["bayes-ucb"].exact != against["bayes-ucb(prior=bernoulli)"].exact
    assert all(found.by_chance for found in against.deviations.values())


@pytest.mark.parametrize("kind", ["linear", "rademacher"])
def test_others_have_no_exact_regret(kind):
    result = simulate(BANDITS[kind], BayesUCB(), horizon=2, runs=2, seed=0)
    with pytest.raises(ValueError, match="for an exact regret"):
        result.against_exact()


@pytest.mark.parametrize(
    ("exact", "said"),
    [
        ({}, "exact must have bayes-ucb, got nothing"),
        ({"ucb1": {}}, "exact must have bayes-ucb, got ucb1"),
        ({"bayes-ucb": {"horizon": 4}}, "but bayes-ucb is not"),
        ({"bayes-ucb": {"delta": 0.3}}, "but bayes-ucb is not"),
        ({"bayes-ucb": {"bandit": BernoulliBandit([1], [1])}}, "but bayes-ucb is not"),
    ],
)
def test_exact_regrets_of_something_else_are_refused(exact, said):
    result = simulate(BANDITS["bernoulli"], BayesUCB(), horizon=5, runs=2, seed=0)
    computed = {
        name: exact_regret(change.pop("bandit", BANDITS["bernoulli"]), BayesUCB(), **{"horizon": 5, **change})
        for name, change in ((name, dict(change)) for name, change in exact.items())
    }
    with pytest.raises(ValueError, match=said):
        result.against_exact(computed)


# --- z and the verdict ----------------------------------------------------------------------------------------------


def test_z_counts_both_errors():
    assert deviation(1.5, 0.3, error=0.4).z == pytest.approx(1.0)
    assert deviation(0.4, 0.2).z == pytest.approx(-3.0)


@pytest.mark.parametrize("stderr", [0.0, math.inf])
def test_without_a_standard_error_there_is_no_z(stderr):
    found = deviation(1.5, stderr)
    assert found.z is None
    assert found.by_chance


@pytest.mark.parametrize(
    ("z", "runs", "by_chance"),
    [
        (3.9, 10**6, True),
        (4.1, 10**6, False),
        (-4.1, 10**6, False),
        (4.1, 20, True),
        (100.0, 2, True),
        (8.0, 20, False),
    ],
)
def test_few_runs_prove_little(z, runs, by_chance):
    assert deviation(1.0 + z, 1.0, runs=runs).by_chance is by_chance


@pytest.mark.parametrize(
    ("deviations", "said"),
    [
        ({"a": deviation(1.1, 0.1)}, "simulated and exact regret agree, at most 1.0 standard errors apart"),
        (
            {"a": deviation(1.1, 0.1), "b": deviation(2.0, 0.1), "c": deviation(1.0, 0.0)},
            "simulated and exact regret differ by more than chance: b is +10.0 standard errors off; "
            "nothing to compare for c: the regret is the same in all runs",
        ),
        (
            {"a": deviation(0.5, 0.1)},
            "simulated and exact regret differ by more than chance: a is -5.0 standard errors off; "
            "rare large regrets that these runs missed can cause that: try more runs",
        ),
        (
            {"a": deviation(0.5, math.inf, runs=1), "b": deviation(2.0, math.inf, runs=1)},
            "a single run has no standard error to compare with",
        ),
        (
            {"a": deviation(0.0, 0.0), "b": deviation(0.0, 0.0)},
            "nothing to compare for a and b: the regret is the same in all runs",
        ),
    ],
)
def test_the_verdict_in_words(deviations, said):
    assert ExactComparison(deviations).summary() == said


def test_the_table_and_plain_data():
    against = ExactComparison({"a": deviation(75.74, 0.30, 75.69691254, 8e-8), "b": deviation(0.0, 0.0, 1e-12, 1e-9)})
    headings, first, second = against.table()
    assert headings == ["policy", "exact regret", "error", "simulated minus exact", "z"]
    assert first == ["a", "75.6969125", "8e-08", "+0.04 ± 0.30", "+0.14"]
    assert second[-1] == "none"
    assert len(against) == 2
    assert str(against) == repr(against)
    assert str(against).splitlines()[-1] == against.summary()
    data = against.to_dict()
    assert data["a"] == {"exact": 75.69691254, "error": 8e-8, "z": pytest.approx(0.1436, abs=1e-4)}
    assert data["b"]["z"] is None
    json.dumps(data, allow_nan=False)


def test_one_arm():
    against = simulate(GaussianBandit([0.3], 1, 1), BayesUCB(), horizon=3, runs=5, seed=0).against_exact()
    assert against["bayes-ucb"].z is None
    assert against.summary() == "nothing to compare for bayes-ucb: the regret is the same in all runs"
