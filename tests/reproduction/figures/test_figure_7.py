"""Figure 7: every bound in units of the exact regret."""

import math

import pytest

from bayesregret.bounds.bound import Formula
from bayesregret.models import GaussianBandit
from bayesregret.reproduction import EXPERIMENTS
from bayesregret.reproduction.figures.figure_7 import bounds_of_policy, figure_7, ratio
from reproduction.outcomes import bound, outcome

CERTIFIED = {"certified_index": 12.0, "certified_floor": 30.0, "certified_trivial": 100.0}
PRINTED = {"gap_dependent": 40.0, "prior_dependent": 50.0, "sqrt": 60.0}


def point(x=1.0, exact=10.0, **changes):
    """One of the bandits, with values of all bounds."""
    bounds = {name: bound(changes.get(name, 100.0), form="certified") for name in names("certified")}
    bounds |= {name: bound(changes.get(name, value), form="certified") for name, value in CERTIFIED.items()}
    bounds |= {name: bound(changes.get(name, value), leading=0.5 * value) for name, value in PRINTED.items()}
    return outcome(x, exact, exact=(exact, exact + 1.0), bounds=bounds)


def names(form):
    return [formula.name for formula in bounds_of_policy() if formula.form == form]


def claims(*outcomes):
    found = figure_7(None, 7).claims("figure-7", outcomes)
    return {claim.statement.split(" is ")[0]: claim for claim in found}


def test_it_has_the_points_of_figure_3a():
    assert figure_7(None, 7).points == EXPERIMENTS["figure-3a"](None, 7).points


def test_all_bounds_of_bayes_ucb_are_drawn_and_no_others():
    drawn = [trend.name for trend in figure_7(None, 7).trends]
    assert drawn[:3] == list(PRINTED)
    assert set(CERTIFIED) < set(drawn)
    assert not {"certified_ucb1", "ucb1_gap_dependent", "lai_lower", "complexity", "certified"} & set(drawn)


def test_a_new_bound_is_there_at_once(monkeypatch):
    monkeypatch.setattr(Formula, "every", dict(Formula.every))
    new = Formula("certified_quite_new", "certified", "Made up.")
    assert "certified_quite_new" not in names("certified")  # not for Gaussian bandits yet
    new.of(GaussianBandit, "nowhere")(lambda bandit, setting, order: None)
    assert figure_7(None, 7).trends[-1].label == "certified (quite new)"


def test_ratios_are_to_the_exact_regret():
    result = point(exact=8.0).result
    assert ratio(result, "certified_index") == 1.5
    assert ratio(result, "gap_dependent", "leading") == 2.5
    assert ratio(result, "refused") == math.inf


def test_points_are_named_and_in_the_order_of_the_exact_regret():
    table = figure_7(None, 7).table([point(1.0, 30.0), point(2.0, 20.0)])
    assert table.ranked
    assert table.point_names == ("x = 2, regret 20.00", "x = 1, regret 30.00")
    assert table["gap_dependent"].values == (2.0, 40.0 / 30.0)


def test_claims_hold():
    found = claims(point(1.0), point(2.0, exact=8.0))
    assert {claim.verdict for claim in found.values()} == {"holds"}
    assert found["Theorem 1"].whose == "paper"
    assert found["Theorem 1"].evidence == (
        "at 2 of 2 points, 4.00 to 5.00 times the regret; its leading term alone 2.00 to 2.50 times"
    )
    every = found["Every certified bound"]
    assert every.evidence.endswith("the nearest is certified_index, 1.200 times the regret, x = 1")
    best = found["The best certified bound"]
    assert best.evidence == (
        "certified_index at 2: 1.20 to 1.50 times the regret; the best printed one 4.00 to 5.00 times"
    )


@pytest.mark.parametrize(
    ("changes", "broken", "exception"),
    [
        ({"sqrt": 9.0}, "The square-root bound (3)", "x = 2: sqrt 9.000, exactly 10.00"),
        ({"certified_floor": 9.9}, "Every certified bound", "x = 2: certified_floor 9.900, exactly 10.00"),
        ({"certified_index": 41.0, "certified_floor": 41.0}, "The best certified bound", "x = 2: 4.100 against 4.000"),
    ],
)
def test_claims_fail(changes, broken, exception):
    found = claims(point(1.0), point(2.0, **changes))
    assert found[broken].verdict == "fails"
    assert len(found[broken].exceptions) == 1
    assert found[broken].exceptions[0].startswith(exception)
    assert found["Theorem 1"].verdict == "holds"


def test_forms_that_refuse_break_nothing():
    without = point(1.0)
    del without.result["bounds"]["certified_floor"]
    found = claims(without)
    assert found["Every certified bound"].verdict == "holds"
    assert figure_7(None, 7).table([without])["certified_floor"].values == (math.inf,)
