"""Bounds are held against the exact regret where there is one, and then only numerical error leaves them undecided."""

import pytest

from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, exact_regret
from bayesregret.audit import audit
from bayesregret.audit.bound_checks import different_priors, why_simulated
from bayesregret.bounds.bound import Formula, Parts
from problems import BANDITS

SMALL = {"horizon": 4, "runs": 2, "delta": 0.2}


def bounds_of(result):
    return {check.name: check for check in result.checks if check.evidence != "watched"}


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_what_is_observed_is_the_exact_regret(kind):
    checks = bounds_of(audit(BANDITS[kind], **SMALL))
    policies = {"bayes-ucb": BayesUCB(0.2), "ucb1": UCB1(0.2)}
    exact = {name: exact_regret(BANDITS[kind], policy, horizon=4) for name, policy in policies.items()}
    assert {"gap_dependent", "certified_index", "certified"} <= set(checks)
    for name, check in checks.items():
        found = exact[Formula.every[name].policy]
        assert (check.observed, check.error, check.stderr) == (found.regret, found.error, 0.0)
        assert check.evidence == "exact"


def test_it_does_not_depend_on_runs_or_seed():
    first = bounds_of(audit(BANDITS["bernoulli"], **SMALL))
    again = bounds_of(audit(BANDITS["bernoulli"], **{**SMALL, "runs": 3, "seed": 5}))
    assert first == again
    simulated = [bounds_of(audit(BANDITS["bernoulli"], **SMALL, exact=False, seed=seed)) for seed in (0, 5)]
    assert simulated[0] != simulated[1], "the control"


@pytest.mark.parametrize("kind", ["rademacher", "linear", "linear of one rank"])
def test_others_are_simulated(kind):
    result = audit(BANDITS[kind], **SMALL)
    assert {check.evidence for check in bounds_of(result).values()} == {"simulated"}
    assert "have no exact one" in result.summary() or "has no exact one" in result.summary()
    with pytest.raises(ValueError, match="for an exact regret"):
        audit(BANDITS[kind], **SMALL, exact=True)


@pytest.mark.parametrize(
    ("share", "verdict", "by_runs"),
    [
        (1.0, "not decided", "not decided"),
        (1.0 + 1e-7, "holds", "not decided"),
        (1.0 - 1e-7, "fails", "not decided"),
        (100.0, "holds", "holds"),
    ],
)
def test_only_numerical_error_leaves_a_bound_undecided(monkeypatch, share, verdict, by_runs):
    bandit = BANDITS["bernoulli"]
    regret = exact_regret(bandit, BayesUCB(0.2), horizon=4).regret

    def told(bandit, setting, order):
        return Parts({"leading": share * regret})

    monkeypatch.setitem(Formula.every["certified_floor"].bodies, "bernoulli", (f"Theorem {share}", told))
    setting = {**SMALL, "delta": 0.2, "runs": 20, "epsilon": 0.1 * share}  # an epsilon of its own: bounds are kept
    assert bounds_of(audit(bandit, **setting))["certified_floor"].verdict == verdict
    assert bounds_of(audit(bandit, **setting, exact=False))["certified_floor"].verdict == by_runs


def test_one_arm_has_no_regret():
    for bandit in (GaussianBandit([0.3], 1, 1), BernoulliBandit([2], [1])):
        checks = bounds_of(audit(bandit, **SMALL))
        assert {(check.observed, check.error) for check in checks.values()} == {(0.0, 0.0)}
        assert checks["certified_trivial"].verdict == "holds"


def test_less_than_the_numerical_error_is_told_as_such():
    narrow = GaussianBandit([1.0, 0.0], prior_width=0.01, reward_noise=1)
    result = audit(narrow, **SMALL)
    check = bounds_of(result)["certified_trivial"]
    assert 0.0 <= check.observed < check.error
    (row,) = (row for row in result.table() if row[0] == "certified_trivial")
    assert row[result.table()[0].index("observed")] == f"< {2.0 * check.error:.0e}"


@pytest.mark.parametrize(
    ("bandit", "horizon", "quick"),
    [
        (GaussianBandit([1, 0, 0, 0, 0], 1, 1), 1_000, True),
        (GaussianBandit([1, 0, 0, 0, 0], 1, 1), 1_001, False),
        (GaussianBandit([1, 2, 3, 4, 5], 1, 1), 400, True),
        (GaussianBandit([1, 2, 3, 4, 5], 1, 1), 401, False),
        (BernoulliBandit([1, 1, 2], [1, 1, 1]), 300, True),
        (BernoulliBandit([1, 1, 2], [1, 1, 1]), 301, False),
        (BernoulliBandit([1, 2] * 5, range(1, 11)), 100, True),
        (BernoulliBandit([1, 2] * 5, range(1, 11)), 101, False),
    ],
)
def test_a_long_computation_is_left_to_those_who_ask_for_it(bandit, horizon, quick):
    assert (why_simulated(bandit, horizon, None) is None) == quick
    assert why_simulated(bandit, horizon, True) is None
    assert why_simulated(bandit, horizon, False) == "that was asked for"


def test_different_priors():
    assert different_priors(GaussianBandit([1, 0, 1, 2], 1, 1)) == 3
    assert different_priors(BernoulliBandit([1, 1, 1, 2], [1, 2, 1, 1])) == 3
