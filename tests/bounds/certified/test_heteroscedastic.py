"""Bounds for heteroscedastic Gaussian arms.

tests/golden/heteroscedastic_mpmath.py computes the golden values."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, GaussianBandit, bounds, simulate
from bayesregret.bounds import DoesNotHold
from bayesregret.bounds.assumptions import HOMOSCEDASTIC_ONLY
from bayesregret.bounds.bound import FINE, Formula, make_setting
from bayesregret.bounds.certified import gap_dependent as certified_gaps
from bayesregret.bounds.certified import heteroscedastic as certified_heteroscedastic
from bayesregret.bounds.certified import prior_dependent as certified_priors
from bayesregret.bounds.certified import ucb1 as ucb1_certified
from bayesregret.bounds.gaps.gaussian_heteroscedastic import MOST_KINDS
from bayesregret.problem import problem_from_dict

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "heteroscedastic.json").read_text())
PROMISED, KNOWN_TO = 1e-9, 1e-11
ARMS = GaussianBandit([0.5, 0.0, 0.0, -0.5], [0.5, 1.0, 1.0, 2.0], [1.5, 0.7, 0.7, 3.0])

EXTENDED = {
    "certified_floor": (certified_gaps.floor_gaussian, certified_heteroscedastic.floor_heteroscedastic),
    "certified_epsilon": (certified_gaps.epsilon_gaussian, certified_heteroscedastic.epsilon_heteroscedastic),
    "certified_index": (certified_gaps.index_gaussian, certified_heteroscedastic.index_heteroscedastic),
    "certified_gap_free": (certified_priors.gap_free_gaussian, certified_heteroscedastic.gap_free_heteroscedastic),
    "certified_prior_dependent": (
        certified_priors.prior_dependent_gaussian,
        certified_heteroscedastic.prior_dependent_heteroscedastic,
    ),
    "certified_small_width": (
        certified_priors.small_width_gaussian,
        certified_heteroscedastic.small_width_heteroscedastic,
    ),
    "certified_trivial": (certified_priors.trivial_gaussian, certified_heteroscedastic.trivial_heteroscedastic),
    "certified_ucb1": (ucb1_certified.ucb1, ucb1_certified.ucb1_heteroscedastic),
}


# --- numbers -------------------------------------------------------------------------------------------------------


def without_bad_rounds(bound):
    return math.fsum(part for name, part in bound.terms.items() if name != "bad rounds")


QUANTITIES = {
    "expected_max_gap": (bounds.certified_trivial, lambda bound: bound.leading),
    "floor_leading": (bounds.certified_floor, lambda bound: bound.leading),
    "epsilon_leading": (bounds.certified_epsilon, lambda bound: bound.leading),
    "index_leading": (bounds.certified_index, lambda bound: bound.leading),
    "prior_dependent_certified": (bounds.certified_prior_dependent, without_bad_rounds),
    "ucb1_certified_leading": (bounds.certified_ucb1, lambda bound: bound.leading),
}


@pytest.mark.parametrize("entry", GOLDEN, ids=lambda entry: f"{entry['name']}-{entry['quantity']}".replace(" ", "_"))
def test_golden_values(entry):
    function, part = QUANTITIES[entry["quantity"]]
    bandit = problem_from_dict(entry["problem"])
    bound = function(bandit, horizon=entry["horizon"], delta=entry["delta"], epsilon=entry["epsilon"])
    golden = float(entry["value"]) * (entry["horizon"] if entry["quantity"] == "expected_max_gap" else 1.0)
    assert part(bound) == pytest.approx(golden, rel=PROMISED, abs=0.0)
    assert abs(part(bound) - golden) <= bound.error + KNOWN_TO * golden
    assert bound.error <= PROMISED * bound.value


def test_a_wrong_golden_value_is_noticed():
    """The control: the last digit that is promised."""
    golden = float(GOLDEN[0]["value"])
    assert golden * (1.0 + 3.0 * PROMISED) != pytest.approx(golden, rel=PROMISED, abs=0.0)


@pytest.mark.parametrize("name", EXTENDED)
@pytest.mark.parametrize(
    ("bandit", "horizon", "delta"),
    [
        (GaussianBandit([1.0] + [0.0] * 4, 1.0, 1.0), 100, None),
        (GaussianBandit([0.0, 0.3, 0.3, -2.0], 0.2, 3.0), 300, 0.05),
        (GaussianBandit([0.0, 0.0], 2.0, 0.1), 1, None),
    ],
)
def test_equal_widths_give_the_form_for_one_width(name, bandit, horizon, delta):
    """Two ways to the same number: one function for all arms, and one for each."""
    shared, own = EXTENDED[name]
    setting = make_setting(horizon, delta)
    expected, made = shared(bandit, setting, FINE).terms, own(bandit, setting, FINE).terms
    assert made.keys() == expected.keys()
    for term, value in expected.items():
        assert made[term] == pytest.approx(value, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("name", EXTENDED)
def test_nearly_equal_widths_are_nearly_the_same(name):
    near = GaussianBandit([0.3, 0.0, 0.0], [1.0, 1.0 + 1e-9, 1.0], [1.0, 1.0, 1.0 - 1e-9])
    far = GaussianBandit([0.3, 0.0, 0.0], [1.0, 1.1, 1.0], 1.0)
    value = getattr(bounds, name)(GaussianBandit([0.3, 0.0, 0.0], 1.0, 1.0), horizon=50).value
    assert getattr(bounds, name)(near, horizon=50).value == pytest.approx(value, rel=1e-7)
    assert getattr(bounds, name)(far, horizon=50).value != pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("name", sorted(EXTENDED.keys() - {"certified_prior_dependent"}))
def test_units_do_not_matter(name):
    """Regret is measured in rewards: with all lengths doubled it doubles. The windows of the form that is left out are
    lengths of their own."""
    doubled = GaussianBandit(7.0 + 2.0 * ARMS.prior_mean, 2.0 * ARMS.prior_width, 2.0 * ARMS.reward_noise)
    one, two = (getattr(bounds, name)(bandit, horizon=30) for bandit in (ARMS, doubled))
    assert two.value == pytest.approx(2.0 * one.value, rel=1e-9)


def test_the_sum_of_the_largest_deviations():
    """The gap-free form by sorting all of them; ties between equal arms among the last pulls included."""
    for horizon in (1, 2, 3, 10, 47):
        setting = make_setting(horizon, 0.1)
        k = np.arange(horizon)
        every = 1.0 / np.sqrt(ARMS.prior_widths[:, None] ** -2 + k * ARMS.reward_noises[:, None] ** -2)
        largest = np.sort(every.ravel())[::-1][:horizon]
        bound = bounds.certified_gap_free(ARMS, horizon=horizon, delta=0.1)
        assert bound.leading == pytest.approx(setting.z * largest.sum(), rel=1e-12)
        assert certified_heteroscedastic.most_uncertain(ARMS, horizon) == pytest.approx(largest)


def test_the_best_epsilon_is_the_best():
    best = bounds.certified_epsilon(ARMS, horizon=200)
    assert 0.0 < best.details["epsilon"] < 2.0 * make_setting(200).z * 2.0
    for factor in (0.5, 0.9, 1.1, 2.0):
        other = bounds.certified_epsilon(ARMS, horizon=200, epsilon=factor * best.details["epsilon"])
        assert other.value > best.value


def test_one_round():
    """At delta = 1 no interval has a width; nothing may divide by it."""
    table = bounds.table(ARMS, horizon=1)
    assert all(math.isfinite(bound.value) for bound in table if bound.applies)


# --- truth ---------------------------------------------------------------------------------------------------------


def random_arms(rng):
    arms = int(rng.integers(2, 5))
    means = np.round(rng.choice([0.0, 0.3, 1.0]) * rng.standard_normal(arms), 1)
    return GaussianBandit(means, 10.0 ** rng.uniform(-1.0, 0.7, arms), 10.0 ** rng.uniform(-1.0, 0.7, arms))


@pytest.mark.compiled
def test_certified_bounds_hold():
    """Simulated regret is below each of them; the control is the index form with all widths taken for the narrowest."""
    rng = np.random.default_rng(91)
    nearest, refuted = math.inf, 0
    for problem in range(20):
        bandit, horizon = random_arms(rng), int(10.0 ** rng.uniform(0.5, 2.3))
        delta = None if rng.random() < 0.5 else float(10.0 ** rng.uniform(-4.0, -0.3))
        result = simulate(bandit, [BayesUCB(delta=delta), UCB1(delta=delta)], horizon=horizon, runs=400, seed=problem)
        for name in EXTENDED:
            formula = Formula.every[name]
            bound = formula(bandit, horizon=horizon, delta=delta)
            for regret in (result[policy] for policy in result.policies if formula.is_about(policy)):
                assert bound.value >= regret.mean - 4.0 * regret.stderr, (name, bandit, horizon, delta)
                if regret.mean > 8.0 * regret.stderr:
                    nearest = min(nearest, bound.value / regret.mean)
        narrow = GaussianBandit(bandit.prior_mean, float(bandit.prior_widths.min()), float(bandit.reward_noises.min()))
        regret = result["bayes-ucb"]
        wrong = bounds.certified_index(narrow, horizon=horizon, delta=delta).value
        refuted += wrong < regret.mean - 4.0 * regret.stderr
    assert nearest < 1.5
    assert refuted > 5


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_the_printed_forms_do_not_apply():
    table = bounds.table(ARMS, horizon=50)
    printed = [bound for bound in table if bound.form == "paper" and bound.name != "failure_probability"]
    assert len(printed) >= 8
    assert all(not bound.applies and bound.why_not == HOMOSCEDASTIC_ONLY for bound in printed)
    assert not bounds.action_bound(ARMS, horizon=50, gap=0.1).applies
    assert table.refused.keys() == {"certified_first_passage"}
    assert table.best.name == "certified_index"
    assert "differ" in table.summary()


@pytest.mark.parametrize("name", [*EXTENDED, "certified_first_passage"])
def test_rademacher_noise(name):
    arms = GaussianBandit([0.0, 0.0], [1.0, 2.0], 1.0, noise_kind="rademacher")
    if name == "certified_trivial":  # it is about the prior alone
        assert bounds.certified_trivial(arms, horizon=10).value > 0.0
        return
    with pytest.raises(DoesNotHold, match=f"^{name} does not hold here: [^\n]*$"):
        getattr(bounds, name)(arms, horizon=10)


def test_widths_that_are_too_far_apart():
    far = GaussianBandit([0.0, 0.0], [1e-7, 1.0], 1.0)
    with pytest.raises(DoesNotHold, match="prior widths must be at least 1e-06 of the largest one"):
        bounds.certified_floor(far, horizon=10)
    assert bounds.certified(far, horizon=10).details["name"] == "certified_trivial"
    assert bounds.certified_trivial(far, horizon=10).value == pytest.approx(10.0 * math.sqrt(2.0 / math.pi), rel=1e-9)
    apart = GaussianBandit([0.0, 0.0], [0.001, 1.0], [10.0, 1.0])
    with pytest.raises(DoesNotHold, match="no arm's gap may exceed 300 of its prior widths"):
        bounds.certified_ucb1(apart, horizon=10)
    many = GaussianBandit(np.zeros(MOST_KINDS + 1), np.linspace(1.0, 2.0, MOST_KINDS + 1), 1.0)
    with pytest.raises(DoesNotHold, match="at most 1000 different arms"):
        bounds.certified_index(many, horizon=10)
