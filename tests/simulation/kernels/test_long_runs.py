"""After very many rounds: no drift, and posteriors that are still what a direct solve gives."""

import math

import numpy as np
import pytest

from bayesregret import BayesUCB, GaussianBandit, LinearBandit, simulate
from bayesregret.contracts import draw_reward
from bayesregret.models.linear_posterior import add_rewards, make_posterior, refresh, reset_posterior, set_target
from bayesregret.rng import REWARD, U, normal, open_stream, raw, run_word, seed_key
from draws import compiled, stream_of


@pytest.fixture(scope="module")
def bandit():
    rng = np.random.default_rng(5)
    root = rng.standard_normal((10, 10)) / 3.0
    return LinearBandit(
        rng.uniform(-0.5, 0.5, (30, 10)), rng.standard_normal(10), prior_cov=root @ root.T, reward_noise=0.7
    )


def learn_often(posterior, model, counts, totals, errors, rounds, most, stream):
    """Rewards of arms taken at random, in streaks of up to `most` pulls, with sums that lose no digits."""
    reset_posterior(posterior, model)
    done = 0
    while done < rounds:
        bits, stream = raw(stream)
        arm = np.int64((bits >> U(8)) % U(model.arms))
        pulls = 1 + np.int64((bits >> U(40)) % U(most))
        set_target(posterior, arm)
        excess = 0.0
        for _ in range(pulls):
            z, stream = normal(stream)
            reward = 0.1 * arm + model.reward_noise * z
            excess += reward - posterior.mean[arm]
            # Neumaier's sum: what an addition drops is kept beside it.
            total = totals[arm] + reward
            if abs(totals[arm]) >= abs(reward):
                errors[arm] += (totals[arm] - total) + reward
            else:
                errors[arm] += (reward - total) + totals[arm]
            totals[arm] = total
        add_rewards(posterior, model, arm, pulls, excess)
        counts[arm] += pulls
        done += pulls


def direct_solve(bandit, counts, totals):
    """Mean and covariance of all mean rewards, by the formulas of Section 3.3 from counts and sums of rewards."""
    x, noise = bandit.features, bandit.reward_noise
    prior_precision = np.linalg.inv(bandit.covariance)
    covariance = np.linalg.inv(prior_precision + (x.T * counts) @ x / noise**2)
    mean = covariance @ (prior_precision @ bandit.prior_mean + x.T @ totals / noise**2)
    return x @ mean, x @ covariance @ x.T


def learned(bandit, rounds, most):
    arms, model = bandit.arms, bandit.model
    posterior = make_posterior(model)
    counts, totals, errors = np.zeros(arms, np.int64), np.zeros(arms), np.zeros(arms)
    compiled(learn_often)(posterior, model, counts, totals, errors, rounds, most, stream_of(40))
    covariance = posterior.roots[:, :arms].T @ posterior.roots[:, :arms]
    return posterior, covariance, counts, totals + errors


def assert_is_direct_solve(bandit, posterior, covariance, counts, totals, tolerance):
    arms = bandit.arms
    mean, full = direct_solve(bandit, counts, totals)
    assert posterior.counts[:arms].tolist() == counts.tolist()
    assert np.abs(posterior.mean[:arms] - mean).max() < tolerance * np.abs(mean).max()
    assert np.abs(posterior.variance[:arms] / np.diag(full) - 1.0).max() < tolerance
    assert np.abs(covariance - full).max() < tolerance * np.abs(full).max()
    assert np.abs(covariance - covariance.T).max() < tolerance * np.abs(full).max()
    assert np.linalg.eigvalsh((covariance + covariance.T) / 2.0)[0] > -tolerance * np.abs(full).max()
    assert posterior.variance.min() >= 0.0


@pytest.mark.compiled
@pytest.mark.parametrize("most", [1, 100])
def test_linear_posterior_after_a_million_rounds(bandit, most):
    posterior, covariance, counts, totals = learned(bandit, 1_000_000, most)
    assert_is_direct_solve(bandit, posterior, covariance, counts, totals, 1e-9)
    posterior.counts[3] += 1  # one pull in a million is noticed
    with pytest.raises(AssertionError):
        assert_is_direct_solve(bandit, posterior, covariance, posterior.counts[:30], totals, 1e-9)


