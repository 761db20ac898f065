"""Verdicts come from numbers: each kind of claim holds on some and fails on others."""

import pytest

from bayesregret.reproduction import claims
from reproduction.outcomes import bound, outcome


@pytest.mark.parametrize(
    ("regrets", "verdict"),
    [([1.0, 2.0, 5.0, 4.0], "holds"), ([3.0, 2.0, 5.0, 4.0], "fails"), ([4.9, 5.0, 5.1], "fails")],
)
def test_regret_falls_towards_the_first_point(regrets, verdict):
    outcomes = [outcome(float(i), regret) for i, regret in enumerate(regrets)]
    assert claims.regret_falls("f", "falls", outcomes, towards="first").verdict == verdict
    assert claims.regret_falls("f", "falls", outcomes[::-1], towards="last").verdict == verdict


def test_one_policy_below_the_other():
    fine = [outcome(1.0, 5.0, more=1.0), outcome(2.0, 5.0, more=0.2)]
    claim = claims.first_policy_is_better("f", fine)
    assert claim.verdict == "holds"
    assert "smallest margin 2.0 standard errors at x = 2; 1 point by less than 4" in claim.evidence
    worse = claims.first_policy_is_better("f", [*fine, outcome(3.0, 5.0, more=-0.3)])
    assert worse.verdict == "fails"
    assert worse.exceptions == ("x = 3: -0.30 ± 0.10, -3.0 standard errors",)


def test_exact_regrets_decide_which_policy_is_better():
    unlucky = outcome(1.0, 5.0, more=-0.3, exact=(5.0, 5.2))
    clear = outcome(2.0, 5.0, more=2.0, exact=(5.0, 7.0))
    claim = claims.first_policy_is_better("f", [unlucky, clear])
    assert claim.verdict == "holds"
    assert "at 2 of 2 points, smallest margin 0.2000 (exact) at x = 1; simulated: at 1 point" in claim.evidence
    assert "simulated: at 1 point, smallest margin -3.0 standard errors at x = 1" in claim.evidence
    worse = claims.first_policy_is_better("f", [clear, outcome(3.0, 5.0, more=0.3, exact=(5.0, 4.5))])
    assert worse.exceptions == ("x = 3: +0.30 ± 0.10 (exactly -0.5000), 3.0 standard errors",)


def test_a_difference_within_the_numerical_error_decides_nothing():
    near = outcome(1.0, 5.0, exact=(5.0, 5.1), exact_error=0.06)
    assert claims.first_policy_is_better("f", [near]).verdict == "fails"


def test_one_bound_below_another():
    outcomes = [outcome(float(i), 1.0, bounds={"a": bound(float(i)), "b": bound(1.5)}) for i in (1, 2)]
    assert claims.below("f", "a below b", outcomes[:1], "a", "b").verdict == "holds"
    assert claims.below("f", "a below b", outcomes, "a", "b").exceptions == ("x = 2: 2.000 against 1.500",)
    assert claims.below_somewhere("f", "a below b", outcomes, "a", "b").verdict == "holds"
    assert claims.below_somewhere("f", "a below b", outcomes[1:], "a", "b").verdict == "fails"


def test_a_bound_that_does_not_move():
    still = [outcome(float(i), 1.0, bounds={"a": bound(3.0)}) for i in range(3)]
    assert claims.does_not_move("f", "still", still, "a").verdict == "holds"
    moved = [*still, outcome(9.0, 1.0, bounds={"a": bound(3.0001)})]
    assert claims.does_not_move("f", "still", moved, "a").verdict == "fails"


def test_printed_bounds_fail_where_they_are_violated_or_negative():
    def verdict(value):
        claim = claims.printed_holds("f", "Theorem 1", [outcome(1.0, 5.0, bounds={"a": bound(value)})], "a")
        return claim.verdict

    assert [verdict(value) for value in (6.0, 4.7, 4.5, -1.0)] == ["holds", "holds", "fails", "fails"]


def test_certified_bounds_against_the_regret_of_their_policy():
    bounds = {
        "certified_index": bound(5.5, form="certified"),
        "certified_ucb1": bound(5.9, form="certified", policy="ucb1"),
        "gap_dependent": bound(-3.0),
    }
    fine = claims.certified_hold("f", [outcome(1.0, 5.0, bounds=bounds)])
    assert fine.verdict == "holds"
    assert fine.evidence.startswith("2 bounds compared; the tightest is 0.98 times")
    broken = claims.certified_hold("f", [outcome(1.0, 5.0, more=2.0, bounds=bounds)])
    assert broken.verdict == "fails"
    assert broken.exceptions == ("x = 1: certified_ucb1 5.900, regret 7.00 ± 0.10",)
