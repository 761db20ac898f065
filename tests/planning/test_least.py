"""How near a plan's policies are to the best possible, and the Gittins index among them."""

import math
import re

import pytest

import bayesregret as br
from bayesregret.bounds.least import least_regret
from bayesregret.planning import experiment
from bayesregret.planning.least import ACCURACY, QUICK_WORK, quick_least, why_no_ratios, work_of_lower_bound
from bayesregret.planning.run_budget import gittins_table_seconds, has_quick_tables
from bayesregret.planning.zero_crossing import Z_95

GAUSSIAN = br.GaussianBandit([0.5, 0.0], prior_width=1.0, reward_noise=1.0)
COINS = br.GaussianBandit([0.5, 0.0], prior_width=1.0, reward_noise=1.0, noise_kind="rademacher")
BERNOULLI = br.BernoulliBandit([1, 1], [1, 1])
NAMES = ["thompson", "ucb1"]


def planned(bandit, policies=NAMES, horizon=5, **options):
    return br.plan(bandit, policies, horizon=horizon, runs=8, progress=False, **options)


@pytest.fixture(scope="module")
def gaussian():
    return planned(GAUSSIAN, None)


def test_a_lower_bound_makes_upper_limits_of_ratios(gaussian):
    bound = br.bounds.certified_lower(GAUSSIAN, horizon=5, accuracy=ACCURACY)
    assert (gaussian.least.regret, gaussian.least.exact, gaussian.least.source) == (
        bound.value,
        False,
        "certified_lower",
    )
    assert bound.value <= br.bounds.certified_lower(GAUSSIAN, horizon=5).value
    headings, *rows = gaussian.table()
    shown = {row[0]: row[headings.index("times the least")] for row in rows}
    for name, outcome in gaussian.outcomes.items():
        ratio = outcome.regret.mean / bound.value
        assert outcome.least_ratio == pytest.approx(ratio)
        number = float(re.fullmatch(r"at most ([\d.]+)", shown[name])[1])
        certain = 1.0 if outcome.exact is not None else Z_95
        most = ratio * (1.0 + certain * outcome.regret.stderr / outcome.regret.mean)
        assert most * (1.0 - 1e-9) <= number < 1.01 * most  # rounded up


def test_table_and_sentence_have_one_limit():
    plan = planned(GAUSSIAN, ["thompson", "greedy"])
    assert plan.best.exact is None
    line = (
        r"No policy can lose less than [\d.]+: at most ([\d.]+) percent of .* could still be saved, 95 percent sure\."
    )
    saved = float(re.fullmatch(line, plan.sentences()[1])[1])
    headings, *rows = plan.table()
    shown = next(row[headings.index("times the least")] for row in rows if row[0] == plan.best.name)
    limit = float(shown.removeprefix("at most "))
    assert saved == pytest.approx(100.0 * (1.0 - 1.0 / limit), abs=1.0)
    assert limit > 1.01 * plan.best.least_ratio, "the control: the mean alone is another number"


def test_the_least_regret_itself_makes_ratios():
    found = planned(BERNOULLI)
    assert found.least.exact
    assert "at most" not in str(found.table())
    late = planned(BERNOULLI, delay=3)
    assert not late.least.exact, "with late rewards the least regret is larger"
    assert "at most" in str(late.table())


def test_a_sentence_says_how_much_could_still_be_saved():
    plan = planned(GAUSSIAN, ["gittins:discount=0.8", "greedy"])
    assert plan.best.exact is not None
    line = (
        r"No policy can lose less than ([\d.]+): at most ([\d.]+) percent of the regret of (.*) could still be saved\."
    )
    found = re.fullmatch(line, plan.sentences()[1])
    assert found[3] == plan.best.name
    assert float(found[1]) == pytest.approx(plan.least.regret, rel=1e-3)
    saved = 100.0 * (1.0 - plan.least.regret / plan.best.regret.mean)
    assert saved <= float(found[2]) < saved + 0.11, "rounded up"


def test_without_a_bound_there_is_a_note_and_no_ratio():
    found = planned(COINS)
    assert "times the least" not in found.table()[0]
    assert found["ucb1"].least_ratio is None
    assert not any(line.startswith("No policy can lose less") for line in found.sentences())
    assert [note for note in found.notes if note.startswith("No lower bound on the regret of every policy is known")]


