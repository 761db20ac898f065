"""Numbers for people."""

import pytest

from bayesregret.digits import brief, counted, with_error


@pytest.mark.parametrize(
    ("mean", "stderr", "told"),
    [
        (75.7412, 0.2987, "75.74 ± 0.30"),
        (123456.7, 321.0, "123457 ± 321"),
        (0.0, 0.0, "0 ± 0"),
        (32.7612, 0.0, "32.76 ± 0.00"),
        (72.8123, float("inf"), "72.81 ± inf"),
        (1.5021e9, 4.841e7, "1.502e+09 ± 4.841e+07"),
        (1.5e-8, 2e-9, "1.5e-08 ± 2e-09"),
        (-12.3, 1.23, "-12.3 ± 1.2"),
    ],
)
def test_means_have_the_digits_that_mean_something(mean, stderr, told):
    assert with_error(mean, stderr) == told


def test_a_difference_shows_its_sign():
    assert with_error(12.44, 0.1, signed=True) == "+12.44 ± 0.10"
    assert with_error(-12.44, 0.1, signed=True) == "-12.44 ± 0.10"


def test_four_digits_and_one_of_a_kind():
    assert [brief(x) for x in (0.0, 130.04, 0.012345, 1e9)] == ["0", "130.0", "0.01235", "1e+09"]
    assert [counted(1, "run"), counted(1000, "run")] == ["1 run", "1,000 runs"]
