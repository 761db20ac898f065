"""After very many rounds, one reward at a time: the posterior and its information are what a direct solve gives."""

import numpy as np
import pytest

from bayesregret import LinearBandit
from bayesregret.contracts import information, mean_now, means_at, variance_now
from bayesregret.models.linear_lazy_posterior import add_linear_reward, make_lazy_posterior
from bayesregret.rng import U, normal, raw
from draws import compiled, stream_of

rng = np.random.default_rng(5)
BANDIT = LinearBandit(rng.uniform(-0.5, 0.5, (12, 4)), rng.standard_normal(4), prior_width=0.8, reward_noise=0.7)
TOLERANCE = 1e-9


def learn_rounds(posterior, model, counts, totals, rounds, stream):
    """Rewards of arms taken at random, some a thousand times as often as others."""
    for _ in range(rounds):
        bits, stream = raw(stream)
        arm = np.int64((bits >> U(8)) % U(model.arms))
        if (bits >> U(40)) % U(1000) > U(0):
            arm = arm % 2
        z, stream = normal(stream)
        reward = 0.1 * arm + z
        counts[arm] += 1
        totals[arm] += reward
        add_linear_reward(posterior, model, arm, reward)


def reported(posterior):
    """Means, variances and covariances of all arms, from the functions that a policy may call."""
    arms = range(BANDIT.arms)
    rank, columns = posterior.roots.shape
    lean = np.empty((rank, columns))
    for i, xi in enumerate(np.eye(rank)):
        means_at(posterior, xi, lean[i])
    means = np.array([mean_now(posterior, arm) for arm in arms])
    lean = lean[:, : BANDIT.arms] - means
    return means, np.array([variance_now(posterior, arm) for arm in arms]), lean.T @ lean


def errors_after(rounds, forgotten=0):
    """Relative errors of the reported moments; `forgotten` pulls are left out of the direct solve."""
    posterior, counts, totals = make_lazy_posterior(BANDIT.model), np.zeros(BANDIT.arms), np.zeros(BANDIT.arms)
    compiled(learn_rounds)(posterior, BANDIT.model, counts, totals, rounds, stream_of(41))
    counts[0] -= forgotten
    x, noise = BANDIT.features, BANDIT.reward_noise
    prior = np.linalg.inv(BANDIT.covariance)
    precision = prior + (x.T * counts) @ x / noise**2
    right_means = x @ np.linalg.solve(precision, prior @ BANDIT.prior_mean + x.T @ totals / noise**2)
    right_covariances = x @ np.linalg.inv(precision) @ x.T
    right_information = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(prior)[1]
    means, variances, covariances = reported(posterior)
    return (
        np.abs(means - right_means).max() / np.abs(right_means).max(),
        np.abs(variances / np.diag(right_covariances) - 1.0).max(),
        np.abs(covariances - right_covariances).max() / np.abs(right_covariances).max(),
        abs(information(posterior) / right_information - 1.0),
    )


@pytest.mark.compiled
def test_a_hundred_thousand_rounds():
    assert max(errors_after(100_000)) < TOLERANCE
    assert min(errors_after(100_000, forgotten=10)) > TOLERANCE


@pytest.mark.parametrize("rounds", [1, 100, 600])
def test_a_few_rounds(rounds):
    assert max(errors_after(rounds)) < TOLERANCE