@pytest.mark.parametrize("rounds", [1, 50, 600])
def test_linear_posterior_after_a_few_rounds(bandit, rounds):
    posterior, covariance, counts, totals = learned(bandit, rounds, 1)
    assert_is_direct_solve(bandit, posterior, covariance, counts, totals, 1e-9)


def test_refresh_changes_nothing_but_rounding(bandit):
    posterior, before, _, _ = learned(bandit, 200, 4)
    mean, variance = posterior.mean[:30].copy(), posterior.variance[:30].copy()
    assert posterior.updates[0] > 0
    refresh(posterior, bandit.model)
    assert posterior.updates[0] == 0
    after = posterior.roots[:, :30].T @ posterior.roots[:, :30]
    assert np.allclose(posterior.mean[:30], mean, rtol=0.0, atol=1e-12)
    assert np.allclose(posterior.variance[:30], variance, rtol=1e-10)
    assert np.allclose(after, before, rtol=0.0, atol=1e-12)


def play_every_arm(world, policy_factor, counts, totals, errors, means, streams, horizon):
    """Gaussian BayesUCB that looks at all arms in every round, with sums that lose no digits."""
    arms = means.shape[0]
    precision = 1.0 / (world.prior_width * world.prior_width)
    weight = 1.0 / (world.reward_noise * world.reward_noise)
    for _ in range(horizon):
        leader, highest = 0, -math.inf
        for arm in range(arms):
            variance = 1.0 / (precision + weight * counts[arm])
            mean = variance * (precision * world.prior_mean[arm] + weight * (totals[arm] + errors[arm]))
            index = mean + math.sqrt(variance * policy_factor)
            if index > highest:
                leader, highest = arm, index
        stream = (streams[leader, 0], streams[leader, 1], streams[leader, 2], streams[leader, 3])
        reward, stream = draw_reward(world, leader, means[leader], stream)
        streams[leader, 0], streams[leader, 1], streams[leader, 2], streams[leader, 3] = stream
        counts[leader] += 1
        total = totals[leader] + reward
        if abs(totals[leader]) >= abs(reward):
            errors[leader] += (totals[leader] - total) + reward
        else:
            errors[leader] += (reward - total) + totals[leader]
        totals[leader] = total


def played(bandit, horizon, seed, delta):
    """Pulls of each arm in run 0, and its regret as an exactly rounded sum."""
    key = seed_key(seed)
    means = bandit.draw_means(1, seed=seed)[0]
    with np.errstate(over="ignore"):
        start = run_word(key, 0)
        streams = np.array([open_stream(key, start, REWARD + U(arm)) for arm in range(bandit.arms)], np.uint64)
    counts, totals, errors = np.zeros(bandit.arms, np.int64), np.zeros(bandit.arms), np.zeros(bandit.arms)
    factor = 2.0 * math.log(1.0 / delta)
    compiled(play_every_arm)(bandit.model, factor, counts, totals, errors, means, streams, horizon)
    regret = math.fsum(count * gap for count, gap in zip(counts.tolist(), (means.max() - means).tolist(), strict=True))
    return counts, regret


# Arms so alike that they are told apart only late.
ALIKE = GaussianBandit(np.zeros(5), prior_width=0.002, reward_noise=1.0)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [1, 2])
def test_ten_million_gaussian_rounds_do_not_drift(seed):
    horizon, delta = 10_000_000, 1e-7
    counts, regret = played(ALIKE, horizon, seed, delta)
    ours = simulate(ALIKE, BayesUCB(delta=delta), horizon=horizon, runs=1, seed=seed)["bayes-ucb"]
    assert counts.min() > 10_000
    assert ours.mean_pulls.tolist() == counts.tolist()
    assert ours.mean == pytest.approx(regret, rel=1e-11)


def test_a_thousand_gaussian_rounds_do_not_drift():
    counts, regret = played(ALIKE, 1000, 3, 0.01)
    ours = simulate(ALIKE, BayesUCB(delta=0.01), horizon=1000, runs=1, seed=3)["bayes-ucb"]
    assert ours.mean_pulls.tolist() == counts.tolist()
    assert ours.mean == pytest.approx(regret, rel=1e-12)
    other, _ = played(ALIKE, 1000, 4, 0.01)
    assert other.tolist() != counts.tolist()
