"""Sums over first exits of the posterior probability that a Bernoulli arm's mean is below a value."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaincc, gammaln

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.exact.bernoulli.exits import BernoulliExits
from bayesregret.exact.bernoulli.lattice import U

# Terms of a probability below this are negligible.
NO_TERM = 1e-18
LOG_NO_TERM = math.log(NO_TERM)


def sums_below(
    alpha: float, beta: float, horizon: int, thresholds: int, exits: BernoulliExits, x: Array, rest: Array
) -> tuple[Array, Array, Array]:
    """For every value x, with `rest` = 1 - x: the prior probability of a mean below x; then, (values, thresholds), the
    probability of an exit with such a mean, and the expected number of rounds left after that exit.
    """
    numbers = np.arange(horizon + 1.0)
    posteriors = Posteriors(
        alpha,
        beta,
        1.0 / (beta + numbers),
        gammaln(alpha + numbers),
        gammaln(beta + numbers),
        gammaln(alpha + beta + numbers),
        np.zeros(horizon),
        np.zeros(horizon),
    )
    below = np.where(x < 0.5, betainc(alpha, beta, x), betaincc(beta, alpha, rest))
    by_pulls = np.argsort(exits.pulls, kind="stable")
    begin = np.searchsorted(exits.pulls[by_pulls], np.arange(horizon + 1))
    in_order = exits.threshold[by_pulls], exits.successes[by_pulls], exits.mass[by_pulls]
    passed, left = np.zeros((len(x), thresholds)), np.zeros((len(x), thresholds))
    compile_kernel(add_exits)(posteriors, np.log(x), np.log(rest), below, begin, *in_order, passed, left)
    return below, passed, left


class Posteriors(NamedTuple):
    """Beta(a, b) posteriors of an arm, with a = alpha + successes and b = beta + failures."""

    alpha: float
    beta: float
    inverse: Array  # 1 / (beta + failures)
    log_a: Array  # log Gamma(alpha + successes)
    log_b: Array
    log_total: Array  # log Gamma(alpha + beta + pulls)
    probability: Array  # I_v(a, b), by successes: P(mean < v)
    term: Array  # v^a (1 - v)^b / B(a, b)


def add_exits(posteriors, log_x, log_rest, below, begin, threshold, successes, mass, passed, left):
    horizon = begin.shape[0] - 1
    for i in range(log_x.shape[0]):
        posteriors.probability[:] = 0.0
        window = U(0), U(0)
        all_won = below[i]
        for k in range(horizon):
            window, all_won = one_more_pull(posteriors, log_x[i], log_rest[i], k, window, all_won)
            for at in range(begin[k], begin[k + 1]):
                mass_below = mass[at] * posteriors.probability[successes[at]]
                passed[i, threshold[at]] += mass_below
                left[i, threshold[at]] += float(horizon - k) * mass_below


@jitable
def one_more_pull(posteriors, log_x, log_rest, k, window, all_won):
    """Update P(mean < v) from k - 1 to k pulls, by the recurrence in b; `all_won` is its value for k successes.

    For numbers of successes below the window the probability no longer changes; from its end on it is still 0.
    """
    probability, term = posteriors.probability, posteriors.term
    low, end = window
    growth = math.exp(log_rest) * (posteriors.alpha + posteriors.beta + float(k) - 1.0)
    last = U(k)
    for s in range(low, end):
        ratio = posteriors.inverse[last - U(1) - s]
        probability[s] += term[s] * ratio
        term[s] *= growth * ratio
    while low < end and term[low] < NO_TERM and probability[low] > 0.5:
        low += U(1)
    while end <= last:
        new = log_term(posteriors, log_x, log_rest, end, last - end)
        if new < LOG_NO_TERM and (end < last or all_won < 0.5):
            break
        if end == last:
            probability[end] = all_won
        term[end] = math.exp(new)
        end += U(1)
    won = log_term(posteriors, log_x, log_rest, last, U(0))
    all_won = max(0.0, all_won - math.exp(won) / (posteriors.alpha + float(k)))
    return (low, end), all_won


@jitable
def log_term(posteriors, log_x, log_rest, won, lost):
    a, b = posteriors.alpha + float(won), posteriors.beta + float(lost)
    return a * log_x + b * log_rest + posteriors.log_total[won + lost] - posteriors.log_a[won] - posteriors.log_b[lost]
