"""Probabilities of being the best arm: closed forms, draws, and arms that are equal, narrow or many."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betainc, ndtr

from bayesregret.numerics.best_arm import _distinct_probabilities, best_probabilities
from bayesregret.numerics.correlated_best_arm import drawn_best
from bayesregret.numerics.marginals import BetaMeans, GammaMeans, InverseGammaMeans, NormalMeans, StudentMeans

EXACT = 1e-9


def array(*numbers):
    return np.array(numbers, float)


def normal_pair(gap, *widths):
    return ndtr(np.array([-gap, gap]) / np.hypot(*widths))


def beta_pair(first, second):
    """By SciPy's adaptive quadrature."""
    below = integrate.quad(lambda x: stats.beta.pdf(x, *first) * betainc(*second, x), 0, 1, epsabs=1e-13)[0]
    return np.array([below, 1 - below])


PAIRS = {
    "normal": (NormalMeans(array(0, 1), array(1, 2)), normal_pair(1.0, 1.0, 2.0)),
    "narrow normal": (
        NormalMeans(array(1, 1 + 1e-12), array(1e-12, 2e-12)),
        normal_pair((1 + 1e-12) - 1, 1e-12, 2e-12),
    ),
    "normal of different widths": (NormalMeans(array(0, 5), array(1, 1e-30)), normal_pair(5.0, 1.0, 0.0)),
    "known": (NormalMeans(array(0, 5), array(1, 0)), normal_pair(5.0, 1.0, 0.0)),
    "beta": (BetaMeans(array(2, 3), array(4, 5)), beta_pair((2, 4), (3, 5))),
    "beta, one known": (BetaMeans(array(1e30, 3), array(1e30, 4)), [betainc(3, 4, 0.5), 1 - betainc(3, 4, 0.5)]),
    "narrow beta": (
        BetaMeans(array(1e30, 1e30 * (1 + 2e-15)), array(1e30, 1e30)),
        normal_pair((1e30 * (1 + 2e-15) - 1e30) / 1e30, np.sqrt(2e-30), np.sqrt(2e-30)),
    ),
    "narrow gamma": (
        GammaMeans(array(1e30, 1e30 * (1 + 2e-15)), array(1e30, 1e30)),
        normal_pair((1e30 * (1 + 2e-15) - 1e30) / 1e30, 1e-15, 1e-15),
    ),
    "exponential": (GammaMeans(array(1, 1), array(1, 3)), [0.75, 0.25]),
    "inverse exponential": (InverseGammaMeans(array(1, 1), array(1, 3)), [0.25, 0.75]),
    "gamma": (GammaMeans(array(2, 5), array(1, 3)), [1 - betainc(2, 5, 0.25), betainc(2, 5, 0.25)]),
    "tiny beta": (BetaMeans(array(1e-3, 1e-3), array(1, 1)), [0.5, 0.5]),
    "tiny gamma": (GammaMeans(array(1e-3, 2e-3), array(1, 1)), [1 / 3, 2 / 3]),
    "Cauchy and known": (StudentMeans(array(0, 1), array(1, 1e-9), array(1.0, 1e30)), [0.25, 0.75]),
}


@pytest.mark.parametrize(("marginals", "expected"), PAIRS.values(), ids=PAIRS)
def test_two_arms_have_their_closed_form(marginals, expected):
    found = best_probabilities(marginals)
    tolerance = 2e-6 if isinstance(marginals, GammaMeans) and marginals.shape[0] == 1e-3 else EXACT
    assert found == pytest.approx(np.array(expected), abs=tolerance)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)


def draws_of(marginals, rng, many):
    size = (many, len(marginals.means))
    if isinstance(marginals, NormalMeans):
        return rng.normal(marginals.mean, marginals.deviation, size)
    if isinstance(marginals, StudentMeans):
        return marginals.mean + marginals.spread * rng.standard_t(marginals.freedom, size)
    if isinstance(marginals, BetaMeans):
        return rng.beta(marginals.alpha, marginals.beta, size)
    values = rng.gamma(marginals.shape, 1 / marginals.rate, size)
    return values if isinstance(marginals, GammaMeans) else 1 / values


def many_arms(family, arms, rng):
    one, other, third = rng.uniform(1.5, 9.0, (3, arms))
    return StudentMeans(one, 0.2 * other, third) if family is StudentMeans else family(one, other)


MANY_DRAWS = 200_000


