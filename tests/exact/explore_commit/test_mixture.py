"""Explore-then-commit on mixtures whose arms have the same prior in each component."""

import numpy as np
import pytest

from bayesregret import (
    BernoulliBandit,
    ExploreCommit,
    ExponentialBandit,
    GaussianBandit,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
    explore_commit_regret,
    simulate,
)

WEIGHTS = [0.3, 0.7]
EQUAL = {
    "gaussian": [GaussianBandit([0, 0], 1.0, 1.0), GaussianBandit([1, 1], 0.5, 2.0)],
    "bernoulli": [BernoulliBandit([2, 2], [38, 38]), BernoulliBandit([10, 10], [30, 30])],
    "poisson": [PoissonBandit([2, 2], [1, 1]), PoissonBandit([3, 3], [4, 4])],
    "exponential": [ExponentialBandit([3, 3], [1, 1]), ExponentialBandit([5, 5], [4, 4])],
    "normal-gamma": [NormalGammaBandit([0, 0], 1, 2, 1), NormalGammaBandit([1, 1], 2, 2, 3)],
}
DIFFERENT = MixtureBandit(WEIGHTS, [BernoulliBandit([1, 2], [5, 5]), BernoulliBandit([1, 1], [1, 1])])


@pytest.mark.parametrize("kind", EQUAL)
def test_the_regret_is_the_weighted_mean(kind):
    mixture = MixtureBandit(WEIGHTS, EQUAL[kind])
    for explore in (0, 2, 10, 50):
        parts = [explore_commit_regret(bandit, horizon=50, explore=explore) for bandit in mixture.bandits]
        assert explore_commit_regret(mixture, horizon=50, explore=explore) == pytest.approx(
            np.dot(WEIGHTS, parts), rel=1e-12
        )


@pytest.mark.parametrize("kind", EQUAL)
def test_the_best_length_is_the_best_of_all(kind):
    mixture, horizon = MixtureBandit(WEIGHTS, EQUAL[kind]), 60
    lengths = range(0, horizon + 1, 2)
    best = min(lengths, key=lambda explore: explore_commit_regret(mixture, horizon=horizon, explore=explore))
    assert mixture.best_exploration(horizon) == best
    assert ExploreCommit().settings(mixture, horizon).explore == best
    assert explore_commit_regret(mixture, horizon=horizon) == explore_commit_regret(
        mixture, horizon=horizon, explore=best
    )


@pytest.mark.parametrize("prior", ["mixture", "another"])
def test_the_winner_is_the_same_whatever_bandit_with_equal_arms_is_believed(prior):
    mixture = MixtureBandit(WEIGHTS, [BernoulliBandit([1, 1], [3, 3]), BernoulliBandit([3, 3], [1, 1])])
    policy = ExploreCommit(10, prior=None if prior == "mixture" else BernoulliBandit([5, 5], [2, 2]))
    simulated = simulate(mixture, policy, horizon=30, runs=1_200, seed=1, progress=False)[policy.name]
    exact = explore_commit_regret(mixture, horizon=30, explore=10)
    assert abs(simulated.mean - exact) < 4 * simulated.stderr
    unexplored = explore_commit_regret(mixture, horizon=30, explore=0)
    assert abs(simulated.mean - unexplored) > 4 * simulated.stderr  # the control


def test_a_single_component_may_have_different_arms():
    bandit = DIFFERENT.bandits[0]
    alone = MixtureBandit([1.0], [bandit])
    assert explore_commit_regret(alone, horizon=20, explore=3) == pytest.approx(
        explore_commit_regret(bandit, horizon=20, explore=3), rel=1e-14
    )
    assert alone.best_exploration(50) == bandit.best_exploration(50)


def test_where_there_is_no_exact_regret_one_line_says_so():
    linear = LinearBandit(np.eye(2), [0, 0], prior_width=1.0, reward_noise=1.0)
    for mixture in (DIFFERENT, MixtureBandit([1.0], [linear])):
        with pytest.raises(ValueError, match="bandit must not be a mixture whose arms have different priors"):
            explore_commit_regret(mixture, horizon=10, explore=2)
        with pytest.raises(ValueError, match="explore must be given, a whole number of rounds, on a mixture"):
            mixture.best_exploration(10)
    with pytest.raises(ValueError, match="explore must be a multiple of the 2 arms on a mixture, got 3"):
        explore_commit_regret(MixtureBandit(WEIGHTS, EQUAL["bernoulli"]), horizon=10, explore=3)
