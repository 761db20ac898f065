"""Extreme but legal input: finite results, no warnings (they are errors here), right ones where those are known."""

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, LinearBandit, simulate

BOTH = [BayesUCB(), UCB1()]


def assert_sound(bandit, policies=BOTH, horizon=50, runs=5):
    result = simulate(bandit, policies, horizon=horizon, runs=runs, seed=3)
    for policy in result.policies.values():
        assert np.isfinite(policy.final_regret).all()
        assert (policy.final_regret >= 0.0).all()
        assert np.isfinite(policy.curve.mean).all()
        assert policy.mean_pulls.sum() == pytest.approx(horizon, rel=1e-12)
        assert np.isfinite(policy.stderr)
    return result


ONE_ARM = [
    GaussianBandit([0.5], 1.0, 1.0),
    GaussianBandit([0.5], 1.0, 1.0, noise_kind="rademacher"),
    BernoulliBandit([1.0], [2.0]),
    LinearBandit([[1.0, 2.0]], [0.0, 0.0], prior_width=1.0, reward_noise=1.0),
    LinearBandit([[0.0]], [0.0], prior_width=1.0, reward_noise=1.0),
]


@pytest.mark.parametrize("bandit", ONE_ARM)
def test_one_arm(bandit):
    result = assert_sound(bandit)
    for policy in result.policies.values():
        assert policy.mean == policy.stderr == 0.0
        assert policy.best_share == 1.0


@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("bandit", [*ONE_ARM, GaussianBandit([0.0, 1.0, 2.0], 1, 1), BernoulliBandit([1, 1], [1, 1])])
def test_one_round(bandit, horizon):
    """At horizon 1 delta is 1: all widths are 0, and BayesUCB takes the highest prior mean."""
    result = assert_sound(bandit, horizon=horizon)
    if isinstance(bandit, GaussianBandit) and bandit.arms == 3 and horizon == 1:
        assert result["bayes-ucb"].mean_pulls.tolist() == [0.0, 0.0, 1.0]
        assert result["ucb1"].mean_pulls.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.compiled
@pytest.mark.parametrize(
    "bandit",
    [
        GaussianBandit(np.zeros(10**5), 1.0, 1.0),
        GaussianBandit(np.linspace(-1, 1, 10**5), 1.0, 1.0, noise_kind="rademacher"),
        BernoulliBandit(np.ones(10**5), np.ones(10**5)),
        BernoulliBandit(np.linspace(0.01, 3, 10**5), np.linspace(5, 0.2, 10**5)),
        LinearBandit(
            np.random.default_rng(1).standard_normal((10**5, 3)), np.zeros(3), prior_width=1.0, reward_noise=1.0
        ),
    ],
    ids=["gaussian", "rademacher", "bernoulli", "bernoulli of all kinds", "linear"],
)
def test_a_hundred_thousand_arms(bandit):
    result = assert_sound(bandit, horizon=300, runs=2)
    assert result["ucb1"].mean_pulls.tolist()[:301] == [1.0] * 300 + [0.0]


@pytest.mark.compiled
def test_a_hundred_thousand_arms_for_longer_than_it_takes_to_try_them():
    bandit = GaussianBandit(np.zeros(10**5), 1.0, 0.1)
    assert_sound(bandit, horizon=200_000, runs=2)


