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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable

# The mean reward is shown after this many horizons (discount e^-14) or, where that is slow, after fewer (e^-9), or
# after the largest number of pulls.
LATE, EARLY, LATE_BY, MOST_PULLS = 14, 9, 800, 60_000
# Minus the logarithm of the probability, far above the charge, of ever giving up.
SURE = 26.0


class Boundary(NamedTuple):
    """Where the margins of a charge become positive, after 0, 1, ... pulls; its arrays may be empty."""

    fewest: NDArray[np.int64]  # successes with a positive margin; one more than the pulls if none have one
    above: Array  # margin with as many successes; extrapolated if these are more than the pulls
    below: Array  # margin with one success less; extrapolated if this is less than none


def make_boundary(pulls: int) -> Boundary:
    """Return arrays for the boundary after 0, ..., pulls - 1 pulls."""
    return Boundary(np.zeros(pulls, np.int64), np.zeros(pulls), np.zeros(pulls))


def pulls_shown(horizon: int) -> int:
    """Number of pulls after which the mean reward is shown."""
    return min(MOST_PULLS, horizon * (LATE if horizon <= LATE_BY else EARLY))


def bernoulli_margins(alpha: float, beta: float, horizon: int, charges: Array) -> Array:
    """Margins before the first pull, divided by the horizon, for each charge in (0, 1)."""
    charges = np.ascontiguousarray(charges, dtype=np.float64)
    run = compile_kernel(_margins)
    found = np.empty_like(charges)
    workers = min(os.cpu_count() or 1, len(charges))

    def every(first: int) -> None:
        part = np.empty(len(charges[first::workers]))
        buffer = np.empty(pulls_shown(horizon) + 3)
        none = make_boundary(0)
        run(alpha, beta, horizon, pulls_shown(horizon), charges[first::workers].copy(), part, buffer, none)
        found[first::workers] = part

    if workers <= 1:
        every(0)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(every, range(workers)))
    return found


def bernoulli_boundary(alpha: float, beta: float, horizon: int, charge: float, pulls: int) -> Array:
    """Successes, as a real number, with which an arm after 0, 1, ..., pulls - 1 pulls is worth the charge.

    With fewer it is given up. Between lattice points margins are interpolated; below 0 and above the number of pulls
    they are extrapolated.
    """
    shown = max(pulls_shown(horizon), pulls)
    found = make_boundary(pulls)
    compile_kernel(_margins)(alpha, beta, horizon, shown, np.array([charge]), np.empty(1), np.empty(shown + 3), found)
    return np.asarray(found.fewest - found.above / (found.above - found.below))


@functools.lru_cache(maxsize=256)
def bernoulli_discounted_index(alpha: float, beta: float, horizon: int) -> float:
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
    alpha: float, beta: float, horizon: int, shown: int, charges: Array, margins: Array, value: Array, boundary: Any
) -> None:
    for i in range(charges.shape[0]):
        margins[i] = margin_recursion(alpha, beta, horizon, shown, charges[i], value, boundary)


@jitable
def margin_recursion(alpha, beta, horizon, shown, charge, value, boundary):
    """Margin before the first pull, and the boundary as far as its arrays go.

    `value` holds max(0, margin) by successes, from `lowest` to `highest` + 1.
    """
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
        if pulls < boundary.fewest.shape[0]:
            fewest = lowest if value[lowest] > 0.0 else lowest + 1
            # With fewer than `start` successes the margin is that of one pull.
            below = value[fewest - 1] if fewest > start else pay * ((alpha + fewest - 1.0) * inverse_total - charge)
            boundary.fewest[pulls], boundary.below[pulls] = fewest, below
            boundary.above[pulls] = value[fewest] if fewest <= top else 0.0
            if fewest == 0 and pulls > 0:
                boundary.below[pulls] = 2.0 * value[0] - value[1]
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
