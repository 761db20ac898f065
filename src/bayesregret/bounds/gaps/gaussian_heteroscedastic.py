"""Expectations over the gaps of independent heteroscedastic Gaussian arms.

Means are measured from the highest prior mean. Gaps of an arm are in units of its prior width, where they have the
density p(x) = E phi((M - mean) / width - x), M the best other arm. The narrowest prior determines the panels of M's
distribution, but only where that prior has weight.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from bayesregret.bounds.gaps.gaussian import INDEX_PANEL, LOG_SQRT_2PI, SMOOTH_PANEL, normal_density, smoothed
from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.numerics.expected_maximum import REACH, TOP, heteroscedastic_best, prior_panel_edges
from bayesregret.numerics.quadrature import (
    PanelFunction,
    even_edges,
    gauss_points,
    gauss_rule,
    graded_edges,
    merge_edges,
    sum_rule,
)

# Beyond this ratio of the longest length to the narrowest width, points near that prior have too few digits.
MOST_SPREAD = 1e6
MOST_KINDS = 1_000


class HeteroscedasticArmKind(NamedTuple):
    """Arms with equal prior mean, prior width and reward noise."""

    copies: int
    mean: float  # measured from the highest prior mean
    width: float
    pseudo_count: float  # of the prior: (reward noise / prior width)^2
    best_other: PanelFunction  # density of the best other arm
    density: PanelFunction  # density of the gap in prior widths, up to the requested farthest gap


def spread_failure(bandit: GaussianBandit) -> str | None:
    """Return a reason if integrals over the gaps of these arms cannot be computed, otherwise None."""
    longest = float(np.ptp(bandit.prior_mean) + bandit.prior_widths.max())
    if longest > MOST_SPREAD * float(bandit.prior_widths.min()):
        return f"prior widths must be at least {1.0 / MOST_SPREAD:g} of the largest one plus the range of prior means"
    if len(_distinct_arms(bandit)) > MOST_KINDS:
        return f"heteroscedastic bandits may have at most {MOST_KINDS} different arms"
    return None


def _distinct_arms(bandit: GaussianBandit) -> list[tuple[tuple[float, float, float], int]]:
    """Distinct triples of prior mean (measured from the highest), prior width and noise, with their multiplicities."""
    every = np.stack([bandit.prior_mean - bandit.prior_mean.max(), bandit.prior_widths, bandit.reward_noises], axis=1)
    rows, counts = np.unique(every, axis=0, return_counts=True)
    return [((row[0], row[1], row[2]), count) for row, count in zip(rows.tolist(), counts.tolist(), strict=True)]


class HeteroscedasticGaps:
    """Distribution of each arm's gap, up to `farthest(pseudo_count)` prior widths of the arm."""

    def __init__(self, bandit: GaussianBandit, farthest: Callable[[float], float], order: int) -> None:
        self.order = order
        different = _distinct_arms(bandit)
        self.means, self.widths, noises = (np.array([row[i] for row, _ in different]) for i in range(3))
        self.counts = np.array([float(count) for _, count in different])
        # At least two arms are above `low`, and none is above `high`.
        starts = np.repeat(self.means - REACH * self.widths, self.counts.astype(np.intp))
        low, high = float(np.sort(starts)[-2]), float(np.max(self.means + TOP * self.widths))
        pseudo_counts = (noises / self.widths) ** 2
        nearest_end = (high - self.means) / self.widths + REACH
        reach = [min(farthest(r), end) for r, end in zip(pseudo_counts.tolist(), nearest_end.tolist(), strict=True)]
        ends = self.means + self.widths * np.maximum(TOP, np.array(reach) + REACH)
        best_others = self._best_others(prior_panel_edges(self.means, self.widths, ends, low, high))
        self.kinds = [
            self._kind(i, float(pseudo_counts[i]), reach[i], best_other) for i, best_other in enumerate(best_others)
        ]

    def _best_others(self, edges: Array) -> list[PanelFunction]:
        """For an arm of each kind, the density of the best other arm, computed without subtraction."""
        others = self.counts - np.eye(len(self.counts))

        def densities(points: Array) -> Array:
            at = (points - self.means[:, None]) / self.widths[:, None]
            log_below = log_ndtr(at)
            rates = np.exp(-0.5 * at * at - LOG_SQRT_2PI - log_below) / self.widths[:, None]
            return np.asarray(np.exp(others @ log_below) * (others @ rates))

        return PanelFunction.fit_rows(densities, edges, self.order)

    def _kind(self, i: int, pseudo_count: float, reach: float, best_other: PanelFunction) -> HeteroscedasticArmKind:
        mean, width = float(self.means[i]), float(self.widths[i])
        points, weights = gauss_rule(best_other.edges, self.order)
        weights = weights * best_other(points)
        standardised = (points - mean) / width
        edges = even_edges(0.0, max(reach, 0.0), SMOOTH_PANEL)
        density = PanelFunction.fit(lambda x: smoothed(x, standardised, weights), edges, self.order)
        return HeteroscedasticArmKind(int(self.counts[i]), mean, width, pseudo_count, best_other, density)

    # --- expectations over the gap of an arm, in its prior widths -------------------------------------------------

    def expect(
        self,
        kind: HeteroscedasticArmKind,
        function: Callable[[Array], Array],
        low: float,
        high: float,
        growth: float = 2.5,
    ) -> float:
        """E of function(gap) for gaps from low > 0 to high; the function may be as steep as 1/x."""
        high = min(high, float(kind.density.edges[-1]))
        if not high > low:
            return 0.0
        edges = merge_edges(kind.density.edges, graded_edges(low, high, growth), low=low, high=high)
        x, weights = gauss_rule(edges, self.order)
        return float(np.sum(weights * kind.density(x) * function(x)))

    @functools.cached_property
    def gap_sum(self) -> float:
        """E of the sum of all gaps."""
        best = heteroscedastic_best(self.means, self.widths, self.counts, self.order)
        return float(self.counts @ (best - self.means))

    def partial_means(self, kind: HeteroscedasticArmKind, points: Array) -> Array:
        """E of the gap where it is at most x, for every x in `points`."""
        ends = np.minimum(points, kind.density.edges[-1])
        edges = np.unique(np.concatenate([kind.density.edges, ends]))
        x, weights = gauss_rule(edges, self.order)
        panels = (weights * kind.density(x) * x).reshape(-1, self.order).sum(axis=1)
        until = np.concatenate([[0.0], np.cumsum(panels)])
        return np.asarray(until[np.searchsorted(edges, ends)])

    # --- expectations over the best other arm, measured from an arm -----------------------------------------------

    def overlap(self, kind: HeteroscedasticArmKind, nearest: float, farthest: float) -> float:
        """Integral of h(m - xi(m)) f(m) dm, per unit of width; xi(m) maximises h(m - xi)."""

        def highest(y: Array) -> Array:
            return normal_density(y - np.clip(y, nearest, farthest))

        return self._over_best_other(kind, highest, np.array([nearest, farthest]))

    def index_sum(self, kind: HeteroscedasticArmKind, z: float, horizon: int) -> float:
        """E of the gap times #{k < horizon: index after k pulls >= best arm}, in prior widths."""
        later = pulls_by_index(kind.pseudo_count, z, horizon, self.order)

        def all_pulls(y: Array) -> Array:
            return later(y) + np.where(y <= z, shortfall(y), 0.0)

        return self._over_best_other(kind, all_pulls, np.append(later.edges, z))

    def _over_best_other(self, kind: HeteroscedasticArmKind, function: Callable[[Array], Array], kinks: Array) -> float:
        """E of function((M - mean) / width), for a function smooth between kinks."""
        edges = kind.best_other.edges
        merged = merge_edges(edges, kind.mean + kind.width * kinks, low=float(edges[0]), high=float(edges[-1]))
        points, weights = gauss_rule(merged, self.order)
        return float(np.sum(weights * kind.best_other(points) * function((points - kind.mean) / kind.width)))


