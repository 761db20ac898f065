"""The largest regret of good pulls in a linear bandit, under limits on their number and their information."""

from __future__ import annotations

import numpy as np

from bayesregret.bounds.certified.linear_learning import InformationLimits
from bayesregret.bounds.gaps.lines import Indices
from bayesregret.checks import Array

# Ratios whose squares neither overflow nor underflow.
SMALLEST_RATIO, LARGEST_RATIO = 1e-150, 1e150
# The number of good pulls and their information bound each other: each is tightened by the other this many times.
ROUNDS_OF_TIGHTENING = 3


def prior_pulls(deviation: Array, noise: float) -> Array:
    """(arms,): s^2 / |a|_0^2, the number of pulls that the prior is worth; huge for an arm whose mean is certain."""
    with np.errstate(divide="ignore"):
        ratio = np.where(deviation > 0.0, noise / deviation, np.inf)
    return np.asarray(np.clip(ratio, 0.0, LARGEST_RATIO) ** 2)


def largest_regret(gaps: Array, pulls: Array, price: Array, limits: InformationLimits, horizon: int) -> Array:
    """Return (instances,): the largest sum of pulled gaps; all three tables are (instances, arms).

    An arm has at most `pulls` pulls, each of which brings at least `price` of information; all pulls together are at
    most `horizon`, and have at most the information of that many pulls. Fractional pulls are allowed.
    """
    regret, least = pulls * gaps, np.full(len(gaps), float(horizon))
    by_gap = np.argsort(-gaps, axis=1)
    by_number = _fill_budget(*_in_order(by_gap, pulls, regret), least)
    by_price = np.argsort(price, axis=1)
    information = _information(*_in_order(by_price, price, pulls), limits, horizon)
    cheapest = np.argsort(np.where(gaps > 0.0, price / np.where(gaps > 0.0, gaps, 1.0), np.inf), axis=1)
    return np.minimum(by_number, _fill_budget(*_in_order(cheapest, pulls * price, regret), information))


def _in_order(order: Indices, first: Array, second: Array) -> tuple[Array, Array]:
    return np.take_along_axis(first, order, axis=1), np.take_along_axis(second, order, axis=1)


def _information(price: Array, pulls: Array, limits: InformationLimits, horizon: int) -> Array:
    """Upper bound on the information of the good pulls; arms are in order of rising prices."""
    count = np.minimum(pulls.sum(axis=1), float(horizon))
    for _ in range(ROUNDS_OF_TIGHTENING):
        count = np.minimum(count, _fill_budget(pulls * price, pulls, limits.information(count)))
    return limits.information(count)


def _fill_budget(cost: Array, gain: Array, budget: Array) -> Array:
    """Return (instances,): the gain of filling the budget from left to right, with a fraction of the last item."""
    left = budget[:, None] - (np.cumsum(cost, axis=1) - cost)
    fraction = np.clip(left / np.where(cost > 0.0, cost, 1.0), 0.0, 1.0)
    return np.asarray(np.sum(np.where(cost > 0.0, fraction, 1.0) * gain, axis=1))
