"""Base class of the reward models: arms vary around their experiment's level, and levels are integrated out.

The level of an experiment is the mean that its arms vary around. An ungrouped fit has one level for all arms. A grouped
fit has one level per experiment, normal on the scale of the model's link. A location is a level on that scale.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp

from bayesregret.checks import Array
from bayesregret.models import Bandit
from bayesregret.priors.history import History

# The integral over levels uses a Gauss-Hermite rule per experiment, placed where a first, smaller rule found the mass.
ORDERS, ROUGH_ORDERS = (9, 25), (5, 9)
# Smallest width of the second rule, relative to the guess: a rule with all its mass in one point must not collapse.
NARROWEST = 0.05
LEVEL_SPREAD = "level_spread"  # the parameter that all families share
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


class PriorPoint(NamedTuple):
    """Coordinates of one prior."""

    location: float  # the typical level on the link's scale
    spread: float  # of arms, in the units of the model: 1/(alpha + beta), prior_width^2, 1/shape
    level_spread: float = 0.0  # standard deviation of levels on the link's scale


class SpreadLimits(NamedTuple):
    """Range of spreads of arms that the fit searches; outside it the likelihood does not change."""

    least: float
    most: float


class GroupMeans(NamedTuple):
    """Quadrature over each experiment's level: locations and log(weight times likelihood), (points, experiments)."""

    locations: Array
    log_terms: Array

    @property
    def weights(self) -> Array:
        """Posterior distribution of each experiment's level given its arms."""
        return np.exp(self.log_terms - logsumexp(self.log_terms, axis=0))


class Family(ABC):
    """The arms of a history under one reward model."""

    kind: ClassVar[str]
    width_name: ClassVar[str] = "width"

    def __init__(self, history: History) -> None:
        self.history = history

    @property
    @abstractmethod
    def spread_limits(self) -> SpreadLimits: ...

    @property
    def other_standard_errors(self) -> dict[str, float]:
        """Standard errors of parameters that are not estimated by maximum likelihood."""
        return {}

    @property
    def link_scale(self) -> float:
        """Typical size of differences between locations."""
        return 1.0

    @property
    def centre(self) -> float:
        """Location that the fit subtracts from all: far from 0, small steps would be lost to rounding."""
        return 0.0

    def centred(self) -> Family:
        """The same arms with `centre` subtracted."""
        return self

    @property
    @abstractmethod
    def start(self) -> PriorPoint:
        """Start of an ungrouped fit, by the method of moments."""

    @abstractmethod
    def link(self, level: Array) -> Array:
        """Map levels to locations."""

    @abstractmethod
    def inverse_link(self, location: Array) -> Array:
        """Map locations to levels."""

    @abstractmethod
    def with_history(self, history: History) -> Family:
        """The same model of other arms."""

    @abstractmethod
    def log_marginals(self, location: Array, spread: float) -> Array:
        """(..., arms): log-probability of each arm's observations, given the location that it varies around."""

    @abstractmethod
    def location_guess(self, point: PriorPoint) -> tuple[Array, Array]:
        """(experiments,): approximate posterior mean and standard deviation of each experiment's location."""

    @abstractmethod
    def observed_cdf(self, location: Array, spread: float) -> tuple[Array, Array]:
        """(..., arms): probabilities that an arm's total is less than the observed one, and at most that."""

    @abstractmethod
    def observed_moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        """(..., arms): mean and variance of an arm's observed mean."""

    @abstractmethod
    def observed_quantile(self, probability: float, mean: Array, variance: Array) -> Array:
        """Approximate quantile of an observed mean with these moments."""

    @abstractmethod
    def parameters(self, point: PriorPoint) -> dict[str, float]:
        """Prior of arms at the typical level: the bandit's arguments, then mean and width where they differ."""

    @abstractmethod
    def width(self, level: float, spread: float) -> float:
        """Standard deviation of arms around a level."""

    @abstractmethod
    def spread(self, level: float, width: float) -> float:
        """Spread of arms whose standard deviation around a level is `width`; ValueError if no prior has it."""

    @abstractmethod
    def link_width(self, location: float, spread: float) -> float:
        """Standard deviation of arms around a location, on the link's scale."""

    @abstractmethod
    def bandit(self, arms: int, level: float, width: float) -> Bandit:
        """Bandit whose arms have this level and width; ValueError if no prior has them."""

    def log_likelihood(self, point: PriorPoint, orders: tuple[int, int] = ORDERS) -> float:
        if point.level_spread == 0.0:
            return float(self.log_marginals(np.asarray(point.location), point.spread).sum())
        return float(logsumexp(self.group_means(point, orders).log_terms, axis=0).sum())

    def group_means(self, point: PriorPoint, orders: tuple[int, int] = ORDERS) -> GroupMeans:
        """Quadrature over each experiment's level; its terms sum to the marginal likelihood."""
        centre, guessed = self.location_guess(point)
        first = self._quadrature(point, centre, guessed, orders[0])
        weights = first.weights
        centre = (weights * first.locations).sum(axis=0)
        deviation = np.sqrt((weights * (first.locations - centre) ** 2).sum(axis=0))
        return self._quadrature(point, centre, np.maximum(deviation, NARROWEST * guessed), orders[1])

    def _quadrature(self, point: PriorPoint, centre: Array, deviation: Array, order: int) -> GroupMeans:
        z, log_weights = _hermite(order)
        locations = centre + deviation * z[:, None]
        away = (locations - point.location) / point.level_spread
        log_prior = -0.5 * away * away - HALF_LOG_2_PI + np.log(deviation / point.level_spread)
        of_arms = self.log_marginals(locations[:, self.history.experiment], point.spread)
        return GroupMeans(locations, log_weights[:, None] + log_prior + self.sum_by_experiment(of_arms))

    def sum_by_experiment(self, values: Array) -> Array:
        """(..., experiments): sums over the arms of each experiment."""
        counts = self.history.arms_per_experiment
        some = counts > 0
        sums = np.zeros((*values.shape[:-1], len(counts)))
        if some.any():
            sums[..., some] = np.add.reduceat(values, (np.cumsum(counts) - counts)[some], axis=-1)
        return sums


def normal_location(point: PriorPoint, information: Array, observed: Array) -> tuple[Array, Array]:
    """Posterior mean and standard deviation of a normal location, observed with normal noise of this information."""
    before = point.level_spread**-2
    return (information * observed + before * point.location) / (information + before), (information + before) ** -0.5


@functools.cache
def _hermite(order: int) -> tuple[Array, Array]:
    """Points and log-weights of integrals over the real line, for functions close to a normal density."""
    z, weights = np.polynomial.hermite_e.hermegauss(order)
    return z, np.log(weights) + 0.5 * z * z
