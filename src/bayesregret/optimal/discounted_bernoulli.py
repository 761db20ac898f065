"""The discounted stopping problem of a Bernoulli arm: give up for good at the best time, with discount 1 - 1/n.

Let c be the margin of a charge, divided by n, after some pulls and successes: the expected discounted surplus of the
mean over the charge, if the arm is pulled once more and then until the best time. After many pulls the mean reward is
shown, so the margin is never too small. The charge decides where it pays to go on, so every charge has a recursion of
its own, over a band of successes: below the band the arm has been given up, above it it hardly ever will be.
"""

from __future__ import annotations

import functools
import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, contract, jitable

# The mean reward is shown after this many horizons (discount e^-14) or, where that is slow, after fewer (e^-9), or
# after the largest number of pulls.
LATE, EARLY, LATE_BY, MOST_PULLS = 14, 9, 400, 90_000
# Minus the logarithm of the probability, far above the charge, of ever giving up.
SURE = 26.0


def pulls_shown(horizon: float) -> int:
    """Number of pulls after which the mean reward is shown."""
    return math.ceil(min(MOST_PULLS, horizon * (LATE if horizon <= LATE_BY else EARLY)))


def bernoulli_margins(alpha: float, beta: float, horizon: float, charges: Array) -> Array:
    """Margins before the first pull, divided by the horizon, for each charge in (0, 1)."""
    return _for_charges(alpha, beta, horizon, pulls_shown(horizon), charges, 0)[0]


def bernoulli_boundaries(alpha: float, beta: float, horizon: float, charges: Array, pulls: int) -> Array:
    """Successes, as real numbers, with which an arm is worth each charge after 0, 1, ..., pulls - 1 pulls.

    With fewer it is given up. Between lattice points margins are interpolated; below 0 and above the number of pulls
    they are extrapolated. The result has a row for each charge.
    """
    return _for_charges(alpha, beta, horizon, max(pulls_shown(horizon), pulls), charges, pulls)[1]


def _for_charges(
    alpha: float, beta: float, horizon: float, shown: int, charges: Array, pulls: int
) -> tuple[Array, Array]:
    """Margins and boundaries, by as many threads as there are processors."""
    charges = np.ascontiguousarray(charges, dtype=np.float64)
    run = compile_kernel(_margins)
    margins, boundaries = np.empty(len(charges)), np.empty((len(charges), pulls))
    workers = max(1, min(os.cpu_count() or 1, len(charges)))

    def some(first: int) -> None:
        run(alpha, beta, horizon, shown, first, workers, charges, margins, np.empty(shown + 3), boundaries)

    if workers == 1:
        some(0)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(some, range(workers)))
    return margins, boundaries


@functools.lru_cache(maxsize=256)
def bernoulli_discounted_index(alpha: float, beta: float, horizon: float) -> float:
    """Charge at which the margin before the first pull is 0."""
    # Margins are convex and fall with the charge: the secant through two points on the left stays on the left.
    low, charge = 0.0, alpha / (alpha + beta)
    at_low, margin = alpha / (alpha + beta), float(bernoulli_margins(alpha, beta, horizon, np.array([charge]))[0])
    for _ in range(60):
        step = margin * (charge - low) / (at_low - margin) if at_low > margin else 0.0
        if not step > 1e-13 * charge or charge + step >= 1.0:
            break
        low, at_low, charge = charge, margin, charge + step
        margin = float(bernoulli_margins(alpha, beta, horizon, np.array([charge]))[0])
        if margin <= 0.0:
            break
    return charge


def _margins(
    alpha: float,
    beta: float,
    horizon: int,
    shown: int,
    first: int,
    step: int,
    charges: Array,
    margins: Array,
    value: Array,
    boundaries: Any,
) -> None:
    for i in range(first, charges.shape[0], step):
        margins[i] = margin_before_pulls(alpha, beta, horizon, shown, charges[i], value, boundaries[i])


@contract()
def keep_boundary(record, pulls, value, start, lowest, top, one_pull):
    """Keep where the margins cross 0 after so many pulls. `value` has them from `start` to `top` successes, the first
    positive one, if any, is at `lowest`; with one success less than `start` the margin is `one_pull`."""


@keep_boundary.otherwise
def keep_crossing(record, pulls, value, start, lowest, top, one_pull):
    if pulls < record.shape[0]:
        record[pulls] = _crossing(value, start, lowest, top)


@jitable
def margin_before_pulls(alpha, beta, horizon, shown, charge, value, record):
    """Margin before the first pull. `value` holds max(0, margin) by successes, from `lowest` to `highest` + 1."""
    discount, pay = 1.0 - 1.0 / horizon, 1.0 / horizon
    total = alpha + beta + shown
    highest = _highest(alpha, total, charge, shown)
    lowest = max(0, min(int(2.0 * (charge * total - alpha) - highest), highest))
    for s in range(lowest, highest + 2):
        mean = (alpha + s) / total
        # The largest expected surplus of a random variable with this mean and variance (Scarf 1958).
        surplus = mean - charge
        spread = max(0.0, mean * (1.0 - mean)) / (total + 1.0)
        value[s] = 0.5 * (surplus + math.sqrt(surplus * surplus + spread))
    for pulls in range(shown - 1, -1, -1):
        total = alpha + beta + pulls
        inverse_total = 1.0 / total
        top = min(highest, _highest(alpha, total, charge, pulls))
        # With fewer successes than these neither this pull nor any later one is worth the charge.
        start = max(0, min(lowest - 1, int(charge * total - alpha), pulls))
        if pulls < boundary.shape[0]:  # two points to interpolate between
            start = max(0, min(start, top - 1))
        for s in range(start, lowest):
            value[s] = 0.0
        values = value[start:]
        mean, offset = (alpha + start) * inverse_total, pay * charge
        for i in range(top + 1 - start):
            m = mean + i * inverse_total
            values[i] = pay * m - offset + discount * (m * values[i + 1] + (1.0 - m) * values[i])
        lowest, highest = start, top
        while lowest < top and value[lowest] <= 0.0:
            lowest += 1
        keep_boundary(record, pulls, value, start, lowest, top, pay * ((alpha + start - 1.0) * inverse_total - charge))
        for s in range(start, lowest):
            value[s] = 0.0
        value[lowest] = max(0.0, value[lowest]) if pulls > 0 else value[lowest]
        value[top + 1] = (alpha + top + 1.0) * inverse_total - charge
    return value[0]


@jitable
def _highest(alpha, total, charge, pulls):
    """Successes from which on giving up has a probability below exp(-SURE), by Bernstein's inequality."""
    third = SURE / 3.0
    above = third + math.sqrt(third * third + 2.0 * SURE * total * charge * (1.0 - charge))
    return max(0, min(pulls, int(charge * total - alpha + above) + 1))


@jitable
def _crossing(value, start, lowest, top):
    """Where the margins, before negative ones are replaced by 0, cross 0."""
    right = min(max(lowest, start + 1), top)
    if right == start:  # a single point: no pulls yet
        return start - value[start]
    below, above = value[right - 1], value[right]
    return right - above / (above - below)
