"""Gittins indices of a Bernoulli arm with a Beta prior.

The margin of a charge is the expected reward minus charges of the best plan that pulls the arm at least once. As a
function of the charge it is convex, decreasing and piecewise linear; the index is the charge at which it is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable, rarely_called

# Newton's method stops after a step this small: the next one would be below the last digit, or nearly so for tables.
MOST_STEPS, LAST_STEP, LAST_STEP_IN_TABLES = 100, 1e-12, 1e-6


def bernoulli_index(alpha: float, beta: float, rounds: int, discount: float) -> float:
    """Index of a Beta(alpha, beta) arm; with a discount, after `rounds` pulls it is pulled forever or never again."""
    value, time = np.empty(rounds + 1), np.empty(rounds + 1)
    start = alpha / (alpha + beta)
    return float(compile_kernel(_newton)(alpha, beta, rounds, discount, start, LAST_STEP, value, time))


def bernoulli_table(alpha: float, beta: float, horizon: int) -> tuple[Array, NDArray[np.int64]]:
    """Return all indices within a horizon as one vector, and the offsets `starts` by number of pulls.

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
                # Start from the line through the last two. Rounding must not make indices fall as m rises.
                start = 2.0 * row[m - 2] - row[m - 3] if m > 2 else row[0]
                found = _newton(a, b, m, 1.0, start, LAST_STEP_IN_TABLES, value, time)
                row[m - 1] = max(found, row[m - 2])


@jitable
def _newton(alpha, beta, rounds, discount, index, last_step, value, time):
    """Zero of the margin by Newton's method, which takes few steps because the margin is piecewise linear."""
    for _ in range(MOST_STEPS):
        left, slope = _margin(alpha, beta, index, rounds, discount, value, time)
        index += left / slope
        if abs(left) <= last_step * slope:
            break
    return index


@rarely_called
def _margin(alpha, beta, charge, rounds, discount, value, time):
    """Margin of a charge, and minus its slope: the expected discounted number of pulls."""
    perpetuity = 1.0 / (1.0 - discount) if discount < 1.0 else 0.0
    for wins in range(rounds + 1):
        surplus = (alpha + wins) / (alpha + beta + rounds) - charge
        value[wins] = max(0.0, surplus) * perpetuity
        time[wins] = perpetuity if surplus > 0.0 else 0.0
    lowest = rounds + 1  # with fewer wins, stopping is optimal
    while lowest > 0 and value[lowest - 1] > 0.0:
        lowest -= 1
    for pulls in range(rounds - 1, 0, -1):
        inverse_total = 1.0 / (alpha + beta + pulls)
        # With fewer wins neither this pull nor any later one is worth the charge.
        lowest = max(0, min(lowest - 1, int(charge * (alpha + beta + pulls) - alpha), pulls))
        values, times = value[lowest:], time[lowest:]
        for i in range(pulls + 1 - lowest):
            mean = (alpha + lowest + i) * inverse_total
            left = mean - charge + discount * (mean * values[i + 1] + (1.0 - mean) * values[i])
            pays = 1.0 + discount * (mean * times[i + 1] + (1.0 - mean) * times[i])
            values[i] = left if left > 0.0 else 0.0
            times[i] = pays if left > 0.0 else 0.0
        while lowest <= pulls and value[lowest] <= 0.0:
            lowest += 1
    mean = alpha / (alpha + beta)
    left = mean - charge + discount * (mean * value[1] + (1.0 - mean) * value[0])
    return left, 1.0 + discount * (mean * time[1] + (1.0 - mean) * time[0])
