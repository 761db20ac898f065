"""The audit as a whole: known defects are found where they are, and only there."""

import json
import math

import numpy as np
import pytest

from bayesregret import BernoulliBandit, GaussianBandit, LinearBandit
from bayesregret.audit import audit
from bayesregret.audit.bound_checks import Regret, judge_bound
from bayesregret.bounds.bound import Formula
from bayesregret.bounds.result import Bound
from bayesregret.problem import common_gaussian
from problems import BANDITS

FORMS = ("paper", "certified")
VERDICTS = ("holds", "fails", "exceeded", "not applicable", "not decided")


def found(result, name, form="paper"):
    (check,) = (check for check in result.checks if (check.name, check.form) == (name, form))
    return check


def certified_failures(result):
    return [check for check in result.failures if check.form == "certified"]


# --- the paper's known defects --------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_on_the_landmark_theorem_1_holds():
    result = audit(common_gaussian(), horizon=1000)
    theorem = found(result, "gap_dependent")
    assert theorem.verdict == "holds"
    assert theorem.allowed == pytest.approx(876.729 + 475.338, rel=1e-4)
    assert theorem.observed == pytest.approx(75.69691254, abs=1e-6)
    assert (theorem.evidence, theorem.stderr) == ("exact", 0.0)
    assert 0.0 < theorem.error < 1e-6
    assert certified_failures(result) == []
    assert {check.name for check in result.failures} == {"pulls"}


@pytest.mark.compiled
def test_a_narrow_prior_makes_theorem_1_negative():
    result = audit(common_gaussian(prior_width=0.1), horizon=1000, runs=300, exact=False)
    theorem = found(result, "gap_dependent")
    assert theorem.verdict == "fails"
    assert theorem.allowed == pytest.approx(-344, rel=0.01)
    assert theorem.ratio == math.inf
    assert found(result, "pulls").allowed < 0
    assert certified_failures(result) == []


@pytest.mark.compiled
def test_little_noise_makes_theorem_1_too_small():
    bandit = GaussianBandit(np.zeros(10), prior_width=1.0, reward_noise=0.01)
    result = audit(bandit, horizon=1000, runs=300, delta=1e-6)
    theorem = found(result, "gap_dependent")
    assert theorem.verdict == "fails"
    assert theorem.allowed == pytest.approx(1.70, abs=0.01)
    assert theorem.observed == pytest.approx(15.396, abs=0.044), "as a simulation found it"
    assert theorem.ratio == pytest.approx(9.075, rel=0.01)
    assert certified_failures(result) == []


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "rademacher"])
def test_the_action_bound_is_off_by_one(kind):
    bandit = BANDITS[kind]
    if kind == "bernoulli":
        bandit = BernoulliBandit([0.5, 0.5], [0.5, 0.5])  # gaps near 1, which one pull may fit but not two
    result = audit(bandit, horizon=30, runs=50, delta=0.3, exact=False)
    printed, repaired = found(result, "pulls"), found(result, "pulls", "certified")
    assert (printed.verdict, repaired.verdict) == ("fails", "holds")
    assert printed.ratio > 1.0
    assert repaired.ratio <= 1.0


# --- what it is made of ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BANDITS)
def test_every_check_is_whole(kind):
    result = audit(BANDITS[kind], horizon=10, runs=20, delta=0.2)
    assert certified_failures(result) == []
    names = [(check.name, check.form) for check in result.checks]
    assert len(set(names)) == len(names) >= 6
    for check in result.checks:
        assert check.form in FORMS
        assert check.verdict in VERDICTS
        assert check.source
        assert check.statement
        assert not math.isnan(check.observed + check.ratio + check.stderr + check.error)
        assert (check.why is None) == (check.verdict not in ("exceeded", "not applicable"))


def test_other_noise_than_the_beliefs_is_reported():
    check = found(audit(BANDITS["rademacher"], horizon=5, runs=5), "interval_failure")
    assert check.why == "the noise is not Gaussian, so the posterior is not the true one"


def test_one_arm_one_round_one_run():
    for bandit in (
        GaussianBandit([0.0], 1, 1),
        BernoulliBandit([1], [1]),
        LinearBandit([[1.0]], [0.0], [[1.0]], reward_noise=1),
    ):
        result = audit(bandit, horizon=1, runs=1)
        assert certified_failures(result) == []
        assert result.delta == 1.0


def test_a_prior_too_wide_for_the_plain_posterior():
    bandit = LinearBandit([[1.0, 0.0], [0.6, 0.8]], [0.0, 0.0], prior_width=1e6, reward_noise=1)
    check = found(audit(bandit, horizon=5, runs=5), "pulls", "certified")
    assert check.verdict == "not applicable"
    assert "10000 times as wide" in check.why


@pytest.mark.parametrize("kind", BANDITS)
def test_one_round(kind):
    assert certified_failures(audit(BANDITS[kind], horizon=1, runs=5)) == []


