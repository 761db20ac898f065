"""Experiments for tests: their logs are those of an agent, or made up."""

import numpy as np

import bayesregret as br
from bayesregret.status import Progress

BANDITS = {
    "bernoulli": br.BernoulliBandit([2, 3], [8, 7]),
    "gaussian": br.GaussianBandit([0.5, 0], 1, 2),
    "arms that differ": br.GaussianBandit([0.5, 0], [1, 2], [2, 1]),
    "poisson": br.PoissonBandit([4, 3], [2, 2]),
    "exponential": br.ExponentialBandit([4, 3], [3, 2]),
    "normal-gamma": br.NormalGammaBandit([0.5, 0], [1, 2], [3, 2], [2, 1]),
    "linear": br.LinearBandit([[1, 0.5], [0.2, 1]], [0, 0.5], prior_width=1, reward_noise=2),
    "mixture": br.MixtureBandit([0.3, 0.7], [br.BernoulliBandit([2, 2], [8, 8]), br.BernoulliBandit([5, 6], [5, 6])]),
}


def some_rewards(bandit, many, seed=0):
    """Arms and rewards that the bandit can give."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, bandit.arms, many)
    kind = bandit.representative.kind
    if kind == "bernoulli":
        return arms, rng.integers(0, 2, many).astype(float)
    if kind == "poisson":
        return arms, rng.poisson(2.0, many).astype(float)
    return arms, rng.exponential(size=many) if kind == "exponential" else rng.normal(0.5, 2.0, many)


def progress(bandit, policy, many=30, horizon=50, seed=0, **given):
    """An experiment with `many` rewards of random arms."""
    arms, rewards = some_rewards(bandit, many, seed)
    at = Progress(
        bandit,
        policy.start(bandit, horizon=horizon, seed=seed),
        horizon,
        np.bincount(arms, minlength=bandit.arms),
        arms,
        rewards,
        **given,
    )
    after_log(at.agent, at)
    return at


def after_log(agent, at):
    """The agent, after the decisions and rewards of an experiment."""
    for _ in range(at.done):
        agent.forget(agent.select())
    agent.update_many(at.reward_arms.tolist(), at.rewards.tolist())
    return agent
