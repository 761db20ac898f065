"""Ties of the two best arms: against the complexities of bounds/gaps, and against plain integrals."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bayesregret import BernoulliBandit, GaussianBandit
from bayesregret.bounds.gaps.bernoulli import bernoulli_gaps
from bayesregret.bounds.gaps.gaussian import gaussian_gaps
from bayesregret.numerics.best_arm_ties import beta_ties, normal_ties

MEANS = [([1.0] + [0.0] * 9, 1.0), ([0.0, 0.0], 0.1), ([0.0, 5.0, 9.0], 1.0), ([0.0, -30.0], 1.0)]
COUNTS = [([1, 1], [1, 1]), ([0.1, 0.2, 3], [0.3, 5, 100]), ([1e8, 1e8], [1e8, 1e8]), ([2] + [3] * 5, [1] * 6)]


def complexity(ties, order=12):
    return float(ties.counts @ ties.overlaps(order))


@pytest.mark.parametrize(("means", "width"), MEANS)
def test_the_complexity_of_gaussian_arms(means, width):
    ties = normal_ties(np.array(means), np.full(len(means), width))
    expected = gaussian_gaps(GaussianBandit(means, width, 1.0), 12).complexity() / width
    assert complexity(ties) == pytest.approx(expected, rel=1e-12, abs=0.0)
    assert complexity(ties, order=9) == pytest.approx(expected, rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("alpha", "beta"), COUNTS)
def test_the_complexity_of_bernoulli_arms(alpha, beta):
    ties = beta_ties(np.array(alpha, float), np.array(beta, float))
    expected = bernoulli_gaps(BernoulliBandit(alpha, beta), 12).variance_complexity
    assert complexity(ties) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    "ties",
    [
        normal_ties(np.array([0.3, 0.0, 0.0, -0.5]), np.array([0.2, 1.0, 1.0, 3.0])),
        beta_ties(np.array([1.0, 2.0, 0.5, 2.0]), np.array([1.0, 3.0, 0.5, 3.0])),
    ],
    ids=["normal", "beta"],
)
def test_pairs_add_up_to_the_complexity(ties):
    ones = np.ones((len(ties.counts), len(ties.counts)))
    both = 2.0 * ties.pair_integral(ones, 12)
    assert both == pytest.approx(complexity(ties), rel=1e-12)
    density = math.exp(ties.log_scale) * float(ties.density.integral_to_end()(ties.density.edges[:1])[0])
    assert 2.0 * density == pytest.approx(both, rel=1e-11)
    with_itself = ties.pair_integral(np.eye(len(ties.counts)), 12)
    assert 0.0 < with_itself < 0.5 * both, "only arms of one kind"


def test_a_pair_of_heteroscedastic_arms():
    ties = normal_ties(np.array([0.4, 0.0, -0.2]), np.array([0.5, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert ties.counts.tolist() == [1.0, 1.0, 1.0]
    centres, widths = [0.0, -0.4, -0.6], [0.5, 1.0, 2.0]
    pair = np.zeros((3, 3))
    pair[ties.kind[0], ties.kind[2]] = pair[ties.kind[2], ties.kind[0]] = 1.0

    def together(y):
        h = [stats.norm.pdf(y, centre, width) for centre, width in zip(centres, widths, strict=True)]
        return h[0] * h[2] * stats.norm.cdf(y, centres[1], widths[1])

    assert ties.pair_integral(pair, 12) == pytest.approx(integrate.quad(together, -6, 6, epsabs=1e-13)[0], rel=1e-9)
