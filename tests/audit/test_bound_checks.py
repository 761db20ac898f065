"""Bounds are compared with the exact regret where available; only numerical error then leaves them undecided."""

import dataclasses

import pytest

from bayesregret import (
    UCB1,
    BayesUCB,
    BernoulliBandit,
    Estimate,
    GaussianBandit,
    Thompson,
    bounds,
    exact_regret,
    simulate,
    thompson_identity,
)
from bayesregret.audit import audit
from bayesregret.audit.bound_checks import Regret, judge_equal, judge_lower_bound
from bayesregret.bounds.bound import Formula, Parts
from problems import BANDITS

SMALL = {"horizon": 4, "runs": 2, "delta": 0.2}
IDENTITY = "thompson_identity"


def bounds_of(result):
    return {check.name: check for check in result.checks if check.evidence != "tracked" and check.name != IDENTITY}


def identity_of(result):
    (found,) = [check for check in result.checks if check.name == IDENTITY]
    return found


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_what_is_observed_is_the_exact_regret(kind):
    checks = bounds_of(audit(BANDITS[kind], **SMALL))
    policies = {"bayes-ucb": BayesUCB(0.2), "ucb1": UCB1(0.2)}
    with_bounds = {Formula.every[name].policy for name in checks} & set(policies)
    exact = {name: exact_regret(BANDITS[kind], policies[name], horizon=4) for name in with_bounds}
    assert {"gap_dependent", "certified_index", "certified"} <= set(checks)
    for name, check in checks.items():
        if Formula.every[name].policy == "thompson":
            continue
        # A bound for every policy is compared with the largest regret, a lower one with the smallest.
        is_lower = Formula.every[name].kind == "lower"
        extreme = (min if is_lower else max)(exact.values(), key=lambda regret: regret.regret)
        found = exact.get(Formula.every[name].policy) or extreme
        observed = check.allowed if is_lower else check.observed
        assert (observed, check.error, check.stderr) == (found.regret, found.error, 0.0)
        assert check.evidence == "exact"


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "linear"])
def test_thompson_sampling_is_always_simulated(kind):
    checks = bounds_of(audit(BANDITS[kind], **SMALL, seed=7))
    regret = simulate(BANDITS[kind], Thompson(), horizon=4, runs=2, seed=7)["thompson"]
    above, below = checks["certified_thompson"], checks.get("certified_thompson_lower")
    assert (above.observed, above.stderr, above.evidence) == (regret.mean, regret.stderr, "simulated")
    assert above.statement == "Bayes regret of thompson <= certified_thompson"
    assert (below is None) == (kind == "linear")
    if below is not None:
        assert (below.allowed, below.stderr, below.evidence) == (regret.mean, regret.stderr, "simulated")
        assert below.observed == bounds.certified_thompson_lower(BANDITS[kind], horizon=4).value
        assert below.statement == "certified_thompson_lower <= Bayes regret of thompson"


def test_the_identity_of_thompson_sampling():
    check = identity_of(audit(BANDITS["bernoulli"], horizon=4, runs=200, seed=7))
    regret = simulate(BANDITS["bernoulli"], Thompson(), horizon=4, runs=200, seed=7)["thompson"]
    assert (check.observed, check.stderr) == (regret.mean, regret.stderr)
    assert check.allowed == thompson_identity(BANDITS["bernoulli"], horizon=4, runs=200, seed=7).regret
    assert (check.verdict, check.form) == ("holds", "certified")
    assert check.statement == "Bayes regret of thompson = thompson_identity"
    refused = identity_of(audit(BANDITS["rademacher"], **SMALL))
    assert (refused.verdict, refused.why) == ("not applicable", "noise_kind must be gaussian, got 'rademacher'")
    assert IDENTITY not in {check.name for check in audit(BANDITS["linear"], **SMALL).checks}


