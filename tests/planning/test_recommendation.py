"""A plan does not recommend a tuned delta that its runs cannot tell apart from an untuned policy."""

import dataclasses
from html import unescape

import numpy as np
import pytest

import bayesregret as br
from bayesregret.planning.recommendation import recommended
from bayesregret.planning.summary_text import tuned_line

pytestmark = pytest.mark.compiled  # exact regrets take long in plain Python

BANDIT = br.GaussianBandit([0.5, 0.0, 0.0], 1.0, 1.0)
HORIZON = 30


@pytest.fixture(scope="module")
def found():
    """Thompson sampling and BayesUCB with its best delta are close here, and BayesUCB with delta 1/n is worse."""
    return br.plan(BANDIT, ["bayes-ucb", "thompson"], horizon=HORIZON, runs=300, seed=1)


def with_regrets(outcome, regrets, **changes):
    tracked = outcome.tracked._replace(final_regret=np.asarray(regrets, dtype=float))
    return dataclasses.replace(outcome, tracked=tracked, exact=None, exact_error=None, **changes)


def test_only_a_tuned_delta_gives_way_and_only_in_a_tie(found):
    usual, noise = found["thompson"], np.random.default_rng(5).normal(size=400)
    thompson = with_regrets(usual, 10.0 + noise)
    tuned = with_regrets(usual, 9.99 + noise[::-1], name="tuned", is_tuned=True)
    better = with_regrets(usual, 8.0 + noise[::-1], name="tuned", is_tuned=True)
    untuned = dataclasses.replace(tuned, is_tuned=False)
    assert tuned.regret.mean < thompson.regret.mean
    assert recommended([tuned, thompson]) is thompson
    assert recommended([better, thompson]) is better, "clearly better"
    assert recommended([untuned, thompson]) is untuned, "nothing was tuned"


def test_an_ab_test_does_not_take_its_place(found):
    split = found["A/B test"]
    tuned = with_regrets(found["thompson"], [1.0, 9.0, 2.0, 8.0], is_tuned=True)
    tied = with_regrets(split, [9.0, 1.1, 8.0, 2.0])
    assert recommended([tuned, tied]) is tuned


def test_the_advice_costs_nothing_on_new_runs(found):
    """On runs that the plan did not see, the recommended policy loses no more than the one with the least regret."""
    least = min(found.outcomes.values(), key=lambda outcome: outcome.regret.mean)
    policies = {name: found[name].policy for name in {least.name, found.best.name, "bayes-ucb"}}
    fresh = br.simulate(BANDIT, policies, horizon=HORIZON, runs=1500, seed=2)
    if found.best is not least:
        more = fresh.paired(found.best.name, least.name)
        assert more.mean < 4.0 * more.stderr
    control = fresh.paired("bayes-ucb", least.name)
    assert control.mean > 4.0 * control.stderr, "the check would notice a worse policy"


def test_both_numbers_are_stated(found):
    tuned = next(outcome for outcome in found.outcomes.values() if outcome.is_tuned)
    first = found.sentences()[0]
    if found.best is not tuned:
        assert f"{tuned.name} with " in first
        assert "tuned to this prior" in first
    assert first.startswith(f"Run {found.best.name}: ")


def test_a_recommended_tuned_delta_comes_with_a_warning(found):
    less = 0.1 + 0.01 * np.random.default_rng(5).normal(size=400)
    tuned = with_regrets(found["thompson"], less, name="bayes-ucb(delta=0.3)", is_tuned=True)
    plan = dataclasses.replace(found, outcomes={**found.outcomes, tuned.name: tuned})
    assert found["bayes-ucb"].exact == min(each.regret.mean for each in found.outcomes.values() if not each.is_tuned)
    assert tuned_line(plan) == (
        "Its delta is tuned to this prior and 30 rounds: it fails rarely and badly. The best policy without a tuned "
        "setting: bayes-ucb, 6.0582."
    )
    assert plan.sentences()[1] == tuned_line(plan)
    assert tuned_line(plan) in unescape(plan.to_html()).replace("\N{NO-BREAK SPACE}", " ")
    chosen = dataclasses.replace(tuned, is_tuned=False)
    assert tuned_line(dataclasses.replace(plan, outcomes={**found.outcomes, tuned.name: chosen})) is None
