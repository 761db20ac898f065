"""Runs of policies that count pending pulls: every index of every arm in every round, from the whole history.

Means come from the rewards that have arrived, widths from all pulls.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import NamedTuple

import numpy as np
import scipy.stats

from agent.test_agent import World
from bayesregret import (
    MOSS,
    UCB1,
    BayesUCB,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    NormalGammaBandit,
    PoissonBandit,
)
from bayesregret.contracts import draw_means
from bayesregret.rng import INSTANCE, open_stream, run_word, seed_key
from reference.posteriors import History, posterior
from reference.replay import TOO_CLOSE, reward_proxy


class Rounds(NamedTuple):
    arms: list[int]  # taken, round by round
    is_close: bool  # whether some decision hung on rounding


@singledispatch
def indices(policy, bandit, known: History, pulled: list[int], horizon: int) -> np.ndarray:
    """(arms,): the index of every arm, given the rewards that are known and the arms pulled so far."""
    raise NotImplementedError(type(policy))


@indices.register
def bayes_ucb(policy: BayesUCB, bandit, known, pulled, horizon):
    belief, delta = policy.prior or bandit, policy.delta or 1.0 / horizon
    if not isinstance(belief, GaussianBandit | BernoulliBandit):
        found = [quantile(belief, arm, known, pulled.count(arm), delta) for arm in range(bandit.arms)]
        return np.array(found)
    variance = posterior(belief, History(pulled, [0.0] * len(pulled))).variance  # does not depend on rewards
    return posterior(belief, known).mean + np.sqrt(2.0 * variance * math.log(1.0 / delta))


def quantile(belief, arm, known, pulls, delta) -> float:
    """Quantile of the arm's mean reward, whose distance to the mean shrinks with the square root of all pulls."""
    count, total = known.data(arm)
    if isinstance(belief, PoissonBandit):
        mean = scipy.stats.gamma(belief.shape[arm] + total, scale=1.0 / (belief.rate[arm] + count))
        before = belief.rate[arm]
    elif isinstance(belief, ExponentialBandit):
        mean = scipy.stats.invgamma(belief.shape[arm] + count, scale=belief.rate[arm] + total)
        before = belief.shape[arm] - 1.0
    else:
        assert isinstance(belief, NormalGammaBandit)
        mean, before = student(belief, arm, known.of(arm)), belief.prior_pulls[arm]
    upper = mean.ppf(1.0 - min(0.5, delta))
    shrink = math.sqrt((before + count) / (before + pulls)) if upper > mean.mean() else 1.0
    return mean.mean() + (upper - mean.mean()) * shrink


def student(belief, arm, rewards):
    """Posterior of a normal mean of unknown variance, by completing squares."""
    kappa, count = belief.prior_pulls[arm], len(rewards)
    sample = float(np.mean(rewards)) if rewards else 0.0
    centre = (kappa * belief.prior_mean[arm] + count * sample) / (kappa + count)
    shape = belief.shape[arm] + count / 2.0
    scale = belief.scale[arm] + 0.5 * sum((x - sample) ** 2 for x in rewards)
    scale += 0.5 * kappa * count / (kappa + count) * (sample - belief.prior_mean[arm]) ** 2
    return scipy.stats.t(2.0 * shape, loc=centre, scale=math.sqrt(scale / (shape * (kappa + count))))


def sample_mean(known: History, arm: int) -> float:
    """Before the arm's first reward the mean of all rewards."""
    rewards = known.of(arm) or known.rewards
    return sum(rewards) / len(rewards) if rewards else 0.0


@indices.register
def ucb1(policy: UCB1, bandit, known, pulled, horizon):
    found = []
    for arm in range(bandit.arms):
        pulls = pulled.count(arm)
        squared = 2.0 * reward_proxy(bandit, arm) * math.log(1.0 / (policy.delta or 1.0 / horizon))
        found.append(sample_mean(known, arm) + math.sqrt(squared / pulls) if pulls else math.inf)
    return np.array(found)


@indices.register
def moss(policy: MOSS, bandit, known, pulled, horizon):
    found = []
    for arm in range(bandit.arms):
        pulls = pulled.count(arm)
        log_ratio = max(0.0, math.log(horizon / (bandit.arms * pulls))) if pulls else math.inf
        width = math.sqrt(4.0 * reward_proxy(bandit, arm) * log_ratio / pulls) if pulls else math.inf
        found.append(sample_mean(known, arm) + width)
    return np.array(found)


def hangs_on_rounding(index, arm, known, pulled) -> bool:
    """Whether another arm with other data comes so close that rounding decides."""
    if index[arm] == math.inf:
        return False
    others = np.flatnonzero(index[arm] - index <= TOO_CLOSE * max(1.0, np.abs(index[index < math.inf]).max()))
    rewards = {other: tuple(known.of(other) or known.rewards) for other in others}
    return len({(rewards[other], pulled.count(other), float(index[other])) for other in others}) > 1


def draw_variances(bandit, seed: int) -> None:
    """The instance of a normal-gamma bandit has variances too, which its model keeps for the rewards."""
    if isinstance(bandit, NormalGammaBandit):
        key = seed_key(seed)
        with np.errstate(over="ignore"):
            draw_means(bandit.model, np.empty(bandit.arms), open_stream(key, run_word(key, 0), INSTANCE))


def play(bandit, policy, *, horizon: int, seed: int, delay: int = 0, batch: int = 1) -> Rounds:
    """The first run that `simulate` plays with this seed, the slow way."""
    world, arms, rewards, is_close = World(bandit, seed), [], [], False
    draw_variances(bandit, seed)
    for round_ in range(1, horizon + 1):
        seen = max(0, batch * ((round_ - 1) // batch) - delay)
        known = History(arms[:seen], rewards[:seen])
        index = indices(policy, bandit, known, arms, horizon)
        arm = int(np.argmax(index))
        is_close = is_close or hangs_on_rounding(index, arm, known, arms)
        arms.append(arm)
        rewards.append(float(world.pull(arm)))
    return Rounds(arms, is_close)
