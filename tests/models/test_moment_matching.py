"""The bandit with the prior means and variances of a mixture, against draws' moments by formulas of their own."""

import numpy as np
import pytest
from scipy import stats

from bayesregret import (
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
)

WEIGHTS = [0.2, 0.5, 0.3]


def distribution(bandit, arm):
    """SciPy's distribution of an arm's mean reward."""
    if bandit.kind == "bernoulli":
        return stats.beta(bandit.alpha[arm], bandit.beta[arm])
    if bandit.kind == "poisson":
        return stats.gamma(bandit.shape[arm], scale=1 / bandit.rate[arm])
    if bandit.kind == "exponential":
        return stats.invgamma(bandit.shape[arm], scale=bandit.rate[arm])
    return stats.norm(bandit.prior_mean[arm], bandit.prior_widths[arm])


def moments(weights, bandits, arm):
    """Mean and variance of a mixture by its raw moments, which cancel but are independent of the package."""
    found = [distribution(bandit, arm) for bandit in bandits]
    mean = np.dot(weights, [each.mean() for each in found])
    return mean, np.dot(weights, [each.var() + each.mean() ** 2 for each in found]) - mean**2


MIXED = {
    "bernoulli": [
        BernoulliBandit([1, 2], [5, 6]),
        BernoulliBandit([3, 0.5], [4, 0.5]),
        BernoulliBandit([9, 1], [1, 2]),
    ],
    "poisson": [PoissonBandit([1, 2], [5, 6]), PoissonBandit([3, 0.5], [4, 0.5]), PoissonBandit([9, 1], [1, 2])],
    "exponential": [
        ExponentialBandit([3, 4], [5, 6]),
        ExponentialBandit([5, 2.5], [4, 0.5]),
        ExponentialBandit([9, 6], [1, 2]),
    ],
    "gaussian": [
        GaussianBandit([1, 0], [1.0, 0.3], [1.0, 2.0]),
        GaussianBandit([2, 0], 0.5, 1.0),
        GaussianBandit([0, 1], 0.1, [0.5, 1.0]),
    ],
}


@pytest.mark.parametrize("kind", MIXED)
def test_means_and_variances_match(kind):
    bandits = MIXED[kind]
    matched = MixtureBandit(WEIGHTS, bandits).conjugate()
    assert type(matched) is type(bandits[0])
    for arm in range(2):
        mean, variance = moments(WEIGHTS, bandits, arm)
        assert distribution(matched, arm).mean() == pytest.approx(mean, rel=1e-12)
        assert distribution(matched, arm).var() == pytest.approx(variance, rel=1e-11)


def test_gaussian_components_of_one_noise_keep_their_covariances():
    bandits = [GaussianBandit([1, 0, 2], 1.0, 1.0), GaussianBandit([2, 0, 1], 0.5, 3.0)]
    matched = MixtureBandit([0.25, 0.75], bandits).conjugate()
    assert isinstance(matched, LinearBandit)
    off = np.array([1.0, 0.0, -1.0])  # the difference of the two means; its variance is 1/4 3/4
    expected = 0.25 * 0.75 * np.outer(off, off) + (0.25 * 1.0 + 0.75 * 0.25) * np.eye(3)
    assert matched.covariance == pytest.approx(expected, rel=1e-14)
    assert matched.prior_mean == pytest.approx([1.75, 0.0, 1.25])
    assert matched.reward_noise == pytest.approx(np.sqrt(0.25 * 1.0 + 0.75 * 9.0))


def test_gaussian_components_that_differ_in_width_alone_stay_independent():
    matched = MixtureBandit(
        [0.5, 0.5], [GaussianBandit([1, 0], 1.0, 2.0), GaussianBandit([1, 0], 3.0, 2.0)]
    ).conjugate()
    assert matched == GaussianBandit([1, 0], np.sqrt(5.0), 2.0)


def test_linear_components():
    features = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]
    one = LinearBandit(features, [0, 1], prior_width=1.0, reward_noise=1.0)
    other = LinearBandit(features, [2, 0], prior_cov=[[1, 0.5], [0.5, 2]], reward_noise=2.0)
    matched = MixtureBandit([0.5, 0.5], [one, other]).conjugate()
    off = np.array([1.0, -0.5])
    assert matched.covariance == pytest.approx(np.array([[1, 0.25], [0.25, 1.5]]) + np.outer(off, off))
    assert matched.prior_mean == pytest.approx([1.0, 0.5])
    elsewhere = LinearBandit(np.roll(features, 1, axis=1), [0, 1], prior_width=1.0, reward_noise=1.0)
    with pytest.raises(ValueError, match="linear bandits with different features has no conjugate bandit"):
        MixtureBandit([0.5, 0.5], [one, elsewhere]).conjugate()


def test_arms_without_a_variance_keep_the_heaviest_tail():
    bandits = [ExponentialBandit([1.5, 4.0], [1, 3]), ExponentialBandit([3.0, 5.0], [4, 4])]
    matched = MixtureBandit([0.5, 0.5], bandits).conjugate()
    assert matched.shape[0] == 1.5
    assert distribution(matched, 0).mean() == pytest.approx(2.0)
    mean, variance = moments([0.5, 0.5], bandits, 1)
    assert (distribution(matched, 1).mean(), distribution(matched, 1).var()) == pytest.approx((mean, variance))


EXTREME = (1e-50, 1e-8, 1.0, 1e8, 1e50)
HARSH = {
    "bernoulli": [BernoulliBandit([a], [b]) for a in EXTREME for b in EXTREME],
    "poisson": [PoissonBandit([a], [b]) for a in EXTREME for b in EXTREME],
    "exponential": [ExponentialBandit([a], [b]) for a in (np.nextafter(1, 2), 2.0, 3.0, 1e50) for b in EXTREME],
    "gaussian": [GaussianBandit([m], w, s) for m in (-1e50, 0.0, 1e50) for w in EXTREME for s in EXTREME],
    "gaussian pairs": [GaussianBandit([m, -m], w, s) for m in (0.0, 1.0) for w in EXTREME[:3] for s in EXTREME],
}


@pytest.mark.parametrize("kind", HARSH)
def test_extreme_components_have_a_conjugate_bandit(kind):
    """Any two: constructors accept their parameters, so that none is nan, infinite or 0."""
    bandits = HARSH[kind]
    for one in bandits[:: max(1, len(bandits) // 12)]:
        for other in bandits:
            assert MixtureBandit([0.5, 0.5], [one, other]).conjugate().arms == one.arms


def test_nearly_certain_successes_keep_their_digits():
    """1 - mean would round to 0."""
    bandits = [BernoulliBandit([1.0], [1e-20]), BernoulliBandit([1.0], [3e-20])]
    matched = MixtureBandit([0.5, 0.5], bandits).conjugate()
    assert matched.beta[0] / matched.alpha[0] == pytest.approx(2e-20)
    assert matched.alpha[0] == pytest.approx(1.0)


def test_one_component_is_its_own_conjugate():
    bandit = NormalGammaBandit([0, 1], 1, 2, 1)
    assert MixtureBandit([1.0], [bandit]).conjugate() is bandit


def test_kinds_without_a_conjugate_bandit_say_so():
    bandits = [NormalGammaBandit([0, 1], 1, 2, 1), NormalGammaBandit([0, 1], 1, 3, 1)]
    with pytest.raises(ValueError, match=r"a mixture of normal-gamma bandits has no conjugate\(\)") as caught:
        MixtureBandit([0.5, 0.5], bandits).conjugate()
    assert "\n" not in str(caught.value)
