"""Calibration of a fitted prior: each arm against its prediction given the arms before it in its experiment.

If the prior is right, the predicted probabilities of a mean below the observed one are independent and uniform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from bayesregret.checks import Array
from bayesregret.priors.families.family import Family, PriorPoint
from bayesregret.priors.fitted_prior import FittedPrior
from bayesregret.priors.history import History, Index

MOST_ARMS = 1_000  # a larger history is thinned evenly, by whole experiments
INTERVAL = (0.05, 0.95)  # probabilities of the ends of prediction intervals
MOST_BINS, FEW_BINS, MANY_ARMS = 10, 5, 100


@dataclass(frozen=True, eq=False)
class CalibrationCheck:
    """Observed arms and the fit's predictions of them, experiment by experiment."""

    history: History  # the arms that were checked
    below: Array  # (arms,): predicted probability of less than the observed total
    at_most: Array  # (arms,): predicted probability of at most the observed total; above `below` for counts
    low: Array  # (arms,): 90 percent prediction interval of the observed mean
    high: Array

    @property
    def outside(self) -> NDArray[np.bool_]:
        """(arms,): whether the observed mean is outside its prediction interval."""
        return (self.history.means < self.low) | (self.history.means > self.high)

    @property
    def bins(self) -> int:
        return MOST_BINS if self.history.arms >= MANY_ARMS else FEW_BINS

    @property
    def heights(self) -> Array:
        """(bins,): fraction of arms in each of equal bins of the predicted probability.

        Where `below` and `at_most` differ, the arm is spread evenly between them (Czado, Gneiting and Held 2009).
        """
        edges = np.linspace(0.0, 1.0, self.bins + 1)[:, None]
        length = np.maximum(self.at_most - self.below, 1e-12)
        return np.diff(np.clip((edges - self.below) / length, 0.0, 1.0), axis=0).mean(axis=1)

    @property
    def p_value(self) -> float:
        """Probability of heights at least as uneven, by Pearson's test, if the prior were right and not fitted.

        The prior was fitted to these arms, and arms spread over several bins even them out. So a small value is strong
        evidence against the prior, and a large value is weak evidence for it.
        """
        uneven = self.history.arms * self.bins * float(((self.heights - 1.0 / self.bins) ** 2).sum())
        return float(chdtrc(self.bins - 1.0, uneven))


def check_fit(fitted: FittedPrior, most_arms: int = MOST_ARMS) -> CalibrationCheck:
    """Check every arm of a history, or those of some experiments if there are more than `most_arms`."""
    family = _thinned(fitted.family, most_arms)
    point = fitted.point._replace(spread=max(fitted.point.spread, family.spread_limits.least))
    locations, weights = _locations_given_earlier(family, point)
    less, at_most = family.observed_cdf(locations, point.spread)
    mean, variance = family.observed_moments(locations, point.spread)
    predicted = (weights * mean).sum(axis=0)
    spread = (weights * (variance + (mean - predicted) ** 2)).sum(axis=0)
    low, high = (family.observed_quantile(probability, predicted, spread) for probability in INTERVAL)
    return CalibrationCheck(family.history, (weights * less).sum(axis=0), (weights * at_most).sum(axis=0), low, high)


def _thinned(family: Family, most_arms: int) -> Family:
    """At most this many arms: whole experiments in order, or the first arms of one experiment."""
    history = family.history
    if history.arms <= most_arms:
        return family
    sizes = history.arms_per_experiment
    step = int(np.ceil(history.arms / most_arms))
    chosen = np.flatnonzero(np.arange(len(sizes)) % step == 0)
    arms = np.flatnonzero(np.isin(history.experiment, chosen))[:most_arms]
    kept, experiment = np.unique(history.experiment[arms], return_inverse=True)
    return family.with_history(history.take(arms, experiment, len(kept)))


def _locations_given_earlier(family: Family, point: PriorPoint) -> tuple[Array, Array]:
    """(points, arms): locations of the arm's experiment, and their weights given the arms before it."""
    if point.level_spread == 0.0:
        shape = (1, family.history.arms)
        return np.full(shape, point.location), np.ones(shape)
    arms, of = _earlier_arms(family.history.experiment)
    group_means = family.with_history(family.history.take(arms, of, family.history.arms)).group_means(point)
    return group_means.locations, group_means.weights


def _earlier_arms(experiment: Index) -> tuple[Index, Index]:
    """For each arm, all arms before it in its experiment: (the earlier arms, the arm that each belongs to)."""
    first = np.searchsorted(experiment, experiment)  # where the arm's experiment begins
    before = np.arange(len(experiment)) - first
    of = np.repeat(np.arange(len(experiment)), before)
    within = np.arange(len(of)) - np.repeat(np.cumsum(before) - before, before)
    return first[of] + within, of
