"""Exact posterior probabilities that each arm is best, and a chi-square test of how often each arm is chosen."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

import bayesregret as br


def posteriors(bandit, data):
    """SciPy's distribution of every arm's mean reward, given (count, total) of each arm."""
    if isinstance(bandit, br.BernoulliBandit):
        prior = zip(bandit.alpha, bandit.beta, strict=True)
        return [stats.beta(a + wins, b + n - wins) for (a, b), (n, wins) in zip(prior, data, strict=True)]
    found = []
    arms = zip(bandit.prior_mean, bandit.prior_widths, bandit.reward_noises, data, strict=True)
    for mean, width, noise, (count, total) in arms:
        variance = 1.0 / (width**-2 + count / noise**2)
        found.append(stats.norm(variance * (mean / width**2 + total / noise**2), math.sqrt(variance)))
    return found


def probabilities_of_best(beliefs):
    """P(arm is best) = E prod of the others' distribution functions, at equally spaced quantiles of the arm's own."""
    orders = (np.arange(20_000) + 0.5) / 20_000
    return np.array(
        [np.mean(np.prod([b.cdf(own.ppf(orders)) for b in beliefs if b is not own], axis=0)) for own in beliefs]
    )


def pvalue(counts, probabilities):
    """Chi-square test; arms expected fewer than five times are merged with the next rarest."""
    expected = counts.sum() * probabilities / probabilities.sum()
    order = np.argsort(expected)
    first = np.searchsorted(np.cumsum(expected[order]), 5.0)
    starts = [0, *range(first + 1, len(order))]
    return stats.chisquare(np.add.reduceat(counts[order], starts), np.add.reduceat(expected[order], starts)).pvalue
