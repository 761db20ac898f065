"""Maximum-likelihood fit of a prior, with standard errors and upper limits."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesregret.checks import Array
from bayesregret.priors.families.family import LEVEL_SPREAD, ORDERS, ROUGH_ORDERS, Family, PriorPoint
from bayesregret.priors.optimiser import FLAT, STEP, Optimum, covariance, maximise, profile_upper_limit

# Limits of level spreads and locations, in units of the family's link scale.
LEVEL_SPREADS = (1e-6, 30.0)
FARTHEST_LOCATION = 60.0
# Starts of the climb: factors of the start's spread, and level spreads.
SPREADS_TRIED, LEVEL_SPREADS_TRIED = (1.0, 0.2, 0.02), (0.03, 0.1, 0.3, 1.0)
LIKELY_LOSS = 0.5 * 2.705543  # of log-likelihood: an upper limit that holds in 95 of 100 large histories


@dataclass(frozen=True)
class Fit:
    """Maximum of the likelihood, in coordinates: location, log of the spread and log of the level spread."""

    family: Family
    optimum: Optimum
    limits: Array
    function: Callable[[Array], float]
    rough: Callable[[Array], float]  # a faster approximation of `function`

    @property
    def grouped(self) -> bool:
        return len(self.limits) == 3

    @property
    def best(self) -> PriorPoint:
        """The fitted prior; a spread at its lower limit is 0."""
        point = point_at(self.family, self.optimum.x)
        at_zero = self.optimum.at_limit & (self.optimum.x - self.limits[:, 0] < STEP)
        return PriorPoint(
            point.location,
            0.0 if at_zero[1] else point.spread,
            0.0 if not self.grouped or at_zero[2] else point.level_spread,
        )


def point_at(family: Family, x: Array) -> PriorPoint:
    """Map coordinates, which are all of order 1, to a prior."""
    location = family.start.location + family.link_scale * float(x[0])
    return PriorPoint(location, math.exp(x[1]), family.link_scale * math.exp(x[2]) if len(x) == 3 else 0.0)


def fit_ungrouped(family: Family) -> Fit:
    """Fit one level for all arms."""
    return _fit(family, family.start)


def fit_grouped(ungrouped: Fit) -> Fit:
    """Fit one level per experiment; the likelihood is at least that of the ungrouped fit."""
    found = _fit(ungrouped.family, point_at(ungrouped.family, ungrouped.optimum.x), level_spreads=LEVEL_SPREADS_TRIED)
    if found.optimum.value > ungrouped.optimum.value + FLAT:
        return found
    x, at_limit = np.append(ungrouped.optimum.x, found.limits[2, 0]), np.append(ungrouped.optimum.at_limit, True)
    return replace(found, optimum=Optimum(x, ungrouped.optimum.value, at_limit))


def _fit(family: Family, start: PriorPoint, *, level_spreads: Sequence[float] = ()) -> Fit:
    """Maximise the likelihood from several multiples of the start's spread, and level spreads if any."""
    coordinates = 3 if level_spreads else 2
    limits = np.array([[-FARTHEST_LOCATION, FARTHEST_LOCATION], np.log(family.spread_limits), np.log(LEVEL_SPREADS)])
    limits = limits[:coordinates]

    def log_likelihood(x: Array, orders: tuple[int, int] = ORDERS) -> float:
        return family.log_likelihood(point_at(family, x), orders)

    x = (start.location - family.start.location) / family.link_scale
    starts = [
        np.array([x, math.log(start.spread * factor), math.log(level_spread or 1.0)])[:coordinates]
        for factor, level_spread in itertools.product(SPREADS_TRIED, level_spreads or (0.0,))
    ]
    rough = functools.partial(log_likelihood, orders=ROUGH_ORDERS)
    return Fit(family, maximise(log_likelihood, rough, starts, limits, may_vanish=1), limits, log_likelihood, rough)


def upper_limits(fit: Fit) -> dict[str, float]:
    """Largest likely width and level spread, where the best one is 0."""
    best = {fit.family.width_name: fit.best.spread} | ({LEVEL_SPREAD: fit.best.level_spread} if fit.grouped else {})
    found = {}
    for coordinate, (name, value) in enumerate(best.items(), 1):
        if value == 0.0:
            x = fit.optimum.x.copy()
            x[coordinate] = profile_upper_limit(fit.rough, fit.optimum, coordinate, fit.limits, LIKELY_LOSS)
            found[name] = parameters(fit.family, point_at(fit.family, x), fit.grouped)[name]
    return found


def parameters(family: Family, point: PriorPoint, grouped: bool) -> dict[str, float]:
    """Parameters by name; the level spread only in a grouped fit."""
    return family.parameters(point) | ({LEVEL_SPREAD: point.level_spread} if grouped else {})


def standard_errors(fit: Fit, names: Sequence[str]) -> dict[str, float]:
    """Delta-method errors from the observed information; infinite for parameters that depend on one at its limit."""
    x, optimum = fit.optimum.x, fit.optimum
    found = covariance(fit.function, optimum)
    slopes = np.array([_slope(fit, x, i) for i in range(len(x))])  # (coordinates, parameters)
    errors = {}
    for column, name in enumerate(names):
        slope = slopes[:, column]
        unsure = found is None or bool((slope[optimum.at_limit] != 0.0).any())
        free = slope[optimum.free]
        errors[name] = math.inf if unsure else math.sqrt(float(free @ found @ free))
    return errors | fit.family.other_standard_errors


def coordinate_errors(fit: Fit) -> Array:
    """(3,): standard errors of the location and of the logarithms of both spreads; 0 where they are not determined."""
    errors, found = np.zeros(3), covariance(fit.function, fit.optimum)
    if found is not None:
        errors[fit.optimum.free] = np.sqrt(np.diagonal(found))
    return errors * [fit.family.link_scale, 1.0, 1.0]


def _slope(fit: Fit, x: Array, coordinate: int) -> list[float]:
    """Derivative of every parameter with respect to one coordinate."""
    move = np.zeros(len(x))
    move[coordinate] = STEP
    up, down = (parameters(fit.family, point_at(fit.family, x + sign * move), fit.grouped) for sign in (1.0, -1.0))
    return [(up[name] - down[name]) / (2.0 * STEP) for name in up]
