"""Over a grid of random problems no certified form fails, and printed ones do."""

import pytest

from audit.grid import problem
from bayesregret import LinearBandit
from bayesregret.audit import audit
from bayesregret.bounds.bound import Formula

PROBLEMS = 200
RUNS = 200
EXACT_HORIZON = 25  # beyond it a simulation is quicker

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def results():
    made = [problem(seed) for seed in range(PROBLEMS)]
    return [
        audit(bandit, runs=RUNS, seed=seed, exact=None if setting["horizon"] <= EXACT_HORIZON else False, **setting)
        for seed, (bandit, setting) in enumerate(made)
    ]


def named(results, form, verdict):
    return {
        check.name for result in results for check in result.checks if (check.form, check.verdict) == (form, verdict)
    }


def test_no_certified_form_fails(results):
    failed = [(seed, check) for seed, r in enumerate(results) for check in r.failures if check.form == "certified"]
    assert failed == []


def test_an_exact_regret_leaves_nothing_undecided(results):
    exact, simulated = (
        [
            check
            for result in results
            for check in result.checks
            if (check.form, check.evidence) == ("certified", evidence)
        ]
        for evidence in ("exact", "simulated")
    )
    assert {check.verdict for check in exact if not is_the_regret(check)} == {"holds"}
    assert {check.verdict for check in simulated} == {"holds", "not applicable", "not decided"}, "the control"
    assert {check.name for check in exact if is_the_regret(check)} == IN_ONE_ROUND


IN_ONE_ROUND = {"certified_first_passage", "certified", "certified_lower"}


def is_the_regret(check):
    """Whether a bound is the regret itself: two are in one round, that of first passages also where arms are apart."""
    return check.verdict == "not decided" and check.allowed == pytest.approx(check.observed, rel=1e-6, abs=1e-8)


def test_every_certified_form_is_seen_to_hold(results):
    bounds = {formula.name for formula in Formula.every.values() if formula.form == "certified"}
    assert bounds | {"pulls", "bad_rounds", "overshoot", "posterior_variances"} <= named(results, "certified", "holds")


def test_linear_bandits_have_every_certified_form_of_theirs(results):
    linear = [result for result in results if result.problem.kind == "linear"]
    bounds = {
        formula.name
        for formula in Formula.every.values()
        if formula.form == "certified" and formula.covers(LinearBandit)
    }
    assert {"certified_index", "certified_lower"} <= bounds
    assert bounds <= named(linear, "certified", "holds")


def test_printed_forms_fail(results):
    assert {"pulls", "gap_dependent"} <= named(results, "paper", "fails")


def test_printed_steps_that_are_right_hold(results):
    steps = {"interval_failure", "round_failure", "good_rounds", "failure_regret", "failure_distance", "failed_rounds"}
    steps |= {"posterior_variances", "ucb1_pulls"}
    assert steps <= named(results, "paper", "holds")
    assert not steps & named(results, "paper", "fails")
