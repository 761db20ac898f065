"""The audit of heteroscedastic Gaussian arms."""

import pytest

from bayesregret import bounds
from bayesregret.audit import audit
from bayesregret.audit.evidence import OnAverage
from bayesregret.audit.inequalities import inequalities_of
from bayesregret.audit.runs import trace
from bayesregret.bounds.assumptions import HOMOSCEDASTIC_ONLY
from bayesregret.bounds.bound import make_setting
from problems import BANDITS

ARMS = BANDITS["gaussian arms"]
SETTING = make_setting(30, 0.07)


def test_right_sides_are_those_of_the_bounds():
    made = {(e.inequality.name, e.inequality.form): e for e in inequalities_of(ARMS, "bayes-ucb", SETTING)}
    bad, short = made["bad_rounds", "certified"], made["overshoot", "certified"]
    assert isinstance(bad, OnAverage)
    floor = bounds.certified_floor(ARMS, horizon=30, delta=0.07).terms
    gap_free = bounds.certified_gap_free(ARMS, horizon=30, delta=0.07).terms
    assert 30 * bad.allowed == pytest.approx(floor["bad rounds"])
    assert 30 * short.allowed == pytest.approx(gap_free["bad rounds"])
    (block,) = trace(ARMS, "bayes-ucb", SETTING, runs=3, seed=0)
    largest = made["posterior_deviations", "certified"].sides(block)[1]
    assert SETTING.z * largest[0] == pytest.approx(gap_free["leading"])


def test_certified_statements_hold_and_printed_ones_do_not_apply():
    result = audit(ARMS, horizon=8, runs=100, seed=2, delta=0.1)
    assert not [check for check in result.checks if check.form == "certified" and check.verdict == "fails"]
    assert {check.why for check in result.checks if check.name in ("failure_regret", "pulls")} == {
        HOMOSCEDASTIC_ONLY,
        None,
    }
    assert result.why_simulated is None
    checked = [check for check in result.checks if check.evidence == "exact" and check.verdict == "holds"]
    assert len(checked) >= 7
