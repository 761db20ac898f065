"""Policies on a linear bandit by the textbook: every round the posterior from all known rewards, by matrix inverses.

A draw of the parameter needs a root of its covariance, and which root it is matters for what is drawn: here each reward
multiplies it by the symmetric root of what the reward leaves of the identity. Policies that count pending pulls use the
covariance after all pulls, whose rewards are known or not.
"""

from __future__ import annotations

import itertools
import math
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from bayesregret import BayesUCB, EpsilonGreedy, Greedy, InformationDirected, LinUCB, Thompson
from bayesregret.contracts import draw_reward
from bayesregret.policies.explore_commit import ExploreCommit
from bayesregret.rng import POLICY, REWARD, U, normal, open_stream, run_word, seed_key, uniform
from reference.posteriors import History, covariance_form

# Values that differ by a smaller fraction are a tie up to rounding, and either decision is right.
TOO_CLOSE = 1e-9


class Belief(NamedTuple):
    features: np.ndarray
    mean: np.ndarray  # of the parameter
    covariance: np.ndarray
    root: np.ndarray
    counted: list[
        int
    ]  # pulled arms behind the covariance: those with known rewards, and the pending ones if they count

    @property
    def means(self) -> np.ndarray:
        return self.features @ self.mean

    @property
    def deviations(self) -> np.ndarray:
        return np.sqrt(np.einsum("ai,ij,aj->a", self.features, self.covariance, self.features))


class Decision(NamedTuple):
    values: np.ndarray  # the first highest is chosen, unless a random draw has decided
    arm: int
    stream: Any


def belief_after(features, prior_mean, prior_root, noise, history: History) -> Belief:
    taken = features[history.arms]
    mean, covariance = covariance_form(prior_mean, prior_root @ prior_root.T, taken, history.rewards, noise)
    root = prior_root
    for x in taken:
        f = root.T @ x
        left = np.eye(len(f)) - np.outer(f, f) / (noise**2 + f @ f)
        sizes, directions = np.linalg.eigh(left)
        root = root @ (directions * np.sqrt(sizes)) @ directions.T
    assert np.allclose(root @ root.T, covariance, rtol=0.0, atol=1e-10 * np.abs(prior_root).max() ** 2)
    return Belief(features, mean, covariance, root, history.arms)


def with_pending(belief: Belief, prior_root, noise, pulled: list[int]) -> Belief:
    """The covariance that the rewards of all pulls will leave, with the mean of those known."""
    nothing = [0.0] * len(pulled)
    _, covariance = covariance_form(
        np.zeros(len(belief.mean)), prior_root @ prior_root.T, belief.features[pulled], nothing, noise
    )
    return belief._replace(covariance=covariance, counted=pulled)


def prior_of(policy, bandit):
    """Mean and root of the parameter's covariance, as the policy sees it at first."""
    if isinstance(policy, LinUCB):
        size = bandit.features.shape[1]
        return np.zeros(size), bandit.reward_noise / math.sqrt(policy.regularisation) * np.eye(size)
    believed = policy.prior or bandit
    return believed.prior_mean, believed.covariance_root


def highest(values, stream) -> Decision:
    return Decision(values, int(np.argmax(values)), stream)


def normals(count, stream):
    drawn = []
    for _ in range(count):
        z, stream = normal(stream)
        drawn.append(z)
    return np.array(drawn), stream


@singledispatch
def decide(policy, bandit, belief: Belief, history: History, round_: int, delta: float, stream) -> Decision:
    raise NotImplementedError(type(policy))


@decide.register
def thompson(policy: Thompson, bandit, belief, history, round_, delta, stream):
    xi, stream = normals(belief.root.shape[1], stream)
    return highest(belief.features @ (belief.mean + belief.root @ xi), stream)


@decide.register
def lin_ucb(policy: LinUCB, bandit, belief, history, round_, delta, stream):
    """Abbasi-Yadkori, Pal and Szepesvari (2011), Theorem 2, with ridge regression by its normal equations."""
    x, s, scale = belief.features, bandit.reward_noise, policy.regularisation
    taken, counted = x[history.arms], x[belief.counted]
    ridge = scale * np.eye(x.shape[1])
    estimate = np.linalg.solve(ridge + taken.T @ taken, taken.T @ np.array(history.rewards))
    V = ridge + counted.T @ counted
    log_ratio = np.linalg.slogdet(V)[1] - x.shape[1] * math.log(scale)
    radius = s * math.sqrt(2.0 * (0.5 * log_ratio - math.log(delta))) + math.sqrt(scale) * policy.bound
    return highest(x @ estimate + radius * np.sqrt(np.einsum("ai,ij,aj->a", x, np.linalg.inv(V), x)), stream)


