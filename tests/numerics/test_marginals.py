"""Distributions of mean rewards, against SciPy where it has digits, and against integrals of densities elsewhere."""

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from bayesregret.numerics.marginals import (
    BetaMeans,
    GammaMeans,
    InverseGammaMeans,
    NormalMeans,
    StudentMeans,
    bisected,
    log_quotient,
    quantiles,
)


def array(*numbers):
    return np.array(numbers, float)


FAMILIES = [
    (NormalMeans(array(1.0, -3.0), array(2.0, 0.1)), [stats.norm(1.0, 2.0), stats.norm(-3.0, 0.1)]),
    (StudentMeans(array(1.0, 0.0), array(2.0, 0.3), array(1.2, 9.0)), [stats.t(1.2, 1.0, 2.0), stats.t(9.0, 0.0, 0.3)]),
    (
        GammaMeans(array(0.3, 40.0), array(2.0, 7.0)),
        [stats.gamma(0.3, scale=1 / 2.0), stats.gamma(40.0, scale=1 / 7.0)],
    ),
    (GammaMeans(array(3e5, 1e7), array(2.0, 7.0)), [stats.gamma(3e5, scale=1 / 2.0), stats.gamma(1e7, scale=1 / 7.0)]),
    (
        InverseGammaMeans(array(1.1, 40.0), array(2.0, 7.0)),
        [stats.invgamma(1.1, scale=2.0), stats.invgamma(40.0, scale=7.0)],
    ),
    (BetaMeans(array(0.4, 30.0), array(3.0, 5.0)), [stats.beta(0.4, 3.0), stats.beta(30.0, 5.0)]),
    (BetaMeans(array(5.0, 1e6), array(1e10, 3e6)), [stats.beta(5.0, 1e10), stats.beta(1e6, 3e6)]),
]


def named(part):
    return type(part).__name__ if not isinstance(part, list) else "scipy"


@pytest.mark.parametrize(("marginals", "expected"), FAMILIES, ids=named)
def test_tails_means_and_quantiles_are_those_of_scipy(marginals, expected):
    assert marginals.means == pytest.approx([each.mean() for each in expected], rel=1e-12)
    has_digits = not isinstance(marginals, GammaMeans) or marginals.shape.max() < 1e5  # SciPy, in the far tails
    for tail in (0.3, 0.025, 1e-6) if has_digits else (0.3, 0.025):
        low = quantiles(marginals, tail, upper=False)
        high = quantiles(marginals, tail, upper=True)
        for arm, each in enumerate(expected):
            assert marginals.values(low)[arm] == pytest.approx(each.ppf(tail), rel=1e-9)
            assert marginals.values(high)[arm] == pytest.approx(each.isf(tail), rel=1e-9)
        table = np.column_stack([low, high])
        assert marginals.below(table) == pytest.approx(np.array([[tail, 1 - tail]] * 2), rel=1e-9)
        assert marginals.above(table) == pytest.approx(np.array([[1 - tail, tail]] * 2), rel=1e-9)


def test_far_tails_of_gamma_distributions_with_a_large_shape():
    """SciPy's quantile of 1e-6 is off by a hundredth of a standard deviation here."""
    t = float(quantiles(GammaMeans(array(1e7), array(7.0)), 1e-6, upper=False)[0])
    with mpmath.workdps(40):
        shape = mpmath.mpf(10) ** 7
        width = 1 / mpmath.sqrt(shape)
        density = lambda u: mpmath.exp(shape * (u * width - mpmath.expm1(u * width)))  # noqa: E731
        places = [-25, -8, -6, -4, -2, 0, 2, 4, 8, 25]
        end = t / width
        below = mpmath.quad(density, [place for place in places if place < end] + [end])
        assert float(below / mpmath.quad(density, places)) == pytest.approx(1e-6, rel=1e-9)


