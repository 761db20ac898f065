"""Numbers for people: no printed digit is noise."""

import pytest

from bayesregret.digits import (
    brief,
    counted,
    exact_or_with_error,
    listed,
    lower_bound_digits,
    percent,
    rounded_to_error,
    typeset_exact,
    typeset_setting,
    typeset_value,
    typeset_with_error,
    upper_bound_digits,
    with_error,
    with_interval,
    with_thousands,
)


@pytest.mark.parametrize(
    ("mean", "stderr", "text"),
    [
        (75.7412, 0.2987, "75.74 ± 0.30"),
        (123456.7, 321.0, "123460 ± 320"),
        (0.0, 0.0, "0 ± 0"),
        (32.7612, 0.0, "32.76 ± 0.00"),
        (72.8123, float("inf"), "72.81 ± inf"),
        (1.5021e9, 4.841e7, "1.502e+09 ± 4.841e+07"),
        (1.5e-8, 2e-9, "1.5e-08 ± 2e-09"),
        (-12.3, 1.23, "-12.3 ± 1.2"),
    ],
)
def test_means_have_the_digits_that_mean_something(mean, stderr, text):
    assert with_error(mean, stderr) == text


def test_a_difference_shows_its_sign():
    assert with_error(12.44, 0.1, signed=True) == "+12.44 ± 0.10"
    assert with_error(-12.44, 0.1, signed=True) == "-12.44 ± 0.10"


def test_four_digits_and_plurals():
    assert [brief(x) for x in (0.0, 130.04, 0.012345, 1e9)] == ["0", "130.0", "0.01235", "1e+09"]
    assert [counted(1, "run"), counted(1000, "run")] == ["1 run", "1,000 runs"]


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
def test_digits_end_with_the_first_uncertain_one(value, error, text):
    assert rounded_to_error(value, error) == text


def test_computed_numbers_have_no_error():
    assert exact_or_with_error(574.4880384, 1e-8, is_exact=True) == "574.49"
    assert exact_or_with_error(0.0, 0.0, is_exact=True) == "0"
    assert exact_or_with_error(-0.0098, 0.26, is_exact=True) == "-0.01 ± 0.26"
    assert exact_or_with_error(63.3, 2.3, is_exact=False) == "63.3 ± 2.3"
    assert percent(0.9554, 0.003) == "95.54 ± 0.30%"


def test_thousands():
    assert exact_or_with_error(2000000.43, 1e-3, is_exact=True) == "2,000,000"
    assert exact_or_with_error(4223340.0, 139293.0, is_exact=False) == "4,220,000 ± 140,000"
    assert with_thousands("+1234.56789 ± 0.12345, 1.234e+07") == "+1,234.56789 ± 0.12345, 1.234e+07"


def test_intervals():
    assert with_interval(12345.0, 11900.0, 12800.0) == "12,300 (11,900 to 12,800)"
    assert with_interval(11.2, 9.1, 16.0, reach=16.0) == "11 (9 to beyond 16)"
    assert with_interval(6.0, 6.0, 6.0) == "6"
    assert with_interval(11, 9, 12, is_whole=True) == "11 (9 to 12)"
    assert with_interval(3.7, 3.4, 50.0 * (1 - 1e-15), reach=50, is_whole=True) == "4 (3 to beyond 50)"


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
    assert upper_bound_digits(value) == above
    assert lower_bound_digits(value) == below


def test_lists():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_figures_and_pages_have_real_minus_and_infinity_signs():
    assert [typeset_value(x) for x in (-1.5, float("inf"), float("-inf"), float("nan"))] == ["−1.500", "∞", "−∞", "–"]
    assert [typeset_with_error(-12.3, error) for error in (1.23, None, float("inf"))] == [
        "−12.3 ± 1.2",
        "−12.30",
        "−12.30",
    ]
    assert [typeset_exact(-75.69691254, 1e-12), typeset_exact(1e-9, 2e-9)] == ["−75.6969", "< 3e-09"]
    assert [typeset_setting(x) for x in (0.25, 20.0, 1e6, -3.0, 1e9, float("inf"))] == [
        "0.25",
        "20",
        "1000000",
        "−3",
        "1e+09",
        "∞",
    ]