def heteroscedastic_max_gap(bandit: GaussianBandit, order: int) -> float:
    """E[best arm - worst arm]."""
    different = _distinct_arms(bandit)
    means, widths = (np.array([row[i] for row, _ in different]) for i in range(2))
    counts = np.array([float(count) for _, count in different])
    return heteroscedastic_best(means, widths, counts, order) + heteroscedastic_best(-means, widths, counts, order)


def shortfall(u: Array) -> Array:
    """psi(u) = E(u + Z)^+."""
    return np.asarray(u * ndtr(u) + normal_density(u))


@functools.lru_cache(maxsize=64)
def pulls_by_index(pseudo_count: float, z: float, horizon: int, order: int) -> PanelFunction:
    """E of (y - theta)^+ #{0 < k < horizon: index after k pulls >= y}, theta standard normal, as a function of y.

    After k pulls the posterior variance is v = pseudo_count / (pseudo_count + k); the posterior mean is normal with
    variance 1 - v, and the index is at least y if the posterior mean is at least y - z sqrt(v).
    """
    pulls, times = sum_rule(1, max(horizon, 1), order)

    def total(y: Array) -> Array:
        result = np.zeros_like(y)
        for k, count in zip(pulls.tolist(), times.tolist(), strict=True):
            v, rest = pseudo_count / (pseudo_count + k), k / (pseudo_count + k)
            result += count * (_by_mean if v >= rest else _by_distance)(y, math.sqrt(v), math.sqrt(rest), z, order)
        return result[None, :]

    edges = even_edges(-REACH, math.hypot(z, REACH), SMOOTH_PANEL)
    return PanelFunction.fit_halving(total, edges, order)[0]


def _by_mean(y: Array, deviation: float, spread: float, z: float, order: int) -> Array:
    """Term of one number of pulls, as an integral over the posterior mean; for few pulls, while its spread is small."""
    start = np.clip((y - z * deviation) / spread, -REACH, REACH)
    panels = math.ceil(2.0 * REACH / (2.0 * INDEX_PANEL))
    zeta, weights = gauss_points(np.linspace(start, REACH, panels + 1, axis=-1), order)
    lost = shortfall((y[:, None] - spread * zeta) / deviation)
    return np.asarray(deviation * np.sum(weights * normal_density(zeta) * lost, axis=1))


def _by_distance(y: Array, deviation: float, spread: float, z: float, order: int) -> Array:
    """Term of one number of pulls, as an integral over (y - posterior mean) / deviation; for many pulls."""
    u, weights = gauss_rule(even_edges(-REACH, z, INDEX_PANEL), order)
    means = normal_density((y[:, None] - deviation * u) / spread) / spread
    return np.asarray(deviation**2 * (means @ (weights * shortfall(u))))
