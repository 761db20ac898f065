"""Bernoulli bandits by enumeration of all reward sequences, in integers and fractions: only the indices are rounded.

A state is the pulls and wins of each arm. Its probability is a fraction, and so are, for integer pseudo-counts, the
probability that an arm is the best one and the mean of the best arm. Only the decisions use floats, those
of the engine itself, in plain Python: ties are then the engine's ties.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import mpmath

from bayesregret.contracts import arm_index
from bayesregret.contracts.fast import mean_plus_width
from bayesregret.policies.selection import is_mean_plus_width


class Enumerated(NamedTuple):
    regret: list[float]  # cumulative, after each round
    pulls: list[float]
    best_chance: list[float] | None  # None where pseudo-counts are not whole
    ties: float  # expected number of rounds in which the highest index is that of several arms


def enumerate_runs(bandit, policy, horizon: int) -> Enumerated:
    """Everything by the definition: the arm with the highest index is pulled, the lowest-numbered one on ties."""
    alpha = [Fraction(repr(float(a))) for a in bandit.alpha]
    beta = [Fraction(repr(float(b))) for b in bandit.beta]
    is_whole = all(x.denominator == 1 for x in (*alpha, *beta))
    choose = decisions(bandit, policy, horizon)
    best = mean_of_best(tuple(alpha), tuple(beta))
    arms = range(bandit.arms)
    states = {((0, 0),) * bandit.arms: Fraction(1)}
    rewards, probabilities = [], []
    pulls = [Fraction(0)] * bandit.arms
    ties = Fraction(0)
    for _ in range(horizon):
        reward, probability = Fraction(0), Fraction(0)
        after: dict = defaultdict(Fraction)
        for state, share in states.items():
            arm, tied = choose(state)
            k, s = state[arm]
            mean = (alpha[arm] + s) / (alpha[arm] + beta[arm] + k)
            reward += share * mean
            pulls[arm] += share
            ties += share * tied
            if is_whole:
                posterior = tuple((alpha[a] + state[a][1], beta[a] + state[a][0] - state[a][1]) for a in arms)
                probability += share * probability_of_best(arm, tuple((int(a), int(b)) for a, b in posterior))
            for won, likely in ((1, mean), (0, 1 - mean)):
                key = (*state[:arm], (k + 1, s + won), *state[arm + 1 :])
                after[key] += share * likely
        rewards.append(reward)
        probabilities.append(probability)
        states = after
    curve, total = [], 0
    for reward in rewards:
        total += best - (reward if isinstance(best, Fraction) else mpmath.mpf(reward.numerator) / reward.denominator)
        curve.append(float(total))
    return Enumerated(
        curve, [float(p) for p in pulls], [float(c) for c in probabilities] if is_whole else None, float(ties)
    )


def decisions(bandit, policy, horizon: int):
    """(arm, whether several tie), from the engine's own indices."""
    settings, belief = policy.settings(bandit, horizon), policy.belief(bandit)
    formula = mean_plus_width if is_mean_plus_width(settings) else arm_index

    @cache
    def index(arm: int, count: int, wins: int) -> float:
        return formula(settings, belief, arm, count, float(wins))

    def choose(state) -> tuple[int, bool]:
        indices = [index(arm, k, s) for arm, (k, s) in enumerate(state)]
        highest = max(indices)
        return indices.index(highest), indices.count(highest) > 1

    return choose


def distribution(alpha: int, beta: int) -> list[int]:
    """P(theta <= x) = sum_j c_j x^j (1 - x)^(N - j), N = alpha + beta - 1: P(at least alpha wins in N)."""
    n = alpha + beta - 1
    return [math.comb(n, j) if j >= alpha else 0 for j in range(n + 1)]


def product(one: list[int], other: list[int]) -> list[int]:
    out = [0] * (len(one) + len(other) - 1)
    for i, x in enumerate(one):
        if x:
            for j, y in enumerate(other):
                out[i + j] += x * y
    return out


def integral(coefficients: list[int], wins: int = 0, losses: int = 0) -> Fraction:
    """Of sum_j c_j x^(j + wins) (1 - x)^(N - j + losses) over x from 0 to 1."""
    n = len(coefficients) - 1 + wins + losses
    total = sum(c * math.factorial(j + wins) * math.factorial(n - j - wins) for j, c in enumerate(coefficients) if c)
    return Fraction(total, math.factorial(n + 1))


@cache
def probability_of_best(arm: int, posterior: tuple[tuple[int, int], ...]) -> Fraction:
    """P(arm is the best) = int h_arm prod H_other."""
    below = [1]
    for other, (alpha, beta) in enumerate(posterior):
        if other != arm:
            below = product(below, distribution(alpha, beta))
    alpha, beta = posterior[arm]
    scale = Fraction(math.factorial(alpha - 1) * math.factorial(beta - 1), math.factorial(alpha + beta - 1))
    return integral(below, alpha - 1, beta - 1) / scale


@cache
def mean_of_best(alpha: tuple[Fraction, ...], beta: tuple[Fraction, ...]):
    """E max = 1 - int prod H: a fraction, or 30 digits where pseudo-counts are not whole."""
    if all(x.denominator == 1 for x in (*alpha, *beta)):
        below = [1]
        for a, b in zip(alpha, beta, strict=True):
            below = product(below, distribution(int(a), int(b)))
        return 1 - integral(below)
    with mpmath.workdps(30):

        def all_below(arc):
            # theta = sin(arc)^2 smooths the ends, where densities may be infinite.
            x = mpmath.sin(arc) ** 2
            parts = (
                mpmath.betainc(
                    mpmath.mpf(a.numerator) / a.denominator,
                    mpmath.mpf(b.numerator) / b.denominator,
                    0,
                    x,
                    regularized=True,
                )
                for a, b in zip(alpha, beta, strict=True)
            )
            return mpmath.fprod(parts) * mpmath.sin(2 * arc)

        return 1 - mpmath.quad(all_below, mpmath.linspace(0, mpmath.pi / 2, 9))
