"""The lower bound for Thompson sampling, by hand."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bayesregret import BernoulliBandit, GaussianBandit, bounds


def test_equal_arms():
    """s^2 times the complexity times the sum of 1 / (r + k / 2)."""
    bandit = GaussianBandit([1.0] + [0.0] * 9, 1.0, 2.0)
    found = bounds.certified_thompson_lower(bandit, horizon=300)
    complexity = bounds.complexity(bandit, horizon=300).details["at_zero"]
    assert found.details["complexity"] == pytest.approx(complexity, rel=1e-12)
    assert found.value == pytest.approx(4.0 * complexity * math.fsum(1.0 / (4.0 + 0.5 * k) for k in range(300)))
    assert found.kind == "lower"


def test_two_different_arms():
    bandit = GaussianBandit([0.3, 0.0], [1.0, 0.5], [1.0, 3.0])
    tie = stats.norm.pdf(0.3, scale=math.hypot(1.0, 0.5))
    expected = tie * math.fsum(16.0 / (1.0 + 36.0 + k) for k in range(50))
    assert bounds.certified_thompson_lower(bandit, horizon=50).value == pytest.approx(expected, rel=1e-10)


def test_bernoulli_arms():
    bandit = BernoulliBandit([1.0, 2.0], [1.0, 3.0])
    h = stats.beta(1, 1).pdf, stats.beta(2, 3).pdf
    tie = integrate.quad(lambda m: m * (1.0 - m) * h[0](m) * h[1](m), 0.0, 1.0)[0]
    expected = tie * math.fsum(4.0 / (2.0 + 5.0 + k) for k in range(80))
    assert bounds.certified_thompson_lower(bandit, horizon=80).value == pytest.approx(expected, rel=1e-10)


def test_half_of_the_pulls_is_the_worst_division():
    r, s = np.array([0.5, 3.0]), np.array([1.0, 2.5])
    for k in (0, 3, 17):
        pulls = np.arange(k + 1)
        costs = s[0] ** 2 / (r[0] + pulls) + s[1] ** 2 / (r[1] + k - pulls)
        least = s.sum() ** 2 / (r.sum() + k)
        assert costs.min() >= least * (1.0 - 1e-12)
    assert costs.min() < 1.02 * least
