"""Right sides of the inequalities against the formulas of the bounds."""

import numpy as np
import pytest

from bayesregret import bounds
from bayesregret.audit.evidence import EveryRound, OnAverage
from bayesregret.audit.inequalities import Intervals, inequalities_of
from bayesregret.audit.runs import trace
from bayesregret.bounds.bound import make_setting
from problems import BANDITS

SETTING = make_setting(30, 0.07)


def allowed(kind):
    made = inequalities_of(BANDITS[kind], "bayes-ucb", SETTING)
    return {e.inequality.name: e.allowed for e in made if isinstance(e, OnAverage | EveryRound)}


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "linear"])
def test_probabilities(kind):
    formula = bounds.failure_probability(BANDITS[kind], horizon=30, delta=0.07)
    assert allowed(kind)["round_failure"] == pytest.approx(formula.value)
    assert allowed(kind)["interval_failure"] == pytest.approx(0.14)


def test_lemma_7():
    formula = bounds.failure_regret(BANDITS["gaussian"], horizon=30, delta=0.07)
    assert allowed("gaussian")["failure_regret"] == pytest.approx(formula.value)


def test_the_cost_of_failures_is_theorem_1s():
    terms = bounds.gap_dependent(BANDITS["gaussian"], horizon=30, delta=0.07).terms
    assert 30 * allowed("gaussian")["failed_rounds"] == pytest.approx(terms["failures"])


def test_bad_rounds_cost_what_the_certified_forms_say():
    for kind in ("gaussian", "bernoulli"):
        terms = bounds.certified_floor(BANDITS[kind], horizon=30, delta=0.07).terms
        assert 30 * allowed(kind)["bad_rounds"] == pytest.approx(terms["bad rounds"])
    terms = bounds.certified_gap_free(BANDITS["gaussian"], horizon=30, delta=0.07).terms
    assert 30 * allowed("gaussian")["overshoot"] == pytest.approx(terms["bad rounds"])


def test_lemma_10_and_the_gap_free_form():
    (block,) = trace(BANDITS["linear"], "bayes-ucb", SETTING, runs=3, seed=0)
    made = {(e.inequality.name, e.inequality.form): e for e in inequalities_of(BANDITS["linear"], "bayes-ucb", SETTING)}
    printed = made["posterior_variances", "paper"].sides(block)[1]
    assert printed[0] == pytest.approx(bounds.posterior_variances(BANDITS["linear"], horizon=30).value)
    (block,) = trace(BANDITS["gaussian"], "bayes-ucb", SETTING, runs=3, seed=0)
    made = {e.inequality.name: e for e in inequalities_of(BANDITS["gaussian"], "bayes-ucb", SETTING)}
    deviations = made["posterior_deviations"].sides(block)[1]
    terms = bounds.certified_gap_free(BANDITS["gaussian"], horizon=30, delta=0.07).terms
    assert SETTING.z * deviations[0] == pytest.approx(terms["leading"])


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_the_action_bound(kind):
    bandit = BANDITS[kind]
    (block,) = trace(bandit, "bayes-ucb", SETTING, runs=5, seed=0)
    if kind == "gaussian":
        intervals = Intervals(bandit.reward_noise**2, np.full(bandit.arms, bandit.model.pseudo_count))
    else:
        intervals = Intervals(0.25, bandit.alpha + bandit.beta + 1.0)
    made = intervals.action_bound(SETTING, block)
    for run, arm in np.ndindex(made.shape):
        gap = float(block.gaps[run, arm])
        if gap == 0.0:
            assert np.isnan(made[run, arm])
        else:
            options = {} if kind == "gaussian" else {"arm": arm}
            formula = bounds.action_bound(bandit, horizon=30, delta=0.07, gap=gap, **options)
            assert made[run, arm] == pytest.approx(formula.value, rel=1e-6, abs=1e-6)
