"""Figures 8 and 9: ratios to the optimum and to BayesUCB, and the claims that they decide."""

import math

import pytest

from bayesregret.problem import common_bernoulli
from bayesregret.reproduction.experiment import PointOutcome
from bayesregret.reproduction.figures import figure_8, figure_9
from bayesregret.reproduction.point import compute_point, point_settings


def outcomes(experiment, regrets, stderr=0.01, least=None):
    """Points of which policies have these regrets, in their order."""
    policies = [
        {"regret": regret, "stderr": stderr, "more": regret - regrets[0], "more_stderr": stderr} for regret in regrets
    ]
    result = {"policies": policies, "bounds": {}} | ({} if least is None else {"optimal": {"regret": least}})
    return [PointOutcome(point, result) for point in experiment.points]


def test_the_optimum_divides():
    figure = figure_8.figure_8(10, 7)
    many = len(figure_8.POLICIES)
    found = outcomes(figure, [2.1, 2.1, *[3.1] * (many - 2)], stderr=0.02, least=2.0)
    table = figure.table(found)
    assert table["gittins"].values == (1.0,) * len(figure_8.HORIZONS)
    assert table["ucb1"].values[0] == 1.5
    assert table["ucb1"].errors[0] == 0.01
    assert [claim.verdict for claim in figure.claims("figure-8", found)] == ["holds", "holds"]


def test_a_policy_below_the_optimum_is_an_exception():
    figure = figure_8.figure_8(10, 7)
    found = outcomes(figure, [1.0] * (len(figure_8.POLICIES) - 1) + [0.9], least=1.0)
    claim = figure.claims("figure-8", found)[0]
    assert claim.verdict == "fails"
    assert len(claim.exceptions) == len(figure_8.HORIZONS)
    assert claim.exceptions[0] == "n = 5: greedy 0.9000 times the least regret"


def test_a_policy_below_gittins_is_an_exception_unless_it_is_noise():
    figure = figure_8.figure_8(10, 7)
    others = [3.0] * (len(figure_8.POLICIES) - 3)
    near = figure.claims("figure-8", outcomes(figure, [2.0, 2.2, *others, 2.15], least=2.0))[1]
    below = figure.claims("figure-8", outcomes(figure, [2.0, 2.2, *others, 2.1], least=2.0))[1]
    assert (near.verdict, below.verdict) == ("holds", "fails")
    assert len(below.exceptions) == len(figure_8.HORIZONS)
    assert below.exceptions[0] == "n = 5: greedy 1.0500 times the least regret, Gittins index 1.1000"


def test_the_league_is_in_order():
    figure = figure_9.figure_9(10, 7)
    regrets = [10.0, *(10.0 * (0.5 + 0.1 * place) for place in range(1, len(figure_9.POLICIES)))]
    found = outcomes(figure, regrets)
    claims = figure.claims("figure-9", found)
    assert len(figure.points) == 81
    assert [claim.verdict for claim in claims] == ["holds"] * 4 + ["fails"] * 6  # at 1.0 it is not less
    assert claims[0].statement.startswith(figure_9.POLICIES[1][1])
    assert "0.600" in claims[0].evidence
    assert "better at 81 and worse at 0 of 81 bandits" in claims[0].evidence
    mean, stderr = figure_9._standing(found, 1)
    assert mean == pytest.approx(0.6)
    assert stderr == pytest.approx(math.hypot(0.01, 0.4 * 0.01) / 10.0 / math.sqrt(81), rel=1e-9)


def test_bandits_without_regret_are_left_out():
    figure = figure_9.figure_9(10, 7)
    assert figure_9._standing(outcomes(figure, [0.0] * len(figure_9.POLICIES)), 1) == (1.0, 0.0)
    assert figure_9._standing(outcomes(figure, [0.0, *[1.0] * (len(figure_9.POLICIES) - 1)]), 1) == (math.inf, 0.0)


def test_a_point_can_ask_for_the_optimum():
    settings = point_settings(common_bernoulli(arms=2), [], horizon=1, runs=1, seed=0, optimal=True)
    assert compute_point(settings).optimal["optimal"]["regret"] == pytest.approx(1.0 / 6.0)  # E[max] - 1/2
