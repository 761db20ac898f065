"""Means and standard errors from sums without rounding."""

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from bayesregret.simulation import estimates
from bayesregret.simulation.estimates import Moments, estimate, exact_sum

NUMBERS = st.lists(st.floats(-1e60, 1e60).filter(lambda x: x == 0.0 or abs(x) > 1e-60), min_size=2, max_size=40)


@given(numbers=NUMBERS)
def test_sums_are_exact(numbers):
    assert exact_sum(np.array(numbers)) == sum(map(Fraction, numbers))


@given(numbers=NUMBERS)
def test_mean_and_error_are_those_of_rational_arithmetic(numbers):
    found = estimate(np.array(numbers))
    exact = [Fraction(number) for number in numbers]
    mean = sum(exact) / len(exact)
    squares = float(sum((number - mean) ** 2 for number in exact))
    assert found.mean == math.fsum(numbers) / len(numbers)
    assert found.stderr == math.sqrt(squares / (len(exact) - 1) / len(exact))


def test_groups_of_runs_do_not_change_a_bit(monkeypatch):
    values = np.random.default_rng(5).gamma(0.5, 30.0, 1000)
    moments = Moments()
    for some in np.split(values, [1, 64, 300, 301]):
        moments.add(some)
    whole = estimate(values)
    assert moments.estimate() == whole
    monkeypatch.setattr(estimates, "AT_ONCE", 7)
    assert estimate(values) == whole
    assert estimate(values[::-1]) == whole


def test_equal_regrets_have_no_error():
    assert estimate(np.full(1000, 0.1)).stderr == 0.0
    assert estimate(1e40 + np.zeros(3)).mean == 1e40


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_regrets_that_are_not_numbers(bad):
    with pytest.raises(ValueError, match="regret must be a finite number in every run"):
        estimate(np.array([1.0, bad]))
