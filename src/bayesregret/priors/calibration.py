"""Does the prior fit? Each arm is held against what the fit says of it, given the arms before it in its experiment.

If the prior is right, the shares that the fit puts below the observed means are independent and uniform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from bayesregret.checks import Array
from bayesregret.priors.families.family import Family, Point
from bayesregret.priors.fitted_prior import FittedPrior
from bayesregret.priors.history import History, Index

MOST_ARMS = 1_000  # beyond, whole experiments are taken evenly from the history
SHARES = (0.05, 0.95)
MOST_BINS, FEW_BINS, MANY_ARMS = 10, 5, 100


@dataclass(frozen=True, eq=False)
class Check:
    """Arms beside what the fit predicted of them, experiment after experiment."""

    history: History  # the arms that were looked at
    below: Array  # (arms,): the share of the prediction that is less than what was observed
    at_most: Array  # (arms,): the share that is at most that; more than `below` for counts
    low: Array  # (arms,): of the observed mean nine in ten are predicted between low and high
    high: Array

    @property
    def outside(self) -> NDArray[np.bool_]:
        """(arms,): whether the arm is outside of the nine in ten."""
        return (self.history.means < self.low) | (self.history.means > self.high)

    @property
    def bins(self) -> int:
        return MOST_BINS if self.history.arms >= MANY_ARMS else FEW_BINS

    @property
    def heights(self) -> Array:
        """(bins,): the share of arms in each of equal bins of shares.

        Where `below` and `at_most` differ, the arm counts evenly between them (Czado, Gneiting and Held 2009).
        """
        edges = np.linspace(0.0, 1.0, self.bins + 1)[:, None]
        length = np.maximum(self.at_most - self.below, 1e-12)
        return np.diff(np.clip((edges - self.below) / length, 0.0, 1.0), axis=0).mean(axis=1)

    @property
    def p_value(self) -> float:
        """Chance of heights at least as uneven, by Pearson's test, were the prior right and known beforehand.

        It was fitted to these arms, and arms that count in several bins even them out: a small value says more than a
        large one.
        """
        uneven = self.history.arms * self.bins * float(((self.heights - 1.0 / self.bins) ** 2).sum())
        return float(chdtrc(self.bins - 1.0, uneven))


def check_fit(fitted: FittedPrior, most_arms: int = MOST_ARMS) -> Check:
    """Every arm of a history of moderate size, and some experiments of a larger one."""
    family = _some(fitted.family, most_arms)
    point = fitted.point._replace(spread=max(fitted.point.spread, family.limits.least))
    places, weights = _levels_given_earlier(family, point)
    less, at_most = family.below(places, point.spread)
    mean, variance = family.moments(places, point.spread)
    predicted = (weights * mean).sum(axis=0)
    spread = (weights * (variance + (mean - predicted) ** 2)).sum(axis=0)
    low, high = (family.quantile(share, predicted, spread) for share in SHARES)
    return Check(family.history, (weights * less).sum(axis=0), (weights * at_most).sum(axis=0), low, high)


def _some(family: Family, most_arms: int) -> Family:
    """Whole experiments, in order, with at most so many arms in all, or one experiment's first ones."""
    history = family.history
    if history.arms <= most_arms:
        return family
    sizes = history.arms_of_experiments
    step = int(np.ceil(history.arms / most_arms))
    chosen = np.flatnonzero(np.arange(len(sizes)) % step == 0)
    arms = np.flatnonzero(np.isin(history.experiment, chosen))[:most_arms]
    kept, experiment = np.unique(history.experiment[arms], return_inverse=True)
    return family.over(history.take(arms, experiment, len(kept)))


def _levels_given_earlier(family: Family, point: Point) -> tuple[Array, Array]:
    """(points, arms): places of the arm's level, and their weights given the arms before it."""
    if point.level_spread == 0.0:
        shape = (1, family.history.arms)
        return np.full(shape, point.location), np.ones(shape)
    arms, of = _earlier(family.history.experiment)
    levels = family.over(family.history.take(arms, of, family.history.arms)).levels(point)
    return levels.places, levels.weights


def _earlier(experiment: Index) -> tuple[Index, Index]:
    """For each arm all arms before it in its experiment, as if they were an experiment: (arms, whose they are)."""
    first = np.searchsorted(experiment, experiment)  # where the arm's experiment begins
    before = np.arange(len(experiment)) - first
    of = np.repeat(np.arange(len(experiment)), before)
    within = np.arange(len(of)) - np.repeat(np.cumsum(before) - before, before)
    return first[of] + within, of
