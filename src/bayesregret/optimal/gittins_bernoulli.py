"""Gittins indices of a Bernoulli arm with a Beta prior.

The margin of a charge is the expected reward less charges of the best plan that pulls the arm once and may go on. It is
convex and falls as the charge rises, in straight pieces; the index is the charge at which it is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable, rarely_called

# Newton's method: once a step is this small, the next would be far below the last digit, or nearly so for tables.
MOST_STEPS, LAST_STEP, LAST_STEP_IN_TABLES = 100, 1e-12, 1e-6


def bernoulli_index(alpha: float, beta: float, rounds: int, discount: float) -> float:
    """With a discount an arm is pulled for good after `rounds` pulls, or never again."""
    value, time = np.empty(rounds + 1), np.empty(rounds + 1)
    start = alpha / (alpha + beta)
    return float(compile_kernel(_newton)(alpha, beta, rounds, discount, start, LAST_STEP, value, time))


def bernoulli_table(alpha: float, beta: float, horizon: int) -> tuple[Array, NDArray[np.int64]]:
    """All indices within a horizon, as one vector, and where those after so many pulls begin.

    After k pulls with s wins and with m rounds left, k + m at most the horizon, the index is at
    `starts[k] + s * (horizon - k) + m - 1`.
    """
    pulls = np.arange(horizon)
    sizes = (pulls + 1) * (horizon - pulls)
    starts = np.cumsum(sizes) - sizes
    table = np.empty(sizes.sum())
    value, time = np.empty(horizon + 1), np.empty(horizon + 1)
    compile_kernel(_fill)(alpha, beta, horizon, starts, table, value, time)
    return table, starts


def _fill(alpha: float, beta: float, horizon: int, starts: Any, table: Any, value: Any, time: Any) -> None:
    for pulls in range(horizon):
        for wins in range(pulls + 1):
            row = table[starts[pulls] + wins * (horizon - pulls) :]
            a, b = alpha + wins, beta + pulls - wins
            row[0] = a / (a + b)
            for m in range(2, horizon - pulls + 1):
                # The line through the last two is a good start. An error must not hide that indices rise.
                start = 2.0 * row[m - 2] - row[m - 3] if m > 2 else row[0]
                found = _newton(a, b, m, 1.0, start, LAST_STEP_IN_TABLES, value, time)
                row[m - 1] = max(found, row[m - 2])


@jitable
def _newton(alpha, beta, rounds, discount, index, last_step, value, time):
    """Newton's method ends after a few steps, because the margin is made of straight pieces."""
    for _ in range(MOST_STEPS):
        left, slope = _margin(alpha, beta, index, rounds, discount, value, time)
        index += left / slope
        if abs(left) <= last_step * slope:
            break
    return index


@rarely_called
def _margin(alpha, beta, charge, rounds, discount, value, time):
    """The margin of a charge, and how many pulls, discounted, pay it."""
    for_good = 1.0 / (1.0 - discount) if discount < 1.0 else 0.0
    for wins in range(rounds + 1):
        surplus = (alpha + wins) / (alpha + beta + rounds) - charge
        value[wins] = max(0.0, surplus) * for_good
        time[wins] = for_good if surplus > 0.0 else 0.0
    lowest = rounds + 1  # with fewer wins the arm is given up
    while lowest > 0 and value[lowest - 1] > 0.0:
        lowest -= 1
    for pulls in range(rounds - 1, 0, -1):
        share = 1.0 / (alpha + beta + pulls)
        # With fewer wins neither this pull nor what comes after it is worth the charge.
        lowest = max(0, min(lowest - 1, int(charge * (alpha + beta + pulls) - alpha), pulls))
        worth, paid = value[lowest:], time[lowest:]
        for i in range(pulls + 1 - lowest):
            mean = (alpha + lowest + i) * share
            left = mean - charge + discount * (mean * worth[i + 1] + (1.0 - mean) * worth[i])
            pays = 1.0 + discount * (mean * paid[i + 1] + (1.0 - mean) * paid[i])
            worth[i] = left if left > 0.0 else 0.0
            paid[i] = pays if left > 0.0 else 0.0
        while lowest <= pulls and value[lowest] <= 0.0:
            lowest += 1
    mean = alpha / (alpha + beta)
    left = mean - charge + discount * (mean * value[1] + (1.0 - mean) * value[0])
    return left, 1.0 + discount * (mean * time[1] + (1.0 - mean) * time[0])
