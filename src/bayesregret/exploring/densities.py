"""Densities of the arms' mean rewards under a prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesregret.agent.summary import marginals
from bayesregret.checks import Array
from bayesregret.models import Bandit, MixtureBandit

MOST_CURVES = 12
POINTS = 121
REACH = 4.0  # widths on either side of the centre


class Density(NamedTuple):
    """The density of one arm's mean reward, or of several arms with the same prior."""

    label: str
    x: Array
    y: Array


def prior_densities(bandit: Bandit) -> list[Density]:
    """Return the densities of the arms, equal ones once; of a mixture those of the prior that matches it."""
    if isinstance(bandit, MixtureBandit):
        try:
            bandit = bandit.conjugate()
        except ValueError:
            return []
    every = marginals(bandit)
    distinct, places = every.distinct()
    edges = np.linspace(-REACH, REACH, POINTS + 1) * distinct.widths[:, None]
    values = np.stack([distinct.values(column) for column in edges.T], axis=1)
    steps = np.diff(values, axis=1)
    heights = np.divide(np.diff(distinct.below(edges), axis=1), steps, out=np.zeros_like(steps), where=steps > 0.0)
    middles = 0.5 * (values[:, 1:] + values[:, :-1])
    first = sorted(range(len(heights)), key=lambda row: int(np.argmax(places == row)))
    return [Density(_label(places == row), middles[row], heights[row]) for row in first[:MOST_CURVES]]


def _label(has_it: Array) -> str:
    arms = np.flatnonzero(has_it)
    if len(arms) == 1:
        return f"arm {arms[0]}"
    if len(arms) == len(has_it):
        return f"all {len(arms):,} arms"
    if arms[-1] - arms[0] == len(arms) - 1:
        return f"arms {arms[0]:,} to {arms[-1]:,}"
    return f"{len(arms):,} arms"
