"""Tables behind the figures of a plan: linear axes, the table's order, and wrong priors that explain themselves."""

import dataclasses

import numpy as np
import pytest

import bayesregret as br
from bayesregret.planning.figure_tables import (
    MOST_POINTS,
    figure_tables,
    round_tables,
    wrong_is_better,
    wrong_prior_tables,
)
from bayesregret.planning.misspecification import PriorLimit
from bayesregret.planning.value_of_prior import PriorWorth
from bayesregret.problem import common_bernoulli
from bayesregret.simulation.estimates import Estimate

POLICIES = [br.BayesUCB(), br.Thompson(), br.UCB1()]


@pytest.fixture(scope="module")
def plan():
    return br.plan(common_bernoulli(arms=2), POLICIES, horizon=12, runs=16, unit="sales")


def test_rounds_and_values_are_on_linear_axes(plan):
    regret, near = round_tables(plan)
    assert {axis.scale for table in (regret, near) for axis in (table.x, table.y)} == {"linear"}
    assert regret.y.label == "regret so far, sales"


def test_trends_have_the_order_of_the_table_with_the_recommended_one_in_front(plan):
    names = [row[0] for row in plan.table()[1:]]
    for table in round_tables(plan):
        assert [trend.label for trend in table.trends] == names
        assert table.front == plan.best.name == names[0]


def test_the_second_figure_is_about_arms_within_epsilon(plan):
    near = round_tables(plan)[1]
    tracked = plan["ucb1"].tracked
    assert near["ucb1"].values[-1] == 100.0 * tracked.near_best[-1]
    assert near["ucb1"].errors[-1] == 100.0 * tracked.near_best_stderr[-1]
    assert (near.y.mark, near.y.mark_label) == (95.0, "95%")
    assert f"within {plan.epsilon:g} of the best" in near.title
    assert f"within {plan.epsilon:g} of the best" in near.y.label


def test_without_epsilon_it_is_about_the_best_arm():
    plan = br.plan(common_bernoulli(arms=2), br.UCB1(), horizon=3, runs=4, epsilon=0.0)
    assert round_tables(plan)[1].title == "How soon a policy is on the best arm"


def test_drawn_rounds_are_spread_over_the_axis():
    plan = br.plan(common_bernoulli(arms=2), br.UCB1(), horizon=400, runs=2)
    rounds = np.array(round_tables(plan)[0].points)
    assert rounds[0] == 1.0
    assert rounds[-1] == 400.0
    assert (np.diff(rounds)[:-1] >= 400.0 / MOST_POINTS).all()
    assert 10 < len(rounds) <= MOST_POINTS + 2


@pytest.mark.parametrize(("arms", "horizon"), [(1, 5), (2, 1)])
def test_where_there_is_nothing_to_learn_there_is_no_figure(arms, horizon):
    assert figure_tables(br.plan(common_bernoulli(arms=arms), br.BayesUCB(), horizon=horizon, runs=4)) == []


# --- wrong priors ---------------------------------------------------------------------------------------------------


def limit(policy, direction="too narrow", best=-2.0, stderr=0.1):
    """Regret differences -1 at the true prior and `best` at the next point."""
    field = "mean" if direction in ("too low", "too high") else "width"
    values = (Estimate(-1.0, 0.1), Estimate(best, stderr), Estimate(0.5, 0.1))
    return PriorLimit(field, direction, 4.0, None, (1.0, 2.0, 4.0), values, policy, "ucb1")


def test_a_wrong_prior_that_is_better_is_explained(plan):
    (line,) = wrong_is_better(plan, [limit("bayes-ucb")])
    assert line == (
        "bayes-ucb has less regret with a prior width too narrow by a factor of 2: "
        "at delta 0.083 it explores more than needed."
    )


@pytest.mark.parametrize(("best", "stderr"), [(-0.9, 0.1), (-1.2, 0.1), (-2.0, 0.6)])
def test_one_that_is_not_significantly_better_is_not(plan, best, stderr):
    assert wrong_is_better(plan, [limit("bayes-ucb", best=best, stderr=stderr)]) == []


@pytest.mark.parametrize(
    ("direction", "amount"),
    [("too low", "more than needed"), ("too high", "less than would be best"), ("too wide", "less than would be best")],
)
def test_the_reason_depends_on_the_direction(plan, direction, amount):
    (line,) = wrong_is_better(plan, [limit("thompson", direction)])
    assert f"{direction} by " in line
    assert line.endswith(f": with the true prior it explores {amount}.")


def test_low_costs_are_high_rewards(plan):
    costs = dataclasses.replace(plan, reward=dataclasses.replace(plan.reward, minimise=True))
    (line,) = wrong_is_better(costs, [limit("thompson", "too low")])
    assert line.endswith("it explores less than would be best.")


def test_nothing_is_said_about_exploring_where_the_bonus_is_small():
    """With delta 0.9 a narrow prior may make bayes-ucb explore more."""
    plan = br.plan(common_bernoulli(arms=2), [br.BayesUCB(delta=0.9), br.UCB1()], horizon=12, runs=4)
    (line,) = wrong_is_better(plan, [limit("bayes-ucb(delta=0.9)")])
    assert "explores" not in line
    assert "not the best possible policy" in line


def test_a_mixture_has_no_one_true_prior():
    bandit = br.MixtureBandit([0.5, 0.5], [common_bernoulli(arms=2), common_bernoulli(arms=2, alpha=3.0)])
    plan = br.plan(bandit, [br.BayesUCB(prior=bandit.conjugate()), br.UCB1()], horizon=4, runs=4)
    (line,) = wrong_is_better(plan, [limit("bayes-ucb")])
    assert "matches the mixture" in line
    worth = PriorWorth("bayes-ucb", "ucb1", Estimate(1.0, 0.1), False, None)
    (table,) = wrong_prior_tables(dataclasses.replace(plan, worth=worth, limits=(limit("bayes-ucb"),)))
    assert table.x.label == "believed prior width, times the matched one"


def test_the_explanation_is_in_the_caption(plan):
    worth = PriorWorth("bayes-ucb", "ucb1", Estimate(1.0, 0.1), False, None)
    given = (limit("bayes-ucb"), limit("bayes-ucb", "too wide", best=5.0))
    (table,) = wrong_prior_tables(dataclasses.replace(plan, worth=worth, limits=given))
    assert table.caption.endswith("at delta 0.083 it explores more than needed.")
    assert table.points == (0.25, 0.5, 1.0, 4.0)  # 5 is beyond four times the gain of the true prior
    assert table.trends[0].values == (0.5, -2.0, -1.0, 0.5)
    assert table.y.mark == 0.0


def test_a_policy_without_a_prior_has_no_wrong_one(plan):
    assert wrong_prior_tables(dataclasses.replace(plan, worth=None)) == []
