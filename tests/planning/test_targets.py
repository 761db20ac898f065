"""Answers are checked by evaluating at them and beside them."""

import json
import re
from types import SimpleNamespace

import pytest

import bayesregret as br
from bayesregret.planning.perturbed_priors import stretch_range, stretched, with_arms
from bayesregret.planning.regret_query import RegretQuery, checked_query
from bayesregret.planning.run_budget import is_affordable
from bayesregret.planning.summary_text import inversion_line
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
def test_regret_per_round_that_rises_at_first_is_looked_at_until_it_stays_under():
    bandit = br.GaussianBandit([1.5] + [0] * 9, 1, 3)
    assert exact(bandit, 1) < 0.5 < exact(bandit, 64) / 64  # where the first answer would be wrong
    found = br.horizon_for(bandit, 0.5, runs=RUNS)
    before, after = int(found.low) - 4, int(found.high) + 4
    assert exact(bandit, before) / before > 0.5 > exact(bandit, after) / after
    assert found.reach >= 8 * found.answer


def test_arms_of_other_kinds_do_not_end_the_search():
    """The third one is so good that nothing is lost by the other two."""
    bandit = br.GaussianBandit([0, 0, 50], 1, 1)
    found = br.arms_for(bandit, 1.5, horizon=20, runs=32)
    assert (found.answer, found.guaranteed) == (3, 3)
    assert exact(with_arms(bandit, 2), 20) > 2.5  # where the first answer would be wrong


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
    first, second = (br.horizon_for(bandit, 0.12, policy=br.KLUCB(), runs=8, seed=2) for _ in range(2))
    assert first == second
    assert first.guaranteed is None
    assert inversion_line(first, bandit).endswith("no certified bound says so.")


def test_answers_in_words():
    bandit = common_gaussian(arms=2, prior_width=0.5)
    arms = br.arms_for(common_bernoulli(arms=2), 1, horizon=6, runs=8)
    width = br.width_for(bandit, 1, horizon=6, runs=8)
    assert "With bayes-ucb a regret of 1 allows " in inversion_line(arms, bandit)
    assert "times as wide, a prior_width of " in inversion_line(width, bandit)
    assert arms.to_dict()["what"] == "arms"
    easy = br.horizon_for(bandit, 50, runs=8)
    assert easy.answer == easy.guaranteed == 1
    assert not easy.at_least
    assert inversion_line(easy, bandit).endswith("from a horizon of 1 round on; certified for 1 round.")


def test_more_than_enough_is_an_answer(monkeypatch):
    within_reach(monkeypatch)
    bandit = common_bernoulli(arms=2)
    arms = br.arms_for(bandit, 1000, horizon=5, runs=8)
    assert (arms.answer, arms.high, arms.guaranteed, arms.at_least) == (4, 4, 4, True)
    assert " allows at least 4 arms; certified for 4 arms." in inversion_line(arms, bandit)
    width = br.width_for(bandit, 1000, horizon=5, runs=8)
    assert width.answer == width.guaranteed == pytest.approx(stretch_range(bandit).up)
    assert " allows a prior at least 1.717 times as wide; certified for 1.71 times." in inversion_line(width, bandit)
    alone = br.width_for(common_gaussian(arms=1), 5, horizon=5, runs=8)
    assert (alone.answer, alone.at_least) == (16, True)
    assert json.loads(json.dumps(arms.to_dict(), allow_nan=False))["at_least"]


def test_what_may_not_quite_be_enough_has_an_interval(monkeypatch):
    within_reach(monkeypatch)
    bandit = common_bernoulli(arms=2)
    most = br.simulate(with_arms(bandit, 4), br.BayesUCB(), horizon=5, runs=8, seed=0)["bayes-ucb"].mean
    found = br.arms_for(bandit, most, horizon=5, runs=8)
    assert found.at_least
    assert found.low < found.answer == 4
    assert "to beyond 4) arms" in inversion_line(found, bandit)


def test_a_bound_guarantees_its_value_which_includes_its_error(monkeypatch):
    monkeypatch.setattr(
        "bayesregret.planning.regret_query.best_bound", lambda *_: SimpleNamespace(value=9.5, error=0.5)
    )
    query = RegretQuery(br.BayesUCB(), 5, None, 0, None)
    assert query.guarantees(GAUSSIAN, 9.5)
    assert not query.guarantees(GAUSSIAN, 9.4)


def test_work_is_bounded():
    poisson = br.PoissonBandit([1, 1], [1, 1])
    assert checked_query(poisson, None, 4, 8, 0, None, 0, 1).policy == br.Thompson()  # no quantile in every round
    assert is_affordable(br.BayesUCB(), GAUSSIAN, 2**20)
    assert not is_affordable(br.BayesUCB(), GAUSSIAN, 2**22)
    assert not is_affordable(br.Thompson(), GAUSSIAN, 2**20)
    assert not is_affordable(br.BayesUCB(), poisson, 2**15)
    assert is_affordable(br.BayesUCB(), with_arms(GAUSSIAN, 4096), 50_000)
    assert not is_affordable(br.BayesUCB(), common_linear(arms=4096, dimension=2), 50_000)


def within_reach(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.targets.LONGEST", 16)
    monkeypatch.setattr("bayesregret.planning.targets.MOST_ARMS", 4)


def test_targets_that_cannot_be_reached(monkeypatch):
    within_reach(monkeypatch)
    bandit = common_bernoulli(arms=2)
    shared = {"horizon": 5, "runs": 8}
    with pytest.raises(ValueError, match=r"regret_per_round must be at least \S+, the value for 16 rounds, got 1e-09"):
        br.horizon_for(bandit, 1e-9, runs=8)
    far = br.GaussianBandit([0, 0], 1e6, 1)
    with pytest.raises(ValueError, match=r"budget must be at least \S+, the regret with a prior 0\.0625 times as wide"):
        br.width_for(far, 1e-3, **shared)


def test_bounds_that_say_nothing(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.regret_query.best_bound", lambda *_: None)
    bandit = common_bernoulli(arms=2)
    assert br.horizon_for(bandit, 0.5, runs=8).guaranteed is None
    assert br.arms_for(bandit, 1, horizon=6, runs=8).guaranteed is None
    assert br.width_for(common_gaussian(arms=2), 1, horizon=6, runs=8).guaranteed is None


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: br.horizon_for(common_linear(arms=4, dimension=2), 0), "regret_per_round must be a positive number"),
        (lambda: br.horizon_for(3, 0.1), "bandit must be a bandit such as GaussianBandit, got 3"),
        (lambda: br.horizon_for(GAUSSIAN, 0.1, policy=3), "policy must be a policy such as BayesUCB"),
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


def test_one_round_is_examined_however_expensive_it_is(monkeypatch):
    """As it is with a million arms."""
    monkeypatch.setattr(RegretQuery, "is_affordable", lambda *_: False)
    bandit = common_gaussian(arms=3)
    assert br.horizon_for(bandit, 50.0, runs=8, threads=1).answer == 1
    with pytest.raises(
        ValueError, match=r"^regret_per_round must be at least [\d.]+, the value for 1 round, got 1e-09$"
    ) as caught:
        br.horizon_for(bandit, 1e-9, runs=8, threads=1)
    least = float(re.search(r"at least (\S+),", str(caught.value))[1])
    with pytest.raises(ValueError, match="regret_per_round") as caught:  # by less than what four digits show
        br.horizon_for(bandit, least * (1.0 - 1e-7), runs=8, threads=1)
    limit, given = re.search(r"at least (\S+), .* got (\S+)$", str(caught.value)).groups()
    assert float(given) < float(limit) == least