def log_odds_below(alpha, beta, deviations):
    """P(log-odds < center + deviations) of a Beta, from its density in high precision; and the distance."""
    with mpmath.workdps(60):
        a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
        p, width = a / (a + b), mpmath.sqrt(1 / a + 1 / b)

        def density(u):
            t = u * width
            return mpmath.exp((a + b) * (p * t - mpmath.log1p(p * mpmath.expm1(t))))

        places = [-25, -8, -4, -2, 0, 2, 4, 8, 25]
        below = mpmath.quad(density, [place for place in places if place < deviations] + [deviations])
        return float(below / mpmath.quad(density, places)), float(deviations * width)


@pytest.mark.parametrize(("alpha", "beta"), [(1e8, 1e8), (1e8, 1e11), (3e12, 1e12), (1e30, 1e30), (1e30, 2e20)])
@pytest.mark.parametrize("deviations", [-5.0, -1.0, 0.3, 2.0])
def test_beta_distributions_with_huge_pseudo_counts(alpha, beta, deviations):
    expected, t = log_odds_below(alpha, beta, deviations)
    marginals = BetaMeans(array(alpha), array(beta))
    assert marginals.below(array(t))[0] == pytest.approx(expected, abs=1e-8)
    assert marginals.above(array(t))[0] == pytest.approx(1 - expected, abs=1e-8)


@pytest.mark.parametrize("log_odds", [-1e4, -100.0, -41.0, -39.0, 39.0, 41.0, 100.0, 1e4])
def test_beta_distributions_with_mass_at_the_ends(log_odds):
    """Beta(a, 1): P(X < x) = x^a."""
    alpha = 1e-3
    marginals = BetaMeans(array(alpha), array(1.0))
    expected = np.exp(-alpha * np.logaddexp(0.0, -log_odds))
    assert marginals.below(array(log_odds - np.log(alpha)))[0] == pytest.approx(expected, rel=1e-10)
    mirrored = BetaMeans(array(1.0), array(alpha))
    assert mirrored.above(array(-log_odds + np.log(alpha)))[0] == pytest.approx(expected, rel=1e-10)


def test_gamma_distributions_with_mass_near_0():
    """Shape a: P(X < x) = x^a / Gamma(a + 1) for small x, whose logarithm is far below that of any float."""
    marginals = GammaMeans(array(1e-3), array(1.0))
    log_x = -5000.0
    expected = np.exp(1e-3 * log_x) / special.gamma(1.001)
    assert marginals.below(array(log_x - np.log(1e-3)))[0] == pytest.approx(expected, rel=1e-9)
    assert marginals.above(array(log_x - np.log(1e-3)))[0] == pytest.approx(1 - expected, rel=1e-9)


def test_distances_of_centers_keep_their_digits():
    near = 1e30 * (1 + 1e-15)
    ratio = (near - 1e30) / 1e30
    for family in (BetaMeans, GammaMeans):
        marginals = family(array(1e30, near), array(1e30, 1e30))
        assert marginals.apart(np.array([1]), np.array([0]))[0] == pytest.approx(np.log1p(ratio), rel=1e-12)
    assert log_quotient(array(1e40), array(1e-40))[0] == pytest.approx(80 * np.log(10), rel=1e-14)
    assert log_quotient(array(1e-40), array(1e40))[0] == pytest.approx(-80 * np.log(10), rel=1e-14)


def test_a_mean_that_is_known():
    known = NormalMeans(array(2.0, 3.0), array(0.0, 1.0))
    assert known.values(quantiles(known, 0.025, upper=True)).tolist() == [2.0, pytest.approx(3.0 + 1.959964)]
    assert known.below(array(-1e-50, 1e-50)).tolist() == [0.0, 0.5]


def test_equal_arms_are_found():
    marginals = BetaMeans(array(1.0, 2.0, 1.0, 1.0), array(3.0, 3.0, 3.0, 4.0))
    distinct, place = marginals.distinct()
    assert len(distinct.alpha) == 3
    assert distinct.alpha[place].tolist() == marginals.alpha.tolist()
    assert distinct.beta[place].tolist() == marginals.beta.tolist()


def test_bisection_ends_on_both_sides():
    start, end = bisected(lambda x: x * x < array(2.0, 3.0), np.zeros(2), np.full(2, 4.0))
    assert start == pytest.approx(np.sqrt([2.0, 3.0]), rel=1e-14)
    assert (end >= start).all()
