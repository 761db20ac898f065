"""No printed digit is noise."""

import pytest

from bayesregret.planning.numbers import at_least, at_most, in_thousands, listed, percent, rounded, told, with_interval
from bayesregret.planning.zero_crossing import Crossing
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
        (312.0, 1000.0, "300"),
        (4.0, 12.5, "4"),
        (0.04, 0.9, "0.0"),
    ],
)
def test_digits_end_where_doubt_begins(value, error, text):
    assert rounded(value, error) == text


def test_what_was_computed_has_no_error():
    assert told(Estimate(574.4880384, 1e-8), True) == "574.49"
    assert told(Estimate(0.0, 0.0), True) == "0"
    assert told(Estimate(-0.0098, 0.26), True) == "-0.01 ± 0.26"
    assert told(Estimate(63.3, 2.3), False) == "63.3 ± 2.3"
    assert percent(Estimate(0.9554, 0.003)) == "95.54 ± 0.30%"


def test_thousands():
    assert told(Estimate(2000000.43, 1e-3), True) == "2,000,000"
    assert told(Estimate(4223340.0, 139293.0), False) == "4,223,340 ± 139,293"
    assert in_thousands("+1234.56789 ± 0.12345, 1.234e+07") == "+1,234.56789 ± 0.12345, 1.234e+07"


def test_intervals():
    assert with_interval(Crossing(12345.0, 11900.0, 12800.0)) == "12,300 (11,900 to 12,800)"
    assert with_interval(Crossing(11.2, 9.1, 16.0), 16.0) == "11 (9 to beyond 16)"
    assert with_interval(Crossing(6.0, 6.0, 6.0)) == "6"
    assert with_interval(Crossing(11, 9, 12), is_whole=True) == "11 (9 to 12)"
    assert with_interval(Crossing(3.7, 3.4, 50.0 * (1 - 1e-15)), 50, is_whole=True) == "4 (3 to beyond 50)"


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        (274.801, "274.9", "274"),
        (3160.0, "3,160", "3,160"),
        (12345.6, "12,350", "12,300"),
        (0.56418958, "0.5642", "0.564"),
        (0.25 * (1 + 1e-15), "0.2500", "0.250"),
        (4.6561, "4.657", "4.65"),
        (1.3751e-9, "1.376e-09", "1.37e-09"),
        (0.0, "0", "0"),
        (float("inf"), "inf", "inf"),
    ],
)
def test_bounds_are_rounded_the_safe_way(value, above, below):
    assert at_most(value) == above
    assert at_least(value) == below


def test_lists():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