@pytest.mark.parametrize(
    ("mean", "stderr", "verdict"),
    [(0.5, 0.01, "fails"), (0.7, 0.01, "holds"), (1.3, 0.01, "holds"), (1.5, 0.01, "fails"), (1.5, 0.2, "holds")],
)
def test_an_equality_is_judged_from_both_sides(mean, stderr, verdict):
    assert judge_equal(Regret(1.0, 0.1), Estimate(mean, stderr)) == verdict
    assert judge_equal(Regret(1.0, 0.3), Estimate(mean, stderr)) == "not decided", "hardly a run with any regret"


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.5, "holds"), (0.8, "not decided"), (1.1, "not decided"), (1.5, "fails")]
)
def test_a_lower_bound_is_judged_from_below(value, verdict):
    bound = bounds.certified_thompson_lower(BANDITS["gaussian"], horizon=4)
    assert judge_lower_bound(Regret(1.0, 0.1), dataclasses.replace(bound, value=value)) == verdict


def test_runs_without_regret_refute_no_lower_bound():
    bound = bounds.certified_thompson_lower(BANDITS["gaussian"], horizon=4)
    assert judge_lower_bound(Regret(0.0, 0.0), bound) == "not decided"
    assert judge_lower_bound(Regret(0.0, 0.0, evidence="exact"), bound) == "fails"


def test_it_does_not_depend_on_runs_or_seed():
    first, again = (
        [check for check in audit(BANDITS["bernoulli"], **setting).checks if check.evidence == "exact"]
        for setting in (SMALL, {**SMALL, "runs": 3, "seed": 5})
    )
    assert first == again
    assert len(first) > 5
    simulated = [bounds_of(audit(BANDITS["bernoulli"], **SMALL, exact=False, seed=seed)) for seed in (0, 5)]
    assert simulated[0] != simulated[1], "the control"


@pytest.mark.parametrize("kind", ["rademacher", "linear", "linear of one rank"])
def test_others_are_simulated(kind):
    result = audit(BANDITS[kind], **SMALL)
    assert {check.evidence for check in bounds_of(result).values()} == {"simulated"}
    assert result.summary().endswith("cannot be computed")
    with pytest.raises(ValueError, match="for an exact regret"):
        audit(BANDITS[kind], **SMALL, exact=True)


@pytest.mark.parametrize(
    ("factor", "verdict", "by_runs"),
    [
        (1.0, "not decided", "not decided"),
        (1.0 + 1e-7, "holds", "not decided"),
        (1.0 - 1e-7, "fails", "not decided"),
        (100.0, "holds", "holds"),
    ],
)
def test_only_numerical_error_leaves_a_bound_undecided(monkeypatch, factor, verdict, by_runs):
    bandit = BANDITS["bernoulli"]
    regret = exact_regret(bandit, BayesUCB(0.2), horizon=4).regret

    def formula(bandit, setting, order):
        return Parts({"leading": factor * regret})

    monkeypatch.setitem(Formula.every["certified_floor"].bodies, "bernoulli", (f"Theorem {factor}", formula))
    setting = {
        **SMALL,
        "delta": 0.2,
        "runs": 20,
        "epsilon": 0.1 * factor,
    }  # bounds are cached by epsilon
    assert bounds_of(audit(bandit, **setting))["certified_floor"].verdict == verdict
    assert bounds_of(audit(bandit, **setting, exact=False))["certified_floor"].verdict == by_runs


def test_one_arm_has_no_regret():
    for bandit in (GaussianBandit([0.3], 1, 1), BernoulliBandit([2], [1])):
        checks = bounds_of(audit(bandit, **SMALL))
        assert {(check.observed, check.error) for check in checks.values()} == {(0.0, 0.0)}
        assert checks["certified_trivial"].verdict == "holds"


def test_a_regret_below_its_numerical_error_is_shown_as_such():
    narrow = GaussianBandit([1.0, 0.0], prior_width=0.01, reward_noise=1)
    result = audit(narrow, **SMALL)
    check = bounds_of(result)["certified_floor"]
    assert 0.0 <= check.observed < check.error
    (row,) = (row for row in result.table() if row[0] == "certified_floor")
    assert row[result.table()[0].index("observed")] == f"< {2.0 * check.error:.0e}"
