"""The trivial bound for Poisson, exponential and normal-gamma arms: E[best arm - worst arm] in each round."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from bayesregret import BayesUCB, ExponentialBandit, NormalGammaBandit, PoissonBandit, bounds
from bayesregret.numerics.mean_distributions import LARGE_SHAPE, gamma_tails
from bayesregret.planning.experiment import best_bound
from models.conjugate import CONJUGATE

kinds = pytest.mark.parametrize("kind", CONJUGATE)
STANDARD_ERRORS = 4.0
# Of light tails.
LIGHT = {
    "poisson": PoissonBandit([2.0, 0.3, 4.0], [1.0, 0.5, 3.0]),
    "exponential": ExponentialBandit([4.0, 5.5, 6.0], [2.0, 9.0, 5.5]),
    "normal-gamma": NormalGammaBandit([0.5, 0.0, 0.0], 1.5, [3.0, 2.5, 4.0], 1.0),
}


def max_gap(bandit):
    return bounds.certified_trivial(bandit, horizon=1)


def is_computed(bandit, expected):
    bound = max_gap(bandit)
    return abs(bound.leading - expected) <= bound.error + 1e-13 * expected


def distributions(bandit):
    if bandit.kind == "poisson":
        return [stats.gamma(a, scale=1 / b) for a, b in zip(bandit.shape, bandit.rate, strict=True)]
    if bandit.kind == "exponential":
        return [stats.invgamma(a, scale=b) for a, b in zip(bandit.shape, bandit.rate, strict=True)]
    spreads = np.sqrt(bandit.scale / (bandit.shape * bandit.prior_pulls))
    return [stats.t(2 * a, m, s) for a, m, s in zip(bandit.shape, bandit.prior_mean, spreads, strict=True)]


def beyond(tails):
    """The integral of 1 - P(all are nearer) - P(all are farther) over distances e^u from 0: a sum over u."""
    u = np.arange(-45.0, 120.0, 0.02)
    farther = np.array([tail(np.exp(u)) for tail in tails])
    with np.errstate(divide="ignore"):
        between = -np.expm1(np.log1p(-farther).sum(axis=0)) - farther.prod(axis=0)
    return 0.02 * float(np.sum(np.exp(u) * between))


def by_sums(bandit):
    """The same integral to the right of 0 and to the left."""
    every = distributions(bandit)
    to_the_left = beyond([lambda x, distribution=distribution: distribution.cdf(-x) for distribution in every])
    return beyond([distribution.sf for distribution in every]) + to_the_left


@kinds
def test_plain_sums(kind):
    for bandit in (CONJUGATE[kind], LIGHT[kind]):
        assert max_gap(bandit).value == pytest.approx(by_sums(bandit), rel=1e-9)


@kinds
def test_draws_from_the_prior(kind):
    """Four standard errors; a tenth more is noticed: the control."""
    gaps = np.ptp(LIGHT[kind].draw_means(3_000, seed=1), axis=1)
    error = STANDARD_ERRORS * gaps.std() / math.sqrt(len(gaps))
    assert abs(gaps.mean() - max_gap(LIGHT[kind]).value) < error
    assert not abs(gaps.mean() - 1.1 * max_gap(LIGHT[kind]).value) < error


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arms", [2, 5, 1_000])
def test_exponential_means(arms):
    """Of Gamma(1, 1) priors: the harmonic number less 1/K."""
    bandit = PoissonBandit([1.0] * arms, [1.0] * arms)
    assert is_computed(bandit, math.fsum(1.0 / k for k in range(1, arms + 1)) - 1.0 / arms)


@pytest.mark.parametrize("shape", [1e-50, 1e-3, 0.5, 7.3, 1e4, 1e6, 1e8, 1e20])
def test_two_gamma_priors(shape):
    """E|X - Y| = 2 / B(shape, 1/2)."""
    with mpmath.workdps(60):
        expected = 2 / mpmath.beta(mpmath.mpf(shape), 0.5)
    assert is_computed(PoissonBandit([shape] * 2, [1.0] * 2), float(expected))


@pytest.mark.parametrize("shape", [1.0 + 1e-12, 1.0 + 1e-6])
def test_a_mean_that_barely_is(shape):
    """2 E X - 2 E min of two; E min is nearly that for shape 1, 2 log 2."""
    expected = 2.0 / (shape - 1.0) - 4.0 * math.log(2.0)
    assert max_gap(ExponentialBandit([shape] * 2, [1.0] * 2)).value == pytest.approx(expected, rel=1e-11, abs=1e-4)


def test_inverse_gamma_priors_of_shape_two():
    """E|X - Y| = 1: E min is 1/2."""
    assert is_computed(ExponentialBandit([2.0] * 2, [1.0] * 2), 1.0)


@pytest.mark.parametrize("shape", [1e3, 1e7, 1e50])
@pytest.mark.parametrize("mean", [0.0, 1e50])
def test_student_is_nearly_normal(shape, mean):
    """Three equal arms: 3 / sqrt(pi) deviations."""
    bandit = NormalGammaBandit([mean] * 3, 4.0, shape, shape)
    assert max_gap(bandit).value == pytest.approx(1.5 / math.sqrt(math.pi), rel=1.0 / shape + 1e-12)


def test_student_with_three_degrees_of_freedom():
    """Two arms, from the characteristic function (1 + sqrt(3) t) exp(-sqrt(3) t)."""
    assert is_computed(NormalGammaBandit([0.0, 0.0], 1.0, 1.5, 1.5), 3.0 * math.sqrt(3.0) / math.pi)


# --- limits -----------------------------------------------------------------------------------------------------------


@kinds
def test_one_arm_has_no_gap(kind):
    one = {
        "poisson": PoissonBandit([2.0], [1.0]),
        "exponential": ExponentialBandit([2.0], [1.0]),
        "normal-gamma": NormalGammaBandit([0.0], 1.0, 2.0, 1.0),
    }[kind]
    assert bounds.certified_trivial(one, horizon=10).value == 0.0


def test_scale():
    """Of all means by 1e30."""
    for plain, scaled in (
        (CONJUGATE["poisson"], PoissonBandit([2.0, 0.3, 4.0], [1e-30, 0.5e-30, 3e-30])),
        (CONJUGATE["exponential"], ExponentialBandit([3.0, 1.5, 6.0], [2e30, 0.4e30, 5.5e30])),
    ):
        assert max_gap(scaled).value == pytest.approx(1e30 * max_gap(plain).value, rel=1e-12)


def test_priors_far_apart():
    assert is_computed(PoissonBandit([1e-50, 1e50], [1e50, 1e-50]), 1e100)
    assert is_computed(NormalGammaBandit([-1e50, 1e50], 1.0, 3.0, 1.0), 2e50)
    # A point at 0, a point at 1 and a prior of shape 2: 1 + E(X - 1)^+.
    bandit = ExponentialBandit([2.0, 2.0, 1e50], [1e-50, 1.0, 1e50])
    assert is_computed(bandit, 1.0 + math.exp(-1.0))


def test_many_different_priors_share_panels():
    """They are as good as all of their quantiles: the error says so, and so do arms next to each other."""
    shapes = 2.0 + 1e-9 * np.arange(60)
    bound = max_gap(PoissonBandit(shapes, np.ones(60)))
    assert bound.error < 1e-11
    assert bound.value == pytest.approx(max_gap(PoissonBandit([2.0] * 60, [1.0] * 60)).value, rel=1e-6)


@pytest.mark.parametrize("deviations", [-8.0, -5.0, -1.0, 1.0, 5.0, 8.0])
def test_tails_of_large_shapes(deviations):
    for shape in (0.99 * LARGE_SHAPE, LARGE_SHAPE, 1e7):
        x = shape + deviations * math.sqrt(shape)
        with mpmath.workdps(40):
            a, step = mpmath.mpf(shape), mpmath.sqrt(shape)

            def density(t, a=a):
                return mpmath.exp((a - 1) * mpmath.log(t) - t - mpmath.loggamma(a))

            side = 1 if deviations > 0 else -1
            tail = side * mpmath.quad(density, [x + side * k * step for k in range(0, 13, 2)])
        below, above = gamma_tails(shape, x)
        assert (above if side > 0 else below) == pytest.approx(float(tail), rel=1e-8)
        assert below + above == pytest.approx(1.0, abs=1e-15)


# --- where it is shown ------------------------------------------------------------------------------------------------


@pytest.mark.compiled
@kinds
def test_it_is_the_best_there_is(kind):
    bandit = CONJUGATE[kind]
    trivial = bounds.certified_trivial(bandit, horizon=50)
    assert trivial.value == pytest.approx(50.0 * max_gap(bandit).value, rel=1e-15)
    table = bounds.table(bandit, horizon=50)
    assert [bound.name for bound in table] == ["certified_trivial", "certified_lower"]
    assert table.best.value == trivial.value
    assert bounds.certified(bandit, horizon=50).value == trivial.value
    assert trivial.policy == "any"
    assert best_bound(bandit, BayesUCB(), 50) is None  # it is not the policy's own
