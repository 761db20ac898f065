"""After very many rounds, one reward at a time: the posterior and its information are what a direct solve gives."""

import math

import numpy as np
import pytest

from bayesregret import LinearBandit
from bayesregret.models.linear_posterior import forget, learn_one, make_posterior
from bayesregret.rng import U, normal, raw
from draws import compiled, stream_of

rng = np.random.default_rng(5)
BANDIT = LinearBandit(rng.uniform(-0.5, 0.5, (12, 4)), rng.standard_normal(4), prior_width=0.8, reward_noise=0.7)
TOLERANCE = 1e-9


def learn_rounds(posterior, model, totals, rounds, stream):
    """Rewards of arms taken at random, some a thousand times as often as others."""
    forget(posterior, model)
    for _ in range(rounds):
        bits, stream = raw(stream)
        arm = np.int64((bits >> U(8)) % U(model.arms))
        if (bits >> U(40)) % U(1000) > U(0):
            arm = arm % 2
        z, stream = normal(stream)
        reward = 0.1 * arm + z
        totals[arm] += reward
        learn_one(posterior, model, arm, reward)


def errors_after(rounds, forgotten=0):
    """Of means, covariances and information, as shares of their size; `forgotten` pulls are left out of the solve."""
    posterior, totals = make_posterior(BANDIT.model), np.zeros(BANDIT.arms)
    compiled(learn_rounds)(posterior, BANDIT.model, totals, rounds, stream_of(41))
    counts = posterior.counts[: BANDIT.arms].copy()
    counts[0] -= forgotten
    x, noise = BANDIT.features, BANDIT.reward_noise
    prior = np.linalg.inv(BANDIT.covariance)
    precision = prior + (x.T * counts) @ x / noise**2
    means = x @ np.linalg.solve(precision, prior @ BANDIT.prior_mean + x.T @ totals / noise**2)
    covariances = x @ np.linalg.inv(precision) @ x.T
    information = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(prior)[1]
    roots = posterior.roots[:, : BANDIT.arms]
    return (
        np.abs(posterior.mean[: BANDIT.arms] - means).max() / np.abs(means).max(),
        np.abs(roots.T @ roots - covariances).max() / np.abs(covariances).max(),
        abs(posterior.information[0] / information - 1.0),
    )


@pytest.mark.compiled
def test_a_hundred_thousand_rounds():
    assert max(errors_after(100_000)) < TOLERANCE
    assert min(errors_after(100_000, forgotten=10)) > TOLERANCE


@pytest.mark.parametrize("rounds", [1, 100, 600])
def test_a_few_rounds(rounds):
    assert max(errors_after(rounds)) < TOLERANCE
    assert math.isfinite(sum(errors_after(rounds)))
