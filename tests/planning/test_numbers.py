"""No printed digit is noise."""

import pytest

from bayesregret.planning.crossing import Crossing
from bayesregret.planning.numbers import listed, percent, rounded, told, with_interval
from bayesregret.simulation.result import Estimate


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (12345.0, 450.0, "12,300"),
        (12345.0, 3.0, "12,345"),
        (5.2345, 0.03, "5.23"),
        (0.0012345, 0.0001, "0.0012"),
        (75.5, 0.0, "75.5"),
        (123456.0, 0.0, "123,456"),
        (0.0, 1e-12, "0"),
        (3.25, float("inf"), "3.25"),
    ],
)
def test_digits_end_where_doubt_begins(value, error, text):
    assert rounded(value, error) == text


def test_what_was_computed_has_no_error():
    assert told(Estimate(574.4880384, 1e-8), True) == "574.49"
    assert told(Estimate(0.0, 0.0), True) == "0"
    assert told(Estimate(63.3, 2.3), False) == "63.3 ± 2.3"
    assert percent(Estimate(0.9554, 0.003)) == "95.54 ± 0.30%"


def test_intervals():
    assert with_interval(Crossing(12345.0, 11900.0, 12800.0)) == "12,300 (11,900 to 12,800)"
    assert with_interval(Crossing(11.2, 9.1, 16.0), 16.0) == "11 (9 to beyond 16)"
    assert with_interval(Crossing(6.0, 6.0, 6.0)) == "6"


def test_lists():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