@pytest.mark.parametrize("arms", [3, 9, 40])
@pytest.mark.parametrize("family", [NormalMeans, StudentMeans, BetaMeans, GammaMeans, InverseGammaMeans])
def test_probabilities_are_those_of_draws(family, arms):
    rng = np.random.default_rng(arms)
    marginals = many_arms(family, arms, rng)
    found = best_probabilities(marginals)
    wins = np.bincount(draws_of(marginals, rng, MANY_DRAWS).argmax(axis=1), minlength=arms) / MANY_DRAWS
    errors = np.sqrt(np.maximum(found * (1 - found), 1 / MANY_DRAWS) / MANY_DRAWS)
    assert np.abs(found - wins).max() > 0.0
    assert (np.abs(found - wins) / errors).max() < 4.5
    other = best_probabilities(marginals.take(np.roll(np.arange(arms), 1)))  # the control
    assert (np.abs(other - wins) / errors).max() > 4.5


@pytest.mark.parametrize("family", [NormalMeans, StudentMeans, BetaMeans, GammaMeans, InverseGammaMeans])
def test_a_thousand_arms_and_what_is_left_out(family):
    """Before they are divided by their sum, probabilities sum to 1 but for what the ends leave out."""
    marginals = many_arms(family, 1000, np.random.default_rng(1))
    distinct, place = marginals.distinct()
    raw = _distinct_probabilities(distinct, np.bincount(place).astype(float))
    assert abs(raw.sum() - 1.0) < 1e-7
    assert raw.min() > -1e-9


@pytest.mark.parametrize("family", [NormalMeans, BetaMeans, GammaMeans, InverseGammaMeans])
def test_equal_arms_have_equal_probabilities(family):
    every = best_probabilities(family(np.full(1000, 3.0), np.full(1000, 2.0)))
    assert every == pytest.approx(0.001, rel=1e-12)
    assert len(set(every.tolist())) == 1
    some = best_probabilities(family(array(3, 2, 3, 2, 3), array(2, 1, 2, 1, 2)))
    assert some[0] == some[2] == some[4]
    assert some[1] == some[3]
    assert some[0] != some[1]


def test_one_arm_is_the_best():
    assert best_probabilities(NormalMeans(array(1), array(2))).tolist() == [1.0]


def test_arms_far_below_have_no_probability():
    assert best_probabilities(NormalMeans(array(0, 1e6, -1e40), array(1, 1, 1e-50))).tolist() == [0.0, 1.0, 0.0]


def test_the_order_of_arms_does_not_matter():
    rng = np.random.default_rng(3)
    marginals, order = many_arms(BetaMeans, 12, rng), rng.permutation(12)
    assert best_probabilities(marginals.take(order)) == pytest.approx(best_probabilities(marginals)[order], rel=1e-12)


# --- correlated arms -------------------------------------------------------------------------------------------------


def test_draws_of_independent_arms_are_within_their_errors():
    mean, width = array(0.3, 0.0, -0.2, 0.1), array(1.0, 0.5, 2.0, 0.7)
    found, errors = drawn_best(mean, np.diag(width), seed=1)
    expected = best_probabilities(NormalMeans(mean, width))
    assert (np.abs(found - expected) / errors).max() < 4.0
    assert errors.max() < 0.001
    fewer, larger = drawn_best(mean, np.diag(width), seed=1, effort=0.1)
    assert (np.abs(fewer - expected) / larger).max() < 4.0
    assert larger.max() > 2.0 * errors.max()
    assert (np.abs(found[::-1] - expected) / errors).max() > 4.0  # the control


def test_a_common_part_does_not_matter():
    mean, width = array(0.3, 0.0, -0.2), array(1.0, 0.5, 2.0)
    found, errors = drawn_best(mean, np.vstack([np.diag(width), np.full(3, 5.0)]), seed=2)
    assert (np.abs(found - best_probabilities(NormalMeans(mean, width))) / errors).max() < 4.0


def test_equal_and_exchangeable_arms_share_draws():
    same = np.vstack([np.eye(3), np.ones(3)])[:, [0, 1, 1, 2]]  # arms 1 and 2 are always equal
    found, errors = drawn_best(np.zeros(4), same, seed=3)
    assert found[1] == found[2] == 0.5 * found[0]
    assert found[0] == found[3]
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert errors.tolist() == [0.0] * 4  # all are alike: nothing depends on draws
    alone, errors = drawn_best(array(0.0, 0.0, 1e-3), np.vstack([np.eye(3), np.ones(3)]), seed=3)
    assert alone[0] == alone[1] != alone[2]
    assert errors[2] > errors[0] > 0.0
    chain = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.6], [0.0, 0.0, 0.8]])  # equal variances, other covariances
    apart, _ = drawn_best(np.zeros(3), chain, seed=3)
    assert apart[0] != apart[1]
