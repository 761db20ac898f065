"""Two Bernoulli arms, played as well as can be: the value of every state, from the last round back to the first.

A state is pulls and wins of both arms. Before `t` rounds there are those with n0 + n1 = t pulls. Given the pulls, the
advantage of an arm never falls with its wins (docs/theory/optimal.md), so that one number for each (n0, n1, wins of
arm 0) says all: from how many wins of arm 1 on it is arm 1 that is pulled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable


def solve_two_arms(alpha: Array, beta: Array, horizon: int) -> tuple[float, NDArray[np.uint16]]:
    """The expected reward of the best play, and in `switch` from how many wins on arm 1 is pulled."""
    value = np.zeros(row_of_values(horizon, horizon + 1, 0))
    switch = np.empty(place_of_switch(horizon, 0, 0), np.uint16)
    compile_kernel(_walk_back)(alpha, beta, horizon, value, switch)
    return float(value[0]), switch


@jitable
def place_of_switch(pulls, pulls_0, wins_0):
    return pulls * (pulls + 1) * (pulls + 2) // 6 + pulls_0 * (pulls_0 + 1) // 2 + wins_0


@jitable
def row_of_values(horizon, pulls_0, wins_0):
    """Where the values of all wins of arm 1 begin: for j pulls of arm 0 there are j + 1 rows of horizon - j + 1."""
    whole = (pulls_0 * (pulls_0 + 1) // 2) * (horizon + 1) - (pulls_0 - 1) * pulls_0 * (pulls_0 + 1) // 3
    return whole + wins_0 * (horizon - pulls_0 + 1)


def _walk_back(alpha: Any, beta: Any, horizon: int, value: Any, switch: Any) -> None:
    """In place: a state's value replaces that of one more pull of arm 1, which no state after it needs."""
    for pulls in range(horizon - 1, -1, -1):
        for pulls_0 in range(pulls + 1):
            pulls_1 = pulls - pulls_0
            share_1 = 1.0 / (alpha[1] + beta[1] + pulls_1)
            for wins_0 in range(pulls_0 + 1):
                mean_0 = (alpha[0] + wins_0) / (alpha[0] + beta[0] + pulls_0)
                here = value[row_of_values(horizon, pulls_0, wins_0) :]
                lost = value[row_of_values(horizon, pulls_0 + 1, wins_0) :]
                won = value[row_of_values(horizon, pulls_0 + 1, wins_0 + 1) :]
                first = 0
                for wins_1 in range(pulls_1 + 1):
                    mean_1 = (alpha[1] + wins_1) * share_1
                    with_0 = mean_0 * (1.0 + won[wins_1]) + (1.0 - mean_0) * lost[wins_1]
                    with_1 = mean_1 * (1.0 + here[wins_1 + 1]) + (1.0 - mean_1) * here[wins_1]
                    first += with_0 >= with_1
                    here[wins_1] = max(with_0, with_1)
                switch[place_of_switch(pulls, pulls_0, wins_0)] = first
