"""Gittins indices of Gaussian arms: closed forms, quadrature, published tables, invariances, interpolation."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

import bayesregret as br
from bayesregret.optimal.gittins_gaussian import gaussian_width
from bayesregret.optimal.gittins_gaussian_table import gaussian_table

# Gittins, Glazebrook and Weber (2011), Table 8.1: n (1 - discount)^(1/2) times the index for n pulls, mean 0, noise 1.
# The last digit is off by one in places: 0.20830 should be 0.20829. Farther down the table, from n = 50, it is off by
# more, as a plain computation on a fine grid confirms: 0.61844 for n = 500 and discount 0.99 should be 0.61782.
PUBLISHED = [
    (0.5, 1, 0.14542),
    (0.5, 10, 0.21113),
    (0.9, 1, 0.23609),
    (0.9, 2, 0.29485),
    (0.9, 20, 0.45047),
    (0.95, 1, 0.22263),
    (0.95, 10, 0.42458),
    (0.99, 1, 0.15758),
    (0.99, 2, 0.20830),
    (0.99, 20, 0.41888),
    (0.995, 1, 0.12852),
]


def two_rounds(x, q):
    """The margin with two rounds left, of a mean x above the charge: x + E max(0, x + step)."""
    s = 1.0 / math.sqrt(q * (q + 1.0))
    return x + x * norm.cdf(x / s) + s * norm.pdf(x / s)


def three_rounds(x, q):
    s = 1.0 / math.sqrt(q * (q + 1.0))
    zero = brentq(lambda y: two_rounds(y, q + 1.0), -s, 0.0, xtol=1e-15)
    points = sorted({zero, max(zero, x), x + 9.0 * s})
    parts = [
        quad(lambda y: two_rounds(y, q + 1.0) * norm.pdf(y, x, s), a, b, epsabs=1e-13)[0]
        for a, b in itertools.pairwise(points)
    ]
    return x + sum(parts)


def test_one_round_is_the_mean():
    bandit = br.GaussianBandit([3.0], prior_width=0.5, reward_noise=2.0)  # prior pseudo-count 16
    assert br.gittins_index(bandit, rounds=1) == 3.0
    assert br.gittins_index(bandit, pulls=4, total=2.0, rounds=1) == pytest.approx((16 * 3.0 + 2.0) / 20, rel=1e-15)


@pytest.mark.parametrize("q", [1e-3, 0.7, 40.0])
def test_two_rounds_in_closed_form(q):
    expected = -brentq(two_rounds, -1.0 / math.sqrt(q * (q + 1)), 0.0, args=(q,), xtol=1e-15)
    assert gaussian_width(q, 2, 1.0) == pytest.approx(expected, rel=3e-7)


@pytest.mark.parametrize("q", [0.2, 5.0])
def test_three_rounds_by_quadrature(q):
    expected = -brentq(three_rounds, -1.0 / math.sqrt(q * (q + 1)), 0.0, args=(q,), xtol=1e-13)
    assert gaussian_width(q, 3, 1.0) == pytest.approx(expected, rel=3e-7)


@pytest.mark.compiled
@pytest.mark.parametrize(("discount", "pulls", "printed"), PUBLISHED)
def test_published_indices(discount, pulls, printed):
    bandit = br.GaussianBandit([0.0], prior_width=1.0, reward_noise=1.0)
    found = br.gittins_index(bandit, pulls=pulls - 1, discount=discount)
    assert pulls * math.sqrt(1.0 - discount) * found == pytest.approx(printed, abs=1.05e-5)


@pytest.mark.compiled
@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("q", [1e-4, 1.0, 300.0, 1e9])
def test_a_finer_lattice_changes_little(q, discount):
    for rounds in (2, 5, 60, 400):
        assert gaussian_width(q, rounds, discount) == pytest.approx(gaussian_width(q, rounds, discount, 12), rel=3e-7)


def test_scale_and_shift():
    """Of all means by 2 and of all widths by 3."""
    plain = br.GaussianBandit([0.0, 0.5], prior_width=1.0, reward_noise=2.0)
    other = br.GaussianBandit([2.0, 3.5], prior_width=3.0, reward_noise=6.0)
    for arm in (0, 1):
        index = br.gittins_index(plain, arm, pulls=2, total=1.0, rounds=4)
        assert br.gittins_index(other, arm, pulls=2, total=2 * 2.0 + 3 * 1.0, rounds=4) == pytest.approx(
            2.0 + 3.0 * index, rel=1e-12
        )


def test_more_rounds_are_worth_more_and_more_pulls_less():
    rounds = [gaussian_width(1.5, m, 1.0) for m in range(1, 7)]
    pulls = [gaussian_width(q, 4, 1.0) for q in (0.5, 1.0, 2.0, 5.0)]
    assert np.all(np.diff(rounds) > 0.0)
    assert np.all(np.diff(pulls) < 0.0)


@pytest.mark.parametrize("horizon", [1, 2, 3, 6])
def test_a_small_table(horizon):
    """Nothing is interpolated."""
    table = gaussian_table(0.8, horizon)
    for pulls in range(horizon):
        for left in range(1, horizon - pulls + 1):
            assert table[pulls, left - 1] == pytest.approx(gaussian_width(0.8 + pulls, left, 1.0), rel=1e-12)
        assert not table[pulls, horizon - pulls :].any()


@pytest.mark.compiled
@pytest.mark.parametrize("pseudo_count", [1e-6, 1.0, 5e4])
def test_between_the_nodes(pseudo_count):
    horizon, rng = 300, np.random.default_rng(5)
    table = gaussian_table(pseudo_count, horizon)
    assert np.all(np.diff(table[0]) > 0.0)
    for pulls in rng.integers(0, horizon - 1, 25):
        left = int(rng.integers(2, horizon - pulls + 1))
        assert table[pulls, left - 1] == pytest.approx(gaussian_width(pseudo_count + pulls, left, 1.0), rel=1e-6)
