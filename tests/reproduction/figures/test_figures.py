"""The experiments are the paper's, and each yields a table and claims."""

import math
from dataclasses import replace

import pytest

from bayesregret.problem import problem_from_dict
from bayesregret.reproduction import BEYOND, EXPERIMENTS, PAPER
from bayesregret.reproduction.experiment import PointOutcome
from bayesregret.reproduction.point import run_point


def settings_of(figure):
    return [point.settings for point in EXPERIMENTS[figure](None, 7).points]


def test_names():
    assert list(PAPER) == ["figure-1a", "figure-1b", "figure-2a", "figure-2b", "figure-3a", "figure-3b"]
    assert list(BEYOND) == [
        "figure-4a",
        "figure-4b",
        "figure-5",
        "figure-6a",
        "figure-6b",
        "figure-7",
        "figure-8",
        "figure-9",
        "figure-10a",
        "figure-10b",
        "figure-11",
    ]


@pytest.mark.parametrize("figure", ["figure-1a", "figure-1b", "figure-2a", "figure-2b"])
def test_figures_1_and_2_have_the_papers_sizes(figure):
    points = settings_of(figure)
    assert len(points) >= 9
    assert {(p["horizon"], p["runs"]) for p in points} == {(1_000, 10_000)}
    arms = {problem_from_dict(p["problem"]).arms for p in points}
    assert arms == ({10} if figure.startswith("figure-1") else {30})


def test_figure_1_varies_width_and_gap():
    widths = [p["problem"]["prior_width"] for p in settings_of("figure-1a")]
    assert widths == sorted(widths)
    assert widths[0] <= 0.1 < 4.0 <= widths[-1]
    assert math.isclose(widths[1] / widths[0], widths[-1] / widths[-2], rel_tol=0.1)  # log-spaced
    gaps = [p["problem"]["prior_mean"][0] for p in settings_of("figure-1b")]
    assert (gaps[0], gaps[-1]) == (0.0, 4.0)
    assert {tuple(p["problem"]["prior_mean"][1:]) for p in settings_of("figure-1b")} == {(0.0,) * 9}


def test_figure_2_has_the_papers_prior_mean_and_features():
    problem = settings_of("figure-2b")[2]["problem"]
    assert problem["prior_mean"] == [1.0] + [-1.0] * 9
    assert problem["features"][:10] == [[float(i == j) for j in range(10)] for i in range(10)]
    assert all(math.isclose(sum(x * x for x in row), 1.0) and min(row) >= 0.0 for row in problem["features"])


@pytest.mark.parametrize(("figure", "noise_kind"), [("figure-3a", "gaussian"), ("figure-3b", "rademacher")])
def test_figure_3_has_all_81_combinations(figure, noise_kind):
    points = settings_of(figure)
    combinations = {
        (len(p["prior_mean"]), p["reward_noise"], p["prior_mean"][0], p["prior_width"])
        for p in (point["problem"] for point in points)
    }
    assert len(points) == len(combinations) == 81
    assert {p["runs"] for p in points} == {1_000}
    assert {p["problem"]["noise_kind"] for p in points} == {noise_kind}


def test_exact_regrets_are_asked_for_where_there_are_any():
    asking = {figure for figure in EXPERIMENTS if any(p.get("exact") for p in settings_of(figure))}
    of_all_policies = {"figure-1a", "figure-1b", "figure-3a", "figure-7"}
    assert asking == of_all_policies | {"figure-10a", "figure-10b", "figure-11"}
    assert all(p["exact"] is True for figure in of_all_policies for p in settings_of(figure))
    assert "There is no exact difference" in EXPERIMENTS["figure-3b"](None, 7).caption


def short(points):
    """The same points with fewer rounds."""
    return [replace(point, settings=point.settings | {"horizon": 3}) for point in points]


# Figures of many policies compile them all; their own tests have the rest of what they do.
MANY_POLICIES = ("figure-8", "figure-9", "figure-10a", "figure-10b", "figure-11")


@pytest.mark.parametrize(
    "figure",
    [
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.compiled] * (name in MANY_POLICIES))
        for name in EXPERIMENTS
    ],
)
def test_every_experiment_gives_a_table_and_claims(figure):
    experiment = EXPERIMENTS[figure](20, 7)
    small = short(experiment.points[:: max(1, len(experiment.points) // 4)])
    outcomes = [PointOutcome(point, run_point(point.settings)) for point in small]
    table = experiment.table(outcomes)
    assert len(table.points) == len(small)
    assert all(len(trend.values) == len(small) for trend in table.trends)
    simulated = [trend.kind in ("regret", "difference") for trend in table.trends]
    assert [trend.errors is not None for trend in table.trends] == simulated
    exact = figure in ("figure-1a", "figure-1b", "figure-3a")
    assert [trend.exact is not None for trend in table.trends] == [exact and is_it for is_it in simulated]
    claims = experiment.claims(figure, outcomes)
    assert claims
    assert {claim.verdict for claim in claims} <= {"holds", "fails"}
    assert len(table.rows()) == len(small) + 1


def test_figure_3a_is_in_the_order_of_the_exact_difference():
    experiment = EXPERIMENTS["figure-3a"](20, 7)
    outcomes = [PointOutcome(point, run_point(point.settings)) for point in short(experiment.points[:6])]
    table = experiment.table(outcomes)
    exact = table["ucb1"].exact
    assert list(exact.values) == sorted(exact.values)
    lowest = min(outcomes, key=lambda outcome: outcome.exact(1)[0] - outcome.exact(0)[0])
    assert table.point_names[0] == lowest.point.name
    assert exact.values[0] == lowest.exact(1)[0] - lowest.exact(0)[0]
    assert exact.errors[0] == lowest.exact(1)[1] + lowest.exact(0)[1]
    assert list(table["ucb1"].values) != sorted(table["ucb1"].values)


@pytest.mark.compiled
def test_figure_3_is_sorted_and_names_its_points():
    experiment = EXPERIMENTS["figure-3b"](20, 7)
    outcomes = [PointOutcome(point, run_point(point.settings)) for point in experiment.points[:9]]
    table = experiment.table(outcomes)
    values = table["ucb1"].values
    assert list(values) == sorted(values)
    assert table.points == tuple(float(i) for i in range(1, 10))
    highest = max(outcomes, key=lambda outcome: outcome.result["policies"][1]["more"])
    assert table.point_names[-1] == highest.point.name
