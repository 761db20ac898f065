"""Dynamic programme for two Bernoulli arms: the value of every state, from the last round back to the first.

A state is the pulls and wins of both arms; after t rounds, those with n0 + n1 = t pulls. Given the pulls, the advantage
of an arm never falls with its wins (docs/theory/optimal.md), so one number per (n0, n1, wins of arm 0) encodes the
decisions: the fewest wins of arm 1 with which arm 1 is pulled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable


def solve_two_arms(alpha: Array, beta: Array, horizon: int) -> tuple[float, NDArray[np.uint16]]:
    """Return the expected reward of the optimal policy, and `switch`: the fewest wins of arm 1 to pull arm 1."""
    value = np.zeros(row_of_values(horizon, horizon + 1, 0))
    switch = np.empty(place_of_switch(horizon, 0, 0), np.uint16)
    compile_kernel(_solve_backwards)(alpha, beta, horizon, value, switch)
    return float(value[0]), switch


@jitable
def place_of_switch(pulls, pulls_0, wins_0):
    return pulls * (pulls + 1) * (pulls + 2) // 6 + pulls_0 * (pulls_0 + 1) // 2 + wins_0


@jitable
def row_of_values(horizon, pulls_0, wins_0):
    """Offset of the values for all wins of arm 1: j pulls of arm 0 have j + 1 rows of length horizon - j + 1."""
    whole = (pulls_0 * (pulls_0 + 1) // 2) * (horizon + 1) - (pulls_0 - 1) * pulls_0 * (pulls_0 + 1) // 3
    return whole + wins_0 * (horizon - pulls_0 + 1)


def _solve_backwards(alpha: Any, beta: Any, horizon: int, value: Any, switch: Any) -> None:
    """Fill values in place: a state overwrites that with one more pull of arm 1, which no later state needs."""
    for pulls in range(horizon - 1, -1, -1):
        for pulls_0 in range(pulls + 1):
            pulls_1 = pulls - pulls_0
            inverse_1 = 1.0 / (alpha[1] + beta[1] + pulls_1)
            for wins_0 in range(pulls_0 + 1):
                mean_0 = (alpha[0] + wins_0) / (alpha[0] + beta[0] + pulls_0)
                here = value[row_of_values(horizon, pulls_0, wins_0) :]
                lost = value[row_of_values(horizon, pulls_0 + 1, wins_0) :]
                won = value[row_of_values(horizon, pulls_0 + 1, wins_0 + 1) :]
                first = 0
                for wins_1 in range(pulls_1 + 1):
                    mean_1 = (alpha[1] + wins_1) * inverse_1
                    with_0 = mean_0 * (1.0 + won[wins_1]) + (1.0 - mean_0) * lost[wins_1]
                    with_1 = mean_1 * (1.0 + here[wins_1 + 1]) + (1.0 - mean_1) * here[wins_1]
                    first += with_0 >= with_1
                    here[wins_1] = max(with_0, with_1)
                switch[place_of_switch(pulls, pulls_0, wins_0)] = first
