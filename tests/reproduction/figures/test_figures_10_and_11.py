"""Figures 10 and 11: the least possible regret between its two ends, and the claims that the numbers decide."""

import math

import pytest

from bayesregret.reproduction import EXPERIMENTS
from bayesregret.reproduction.experiment import PointOutcome
from bayesregret.reproduction.figures import figure_10, figure_11
from reproduction.outcomes import bound

REGRETS = {"gittins": 10.5, "thompson": 15.0, "bayes-ucb": 18.0, "moss": 21.0, "ucb1": 22.0}


def result(upper, lower=10.0, exact=("gittins", "bayes-ucb", "ucb1"), stderr=0.1, **changes):
    """A point's result: regrets with standard errors, some exact ones, and both bounds."""
    regrets = REGRETS | changes
    policies = [
        {"name": name, "regret": regret, "stderr": stderr, "more": regret - regrets["gittins"], "more_stderr": stderr}
        for name, regret in regrets.items()
    ]
    for policy in policies:
        if policy["name"] in exact:
            policy |= {"exact": policy["regret"], "exact_error": 1e-3}
    bounds = {upper: bound(20.0, form="certified")}
    bounds["certified_lower"] = bound(lower, form="certified", policy="any")
    return {"policies": policies, "bounds": bounds}


def of_figure_10(figure="figure-10a", **changes):
    experiment = EXPERIMENTS[figure](100, 7)
    found = [PointOutcome(point, result("certified_index", **changes)) for point in experiment.points]
    return experiment, found


def of_figure_11(**changes):
    experiment = EXPERIMENTS["figure-11"](100, 7)
    made = [result("certified", **changes) for _ in experiment.points]
    for one in made:
        del one["policies"][3:]
    return experiment, [PointOutcome(point, one) for point, one in zip(experiment.points, made, strict=True)]


def verdicts(experiment, outcomes):
    return [claim.verdict for claim in experiment.claims(experiment.figure, outcomes)]


def test_horizons_are_exact_up_to_the_limit_and_simulated_beyond():
    settings = [point.settings for point in EXPERIMENTS["figure-10a"](None, 7).points]
    assert (settings[0]["horizon"], settings[-1]["horizon"]) == (10, 100_000)
    assert all(("exact" in one) == (one["horizon"] <= 20_000) for one in settings)
    assert {one["runs"] for one in settings if one["horizon"] <= 50_000} == {10_000}
    assert settings[-1]["runs"] == 8_000
    assert all(one["policies"][0]["discount"] == 1.0 - 1.0 / one["horizon"] for one in settings)


def test_widths_are_those_of_figure_1():
    xs = [point.x for point in EXPERIMENTS["figure-10b"](None, 7).points]
    assert xs == [point.x for point in EXPERIMENTS["figure-1a"](None, 7).points]


def test_a_trend_is_exact_where_it_can_be():
    experiment, outcomes = of_figure_10()
    outcomes[0].result["policies"][0] |= {"regret": 11.0}
    table = experiment.table(outcomes)
    assert table["gittins"].values[0] == 10.5
    assert table["gittins"].errors[0] == 1e-3
    assert table["moss"].values[0] == 21.0
    assert table["moss"].errors[0] == 0.1
    assert table["certified_lower"].values[0] == 10.0


@pytest.mark.parametrize("figure", ["figure-10a", "figure-10b"])
def test_claims_of_figure_10_hold(figure):
    experiment, outcomes = of_figure_10(figure)
    found = experiment.claims(figure, outcomes)
    assert [claim.verdict for claim in found] == ["holds"] * 5
    landmark = "n = 1,000" if figure == "figure-10a" else "width 1"
    assert found[1].evidence == f"1.050 to 1.050 times; {landmark}: 10.00 below, 10.50 above"
    assert found[2].evidence.startswith("the nearest is Thompson sampling, ")
    assert found[2].evidence.endswith(", 1.429 times its regret")


@pytest.mark.parametrize(
    ("changes", "failing"),
    [
        ({"gittins": 9.99}, [0]),  # exact, so that its error explains little
        ({"thompson": 9.5}, [0, 2]),  # five standard errors below the bound, ten below the index
        ({"thompson": 9.7}, [2]),
        ({"gittins": 12.1}, [1]),
        ({"gittins": 16.0}, [1, 2]),
        ({"bayes-ucb": 20.5}, [3]),
    ],
)
def test_claims_of_figure_10_fail(changes, failing):
    experiment, outcomes = of_figure_10(**changes)
    assert verdicts(experiment, outcomes) == ["fails" if i in failing else "holds" for i in range(5)]


def test_regret_within_its_error_is_not_divided():
    (first, *_) = of_figure_10(gittins=5e-4, lower=0.0)[1]
    assert figure_10.over_lower(first, 0) is None
    (first, *_) = of_figure_10(lower=0.0)[1]
    assert figure_10.over_lower(first, 0) == math.inf


def test_figure_11_draws_a_bar_and_three_marks_for_each_bandit():
    experiment, outcomes = of_figure_11()
    outcomes[5].result["bounds"]["certified"]["value"] = 15.0
    table = experiment.table(outcomes)
    assert [(trend.name, trend.form) for trend in table.trends] == [
        ("certified", "bars"),
        ("gittins", "marks"),
        ("thompson", "marks"),
        ("bayes-ucb", "marks"),
    ]
    assert len(table.points) == 81
    assert table["certified"].values[:2] == (1.5, 2.0)
    assert table.point_names[0] == f"{outcomes[5].point.name}, lower bound 10.00"
    assert table["gittins"].values[0] == pytest.approx(1.05)
    assert table["thompson"].errors[0] == pytest.approx(0.01)


def test_the_median_of_figure_11_decides():
    experiment, outcomes = of_figure_11()
    claim = experiment.claims("figure-11", outcomes)[1]
    assert claim.verdict == "holds"
    assert claim.evidence == (
        "median 1.0500, from 1.050 to 1.050; K=10 noise 1 gap 1 width 1: 10.00 below, 10.50 above"
    )
    for outcome in outcomes[:40]:
        outcome.result["policies"][0]["exact"] = 15.0
    assert verdicts(experiment, outcomes) == ["holds"] * 3
    outcomes[40].result["policies"][0]["exact"] = 15.0
    assert verdicts(experiment, outcomes) == ["holds", "fails", "holds"]


def test_a_bar_below_bayes_ucb_is_an_exception():
    experiment, outcomes = of_figure_11()
    outcomes[3].result["bounds"]["certified"]["value"] = 17.9
    claim = experiment.claims("figure-11", outcomes)[2]
    assert claim.verdict == "fails"
    assert claim.exceptions == (f"{outcomes[3].point.name}: 17.90, regret 18.00",)


def test_the_landmark_is_among_the_81():
    assert figure_11.LANDMARK in [point.name for point in EXPERIMENTS["figure-11"](None, 7).points]
