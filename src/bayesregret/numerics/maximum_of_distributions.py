"""E[highest] of independent variables, from their laws: the chance that all are below x is the product of theirs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.numerics.mean_distributions import MeanLaw, log_chance
from bayesregret.numerics.quadrature import gauss_rule, merge_edges

ORDER = 12
# Both parameters of an arm's prior and its pulls: the values that its posterior mean can have, and the chances that it
# is at most each.
Steps = Callable[[float, float, int], tuple[Array, Array]]


def highest_of_steps(means: Steps, first: Array, second: Array, pulls: NDArray[np.int64]) -> float:
    """E[highest posterior mean], from the chance that all are at most each value that one of them can have."""
    kinds, counts = np.unique(np.stack([first, second, pulls]), axis=1, return_counts=True)
    laws = [means(a, b, int(k)) for a, b, k in kinds.T.tolist()]
    values = np.unique(np.concatenate([value for value, _ in laws]))
    all_below = np.ones(len(values))
    for (value, below), count in zip(laws, counts, strict=True):
        place = np.searchsorted(value, values, side="right")
        all_below *= np.append(0.0, below)[place] ** count
    return float(values[-1] - np.sum(np.diff(values) * all_below[:-1]))


def highest_above(top: float, sure: float, laws: list[MeanLaw], edges: Array, slope: Callable[[Array], Array]) -> float:
    """E[highest] less the value at place `top`, of independent variables and of the number at place `sure`.

    `slope` is that of values on the line of places. Beyond the last panels no two variables are at once.
    """
    if not laws:
        return 0.0
    low, high = max(sure, float(edges[0])), max(sure, top, float(edges[-1]))
    places, weights = gauss_rule(merge_edges(edges, np.array([top]), low=low, high=high), ORDER)
    log_all = sum(law.copies * log_chance(*law.tails(places)) for law in laws)
    excess = float(np.sum(weights * slope(places) * np.where(places > top, -np.expm1(log_all), -np.exp(log_all))))
    above = math.fsum(law.copies * law.rests(high)[1] for law in laws)
    return excess + above - (_all_below(laws, low) if low > sure else 0.0)


def _all_below(laws: list[MeanLaw], low: float) -> float:
    """E(place - highest)^+: that of the variable which is least likely there, the others being as likely as there."""
    chances = [float(law.tails(np.array([low]))[0][0]) for law in laws]
    rarest = min(range(len(laws)), key=chances.__getitem__)
    others = math.prod(
        chance ** (law.copies - (place == rarest))
        for place, (law, chance) in enumerate(zip(laws, chances, strict=True))
    )
    return float(laws[rarest].rests(low)[0] * others)
