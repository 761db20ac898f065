"""The inverse Bernoulli divergence against 50 digits."""

import itertools
import math

import mpmath
import pytest

from bayesregret.numerics.bernoulli_kl import MOST_STEPS, excess, highest_mean_within, upper_limit

MEANS = [1e-12, 1e-6, 1e-3, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0 - 1e-6, 1.0 - 1e-12]
DIVERGENCES = [1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3]
CASES = list(itertools.product(MEANS, DIVERGENCES))
DIGITS = 50


def exact_limit(mean, divergence):
    """By bisection in u = log((1 - mean) / (1 - q)), where q does not run into 1."""
    with mpmath.workdps(DIGITS):
        p, d = mpmath.mpf(mean), mpmath.mpf(divergence)

        def off(u):
            q = p - (1 - p) * mpmath.expm1(-u)
            return p * mpmath.log(p / q) + (1 - p) * u - d

        low, high = mpmath.mpf(0), (d - p * mpmath.log(p)) / (1 - p)
        for _ in range(4 * DIGITS):
            middle = (low + high) / 2
            low, high = (low, middle) if off(middle) > 0 else (middle, high)
        return p - (1 - p) * mpmath.expm1(-low)


@pytest.mark.parametrize(("mean", "divergence"), CASES)
def test_all_digits(mean, divergence):
    """Of the limit itself and of how far it is from the mean, which is what tiny divergences are about."""
    exact = exact_limit(mean, divergence)
    found = highest_mean_within(divergence, mean)
    assert found == pytest.approx(float(exact), rel=1e-14, abs=0)
    assert found - mean == pytest.approx(float(exact - mean), rel=1e-10, abs=3e-16)


def test_cancellation_is_noticed():
    """The control: the formula as it is written down has no digits left for a tiny divergence."""
    mean, divergence = 0.3, 1e-14
    q = highest_mean_within(divergence, mean)
    as_written = mean * math.log(mean / q) + (1.0 - mean) * math.log((1.0 - mean) / (1.0 - q))
    assert as_written != pytest.approx(divergence, rel=1e-3, abs=0)
    rise = (q - mean) / (1.0 - mean)
    in_parts = (1.0 - mean) * excess(-rise) + mean * excess(rise * (1.0 - mean) / mean)
    assert in_parts == pytest.approx(divergence, rel=1e-6, abs=0)


def test_at_the_ends():
    assert highest_mean_within(5.0, 1.0) == 1.0
    assert highest_mean_within(0.0, 0.3) == 0.3
    assert highest_mean_within(0.0, 0.0) == 0.0
    assert highest_mean_within(0.7, 0.0) == pytest.approx(1.0 - math.exp(-0.7), rel=1e-15, abs=0)
    assert highest_mean_within(1e-14, 0.0) == pytest.approx(1e-14, rel=1e-13, abs=0)
    assert highest_mean_within(1e3, 0.5) == 1.0


@pytest.mark.parametrize("x", [-0.09, -1e-3, -1e-9, 1e-12, 1e-5, 0.0999, 0.1, 0.5, 7.0, -0.5])
def test_excess(x):
    with mpmath.workdps(DIGITS):
        exact = mpmath.mpf(x) - mpmath.log1p(mpmath.mpf(x))
    assert excess(x) == pytest.approx(float(exact), rel=1e-14, abs=0)


@pytest.mark.parametrize(("mean", "divergence"), CASES)
def test_it_starts_above(mean, divergence):
    start = upper_limit(divergence, mean, 1.0 - mean)
    assert mean - (1.0 - mean) * math.expm1(-start) >= float(exact_limit(mean, divergence)) * (1.0 - 1e-15)


def test_steps_are_few(monkeypatch):
    monkeypatch.setattr("bayesregret.numerics.bernoulli_kl.MOST_STEPS", 6)
    few = [highest_mean_within(d, mean) for mean, d in CASES]
    monkeypatch.setattr("bayesregret.numerics.bernoulli_kl.MOST_STEPS", MOST_STEPS)
    assert few == [highest_mean_within(d, mean) for mean, d in CASES]
