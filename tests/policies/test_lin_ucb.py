"""LinUCB as data: its ellipsoid, what it believes, and what it and a linear bandit refuse."""

import math
import re

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import choose_linear, information
from bayesregret.models.linear_lazy_posterior import add_linear_reward, linear_empty_stats, make_lazy_posterior
from problems import BANDITS

LINEAR = BANDITS["linear"]


def test_index_is_the_best_of_the_ellipsoid():
    """The highest mean over the boundary of the ellipse, walked along in small steps."""
    policy = br.LinUCB(regularisation=0.5, bound=2.0, delta=0.1)
    belief, settings = policy.belief(LINEAR), policy.settings(LINEAR, None)
    posterior, stats = make_lazy_posterior(belief), linear_empty_stats(belief, 0, 40)
    arms, rewards = [0, 1, 1, 3], [1.0, -0.5, 0.7, 0.2]
    for arm, reward in zip(arms, rewards, strict=True):
        add_linear_reward(posterior, belief, arm, reward)
    x = LINEAR.features[arms]
    V = 0.5 * np.eye(2) + x.T @ x
    estimate = np.linalg.solve(V, x.T @ np.array(rewards))
    s = LINEAR.reward_noise
    radius = s * math.sqrt(2.0 * math.log(math.sqrt(np.linalg.det(V)) / 0.5 / 0.1)) + math.sqrt(0.5) * 2.0
    angle = np.linspace(0.0, 2.0 * math.pi, 20_001)
    ellipse = estimate[:, None] + radius * np.linalg.solve(np.linalg.cholesky(V).T, [np.cos(angle), np.sin(angle)])
    with np.errstate(all="ignore"):
        arm, _ = choose_linear(settings, posterior, stats, 5, None)
    reached = (LINEAR.features @ ellipse).max(axis=1)
    assert np.allclose(stats.scratch[:5], reached, rtol=1e-7)
    assert arm == reached.argmax()
    assert information(posterior) == pytest.approx(math.log(np.linalg.det(V) / 0.5**2), rel=1e-12)


def test_it_knows_no_prior():
    elsewhere = br.LinearBandit(LINEAR.features, [5, 5], prior_width=0.1, reward_noise=LINEAR.reward_noise)
    ours, theirs = br.LinUCB().belief(LINEAR), br.LinUCB().belief(elsewhere)
    assert np.array_equal(ours.whitened, theirs.whitened)
    assert np.array_equal(ours.offset, theirs.offset)


BAD = [
    ({"regularisation": 0}, "regularisation must be a positive number, got 0"),
    ({"regularisation": "1"}, "regularisation must be a positive number, got '1'"),
    ({"bound": -1}, "bound must be a number, at least 0, got -1"),
    ({"bound": 1e60}, "bound must be at most 1e+50, got 1e+60"),
    ({"delta": 1}, "delta must be a number strictly between 0 and 1, got 1"),
]


@pytest.mark.parametrize(("given", "line"), BAD)
def test_bad_settings(given, line):
    with pytest.raises(ValueError, match=f"^{re.escape(line)}$"):
        br.LinUCB(**given)


def test_delta_needs_a_horizon_or_a_value():
    with pytest.raises(ValueError, match=r"^delta must be given"):
        br.LinUCB().start(LINEAR)


@pytest.mark.parametrize("world", ["gaussian", "bernoulli"])
def test_arms_without_features_are_refused(world):
    line = f"^policy must be one that runs on a {world} bandit, got lin-ucb, which needs features$"
    with pytest.raises(ValueError, match=line):
        br.simulate(BANDITS[world], br.LinUCB(), horizon=5, runs=1, seed=0)
    with pytest.raises(ValueError, match=line):
        br.LinUCB(delta=0.1).start(BANDITS[world])


@pytest.mark.parametrize("policy", [br.KLUCB(), br.QuantileUCB()], ids=repr)
def test_policies_that_cannot_use_a_linear_belief_are_refused(policy):
    line = f"^policy must be one that runs on a linear bandit, got {policy.name}, which has neither"
    with pytest.raises(ValueError, match=line):
        br.simulate(LINEAR, policy, horizon=5, runs=1, seed=0)
    with pytest.raises(ValueError, match=line):
        policy.start(LINEAR, horizon=5)


@pytest.mark.parametrize("policy", [br.Thompson(), br.LinUCB(), br.EpsilonGreedy()], ids=repr)
def test_one_arm(policy):
    bandit = br.LinearBandit([[1.0, 2.0]], [0, 0], prior_width=1, reward_noise=1)
    assert br.simulate(bandit, policy, horizon=20, runs=3, seed=0)[policy.name].mean == 0.0