@decide.register
def bayes_ucb(policy: BayesUCB, bandit, belief, history, round_, delta, stream):
    return highest(belief.means + belief.deviations * math.sqrt(2.0 * math.log(1.0 / delta)), stream)


@decide.register
def greedy(policy: Greedy, bandit, belief, history, round_, delta, stream):
    return highest(belief.means, stream)


@decide.register
def epsilon_greedy(policy: EpsilonGreedy, bandit, belief, history, round_, delta, stream):
    u, stream = uniform(stream)
    if u < policy.epsilon:
        return Decision(np.zeros(1), int(u / policy.epsilon * bandit.arms), stream)
    return highest(belief.means, stream)


@decide.register
def explore_commit(policy: ExploreCommit, bandit, belief, history, round_, delta, stream):
    """`replay` sees to it that rewards after the exploration are not heard of."""
    if round_ <= policy.explore:
        return Decision(np.zeros(1), (round_ - 1) % bandit.arms, stream)
    return highest(belief.means, stream)


@decide.register
def variance_directed(policy: InformationDirected, bandit, belief, history, round_, delta, stream):
    rank = belief.root.shape[1]
    xi, stream = normals(policy.draws * rank, stream)
    means = (belief.mean + xi.reshape(policy.draws, rank) @ belief.root.T) @ belief.features.T
    best = means.argmax(axis=1)
    gaps = means.max(axis=1).mean() - means.mean(axis=0)
    gains = np.zeros(bandit.arms)
    for arm in np.unique(best):
        gains += np.mean(best == arm) * (means[best == arm].mean(axis=0) - means.mean(axis=0)) ** 2
    if len(np.unique(best)) == 1:
        _, stream = uniform(stream)
        return Decision(np.zeros(1), int(best[0]), stream)
    _, weight, one, other = min(
        (*least_ratio(gaps[[one, other]], gains[[one, other]]), one, other)
        for one, other in itertools.combinations(range(bandit.arms), 2)
    )
    u, stream = uniform(stream)
    return Decision(np.zeros(1), one if u < weight else other, stream)


def least_ratio(gaps, gains):
    """The least (expected gap)^2 / (expected gain) over mixtures of two arms, and the first one's weight: a convex
    function is searched by thirds."""

    def ratio(weight):
        gap, gain = np.array([weight, 1.0 - weight]) @ gaps, np.array([weight, 1.0 - weight]) @ gains
        return gap**2 / gain if gain > 0.0 else math.inf

    low, high = 0.0, 1.0
    for _ in range(100):
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        if ratio(left) < ratio(right):
            high = right
        else:
            low = left
    return min((ratio(weight), weight) for weight in (0.0, low, 1.0))


class LinearReplay(NamedTuple):
    arms: list[int]
    regret: np.ndarray  # cumulative, after each round
    is_close: bool


def replay_linear(bandit, policy, *, horizon, seed, run=0, delay=0, batch=1) -> LinearReplay:
    """The run that `simulate` plays with this seed, the slow way."""
    key = seed_key(seed)
    means = bandit.draw_instance(seed=seed, run=run).mean_rewards
    delta = getattr(policy, "delta", None) or 1.0 / horizon
    history, is_close = History([], []), False
    with np.errstate(over="ignore"):
        start = run_word(key, run)
        streams = [open_stream(key, start, REWARD + U(arm)) for arm in range(bandit.arms)]
        choices = open_stream(key, start, POLICY)
        for round_ in range(1, horizon + 1):
            due = max(0, batch * ((round_ - 1) // batch) - delay)
            if isinstance(policy, ExploreCommit):
                due = min(due, max(0, batch * (policy.explore // batch) - delay))
            heard = History(history.arms[:due], history.rewards[:due])
            prior_mean, prior_root = prior_of(policy, bandit)
            belief = belief_after(bandit.features, prior_mean, prior_root, bandit.reward_noise, heard)
            if getattr(policy, "count_pending", False):
                belief = with_pending(belief, prior_root, bandit.reward_noise, list(history.arms))
            decision = decide(policy, bandit, belief, heard, round_, delta, choices)
            choices = decision.stream
            highest_two = np.sort(decision.values)[-2:]
            is_close |= len(highest_two) > 1 and np.ptp(highest_two) < TOO_CLOSE * np.abs(decision.values).max()
            reward, streams[decision.arm] = draw_reward(
                bandit.model, decision.arm, means[decision.arm], streams[decision.arm]
            )
            history.arms.append(decision.arm)
            history.rewards.append(float(reward))
    return LinearReplay(history.arms, np.cumsum((means.max() - means)[history.arms]), bool(is_close))
