"""Tables of discounted Gittins indices: against indices computed one by one, at extremes, and their limits."""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.optimal.discounted_bernoulli_table import bernoulli_table
from bayesregret.optimal.discounted_tables import depth_of_tables, gaussian_tables, gaussian_widths
from bayesregret.optimal.gittins import lifetime_of
from bayesregret.optimal.gittins_gaussian import gaussian_width

G, B = br.GaussianBandit, br.BernoulliBandit
HETEROSCEDASTIC = G([0.3, 0.0, -0.2, 1.0], prior_width=[0.5, 2.0, 1.0, 3.0], reward_noise=[1.5, 0.7, 2.0, 6.0])


def entry(table, pulls, successes):
    return table[pulls * (pulls + 1) // 2 + successes]


def mean_of(pulls, successes, alpha, beta):
    return (alpha + successes) / (alpha + beta + pulls)


@pytest.mark.compiled
@pytest.mark.parametrize("pseudo_count", [1e-6, 0.8, 5e4])
def test_gaussian_widths(pseudo_count):
    widths = gaussian_widths(pseudo_count, 3.0, 20)
    for pulls in (0, 1, 4, 19):
        assert widths[pulls] == pytest.approx(gaussian_width(pseudo_count + pulls, 60, 2 / 3), rel=3e-7)
    assert np.all(np.diff(widths) < 0.0)


@pytest.mark.compiled
def test_widths_at_the_landmark():
    """Lifetime 1,000, pseudo-count 1: a second derivation found these, and `gittins_index` the rest."""
    widths = gaussian_widths(1.0, 1000.0, 10_000)
    assert widths[[0, 1, 2, 3]].round(3).tolist() == [2.346, 1.601, 1.269, 1.072]
    assert widths[[10, 95]].round(3).tolist() == [0.575, 0.128]
    assert round(float(widths[1000]), 4) == 0.0186
    bandit = G([0.0], prior_width=1.0, reward_noise=1.0)
    for pulls, tolerance in ((0, 1e-7), (30, 1e-6), (1000, 1e-5), (2900, 2e-4), (9000, 3e-4)):
        expected = br.gittins_index(bandit, pulls=pulls, discount=0.999)
        assert widths[pulls] == pytest.approx(expected, rel=tolerance)


@pytest.mark.compiled
def test_widths_of_a_long_lifetime_are_smooth_between_the_nodes():
    """Beyond 2,000 pulls they are interpolated: their logarithms have small third differences."""
    widths = gaussian_widths(1.0, 1e6, 1_000_002)
    assert np.all(np.diff(widths) < 0.0)
    pulls = np.geomspace(3_000, 1_000_000, 60).astype(int)
    slope = np.gradient(np.log(widths[pulls]), np.log(1.0 + pulls))
    assert np.all(np.diff(slope) < 1e-3)  # from -1/2, where little is known, towards -1
    assert -0.75 < slope[0] < -0.5
    assert -1.0 < slope[-1] < -0.8


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 3.0)])
def test_bernoulli_indices(alpha, beta):
    depth = 5
    table = bernoulli_table(alpha, beta, 4.0 / 3.0, depth)
    for pulls in range(depth):
        for successes in range(pulls + 1):
            expected = br.gittins_index(B([alpha], [beta]), pulls=pulls, total=successes, discount=0.25)
            assert entry(table, pulls, successes) == pytest.approx(expected, abs=2e-6)
            assert entry(table, pulls, successes) > mean_of(pulls, successes, alpha, beta)
    # The control: another discount is noticed.
    other = br.gittins_index(B([alpha], [beta]), discount=0.24)
    assert entry(table, 0, 0) != pytest.approx(other, abs=2e-5)


@pytest.mark.compiled
@pytest.mark.parametrize(("alpha", "beta", "lifetime"), [(1.0, 1.0, 100.0), (300.0, 20.0, 100.0), (1e6, 1e6, 50.0)])
def test_bernoulli_indices_of_long_lifetimes(alpha, beta, lifetime):
    depth, discount = 152, 1.0 - 1.0 / lifetime
    table = bernoulli_table(alpha, beta, lifetime, depth)
    tolerance = 0.03 / (alpha + beta + depth)  # a few hundredths of the distance to the next state
    for pulls in (0, 1, 2, 10, 40, 150):
        for successes in sorted({0, pulls // 4, pulls // 2, pulls}):
            data = {"pulls": pulls, "total": successes}
            expected = br.gittins_index(B([alpha], [beta]), **data, discount=discount)
            assert entry(table, pulls, successes) == pytest.approx(expected, abs=tolerance)
        row = table[pulls * (pulls + 1) // 2 :][: pulls + 1]
        assert np.all(np.diff(row) > 0.0)


def test_the_bits_do_not_depend_on_the_number_of_threads(monkeypatch):
    expected = bernoulli_table(1.0, 2.0, 1.1, 4)
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert np.array_equal(bernoulli_table(1.0, 2.0, 1.1, 4), expected)


@pytest.mark.parametrize("lifetime", [1.0, 1.0 + 1e-9])
def test_without_a_future_the_index_is_the_mean(lifetime):
    assert np.all(gaussian_widths(2.0, lifetime, 5) < 1e-8)
    table = bernoulli_table(1.0, 3.0, lifetime, 4)
    for pulls in range(4):
        for successes in range(pulls + 1):
            assert entry(table, pulls, successes) == pytest.approx(mean_of(pulls, successes, 1.0, 3.0), abs=1e-6)


def test_what_pulls_teach_nothing_about_has_its_mean_as_index():
    assert not gaussian_widths(1e14, 3.0, 4).any()
    table = bernoulli_table(1e30, 3e30, 3.0, 4)
    assert table == pytest.approx(0.25, abs=1e-15)


def test_a_row_for_each_pseudo_count():
    widths, kind = gaussian_tables(HETEROSCEDASTIC, 0.25, 7)
    assert widths.shape == (3, 7)
    assert kind[2] == kind[3]
    assert widths[kind[0], 0] == pytest.approx(gaussian_width(9.0, 16, 0.25), rel=1e-6)


def test_lifetimes():
    assert lifetime_of(0.99) == 100.0
    assert lifetime_of(1.0 - 1.0 / 12_345) == 12_345.0
    assert lifetime_of(0.3) == pytest.approx(1.0 / 0.7)


def test_depths():
    """A reward ahead of the horizon, no more than the lifetimes that count, and what the memory is enough for."""
    two = B([1, 2], [1, 1])
    assert depth_of_tables(two, 200, 0.995) == 202
    assert depth_of_tables(two, 10**9, 0.9) == 102
    assert depth_of_tables(two, None, 0.9) == 102
    assert depth_of_tables(two, None, 0.999999) == 5_002
    assert depth_of_tables(two, 5_000, 1 - 1 / 5_000) == 5_002
    one = G([0, 0], 1, 1)
    assert depth_of_tables(one, 1_000_000, 1 - 1e-6) == 1_000_002
    assert depth_of_tables(one, 10**9, 0.99) == 1_002
    many = B(np.arange(1.0, 33.0), np.ones(32))
    assert depth_of_tables(many, 2_000, 0.9999) == 2_002
    message = (
        r"^horizon must be at most 2046 for gittins on a bernoulli bandit with 32 kinds of arms and a discount of "
        r"0.9999, got 2047$"
    )
    with pytest.raises(ValueError, match=message):
        depth_of_tables(many, 2_047, 0.9999)
    assert math.isqrt(2 * (1 << 26) // 32) - 2 == 2046
