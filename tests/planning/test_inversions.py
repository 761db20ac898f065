"""Answers are checked by evaluating at them and beside them."""

import pytest

import bayesregret as br
from bayesregret.planning.variants import stretched, with_arms
from bayesregret.planning.words import inversion_line
from bayesregret.problem import common_bernoulli, common_gaussian, common_linear

GAUSSIAN = common_gaussian(arms=3)
RUNS = 4_000


def regret(bandit, horizon):
    return br.simulate(bandit, br.BayesUCB(), horizon=horizon, runs=RUNS, seed=9)["bayes-ucb"]


def exact(bandit, horizon):
    return br.exact_regret(bandit, br.BayesUCB(), horizon=horizon).regret


@pytest.mark.compiled
def test_the_horizon_is_where_regret_per_round_falls_under_the_target():
    found = br.horizon_for(GAUSSIAN, 0.08, runs=RUNS)
    assert found.low <= found.answer <= found.high
    assert (
        exact(GAUSSIAN, int(found.low) - 2) / (found.low - 2)
        > 0.08
        > exact(GAUSSIAN, found.high + 2) / (found.high + 2)
    )
    assert br.bounds.certified(GAUSSIAN, horizon=found.guaranteed).value <= 0.08 * found.guaranteed
    assert found.guaranteed >= found.answer


@pytest.mark.compiled
def test_the_arms_are_as_many_as_the_budget_allows():
    found = br.arms_for(GAUSSIAN, 40, horizon=300, runs=RUNS)
    assert exact(with_arms(GAUSSIAN, found.low), 300) <= 40 < exact(with_arms(GAUSSIAN, found.high + 1), 300)
    assert br.bounds.certified(with_arms(GAUSSIAN, found.guaranteed), horizon=300).value <= 40
    assert br.bounds.certified(with_arms(GAUSSIAN, found.guaranteed + 1), horizon=300).value > 40
    assert found.guaranteed <= found.answer


@pytest.mark.compiled
def test_the_width_is_as_large_as_the_budget_allows():
    found = br.width_for(GAUSSIAN, 10, horizon=300, runs=RUNS)
    assert exact(stretched(GAUSSIAN, 0.99 * found.low), 300) < 10 < exact(stretched(GAUSSIAN, 1.01 * found.high), 300)
    assert br.bounds.certified(stretched(GAUSSIAN, found.guaranteed), horizon=300).value <= 10
    assert found.guaranteed < found.answer


def test_other_policies_have_no_bound_and_the_same_seed_gives_the_same_answer():
    bandit = common_bernoulli(arms=2)
    first, second = (br.horizon_for(bandit, 0.12, policy=br.Thompson(), runs=8, seed=2) for _ in range(2))
    assert first == second
    assert first.guaranteed is None
    assert inversion_line(first, bandit).endswith("no certified bound says so.")


def test_answers_in_words():
    bandit = common_gaussian(arms=2, prior_width=0.5)
    arms = br.arms_for(common_bernoulli(arms=2), 1, horizon=6, runs=8)
    width = br.width_for(bandit, 1, horizon=6, runs=8)
    assert "A regret of 1 allows " in inversion_line(arms, bandit)
    assert "times as wide, a prior_width of " in inversion_line(width, bandit)
    assert arms.to_dict()["what"] == "arms"
    easy = br.horizon_for(bandit, 50, runs=8)
    assert easy.answer == easy.guaranteed == 1
    assert inversion_line(easy, bandit).endswith("at a horizon of 1 round; certified for 1 round.")


def unreachable(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.inversions.LONGEST", 16)
    monkeypatch.setattr("bayesregret.planning.inversions.MOST_ARMS", 4)


def test_targets_that_cannot_be_reached(monkeypatch):
    unreachable(monkeypatch)
    bandit = common_bernoulli(arms=2)
    shared = {"horizon": 5, "runs": 8}
    with pytest.raises(ValueError, match=r"regret_per_round must be at least \S+, what 16 rounds come to, got 1e-09"):
        br.horizon_for(bandit, 1e-9, runs=8)
    with pytest.raises(ValueError, match=r"budget must be below \S+, the regret with 4 arms, got 1000"):
        br.arms_for(bandit, 1000, **shared)
    with pytest.raises(
        ValueError, match=r"budget must be below \S+, the highest regret up to 1\.72 times the width, got"
    ):
        br.width_for(bandit, 1000, **shared)
    far = br.GaussianBandit([0, 0], 1e6, 1)
    with pytest.raises(ValueError, match=r"budget must be at least \S+, the regret with a prior 0\.0625 times as wide"):
        br.width_for(far, 1e-3, **shared)


def test_bounds_that_say_nothing(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.inversions.best_bound", lambda *_: None)
    bandit = common_bernoulli(arms=2)
    assert br.horizon_for(bandit, 0.5, runs=8).guaranteed is None
    assert br.arms_for(bandit, 1, horizon=6, runs=8).guaranteed is None
    assert br.width_for(common_gaussian(arms=2), 1, horizon=6, runs=8).guaranteed is None


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: br.horizon_for(common_linear(arms=4, dimension=2), 0), "regret_per_round must be a positive number"),
        (lambda: br.horizon_for(3, 0.1), "bandit must be a bandit such as GaussianBandit, got 3"),
        (lambda: br.horizon_for(GAUSSIAN, 0.1, policy="ucb1"), "policy must be a policy such as BayesUCB"),
        (lambda: br.arms_for(GAUSSIAN, -1, horizon=5), "budget must be a positive number, got -1"),
        (lambda: br.arms_for(GAUSSIAN, 1, horizon=0), "horizon must be"),
        (lambda: br.width_for(GAUSSIAN, 1, horizon=5, runs=1), "runs must be"),
        (
            lambda: br.width_for(br.ExponentialBandit([3], [1]), 1, horizon=5),
            "bandit must have a prior that can be made",
        ),
    ],
)
def test_bad_input(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
