"""The sweep over lines and the integrals on its pieces, against a grid and against adaptive quadrature."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

from bayesregret.bounds.gaps.lines import inverse_gap_integral, mass_of, top_integral, top_two_pieces, trimmed

pytestmark = pytest.mark.compiled  # nothing here is needed for coverage, which makes it slow

ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


def random_lines(seed, lines, arms):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((lines, arms)), rng.standard_normal((lines, arms))


def integral(intercept, slope, cutoff, order=12):
    pieces = top_two_pieces(intercept, slope, 9.0)
    return inverse_gap_integral(pieces, np.ones(len(pieces.start)), cutoff, order, 1.0)


@pytest.mark.parametrize("arms", [2, 3, 7, 30])
def test_pieces_are_the_two_best(arms):
    intercept, slope = random_lines(1, 1, arms)
    pieces = top_two_pieces(intercept, slope, 9.0)
    assert pieces.start[0] == -9.0
    assert pieces.stop[-1] == 9.0
    assert np.array_equal(pieces.start[1:], pieces.stop[:-1])
    middle = 0.5 * (pieces.start + pieces.stop)
    best_first = np.argsort(-(intercept + slope * middle[:, None]), axis=1)
    assert np.array_equal(pieces.top, best_first[:, 0])
    assert np.array_equal(pieces.second, best_first[:, 1])


def test_many_lines_are_swept_as_each_alone():
    intercept, slope = random_lines(2, 40, 9)
    together = top_two_pieces(intercept, slope, 5.0)
    alone = [top_two_pieces(intercept[i : i + 1], slope[i : i + 1], 5.0) for i in range(40)]
    assert len(together.start) == sum(len(pieces.start) for pieces in alone)
    assert np.isclose(mass_of(together).sum(), sum(mass_of(pieces).sum() for pieces in alone), rtol=1e-13)


def test_parallel_arms_never_cross():
    pieces = top_two_pieces(np.array([[0.0, -0.5, 0.0]]), np.array([[1.0, 1.0, -1.0]]), 9.0)
    assert pieces.gap[-1] == 0.5
    assert pieces.slope[-1] == 0.0
    assert (pieces.top[-1], pieces.second[-1]) == (0, 1)


@pytest.mark.parametrize("cutoff", [1e-5, 1e-3, 0.3, 5.0])
def test_integral_against_adaptive_quadrature(cutoff):
    intercept, slope = random_lines(3, 1, 6)

    def integrand(t):
        second, best = np.sort(intercept[0] + slope[0] * t)[-2:]
        return np.exp(-0.5 * t * t) / ROOT_TWO_PI / max(best - second, cutoff)

    pieces = top_two_pieces(intercept, slope, 9.0)
    total = 0.0
    for start, stop, gap, rate in zip(pieces.start, pieces.stop, pieces.gap, pieces.slope, strict=True):
        kinks = [(cutoff - gap) / rate] + [(10.0**-k - gap) / rate for k in range(-1, 8)]
        edges = np.unique(np.clip([start, *kinks, stop], start, stop))
        total += sum(quad(integrand, a, b, epsabs=1e-12, epsrel=1e-11)[0] for a, b in itertools.pairwise(edges))
    assert np.isclose(integral(intercept, slope, cutoff), total, rtol=1e-9)
    assert np.isclose(integral(intercept, slope, cutoff, order=9), total, rtol=1e-7)


@pytest.mark.parametrize("gap", [0.0, 1e-30, 2.0, 40.0])
@pytest.mark.parametrize("cutoff", [1e-50, 1e-7, 1.0])
def test_two_arms_far_below_the_last_digit(gap, cutoff):
    """One over the size of a normal variable: the logarithm of the cutoff comes out even at 1e-50."""
    from mpmath import mp

    def integrand(t):
        return mp.npdf(t) / max(abs(gap + t), cutoff)

    near = [-gap + sign * scale for scale in (0, cutoff, 1e-30, 1e-20, 1e-10, 1e-4, 0.1, 1, 3) for sign in (-1, 1)]
    with mp.workdps(80):
        points = sorted({mp.mpf(-12), mp.mpf(12), *(mp.mpf(-gap) + (mp.mpf(p) + gap) for p in near if abs(p) < 12)})
        points = sorted({*points, *(mp.mpf(-gap) + s * mp.mpf(cutoff) for s in (-1, 1) if gap < 11)})
        truth = float(mp.quad(integrand, points))
    ours = integral(np.array([[0.0, gap]]), np.array([[0.0, 1.0]]), cutoff)
    assert np.isclose(ours, truth, rtol=1e-9)


def test_trimming_keeps_what_is_below_the_limit():
    intercept, slope = random_lines(4, 50, 8)
    pieces = top_two_pieces(intercept, slope, 9.0)
    low, high, limit = 1e-3, 0.2, 0.2
    ones = np.ones(len(pieces.start))
    difference = inverse_gap_integral(pieces, ones, low, 12, 1.0) - inverse_gap_integral(pieces, ones, high, 12, 1.0)
    cut = trimmed(pieces, limit)
    ours = inverse_gap_integral(cut, np.ones(len(cut.start)), low, 12, 1.0) - mass_of(cut).sum() / limit
    assert len(cut.start) < len(pieces.start)
    assert np.isclose(ours, difference, rtol=1e-10)


def test_the_mean_of_the_best():
    intercept, slope = random_lines(5, 1, 5)
    ours = top_integral(top_two_pieces(intercept, slope, 9.0), intercept[0], slope[0])
    t, step = np.linspace(-9.0, 9.0, 400_001, retstep=True)
    best = (intercept + slope * t[:, None]).max(axis=1)
    assert np.isclose(ours, np.sum(best * np.exp(-0.5 * t * t)) * step / ROOT_TWO_PI, rtol=1e-9)