def test_a_bound_that_takes_long_is_left_out(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.least.QUICK_WORK", 1)
    found = planned(GAUSSIAN)
    assert found.least is None
    assert any("takes long for a gaussian bandit over 5 rounds" in note for note in found.notes)
    assert planned(BERNOULLI).least.exact, "the dynamic programme is quick"


def test_the_note_says_how_long_it_takes_and_not_where_rewards_are_late(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.least.work_of_lower_bound", lambda bandit, horizon: 200_000)
    mixture = br.MixtureBandit([0.5, 0.5], [br.BernoulliBandit([1, 2], [3, 4]), br.BernoulliBandit([3, 1], [3, 4])])
    (note,) = why_no_ratios(mixture, 50_000, None)
    assert note.endswith("(bayesregret optimal computes a lower bound in roughly 80 seconds, then simulates).")
    (late,) = why_no_ratios(mixture, 50_000, None, is_late=True)
    assert late.endswith("takes long for a mixture of 2 bandits over 50,000 rounds.")


def test_the_work_grows_with_kinds_and_components():
    def work(bandit, horizon=100):
        return work_of_lower_bound(bandit, horizon)

    three = br.BernoulliBandit([1, 2, 3], [1, 1, 1])
    assert work(three) == 3 * work(BERNOULLI)
    assert work(br.MixtureBandit([0.5, 0.5], [BERNOULLI, BERNOULLI])) == 2 * work(BERNOULLI)
    assert work(GAUSSIAN, 10**6) == work(GAUSSIAN, 10) < QUICK_WORK
    assert work(br.LinearBandit([[1, 0], [0, 1]], [0, 0], prior_width=1, reward_noise=1)) < QUICK_WORK
    poisson = br.PoissonBandit([1, 2, 3, 4, 5], [1, 1, 1, 1, 1])
    assert work(poisson) > QUICK_WORK
    assert quick_least(poisson, 100) is None


def test_gittins_is_a_candidate_where_its_tables_are_quick(gaussian, monkeypatch):
    assert gaussian["gittins"].policy == br.Gittins(discount=0.8)
    assert gaussian["gittins"].exact == br.exact_regret(GAUSSIAN, br.Gittins(discount=0.8), horizon=5).regret
    assert [policy.name for policy in experiment.default_policies(GAUSSIAN, 1)][-1] == "ucb1", "nothing to learn for"
    monkeypatch.setattr("bayesregret.planning.experiment.LONGEST_TABLE", 0.05)
    assert "gittins" not in [policy.name for policy in experiment.default_policies(GAUSSIAN, 5)]


def test_the_discount_has_two_digits():
    (found,) = experiment._quick_gittins(GAUSSIAN, 3_000)
    assert found.discount == 0.99967


def test_tables_take_longer_with_more_kinds_of_arms(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.run_budget.ROUNDS_IN_A_SECOND", 1_000)
    two = br.BernoulliBandit([1, 2], [1, 1])
    assert gittins_table_seconds(BERNOULLI, 1_000) == 1.0
    assert gittins_table_seconds(two, 1_000) == 2.0
    assert gittins_table_seconds(br.PoissonBandit([1, 1], [1, 1]), 10) == math.inf
    assert has_quick_tables(br.Gittins(discount=0.9), BERNOULLI, 300)
    assert not has_quick_tables(br.Gittins(discount=0.9), BERNOULLI, 400)
    assert not has_quick_tables(br.Gittins(), GAUSSIAN, 1_000)
    assert has_quick_tables(br.Thompson(), BERNOULLI, 10**6)


def test_wrong_priors_are_those_of_the_next_policy_where_each_needs_a_slow_table(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.run_budget.QUICK_TABLE", 0.0)
    found = planned(GAUSSIAN, ["gittins:discount=0.9", "thompson", "ucb1"], horizon=12)
    assert found.best.name == "gittins"
    (examined,) = {limit.policy for limit in found.limits}
    assert examined in ("thompson", "A/B test")
    assert any(note.endswith(f"those of {examined} are shown.") for note in found.notes)
    alone = planned(GAUSSIAN, "gittins:discount=0.8")
    assert alone.best.name == "gittins"
    assert all(limit.policy == "A/B test" for limit in alone.limits)


@pytest.mark.compiled
@pytest.mark.parametrize("bandit", [GAUSSIAN, BERNOULLI, br.ExponentialBandit([4, 4], [3, 3])], ids=["g", "b", "e"])
def test_no_policy_is_below_the_least(bandit):
    least = quick_least(bandit, 200)
    assert least.regret > 0.0
    result = br.simulate(bandit, ["thompson", "bayes-ucb"], horizon=200, runs=4_000, seed=5)
    for found in result.policies.values():
        assert found.mean + 4.0 * found.stderr > least.regret
    fine = least_regret(bandit, 200, programme={})
    assert (1.0 - 2.0 * ACCURACY) * fine.regret < least.regret <= fine.regret * (1.0 + 1e-9)
