"""A run as Algorithm 1 has it: every round the whole posterior from the whole history, every index, and the argmax."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from bayesregret import UCB1, BayesUCB, GaussianBandit, LinearBandit
from bayesregret.contracts import draw_reward
from bayesregret.rng import REWARD, U, open_stream, run_word, seed_key
from reference.posteriors import History, posterior, stats

# Indices that differ by a smaller fraction are a tie up to rounding, and either decision is right.
TOO_CLOSE = 1e-9


class Replay(NamedTuple):
    arms: list[int]  # taken, round by round
    pulls: list[int]  # of each arm
    regret: np.ndarray  # cumulative, after each round
    best_pulls: int
    is_close: bool  # whether some decision hung on rounding


@singledispatch
def indices(policy, bandit, history: History, delta: float) -> np.ndarray:
    """(arms,): the index of every arm."""
    raise NotImplementedError(type(policy))


@indices.register
def bayes_ucb(policy: BayesUCB, bandit, history: History, delta: float) -> np.ndarray:
    """Section 3: posterior mean + sqrt(2 v log(1/delta))."""
    belief = posterior(policy.prior or bandit, history)
    return belief.mean + np.sqrt(2.0 * belief.variance * math.log(1.0 / delta))


@indices.register
def ucb1(policy: UCB1, bandit, history: History, delta: float) -> np.ndarray:
    """Section 4.2: arm t in round t up to K; then sample mean + sqrt(2 s^2 log(1/delta) / N)."""
    now = len(history.arms)
    if now < bandit.arms:
        return np.eye(bandit.arms)[now]
    rewards = [history.of(arm) for arm in range(bandit.arms)]
    return np.array(
        [
            sum(r) / len(r) + math.sqrt(2.0 * reward_proxy(bandit, arm) * math.log(1.0 / delta) / len(r))
            for arm, r in enumerate(rewards)
        ]
    )


def reward_proxy(bandit, arm: int) -> float:
    """The variance, or its sub-Gaussian proxy, of an arm's reward around its mean."""
    return bandit.reward_noises[arm] ** 2 if isinstance(bandit, GaussianBandit) else bandit.reward_proxy


def hangs_on_rounding(index, arm, policy, bandit, history) -> bool:
    """Whether another arm comes so close to the one taken that another order of arithmetic might have taken it."""
    others = np.flatnonzero(index[arm] - index <= TOO_CLOSE * np.abs(index).max())
    if isinstance(policy, UCB1):
        return len({(reward_proxy(bandit, other), *history.data(other)) for other in others}) > 1
    belief = policy.prior or bandit
    if isinstance(belief, LinearBandit):
        return len(set(index[others])) > 1  # equal arms have equal bits here
    return len({stats(belief, other, history) for other in others}) > 1


def replay(bandit, policy, *, horizon: int, seed: int, run: int = 0) -> Replay:
    """The run that `simulate` plays with this seed, the slow way."""
    key = seed_key(seed)
    means = bandit.draw_instance(seed=seed, run=run).mean_rewards
    delta = 1.0 / horizon if policy.delta is None else policy.delta
    history = History([], [])
    is_close = False
    with np.errstate(over="ignore"):
        streams = [open_stream(key, run_word(key, run), REWARD + U(arm)) for arm in range(bandit.arms)]
        for _ in range(horizon):
            index = indices(policy, bandit, history, delta)
            arm = int(np.argmax(index))  # the first of equals
            is_close = is_close or hangs_on_rounding(index, arm, policy, bandit, history)
            reward, streams[arm] = draw_reward(bandit.model, arm, means[arm], streams[arm])
            history.arms.append(arm)
            history.rewards.append(float(reward))
    gaps = means.max() - means
    pulls = np.bincount(history.arms, minlength=bandit.arms)
    return Replay(
        history.arms, pulls.tolist(), np.cumsum(gaps[history.arms]), int(pulls[int(np.argmax(means))]), is_close
    )