def test_arms_that_are_all_alike():
    result = audit(LinearBandit([[0.0], [0.0]], [1.0], [[1.0]], reward_noise=1), horizon=5, runs=5)
    assert result.failures == ()
    assert found(result, "pulls", "certified").why == "no arm is ever behind the best one"


def test_a_formula_that_cannot_be_computed_is_reported(monkeypatch):
    def refuse(bandit, setting, order):
        raise ValueError("alpha must be larger for a bound")

    formula = Formula.every["certified_floor"]
    monkeypatch.setitem(formula.bodies, "bernoulli", ("Theorem 0", refuse))
    check = found(audit(BernoulliBandit([3.25], [1]), horizon=5, runs=5), "certified_floor", "certified")
    assert (check.verdict, check.why) == ("not applicable", "alpha must be larger for a bound")


def test_nothing_unknown():
    bandit = LinearBandit([[1.0], [0.5]], [1.0], [[0.0]], reward_noise=1)
    result = audit(bandit, horizon=5, runs=5, delta=0.1)
    assert certified_failures(result) == []
    assert found(result, "posterior_variances", "certified").allowed == 0.0


def test_the_same_seed_gives_the_same_audit():
    first, again, other = (audit(BANDITS["bernoulli"], horizon=10, runs=20, seed=seed) for seed in (1, 1, 2))
    assert first.checks == again.checks
    assert first.checks != other.checks


# --- what it shows --------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_check():
    result = audit(common_gaussian(prior_width=0.1), horizon=10, runs=20)
    headings, *rows = result.table()
    assert headings[:3] == ["check", "source", "form"]
    assert [row[0] for row in rows] == [check.name for check in result.checks]
    assert {len(row) for row in rows} == {len(headings)}
    lines = str(result).splitlines()
    assert len(lines) == len(rows) + 4
    assert lines[-2:] == result.summary().splitlines()
    assert repr(result) == str(result)
    printed = len(result.failures)
    assert lines[-2].startswith("gaussian bandit, 20 runs of 10 rounds, 10 arms, seed 0, delta 0.1; ")
    assert lines[-2].endswith(f"{printed} printed and 0 certified statements fail")


def test_plain_data():
    data = audit(BANDITS["linear"], horizon=10, runs=20, epsilon=0.3).to_dict()
    assert data["problem"] == BANDITS["linear"].to_dict()
    assert (data["horizon"], data["runs"], data["seed"], data["delta"], data["epsilon"]) == (10, 20, 0, 0.1, 0.3)
    assert json.loads(json.dumps(data)) == data
    assert set(data["checks"][0]) == {
        *("name", "source", "form", "statement", "observed", "allowed", "ratio"),
        *("stderr", "error", "evidence", "verdict", "where", "why"),
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bandit": 3}, "bandit must be a bandit such as GaussianBandit, got 3"),
        ({"horizon": 0}, "horizon must be a whole number, at least 1"),
        ({"runs": 0}, "runs must be a whole number, at least 1"),
        ({"seed": -1}, "seed must be a whole number, at least 0"),
        ({"delta": 1.0}, "delta must be a number strictly between 0 and 1"),
        ({"epsilon": 0.0}, "epsilon must be a positive number"),
    ],
)
def test_bad_input(change, said):
    arguments = {"bandit": BANDITS["gaussian"], "horizon": 5, "runs": 5} | change
    with pytest.raises(ValueError, match=said):
        audit(arguments.pop("bandit"), **arguments)


# --- bounds against regrets -----------------------------------------------------------------------------------------


def bound(value, error=0.0, form="paper"):
    return Bound("b", form, "upper", "Theorem 0", "bayes-ucb", value, {"all": value}, error, True, None, None)


@pytest.mark.parametrize(
    ("regret", "stderr", "value", "error", "verdict"),
    [
        (1.0, 0.1, 1.5, 0.0, "holds"),
        (1.0, 0.1, 1.5, 0.2, "not decided"),
        (1.0, 0.1, 0.5, 0.0, "fails"),
        (1.0, 0.1, 0.5, 0.2, "not decided"),
        (1.0, 0.1, 1.3, 0.2, "not decided"),
        (1.0, 0.1, math.inf, 0.0, "holds"),
        (0.0, 0.0, 0.0, 0.0, "holds"),
        (0.0, math.inf, -1.0, 0.1, "fails"),
        (0.0, math.inf, 1.0, 0.1, "not decided"),
    ],
)
def test_verdicts_on_bounds(regret, stderr, value, error, verdict):
    assert judge_bound(Regret(regret, stderr=stderr), bound(value, error)) == verdict
    assert judge_bound(Regret(regret, error=stderr, evidence="exact"), bound(value, error)) == verdict


@pytest.mark.parametrize(("value", "verdict"), [(1.5, "holds"), (1.3, "not decided"), (0.5, "fails")])
def test_a_certified_value_includes_its_error(value, verdict):
    """The same bound as printed, with an error as large, would be undecided."""
    assert judge_bound(Regret(1.0, stderr=0.1), bound(value, 0.2, form="certified")) == verdict
    assert judge_bound(Regret(1.0, stderr=0.1), bound(value, 0.2)) == "not decided"
