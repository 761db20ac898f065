"""What a bound is, how it is asked for, and what is said when it cannot be had."""

import contextlib
import dataclasses
import inspect
import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret import BernoulliBandit, GaussianBandit, LinearBandit, bounds
from bayesregret.bounds.bound import FINE, LARGEST_HORIZON, NUMERICAL_ERROR, Formula, Parts, make_setting
from bayesregret.models import Bandit
from coarse import ERROR_OF_LOWER_BOUNDS

GAUSSIAN = GaussianBandit([0.5, 0.0, 0.0], 1.0, 1.0)
BERNOULLI = BernoulliBandit([1.0, 2.0], [1.0, 1.0])


class StrangeBandit(Bandit):
    kind = "strange"

    def __init__(self) -> None:
        self.arms = 2


def every_bound():
    for bandit in (GAUSSIAN, BERNOULLI):
        for name, formula in Formula.every.items():
            if formula.covers(bandit) and name != "action_bound":
                yield pytest.param(formula, bandit, id=f"{bandit.kind}-{name}")


EVERY_BOUND = list(every_bound())
# Errors that are promised, relative to the size of all terms; first passages are followed pull by pull.
PROMISED = {
    "certified_first_passage": 2e-5,
    "certified": 2e-5,
    "certified_thompson": 1e-8,
    "certified_lower": ERROR_OF_LOWER_BOUNDS,
}


@pytest.mark.parametrize(("formula", "bandit"), EVERY_BOUND)
def test_a_bound_is_whole(formula, bandit):
    bound = formula(bandit, horizon=20, delta=0.05, epsilon=0.1)
    assert (bound.name, bound.form, bound.kind, bound.policy) == (
        formula.name,
        formula.form,
        formula.kind,
        formula.policy,
    )
    assert bound.value == pytest.approx(math.fsum(bound.terms.values()), rel=1e-15)
    assert bound.leading == next(iter(bound.terms.values()))
    assert bound.leading + bound.remainder == pytest.approx(bound.value, rel=1e-15)
    promised = PROMISED.get(bound.name, 1e-9) if bandit.kind != "linear" else 1e-9
    assert 0.0 <= bound.error <= promised * math.fsum(map(abs, bound.terms.values()))
    assert bound.applies == (bound.why_not is None)
    assert bound.source
    assert formula.__doc__.endswith(".")
    if bound.form == "certified":
        assert bound.applies
        assert bound.value >= 0.0


@pytest.mark.parametrize(("formula", "bandit"), [case for case in EVERY_BOUND if case.values[1] is GAUSSIAN])
def test_the_error_covers_a_finer_rule(formula, bandit):
    """16 points on every panel are nearer to the truth than 12: the difference must be within the error."""
    setting = make_setting(60, 0.05, 0.1)
    bound = formula(bandit, horizon=60, delta=0.05, epsilon=0.1)
    finer = math.fsum(formula.body(bandit)(bandit, setting, 16).terms.values())
    computed = bound.value - bound.terms.get(NUMERICAL_ERROR, 0.0)
    assert abs(computed - finer) <= bound.error + 1e-13 * abs(bound.value)


# --- the numerical error --------------------------------------------------------------------------------------------


def made(form, kind, value, error):
    """A bound with this computed value and error, from a formula that is registered for this test alone."""
    formula = Formula("_made", form, "A test.", kind=kind)
    try:
        formula.of(GaussianBandit, "a test")(lambda *_: Parts({"leading": value, "rest": 0.0}, error=error))
        return formula(GAUSSIAN, horizon=20)
    finally:
        del Formula.every["_made"]


@pytest.mark.parametrize(
    ("form", "kind", "value", "error", "reported"),
    [
        ("certified", "upper", 5.9e-14, 8e-11, 5.9e-14 + 8e-11),
        ("certified", "upper", 10.0, 0.5, 10.5),
        ("certified", "lower", 10.0, 0.5, 9.5),
        ("certified", "lower", 0.25, 0.5, 0.0),
        ("certified", "lower", -0.25, 0.5, -0.25),
        ("certified", "quantity", 10.0, 0.5, 10.0),
        ("paper", "upper", 10.0, 0.5, 10.0),
        ("paper", "lower", 10.0, 0.5, 10.0),
    ],
)
def test_a_certified_value_is_on_the_safe_side_of_its_error(form, kind, value, error, reported):
    bound = made(form, kind, value, error)
    assert bound.value == reported
    assert bound.error == error
    assert bound.leading == value
    assert bound.leading + bound.remainder == pytest.approx(bound.value, rel=1e-15)
    assert (NUMERICAL_ERROR in bound.terms) == (form == "certified" and kind != "quantity")


