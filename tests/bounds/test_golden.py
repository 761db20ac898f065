"""Every expectation against golden values of 30 digits, and its error estimate against the true error.

tests/golden/bounds_mpmath.py computes the values."""

import itertools
import json
import math
from pathlib import Path

import pytest

from bayesregret import bounds
from bayesregret.bounds.bound import FINE
from bayesregret.bounds.gaps.bernoulli import bernoulli_gaps
from bayesregret.bounds.result import Bound
from bayesregret.problem import problem_from_dict

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "bounds.json").read_text())
PROMISED = 1e-9


def leading(bound: Bound) -> float:
    return bound.leading


def without_bad_rounds(bound: Bound) -> float:
    return math.fsum(part for name, part in bound.terms.items() if name not in ("bad rounds", "numerical error"))


QUANTITIES = {
    "theorem_1_leading": (bounds.gap_dependent, leading),
    "theorem_5_leading": (bounds.gap_dependent, leading),
    "ucb1_leading": (bounds.ucb1_gap_dependent, leading),
    "floor_leading": (bounds.certified_floor, leading),
    "epsilon_leading": (bounds.certified_epsilon, leading),
    "index_leading": (bounds.certified_index, leading),
    "complexity": (bounds.complexity, leading),
    "complexity_at_zero": (bounds.complexity, lambda bound: bound.details["at_zero"]),
    "variance_complexity": (
        bounds.lai_lower,
        lambda bound: bound.details["mean_parameter_form"],
    ),
    "expected_gap_sum": (bounds.ucb1_prior_dependent, lambda bound: bound.terms["first pulls"]),
    "expected_max_gap": (bounds.certified_trivial, leading),
    "prior_dependent_certified": (bounds.certified_prior_dependent, without_bad_rounds),
    "ucb1_certified_leading": (bounds.certified_ucb1, leading),
}


def factor(quantity: str, horizon: int) -> float:
    """What the function multiplies the golden quantity by."""
    return {"variance_complexity": 0.5 * math.log(horizon) ** 2, "expected_max_gap": horizon}.get(quantity, 1.0)


def identify(entry: dict) -> str:
    return f"{entry['problem']['model']}-{entry['name']}-{entry['quantity']}-{entry['epsilon']}".replace(" ", "_")


def has_a_bound(entry: dict) -> bool:
    """The sum of gaps enters bounds of Gaussian bandits only."""
    return (entry["quantity"], entry["problem"]["model"]) != ("expected_gap_sum", "bernoulli")


@pytest.mark.parametrize("entry", list(filter(has_a_bound, GOLDEN)), ids=identify)
def test_value_and_its_error(entry):
    function, part = QUANTITIES[entry["quantity"]]
    bandit = problem_from_dict(entry["problem"])
    bound = function(bandit, horizon=entry["horizon"], delta=entry["delta"], epsilon=entry["epsilon"])
    golden = float(entry["value"]) * factor(entry["quantity"], entry["horizon"])
    value = part(bound)
    if math.isinf(golden):
        assert value == golden
        return
    assert value == pytest.approx(golden, rel=PROMISED, abs=0.0)
    assert abs(value - golden) <= bound.error + 1e-13 * abs(golden)
    assert bound.error <= PROMISED * math.fsum(map(abs, bound.terms.values()))


@pytest.mark.parametrize("entry", list(itertools.filterfalse(has_a_bound, GOLDEN)), ids=identify)
def test_sum_of_bernoulli_gaps(entry):
    gaps = bernoulli_gaps(problem_from_dict(entry["problem"]), FINE)
    assert gaps.expect(lambda kind, x: x) == pytest.approx(float(entry["value"]), rel=PROMISED, abs=0.0)


def test_a_wrong_value_is_noticed():
    """The control: one digit in the tenth place off is beyond what the comparison allows."""
    entry = GOLDEN[0]
    golden = float(entry["value"])
    assert golden * (1.0 + 3e-9) != pytest.approx(golden, rel=PROMISED, abs=0.0)
