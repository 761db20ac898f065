"""What pulls can bring, against pulls that were made and against a slow search for the best ones."""

import math

import numpy as np
import pytest

from bayesregret import LinearBandit
from bayesregret.bounds.certified.linear_learning import information_limits
from bayesregret.problem import common_linear


def random_bandit(seed, arms=6, dimension=3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((dimension, dimension)) * np.exp(rng.standard_normal(dimension))
    noise = float(np.exp(rng.standard_normal()))
    return LinearBandit(rng.standard_normal((arms, dimension)), np.zeros(dimension), root @ root.T, reward_noise=noise)


def variances(bandit, pulls):
    """The posterior variance of each pulled arm's mean just before its pull."""
    covariance, found = bandit.covariance.copy(), []
    for arm in pulls:
        x = bandit.features[arm]
        aim = covariance @ x
        found.append(float(x @ aim))
        covariance -= np.outer(aim, aim) / (bandit.reward_noise**2 + found[-1])
    return np.array(found)


def greedy_pulls(bandit, rounds):
    """The most uncertain arm every time: nearly the best way to learn."""
    pulls = []
    covariance = bandit.covariance.copy()
    for _ in range(rounds):
        spread = np.einsum("ai,ij,aj->a", bandit.features, covariance, bandit.features)
        arm = int(np.argmax(spread))
        aim = covariance @ bandit.features[arm]
        covariance -= np.outer(aim, aim) / (bandit.reward_noise**2 + spread[arm])
        pulls.append(arm)
    return pulls


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rounds", [1, 7, 100])
def test_no_pulls_bring_more(seed, rounds):
    bandit = random_bandit(seed)
    stats = information_limits(bandit, rounds)
    ways = [np.random.default_rng(seed).integers(0, bandit.arms, rounds), greedy_pulls(bandit, rounds), [0] * rounds]
    slack = 1.0 + 1e-9
    for pulls in ways:
        spread = variances(bandit, pulls)
        gains = np.log1p(spread / bandit.reward_noise**2)
        assert (np.cumsum(gains) <= slack * stats.information(np.arange(1.0, rounds + 1.0))).all()
        assert spread.sum() <= slack * stats.variances(rounds)
        assert np.sqrt(spread).sum() <= slack * stats.widths(rounds)


def test_the_best_pulls_bring_nearly_as_much():
    for seed in range(10):
        bandit = random_bandit(seed)
        gains = np.log1p(variances(bandit, greedy_pulls(bandit, 400)) / bandit.reward_noise**2)
        assert float(information_limits(bandit, 400).information(400.0)) < 1.02 * gains.sum()


def test_never_above_the_lemma():
    """The paper's form with the rank and the largest prior deviation."""
    for bandit in [common_linear(), *map(random_bandit, range(10))]:
        stats = information_limits(bandit, 1000)
        ratio = (stats.deviation / stats.noise) ** 2
        lemma = stats.rank * math.log1p(1000 * ratio / stats.rank)
        assert float(stats.information(1000.0)) <= lemma * (1.0 + 1e-12)
        V = stats.deviation**2 / math.log1p(ratio) * lemma
        assert stats.variances(1000) <= V * (1.0 + 1e-12)
        assert stats.widths(1000) <= math.sqrt(1000 * V) * (1.0 + 1e-12)


def test_widths_of_one_arm_are_those_of_the_largest_deviation_first():
    """One dimension, and n so small that the hull's straight part is used."""
    bandit = LinearBandit([[1.0], [-1.0]], [0.0], prior_width=100.0, reward_noise=1.0)
    stats = information_limits(bandit, 3)
    assert np.sqrt(variances(bandit, [0, 0, 0])).sum() <= stats.widths(3) <= 3 * 100.0
    assert information_limits(bandit, 1).widths(1) == pytest.approx(100.0)


def test_nothing_to_learn():
    bandit = LinearBandit([[1.0], [2.0]], [1.0], prior_cov=[[0.0]], reward_noise=1.0)
    stats = information_limits(bandit, 10)
    assert (stats.variances(10), stats.widths(10), float(stats.information(10.0))) == (0.0, 0.0, 0.0)
