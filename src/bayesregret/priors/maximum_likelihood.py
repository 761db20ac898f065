"""The prior of highest likelihood, how sure it is, and what else would be likely."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesregret.checks import Array
from bayesregret.priors.families.family import LEVEL_SPREAD, ORDERS, ROUGH_ORDERS, Family, Point
from bayesregret.priors.optimiser import FLAT, STEP, Optimum, covariance, highest, highest_likely

# Of levels, in units of the family's scale.
LEVEL_SPREADS = (1e-6, 30.0)
FARTHEST_LOCATION = 60.0
# Where the climb may begin.
SPREADS_TRIED, LEVEL_SPREADS_TRIED = (1.0, 0.2, 0.02), (0.03, 0.1, 0.3, 1.0)
LIKELY_LOSS = 0.5 * 2.705543  # of log-likelihood, for an upper limit that holds in 95 of 100 large histories


@dataclass(frozen=True)
class Fit:
    """The highest point of the likelihood, by coordinates: location, log of the spread and of the level spread."""

    family: Family
    optimum: Optimum
    limits: Array
    function: Callable[[Array], float]
    rough: Callable[[Array], float]  # about the same, and quicker

    @property
    def grouped(self) -> bool:
        return len(self.limits) == 3

    @property
    def best(self) -> Point:
        """A spread at its lower limit is 0."""
        point = point_at(self.family, self.optimum.x)
        at_zero = self.optimum.at_limit & (self.optimum.x - self.limits[:, 0] < STEP)
        return Point(
            point.location,
            0.0 if at_zero[1] else point.spread,
            0.0 if not self.grouped or at_zero[2] else point.level_spread,
        )


def point_at(family: Family, x: Array) -> Point:
    """Coordinates that are all of the size of 1, to a prior."""
    location = family.start.location + family.scale * float(x[0])
    return Point(location, math.exp(x[1]), family.scale * math.exp(x[2]) if len(x) == 3 else 0.0)


def fit_one_level(family: Family) -> Fit:
    return _fit(family, family.start)


def fit_own_levels(alone: Fit) -> Fit:
    """As good as the fit with one level, or better."""
    found = _fit(alone.family, point_at(alone.family, alone.optimum.x), level_spreads=LEVEL_SPREADS_TRIED)
    if found.optimum.value > alone.optimum.value + FLAT:
        return found
    x, at_limit = np.append(alone.optimum.x, found.limits[2, 0]), np.append(alone.optimum.at_limit, True)
    return replace(found, optimum=Optimum(x, alone.optimum.value, at_limit))


def _fit(family: Family, start: Point, *, level_spreads: Sequence[float] = ()) -> Fit:
    """From spreads that are shares of the start's, and level spreads if any, to the highest likelihood."""
    coordinates = 3 if level_spreads else 2
    limits = np.array([[-FARTHEST_LOCATION, FARTHEST_LOCATION], np.log(family.limits), np.log(LEVEL_SPREADS)])
    limits = limits[:coordinates]

    def log_likelihood(x: Array, orders: tuple[int, int] = ORDERS) -> float:
        return family.log_likelihood(point_at(family, x), orders)

    x = (start.location - family.start.location) / family.scale
    starts = [
        np.array([x, math.log(start.spread * share), math.log(level or 1.0)])[:coordinates]
        for share, level in itertools.product(SPREADS_TRIED, level_spreads or (0.0,))
    ]
    rough = functools.partial(log_likelihood, orders=ROUGH_ORDERS)
    return Fit(family, highest(log_likelihood, rough, starts, limits, may_vanish=1), limits, log_likelihood, rough)


def upper_limits(fit: Fit) -> dict[str, float]:
    """The largest likely width and level spread, where the best one is 0."""
    best = {fit.family.width_name: fit.best.spread} | ({LEVEL_SPREAD: fit.best.level_spread} if fit.grouped else {})
    found = {}
    for coordinate, (name, value) in enumerate(best.items(), 1):
        if value == 0.0:
            x = fit.optimum.x.copy()
            x[coordinate] = highest_likely(fit.rough, fit.optimum, coordinate, fit.limits, LIKELY_LOSS)
            found[name] = parameters(fit.family, point_at(fit.family, x), fit.grouped)[name]
    return found


def parameters(family: Family, point: Point, grouped: bool) -> dict[str, float]:
    """By their names; those of levels only where they are grouped."""
    return family.parameters(point) | ({LEVEL_SPREAD: point.level_spread} if grouped else {})


def standard_errors(fit: Fit, names: Sequence[str]) -> dict[str, float]:
    """By the delta method from the observed information; infinite for what depends on a coordinate at its limit."""
    x, optimum = fit.optimum.x, fit.optimum
    found = covariance(fit.function, optimum)
    slopes = np.array([_slope(fit, x, i) for i in range(len(x))])  # (coordinates, parameters)
    errors = {}
    for column, name in enumerate(names):
        slope = slopes[:, column]
        unsure = found is None or bool((slope[optimum.at_limit] != 0.0).any())
        free = slope[optimum.free]
        errors[name] = math.inf if unsure else math.sqrt(float(free @ found @ free))
    return errors | fit.family.own_errors


def _slope(fit: Fit, x: Array, coordinate: int) -> list[float]:
    move = np.zeros(len(x))
    move[coordinate] = STEP
    up, down = (parameters(fit.family, point_at(fit.family, x + sign * move), fit.grouped) for sign in (1.0, -1.0))
    return [(up[name] - down[name]) / (2.0 * STEP) for name in up]