def test_an_infinite_or_errorless_bound_has_no_such_term():
    assert list(made("certified", "upper", math.inf, 0.0).terms) == ["leading", "rest"]
    assert list(made("certified", "upper", 3.0, 0.0).terms) == ["leading", "rest"]


def test_the_error_is_added_once():
    """The smallest bound, and the best of a table, are bounds that have it already."""
    for bandit in (GAUSSIAN, BERNOULLI, GaussianBandit([1e9, 0.0], 1.0, 1.0)):
        best = bounds.certified(bandit, horizon=20)
        source = Formula.every[best.details["name"]]
        computed = math.fsum(source.body(bandit)(bandit, make_setting(20), FINE).terms.values())
        assert best.value == pytest.approx(computed + best.error, rel=1e-15)
        assert bounds.table(bandit, horizon=20).best.value == best.value


def test_public_names():
    for name in bounds.__all__:
        assert hasattr(bounds, name)
    assert {name for name in Formula.every if not name.startswith("_")} <= set(bounds.__all__)
    assert br.bounds is bounds
    with pytest.raises(AttributeError, match="no attribute 'gap_dependant'"):
        _ = bounds.gap_dependant
    assert repr(bounds.gap_dependent) == "<bound gap_dependent>"


def test_plain_data():
    bound = bounds.gap_dependent(GAUSSIAN, horizon=60)
    data = bound.to_dict()
    assert list(data) == [
        "name",
        "form",
        "kind",
        "source",
        "policy",
        "value",
        "leading",
        "remainder",
        "error",
        "applies",
        "why_not",
        "note",
        "terms",
        "details",
    ]
    for field, value in data.items():
        assert value == getattr(bound, field)


def test_a_title_names_the_policy():
    """Another policy may have more regret than a bound, which is then not refuted."""
    assert bounds.certified(GAUSSIAN, horizon=60).title == "certified bound on bayes-ucb"
    assert bounds.certified_trivial(GAUSSIAN, horizon=60).title == "certified_trivial bound on any policy"
    assert bounds.complexity(GAUSSIAN, horizon=60).title == "complexity"


def test_a_missing_horizon_is_named():
    with pytest.raises(TypeError, match=r"^horizon must be given: "):
        bounds.certified_floor(GAUSSIAN)


def test_words():
    assert str(bounds.gap_dependent(GAUSSIAN, horizon=60)).startswith(
        "gap_dependent bound on bayes-ucb [paper, Theorem 1] = "
    )
    found = str(bounds.prior_dependent(GAUSSIAN, horizon=2))
    assert found.endswith("(does not apply: horizon must be at least 3, where log log n > 0)")


def test_defaults():
    same = bounds.gap_dependent(GAUSSIAN, horizon=60)
    assert same == bounds.gap_dependent(GAUSSIAN, horizon=60, delta=1 / 60, epsilon=1 / 60)
    assert same != bounds.gap_dependent(GAUSSIAN, horizon=60, delta=1 / 61)
    assert same != bounds.gap_dependent(GAUSSIAN, horizon=60, epsilon=1 / 61)
    assert same.value == bounds.gap_dependent(GAUSSIAN, horizon=np.int64(60), delta=np.float64(1 / 60)).value


def test_what_a_caller_changes_stays_the_callers():
    first = bounds.gap_dependent(GAUSSIAN, horizon=61)
    kept = dict(first.terms)
    with contextlib.suppress(TypeError):  # one that cannot be changed is as good
        first.terms["leading"] = -1.0
    assert dict(bounds.gap_dependent(GAUSSIAN, horizon=61).terms) == kept


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"horizon": 0}, "horizon must be a whole number, at least 1"),
        ({"horizon": 1.5}, "horizon must be a whole number"),
        ({"horizon": "60"}, "horizon must be a whole number"),
        ({"horizon": True}, "horizon must be a whole number"),
        ({"horizon": LARGEST_HORIZON + 1}, f"at most {LARGEST_HORIZON}"),
        ({"horizon": 60, "delta": 0.0}, "delta must be a number strictly between 0 and 1, got 0.0"),
        ({"horizon": 60, "delta": 1.0}, "delta must be a number strictly between 0 and 1, got 1.0"),
        ({"horizon": 60, "delta": math.nan}, "delta must be a number strictly between 0 and 1, got nan"),
        ({"horizon": 60, "delta": "small"}, "delta must be a number strictly between 0 and 1, got 'small'"),
        ({"horizon": 60, "epsilon": 0.0}, "epsilon must be a positive number, got 0.0"),
        ({"horizon": 60, "epsilon": -1.0}, "epsilon must be a positive number, got -1.0"),
        ({"horizon": 60, "epsilon": math.inf}, "epsilon must be a positive number, got inf"),
        ({"horizon": 60, "epsilon": 1e60}, "epsilon must be between"),
    ],
)
@pytest.mark.parametrize("function", [bounds.gap_dependent, bounds.certified_trivial, bounds.table])
def test_bad_settings(function, setting, said):
    with pytest.raises(ValueError, match=said):
        function(GAUSSIAN, **setting)


