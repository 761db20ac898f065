"""What the fit needs of a reward model: arms around a level, and levels that are integrated out.

In an ungrouped fit all arms vary around one level. In a grouped fit every experiment has a level of its own, normal on
the scale of the model's link, and its arms vary around that.
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

# The integral over levels has a Gauss-Hermite rule for each experiment, put where a first one found its mass.
ORDERS, ROUGH_ORDERS = (9, 25), (5, 9)
NARROWEST = 0.05  # of the deviation first guessed: a rule with all its mass in one point must not shrink to nothing
LEVEL_SPREAD = "level_spread"  # the name of the parameter that families have in common
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


class Point(NamedTuple):
    """One prior: the typical level on the link's scale, and the variances of arms and of levels around it."""

    location: float
    spread: float  # of arms in the model's own units: 1/(alpha + beta), prior_width^2, 1/shape
    level_spread: float = 0.0  # standard deviation of levels on the link's scale


class Limits(NamedTuple):
    """Between which spreads of arms the fit looks; beyond them the likelihood does not change."""

    least: float
    most: float


class Levels(NamedTuple):
    """Levels on the link's scale and the logarithms of their weights times likelihoods, (points, experiments)."""

    places: Array
    log_terms: Array

    @property
    def weights(self) -> Array:
        """The distribution of each experiment's level given its arms."""
        return np.exp(self.log_terms - logsumexp(self.log_terms, axis=0))


class Family(ABC):
    """The arms of a history under one reward model."""

    kind: ClassVar[str]
    width_name: ClassVar[str] = "width"

    def __init__(self, history: History) -> None:
        self.history = history

    @property
    @abstractmethod
    def limits(self) -> Limits: ...

    @property
    def own_errors(self) -> dict[str, float]:
        """Standard errors of parameters that are not found by likelihood."""
        return {}

    @property
    def scale(self) -> float:
        """Of levels on the link's scale."""
        return 1.0

    @property
    def centre(self) -> float:
        """What the fit takes off all levels: steps of levels that are far from 0 would be lost to rounding."""
        return 0.0

    def centred(self) -> Family:
        """The same arms around 0."""
        return self

    @property
    @abstractmethod
    def start(self) -> Point:
        """Of an ungrouped fit, by moments."""

    @abstractmethod
    def level(self, location: Array) -> Array:
        """From the link's scale to that of rewards."""

    @abstractmethod
    def over(self, history: History) -> Family:
        """The same model of other arms."""

    @abstractmethod
    def log_marginals(self, location: Array, spread: float) -> Array:
        """(..., arms): the log-probability of what each arm was observed to do, given the level it varies around."""

    @abstractmethod
    def level_guess(self, point: Point) -> tuple[Array, Array]:
        """(experiments,): roughly the mean of each level given the arms, and its standard deviation."""

    @abstractmethod
    def below(self, location: Array, spread: float) -> tuple[Array, Array]:
        """(..., arms): the chances that an arm's total is less than the observed one, and at most that."""

    @abstractmethod
    def moments(self, location: Array, spread: float) -> tuple[Array, Array]:
        """(..., arms): mean and variance of an arm's observed mean."""

    @abstractmethod
    def quantile(self, share: float, mean: Array, variance: Array) -> Array:
        """Of an observed mean with these moments, about."""

    @abstractmethod
    def parameters(self, point: Point) -> dict[str, float]:
        """The prior of arms at the typical level: the bandit's arguments, then mean and width where they differ."""

    @abstractmethod
    def width(self, level: float, spread: float) -> float:
        """Standard deviation of arms around a level."""

    @abstractmethod
    def bandit(self, arms: int, level: float, width: float) -> Bandit:
        """Arms with this level and width; ValueError where no prior has them."""

    def log_likelihood(self, point: Point, orders: tuple[int, int] = ORDERS) -> float:
        if point.level_spread == 0.0:
            return float(self.log_marginals(np.asarray(point.location), point.spread).sum())
        return float(logsumexp(self.levels(point, orders).log_terms, axis=0).sum())

    def levels(self, point: Point, orders: tuple[int, int] = ORDERS) -> Levels:
        """A rule for each experiment's level; the terms' sum is the marginal likelihood."""
        centre, guessed = self.level_guess(point)
        first = self._rule(point, centre, guessed, orders[0])
        weights = first.weights
        centre = (weights * first.places).sum(axis=0)
        deviation = np.sqrt((weights * (first.places - centre) ** 2).sum(axis=0))
        return self._rule(point, centre, np.maximum(deviation, NARROWEST * guessed), orders[1])

    def _rule(self, point: Point, centre: Array, deviation: Array, order: int) -> Levels:
        z, log_weights = _hermite(order)
        places = centre + deviation * z[:, None]
        away = (places - point.location) / point.level_spread
        log_prior = -0.5 * away * away - HALF_LOG_2_PI + np.log(deviation / point.level_spread)
        of_arms = self.log_marginals(places[:, self.history.experiment], point.spread)
        return Levels(places, log_weights[:, None] + log_prior + self.of_experiments(of_arms))

    def of_experiments(self, values: Array) -> Array:
        """(..., experiments): sums of what arms have."""
        counts = self.history.arms_of_experiments
        some = counts > 0
        sums = np.zeros((*values.shape[:-1], len(counts)))
        if some.any():
            sums[..., some] = np.add.reduceat(values, (np.cumsum(counts) - counts)[some], axis=-1)
        return sums


def normal_level(point: Point, information: Array, observed: Array) -> tuple[Array, Array]:
    """Mean and deviation of a level that was observed with so much information, all of it normal."""
    before = point.level_spread**-2
    return (information * observed + before * point.location) / (information + before), (information + before) ** -0.5


@functools.cache
def _hermite(order: int) -> tuple[Array, Array]:
    """Points and logarithms of weights for integrals over the whole line, of functions like a normal density."""
    z, weights = np.polynomial.hermite_e.hermegauss(order)
    return z, np.log(weights) + 0.5 * z * z
