"""From which round on a policy is near the best arm, within the horizon of a plan or beyond it."""

import bayesregret as br
from bayesregret.planning.settling import Settling
from bayesregret.planning.summary_text import settling_line
from bayesregret.planning.zero_crossing import Crossing
from bayesregret.problem import common_bernoulli, common_gaussian


def coins(prior_width):
    """Plus-minus noise: no exact regrets, which take long in plain Python."""
    return common_gaussian(arms=2, prior_width=prior_width, noise_kind="rademacher")


def test_within_the_horizon_it_is_the_column_of_the_table():
    plan = br.plan(coins(0.2), br.BayesUCB(), horizon=8, runs=64, epsilon=1.0)
    assert plan.best.settled is not None
    assert plan.settling.round == plan.best.settled
    assert plan.settling.reach == 8


def test_longer_horizons_are_examined():
    """Two rounds are too few to find an arm within 0.5 of the best."""
    plan = br.plan(coins(3.0), br.BayesUCB(), horizon=2, runs=256, epsilon=0.5)
    assert plan.best.settled is None
    found = plan.settling
    assert found.round is None or found.round.at > 2
    assert found.reach > 2
    assert any(line.startswith(plan.best.name) for line in plan.sentences())
    assert plan.to_dict()["settling"]["reach"] == found.reach


def test_a_policy_for_short_horizons_is_examined_over_these(monkeypatch):
    def refuse(experiment, horizon, name, policy):
        raise ValueError("horizon must be at most 2 for this policy")

    monkeypatch.setattr("bayesregret.planning.experiment.PlannedExperiment.outcome_over", refuse)
    found = br.plan(coins(3.0), br.BayesUCB(), horizon=2, runs=64, epsilon=0.5).settling
    assert (found.round, found.reach) == (None, 2)


def test_nothing_to_settle():
    assert br.plan(common_bernoulli(arms=1), horizon=4, runs=4).settling is None
    assert br.plan(common_bernoulli(arms=2), br.BayesUCB(), horizon=4, runs=4, epsilon=0).settling is None


def test_words():
    near = "on an arm within 0.1 of the best with 95 percent probability"
    early = Settling(0.1, Crossing(40.0, 30.0, 50.0), 100, 100)
    assert settling_line(early, "ucb1") == f"ucb1 is {near} from round 40 (30 to 50) on."
    late = Settling(0.1, Crossing(150.0, 140.0, 160.0), 100, 200)
    assert settling_line(late, "ucb1").endswith(" on. That is beyond this horizon.")
    never = Settling(0.1, None, 100, 1600)
    assert settling_line(never, "ucb1") == f"ucb1 needs more than 1,600 rounds to be {near}."