@pytest.mark.parametrize("width", [1e-8, 1e8])
@pytest.mark.parametrize("noise", [1e-8, 1.0, 1e8])
def test_extreme_widths(width, noise):
    features = [[1.0, 0.5], [0.2, -1.0], [0.7, 0.7]]
    for bandit in (
        GaussianBandit([0.0, 0.0, 0.0], width, noise),
        GaussianBandit([0.0, 1.0, 0.0], width, noise, noise_kind="rademacher"),
        LinearBandit(features, [0.0, 0.0], prior_width=width, reward_noise=noise),
        LinearBandit(features, [1.0, 0.0], prior_cov=width**2 * np.array([[1.0, 0.3], [0.3, 1.0]]), reward_noise=noise),
    ):
        result = assert_sound(bandit)
        assert result["bayes-ucb"].mean <= 50 * np.ptp(bandit.draw_means(5, seed=3), axis=1).mean()


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("kind", ["gaussian", "linear"])
def test_units_do_not_matter(kind, scale):
    """A problem in other units has the regret in those units: decisions cannot change."""

    def made(unit):
        if kind == "gaussian":
            return GaussianBandit([0.5 * unit, 0.0, -0.5 * unit], unit, 2.0 * unit)
        features = [[1.0, 0.5], [0.2, -1.0], [0.7, 0.7]]
        return LinearBandit(features, [0.1 * unit, 0.0], prior_width=unit, reward_noise=2.0 * unit)

    ours = simulate(made(1.0), BOTH, horizon=100, runs=20, seed=5)
    theirs = simulate(made(scale), BOTH, horizon=100, runs=20, seed=5)
    for name in ours:
        assert np.allclose(theirs[name].final_regret, scale * ours[name].final_regret, rtol=1e-9, atol=0.0)
        assert theirs[name].mean_pulls.tolist() == ours[name].mean_pulls.tolist()


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_a_common_mean_far_from_zero(far):
    """Adding a constant to all rewards changes nothing, until the noise drowns in it."""
    near = simulate(GaussianBandit([0.3, 0.0, 0.1], 1, 1), BOTH, horizon=100, runs=20, seed=6)
    shifted = simulate(GaussianBandit([far + 0.3, far, far + 0.1], 1, 1), BOTH, horizon=100, runs=20, seed=6)
    for name in near:
        assert shifted[name].mean_pulls.tolist() == near[name].mean_pulls.tolist()
        assert np.allclose(shifted[name].final_regret, near[name].final_regret, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("alpha", "beta"), [(1e-50, 1e-50), (1e-3, 1e-3), (1e4, 1e4), (1e50, 1e50), (1e-50, 1e50)])
def test_extreme_pseudo_counts(alpha, beta):
    assert_sound(BernoulliBandit([alpha, 1.0, beta], [beta, 1.0, alpha]))


def test_extreme_deltas():
    for delta in (1e-300, 1.0 - 1e-16):
        assert_sound(GaussianBandit([0.0, 0.1], 1, 1), [BayesUCB(delta=delta), UCB1(delta=delta)])


def test_equal_arms():
    """Three equal arms and one that is worse for sure: no regret, and of equals the lowest is taken."""
    features = [[1.0, 1.0], [1.0, 1.0], [0.9, 0.9], [1.0, 1.0]]
    bandit = LinearBandit(features, [5.0, 5.0], prior_width=0.001, reward_noise=1.0)
    result = assert_sound(bandit)
    assert result["bayes-ucb"].mean_pulls.tolist() == [50.0, 0.0, 0.0, 0.0]
    assert result["bayes-ucb"].mean == 0.0


def test_arms_of_nothing():
    """A zero feature vector is worth exactly 0."""
    bandit = LinearBandit([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
    result = assert_sound(bandit)
    assert result["bayes-ucb"].mean_pulls[2] == 0.0  # never better than its twin
    assert (bandit.draw_means(10, seed=1)[:, [0, 2]] == 0.0).all()
    nothing = LinearBandit(np.zeros((4, 3)), np.ones(3), prior_width=1.0, reward_noise=1.0)
    assert assert_sound(nothing)["bayes-ucb"].mean_pulls.tolist() == [50.0, 0.0, 0.0, 0.0]


def test_one_dimension():
    assert_sound(LinearBandit([[1.0], [-1.0], [0.5]], [0.0], prior_width=1.0, reward_noise=1.0))


@pytest.mark.parametrize("arms", [3, pytest.param(300, marks=pytest.mark.compiled)])
def test_two_hundred_dimensions(arms):
    rng = np.random.default_rng(2)
    features = rng.standard_normal((arms, 200)) / 14.0
    for spread in ({"prior_width": 1.0}, {"prior_cov": np.diag(np.arange(200) % 3).astype(float)}):
        bandit = LinearBandit(features, np.zeros(200), reward_noise=1.0, **spread)
        assert_sound(bandit, horizon=20 if arms == 3 else 200, runs=2)


def test_the_largest_numbers_that_are_let_in():
    for bandit in (
        GaussianBandit([1e50, -1e50], 1e50, 1e-50),
        GaussianBandit([1e50, -1e50], 1e-50, 1e50),
        LinearBandit([[1e50], [-1e50]], [1e50], prior_width=1e50, reward_noise=1e50),
        LinearBandit([[1e50], [1.0], [1e-50]], [0.0], prior_width=1e50, reward_noise=1e-50),
    ):
        assert_sound(bandit)
