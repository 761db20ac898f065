"""Simulated regrets against exact ones: they agree, or the claim fails."""

import pytest

import bayesregret as br
from bayesregret.reproduction.exact_agreement import agreement
from bayesregret.reproduction.experiment import Point, PointOutcome
from bayesregret.reproduction.point import point_settings, run_point
from reproduction.outcomes import outcome


def verdict(*outcomes):
    (claim,) = agreement("f", outcomes)
    assert claim.whose == "bayesregret"
    return claim.verdict


def test_values_within_their_errors_agree():
    (claim,) = agreement("f", [outcome(1.0, 5.25, exact=(5.0, 6.3)), outcome(2.0, 8.0, exact=(8.1, 9.05))])
    assert (claim.verdict, claim.exceptions) == ("holds", ())
    assert "6 comparisons, at most 3.0 standard errors apart (ucb1 minus bayes-ucb, x = 1)" in claim.evidence
    assert "the threshold is 3.8" in claim.evidence


@pytest.mark.parametrize(
    ("exact", "where"),
    [((5.6, 6.6), {"bayes-ucb", "ucb1"}), ((5.0, 6.7), {"ucb1", "ucb1 minus bayes-ucb"})],
)
def test_values_that_are_far_apart_do_not(exact, where):
    (claim,) = agreement("f", [outcome(1.0, 8.0, exact=(8.0, 9.0)), outcome(2.0, 5.0, exact=exact)])
    assert claim.verdict == "fails"
    assert {exception.split(", x = 2: ")[0] for exception in claim.exceptions} == where


def test_differences_on_common_runs_can_be_the_sharper_test():
    together = {"stderr": 1.0, "more": 1.0, "more_stderr": 0.01}
    assert verdict(outcome(1.0, 5.0, exact=(5.0, 6.0), **together)) == "holds"
    assert verdict(outcome(1.0, 5.0, exact=(5.0, 6.1), **together)) == "fails"


def test_many_comparisons_allow_a_farther_one():
    far = outcome(1.0, 5.36, exact=(5.0, 6.36))
    assert verdict(far) == "fails"
    assert verdict(far, *(outcome(2.0, 5.0, exact=(5.0, 6.0)) for _ in range(20))) == "holds"


def test_the_numerical_error_counts():
    assert verdict(outcome(1.0, 5.0, exact=(5.5, 6.5), exact_error=0.3)) == "holds"


def test_regret_that_hardly_any_run_has_is_left_out():
    rare = outcome(1.0, 0.0, stderr=0.0, more=100.0, more_stderr=1.0, exact=(2.6e-4, 100.0))
    rare.result["policies"][1]["stderr"] = 1.0
    (claim,) = agreement("f", [rare])
    assert claim.verdict == "holds"
    assert claim.evidence.startswith("1 comparison, at most 0.0 standard errors apart (ucb1, x = 1)")
    assert "1 regret left out because hardly any run has regret" in claim.evidence


def test_regret_that_should_be_there_is_missed():
    assert verdict(outcome(1.0, 0.0, stderr=0.0, exact=(75.0, 80.0))) == "fails"


def test_no_claim_without_exact_values_or_with_too_few_runs():
    assert agreement("f", [outcome(1.0, 5.0)]) == []
    assert agreement("f", [outcome(1.0, 5.0, exact=(5.0, 6.0), runs=20)]) == []


def simulated(bandit, **changes):
    policies = [{"name": "bayes-ucb"}, {"name": "ucb1"}]
    settings = point_settings(bandit, policies, horizon=5, runs=400, seed=1, exact=True)
    return PointOutcome(Point(1.0, "a point", settings), run_point(settings | changes))


def test_a_simulation_agrees_and_that_of_another_bandit_does_not():
    bandit, other = br.GaussianBandit([1, 0, 0], 1, 1), br.GaussianBandit([0.5, 0, 0], 1, 1)
    ours = simulated(bandit)
    assert verdict(ours) == "holds"
    policies = zip(ours.result["policies"], simulated(other).result["policies"], strict=True)
    mixed = [mine | {name: yours[name] for name in ("exact", "exact_error")} for mine, yours in policies]
    assert verdict(PointOutcome(ours.point, {"policies": mixed, "bounds": {}})) == "fails"
