"""Dynamic programme for three Bernoulli arms: as in dp_two_arms.py, but with one byte per state for the optimal arm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel


def solve_three_arms(alpha: Array, beta: Array, horizon: int) -> tuple[float, NDArray[np.int64], NDArray[np.uint8]]:
    """Return the expected reward of the optimal policy, the offsets `places`, and the optimal arm of every state.

    The states with n pulls, i of arm 0 and j of arm 1, begin at `places[n, i, j]`, ordered by wins, arm 0 first.
    """
    pulls, pulls_0, pulls_1 = np.ogrid[:horizon, :horizon, :horizon]
    pulls_2 = pulls - pulls_0 - pulls_1
    sizes = np.where(pulls_2 >= 0, (pulls_0 + 1) * (pulls_1 + 1) * (pulls_2 + 1), 0)
    places = np.cumsum(sizes).reshape(sizes.shape) - sizes
    choice = np.empty(sizes.sum(), np.uint8)
    pulls_0, pulls_1 = np.ogrid[: horizon + 1, : horizon + 1]
    sizes = (pulls_0 + 1) * (pulls_1 + 1) * np.maximum(0, horizon - pulls_0 - pulls_1 + 1)
    starts = np.cumsum(sizes).reshape(sizes.shape) - sizes
    value = np.zeros(sizes.sum())
    compile_kernel(_solve_backwards)(alpha, beta, horizon, value, starts, choice, places)
    return float(value[0]), places, choice


def _solve_backwards(alpha: Any, beta: Any, horizon: int, value: Any, starts: Any, choice: Any, places: Any) -> None:
    """Fill values in place: a state overwrites that with one more pull of arm 2, which no later state needs."""
    for pulls in range(horizon - 1, -1, -1):
        for pulls_0 in range(pulls + 1):
            for pulls_1 in range(pulls - pulls_0 + 1):
                pulls_2 = pulls - pulls_0 - pulls_1
                inverse_2 = 1.0 / (alpha[2] + beta[2] + pulls_2)
                row = horizon - pulls_0 - pulls_1  # row length after one more pull of arm 0 or 1
                states, after_0, after_1 = (
                    starts[pulls_0, pulls_1],
                    starts[pulls_0 + 1, pulls_1],
                    starts[pulls_0, pulls_1 + 1],
                )
                place = places[pulls, pulls_0, pulls_1]
                for wins_0 in range(pulls_0 + 1):
                    mean_0 = (alpha[0] + wins_0) / (alpha[0] + beta[0] + pulls_0)
                    for wins_1 in range(pulls_1 + 1):
                        mean_1 = (alpha[1] + wins_1) / (alpha[1] + beta[1] + pulls_1)
                        here = value[states + (wins_0 * (pulls_1 + 1) + wins_1) * (row + 1) :]
                        lost_0 = value[after_0 + (wins_0 * (pulls_1 + 1) + wins_1) * row :]
                        won_0 = value[after_0 + ((wins_0 + 1) * (pulls_1 + 1) + wins_1) * row :]
                        lost_1 = value[after_1 + (wins_0 * (pulls_1 + 2) + wins_1) * row :]
                        won_1 = value[after_1 + (wins_0 * (pulls_1 + 2) + wins_1 + 1) * row :]
                        chosen = choice[place + (wins_0 * (pulls_1 + 1) + wins_1) * (pulls_2 + 1) :]
                        for wins_2 in range(pulls_2 + 1):
                            mean_2 = (alpha[2] + wins_2) * inverse_2
                            with_0 = mean_0 * (1.0 + won_0[wins_2]) + (1.0 - mean_0) * lost_0[wins_2]
                            with_1 = mean_1 * (1.0 + won_1[wins_2]) + (1.0 - mean_1) * lost_1[wins_2]
                            with_2 = mean_2 * (1.0 + here[wins_2 + 1]) + (1.0 - mean_2) * here[wins_2]
                            best = max(with_0, with_1, with_2)
                            chosen[wins_2] = 0 if with_0 == best else (1 if with_1 == best else 2)
                            here[wins_2] = best