@pytest.mark.parametrize("function", [bounds.gap_dependent, bounds.certified, bounds.table])
def test_bad_bandits(function):
    with pytest.raises(ValueError, match="bandit must be"):
        function("gaussian", horizon=60)
    with pytest.raises(ValueError, match="strange"):
        function(StrangeBandit(), horizon=60)


def test_bounds_of_other_bandits():
    linear = LinearBandit([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
    with pytest.raises(ValueError, match="certified_ucb1 is stated for gaussian bandits, got a bernoulli one"):
        bounds.certified_ucb1(BERNOULLI, horizon=60)
    with pytest.raises(ValueError, match="certified_floor is stated for gaussian and bernoulli bandits, got a linear"):
        bounds.certified_floor(linear, horizon=60)
    with pytest.raises(ValueError, match="information is stated for linear bandits, got a gaussian one"):
        bounds.information(GAUSSIAN, horizon=60)


def test_options_of_one_bound():
    with pytest.raises(TypeError, match="gap"):
        bounds.action_bound(GAUSSIAN, horizon=60)
    with pytest.raises(TypeError, match="gap"):
        bounds.gap_dependent(GAUSSIAN, horizon=60, gap=0.1)
    for gap in (0.0, -1.0, math.nan, "wide"):
        with pytest.raises(ValueError, match="gap must be a positive number"):
            bounds.action_bound(GAUSSIAN, horizon=60, gap=gap)


def test_the_smallest_is_the_smallest():
    for bandit in (GAUSSIAN, BERNOULLI, GaussianBandit([0.0] * 4, 1e-4, 1.0), GaussianBandit([0.0] * 4, 1.0, 1e4)):
        best = bounds.certified(bandit, horizon=20)
        rivals = []
        for formula in Formula.every.values():
            is_upper = (formula.form, formula.kind) == ("certified", "upper")
            if is_upper and formula.is_about("bayes-ucb") and formula.covers(bandit):
                with contextlib.suppress(bounds.DoesNotHold):
                    rivals.append(formula(bandit, horizon=20))
        assert len(rivals) >= 5
        assert best.value == min(rival.value for rival in rivals)
        (source,) = (rival for rival in rivals if rival.name == best.details["name"])
        assert best.terms == source.terms
        assert best.note == f"from {source.name}"
        assert best.error == source.error


@pytest.mark.parametrize("horizon", [1, 2, 60])
def test_ucb1_never_takes_part_and_delta_is_passed_on(horizon):
    for delta in (0.5, 1e-6):
        best = bounds.certified(GAUSSIAN, horizon=horizon, delta=delta)
        assert best.policy == "bayes-ucb"
        assert best.value == getattr(bounds, best.details["name"])(GAUSSIAN, horizon=horizon, delta=delta).value


def test_numbers_of_a_setting():
    setting = make_setting(60, 0.05)
    assert setting.z == pytest.approx(math.sqrt(2.0 * math.log(20.0)))
    assert setting.density == pytest.approx(math.exp(-0.5 * setting.z**2) / math.sqrt(2.0 * math.pi))
    assert setting.tail == pytest.approx(0.5 * math.erfc(setting.z / math.sqrt(2.0)))
    assert setting.excess == pytest.approx(setting.density - setting.z * setting.tail)
    assert setting.paper_epsilon == pytest.approx(1.0 / 60.0)
    assert make_setting(60, 0.05, 0.3).paper_epsilon == 0.3
    one = make_setting(1)
    assert (one.delta, one.L, math.copysign(1.0, one.L), one.z, one.tail) == (1.0, 0.0, 1.0, 0.0, 0.5)
    assert make_setting(5, 1e-300).excess >= 0.0


@pytest.mark.parametrize("cls", [bounds.Bound, bounds.BoundTable])
def test_results_describe_their_fields(cls):
    described = inspect.getdoc(cls).partition("Attributes\n")[2]
    for field in dataclasses.fields(cls):
        assert f"\n{field.name} : " in described
    assert ">>> " in described


def test_every_formula_is_described_in_one_sentence():
    for formula in Formula.every.values():
        assert formula.__doc__[0].isupper()
        assert formula.__doc__.endswith(".")
        assert "\n" not in formula.__doc__
