"""Runs of policies as in their papers: every index of every arm in every round."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincc, rel_entr
from scipy.stats import norm

from bayesregret import KLUCB, MOSS, EpsilonGreedy, GaussianBandit, Greedy, QuantileUCB
from bayesregret.contracts import draw_reward
from bayesregret.rng import POLICY, REWARD, U, open_stream, run_word, seed_key, uniform
from reference.posteriors import History, posterior, stats
from reference.replay import TOO_CLOSE


class Rounds(NamedTuple):
    arms: list[int]  # taken, round by round
    is_close: bool  # whether some decision hung on rounding


@singledispatch
def indices(policy, bandit, history: History, round_: int, horizon: int) -> np.ndarray:
    """(arms,): the index of every arm in a round, given the rewards that are known."""
    raise NotImplementedError(type(policy))


@indices.register(Greedy)
@indices.register(EpsilonGreedy)
def mean_index(policy, bandit, history, round_, horizon):
    return posterior(policy.prior or bandit, history).mean


@indices.register
def quantile_index(policy: QuantileUCB, bandit, history, round_, horizon):
    """The posterior quantile of order 1 - 1/(t (log n)^c), the median at least."""
    belief = policy.prior or bandit
    tail = min(0.5, 1.0 / (round_ * max(1.0, math.log(horizon)) ** policy.c))
    if isinstance(belief, GaussianBandit):
        mean, variance = posterior(belief, history)
        return mean + np.sqrt(variance) * norm.isf(tail)
    found = []
    for arm in range(belief.arms):
        count, wins = history.data(arm)
        a, b = belief.alpha[arm] + wins, belief.beta[arm] + count - wins
        found.append(brentq(lambda q, a=a, b=b: betaincc(a, b, q) - tail, 0.0, 1.0, xtol=1e-14, rtol=1e-14))
    return np.array(found)


@indices.register
def divergence_index(policy: KLUCB, bandit, history, round_, horizon):
    """Each arm once; then the highest q with N kl(sample mean, q) <= log t + c log log t."""
    exploration = math.log(round_)
    exploration += policy.c * math.log(max(1.0, exploration))
    return np.array([highest_mean(bandit, *history.data(arm), exploration) for arm in range(bandit.arms)])


def highest_mean(bandit, count: int, total: float, exploration: float) -> float:
    if count == 0:
        return math.inf
    mean = total / count
    if isinstance(bandit, GaussianBandit):
        return mean + bandit.reward_noise * math.sqrt(2.0 * exploration / count)

    def off(q):
        return float(rel_entr(mean, q) + rel_entr(1.0 - mean, 1.0 - q)) - exploration / count

    if mean == 1.0 or off(1.0 - 1e-16) <= 0.0:
        return 1.0
    return mean if exploration == 0.0 else brentq(off, mean, 1.0 - 1e-16, xtol=1e-15, rtol=1e-14)


@indices.register
def moss_index(policy: MOSS, bandit, history, round_, horizon):
    """Each arm once; then sample mean + sqrt(4 s^2 log+(n / (K N)) / N)."""
    found = []
    for arm in range(bandit.arms):
        count, total = history.data(arm)
        width = 4.0 * bandit.reward_proxy * max(0.0, math.log(horizon / (bandit.arms * count))) if count else math.inf
        found.append(total / count + math.sqrt(width / count) if count else math.inf)
    return np.array(found)


def hangs_on_rounding(index, arm, policy, bandit, history) -> bool:
    """Whether another arm with other data comes so close that rounding decides."""
    if index[arm] == math.inf:
        return False
    others = np.flatnonzero(index[arm] - index <= TOO_CLOSE * np.abs(index).max())
    if not hasattr(policy, "prior"):
        return len({history.data(other) for other in others}) > 1
    return len({stats(policy.prior or bandit, other, history) for other in others}) > 1


def play(bandit, policy, *, horizon: int, seed: int, delay: int = 0, batch: int = 1) -> Rounds:
    """The first run that `simulate` plays with this seed, the slow way."""
    key = seed_key(seed)
    means = bandit.draw_instance(seed=seed).mean_rewards
    arms, rewards, is_close = [], [], False
    with np.errstate(over="ignore"):
        start = run_word(key, 0)
        streams = [open_stream(key, start, REWARD + U(arm)) for arm in range(bandit.arms)]
        policy_stream = open_stream(key, start, POLICY)
        for round_ in range(1, horizon + 1):
            seen = max(0, batch * ((round_ - 1) // batch) - delay)
            history = History(arms[:seen], rewards[:seen])
            index = indices(policy, bandit, history, round_, horizon)
            arm = int(np.argmax(index))
            if isinstance(policy, EpsilonGreedy):
                u, policy_stream = uniform(policy_stream)
                if u < policy.epsilon:
                    arm, index = int(bandit.arms * u / policy.epsilon), np.eye(bandit.arms)
            is_close = is_close or (index.ndim == 1 and hangs_on_rounding(index, arm, policy, bandit, history))
            reward, streams[arm] = draw_reward(bandit.model, arm, means[arm], streams[arm])
            arms.append(arm)
            rewards.append(float(reward))
    return Rounds(arms, is_close)
