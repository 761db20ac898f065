"""What an experiment has cost so far: against draws in NumPy, and formulas for two arms."""

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.status import so_far as module
from bayesregret.status.so_far import expected_excess, posterior_means, so_far
from status.cases import BANDITS, progress

MANY = 200_000


def drawn(bandit, rng):
    """(MANY, arms): mean rewards, drawn by NumPy."""
    shape = (MANY, bandit.arms)
    if bandit.kind == "mixture":
        parts = np.stack([drawn(part, rng) for part in bandit.bandits])
        return parts[rng.choice(len(bandit.weights), MANY, p=bandit.weights), np.arange(MANY)]
    if bandit.kind == "bernoulli":
        return rng.beta(bandit.alpha, bandit.beta, shape)
    if bandit.kind == "poisson":
        return rng.gamma(bandit.shape, size=shape) / bandit.rate
    if bandit.kind == "exponential":
        return bandit.rate / rng.gamma(bandit.shape, size=shape)
    if bandit.kind == "linear":
        return rng.multivariate_normal(bandit.prior_mean, bandit.covariance, MANY) @ bandit.features.T
    if bandit.kind == "gaussian":
        return bandit.prior_mean + bandit.prior_widths * rng.standard_normal(shape)
    variance = bandit.scale / rng.gamma(bandit.shape, size=shape)
    return bandit.prior_mean + np.sqrt(variance / bandit.prior_pulls) * rng.standard_normal(shape)


@pytest.mark.parametrize("name", BANDITS)
def test_against_draws(name):
    at = progress(BANDITS[name], br.Thompson())
    bandit, rng = at.posterior, np.random.default_rng(3)
    means = drawn(bandit, rng)
    np.testing.assert_allclose(posterior_means(bandit), means.mean(axis=0), atol=5 * means.std() / np.sqrt(MANY))
    excess = means.max(axis=1) - means[:, np.argmax(posterior_means(bandit))]
    found = expected_excess(bandit, seed=1)
    stderr = excess.std() / np.sqrt(MANY)
    assert found.mean == pytest.approx(excess.mean(), abs=4 * np.hypot(stderr, found.stderr))
    assert found.stderr == 0.0
    both = so_far(at, found, 0.9, seed=1)
    regrets, gains = at.done * means.max(axis=1) - means @ at.decisions, means @ (at.decisions - at.equal_split)
    for number, draws in zip(both, (regrets, gains), strict=True):
        assert number.mean == pytest.approx(draws.mean(), abs=5 * draws.std() / np.sqrt(MANY))
        assert number.deviation == pytest.approx(draws.std(), rel=0.12)
        inside = np.mean((number.low <= draws) & (draws <= number.high))
        assert inside == pytest.approx(0.9, abs=0.03)


def test_several_correlated_arms_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "BEST_DRAWS", 3_000)
    features = np.random.default_rng(0).normal(size=(4, 2))
    bandit = br.LinearBandit(features, [0, 0], prior_width=1, reward_noise=1)
    means = drawn(bandit, np.random.default_rng(1))
    excess = means.max(axis=1) - means[:, 0]  # all arms have the mean 0
    found = expected_excess(bandit, seed=1)
    assert 0.0 < found.stderr < 0.05
    assert found.mean == pytest.approx(excess.mean(), abs=5 * found.stderr)
    many = br.MixtureBandit([0.04] * 25, [br.BernoulliBandit([1 + i, 2], [2, 2]) for i in range(25)])
    assert expected_excess(many, seed=1).stderr > 0.0


def test_linear_arms_that_are_equal_lose_nothing():
    bandit = br.LinearBandit([[1.0], [1.0]], [0], prior_width=1, reward_noise=1)
    assert expected_excess(bandit, seed=0).mean == 0.0


def test_two_gaussian_arms():
    """E max - leader is the expected positive part of a normal difference."""
    gap, width = 0.5, np.sqrt(1.0 + 4.0)
    bandit = br.GaussianBandit([0.5, 0], [1, 2], 1)
    expected = width * stats.norm.pdf(gap / width) - gap * stats.norm.cdf(-gap / width)
    assert expected_excess(bandit, seed=0).mean == pytest.approx(expected, rel=1e-9)
