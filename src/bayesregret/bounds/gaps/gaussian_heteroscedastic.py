"""Expectations over the gaps of independent Gaussian arms that each have a prior width and a reward noise of their own.

Levels are measured from the highest prior mean. What is asked of an arm is asked in units of its own prior width: its
gap there has the density p(x) = E phi((M - mean) / width - x), M the best other arm. The narrowest prior decides how
fine the panels of levels are, and only where it has weight.
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
from bayesregret.numerics.expected_maximum import REACH, TOP, level_edges, own_widths_best
from bayesregret.numerics.quadrature import (
    PanelFunction,
    even_edges,
    gauss_points,
    gauss_rule,
    graded_edges,
    merge_edges,
    sum_rule,
)

# Beyond this ratio of the longest length to the narrowest width, levels near that prior have too few digits.
MOST_SPREAD = 1e6
MOST_KINDS = 1_000


class OwnKind(NamedTuple):
    """Arms of which everything is equal."""

    copies: int
    mean: float  # from the highest one
    width: float
    strength: float  # the pulls that the prior is worth
    best_other: PanelFunction  # the best other arm's density, of levels
    density: PanelFunction  # of the gap in widths, up to the farthest one that was asked for


def own_spread(bandit: GaussianBandit) -> str | None:
    """Why the gaps of these arms cannot be integrated over, if so."""
    longest = float(np.ptp(bandit.prior_mean) + bandit.prior_widths.max())
    if longest > MOST_SPREAD * float(bandit.prior_widths.min()):
        return f"prior widths must be at least {1.0 / MOST_SPREAD:g} of the largest one and of the means' distances"
    if len(_different(bandit)) > MOST_KINDS:
        return f"at most {MOST_KINDS} arms may differ where prior widths or reward noises do"
    return None


def _different(bandit: GaussianBandit) -> list[tuple[tuple[float, float, float], int]]:
    """Means from the highest one, widths and noises that there are, with the arms that have them."""
    every = np.stack([bandit.prior_mean - bandit.prior_mean.max(), bandit.prior_widths, bandit.reward_noises], axis=1)
    rows, counts = np.unique(every, axis=0, return_counts=True)
    return [((row[0], row[1], row[2]), many) for row, many in zip(rows.tolist(), counts.tolist(), strict=True)]


class OwnGaps:
    """The prior as the bounds need it, for gaps of at most `farthest(strength)` widths of an arm."""

    def __init__(self, bandit: GaussianBandit, farthest: Callable[[float], float], order: int) -> None:
        self.order = order
        different = _different(bandit)
        self.means, self.widths, noises = (np.array([row[i] for row, _ in different]) for i in range(3))
        self.counts = np.array([float(many) for _, many in different])
        # Two arms or more are above `low`, and none is above `high`.
        starts = np.repeat(self.means - REACH * self.widths, self.counts.astype(np.intp))
        low, high = float(np.sort(starts)[-2]), float(np.max(self.means + TOP * self.widths))
        strengths = (noises / self.widths) ** 2
        nearest_end = (high - self.means) / self.widths + REACH
        reach = [min(farthest(r), end) for r, end in zip(strengths.tolist(), nearest_end.tolist(), strict=True)]
        ends = self.means + self.widths * np.maximum(TOP, np.array(reach) + REACH)
        best_others = self._best_others(level_edges(self.means, self.widths, ends, low, high))
        self.kinds = [
            self._kind(i, float(strengths[i]), reach[i], best_other) for i, best_other in enumerate(best_others)
        ]

    def _best_others(self, edges: Array) -> list[PanelFunction]:
        """For an arm of each kind, the density of the best of all others. None is a difference of two."""
        others = self.counts - np.eye(len(self.counts))

        def densities(levels: Array) -> Array:
            at = (levels - self.means[:, None]) / self.widths[:, None]
            log_below = log_ndtr(at)
            rates = np.exp(-0.5 * at * at - LOG_SQRT_2PI - log_below) / self.widths[:, None]
            return np.asarray(np.exp(others @ log_below) * (others @ rates))

        return PanelFunction.fit_rows(densities, edges, self.order)

    def _kind(self, i: int, strength: float, reach: float, best_other: PanelFunction) -> OwnKind:
        mean, width = float(self.means[i]), float(self.widths[i])
        levels, weights = gauss_rule(best_other.edges, self.order)
        weights = weights * best_other(levels)
        seen = (levels - mean) / width
        edges = even_edges(0.0, max(reach, 0.0), SMOOTH_PANEL)
        density = PanelFunction.fit(lambda x: smoothed(x, seen, weights), edges, self.order)
        return OwnKind(int(self.counts[i]), mean, width, strength, best_other, density)

    # --- of the gap of an arm, in its widths ----------------------------------------------------------------------

    def expect(
        self, kind: OwnKind, function: Callable[[Array], Array], low: float, high: float, growth: float = 2.5
    ) -> float:
        """E function(gap) for gaps from low, which is positive, to high; the function may be as steep as 1/x."""
        high = min(high, float(kind.density.edges[-1]))
        if not high > low:
            return 0.0
        edges = merge_edges(kind.density.edges, graded_edges(low, high, growth), low=low, high=high)
        x, weights = gauss_rule(edges, self.order)
        return float(np.sum(weights * kind.density(x) * function(x)))

    @functools.cached_property
    def gap_sum(self) -> float:
        """E of the sum of all gaps."""
        best = own_widths_best(self.means, self.widths, self.counts, self.order)
        return float(self.counts @ (best - self.means))

    def partial_means(self, kind: OwnKind, points: Array) -> Array:
        """E of the gap where it is at most x, for every x of `points`."""
        ends = np.minimum(points, kind.density.edges[-1])
        edges = np.unique(np.concatenate([kind.density.edges, ends]))
        x, weights = gauss_rule(edges, self.order)
        panels = (weights * kind.density(x) * x).reshape(-1, self.order).sum(axis=1)
        until = np.concatenate([[0.0], np.cumsum(panels)])
        return np.asarray(until[np.searchsorted(edges, ends)])

    # --- of the best other arm, seen from an arm ------------------------------------------------------------------

    def overlap(self, kind: OwnKind, nearest: float, farthest: float) -> float:
        """The integral of h(m - xi(m)) f(m) dm, per unit of width; xi(m) is where h(m - xi) is largest."""

        def highest(y: Array) -> Array:
            return normal_density(y - np.clip(y, nearest, farthest))

        return self._over_best_other(kind, highest, np.array([nearest, farthest]))

    def index_sum(self, kind: OwnKind, z: float, horizon: int) -> float:
        """E of the gap times #{k < horizon: index after k pulls >= best arm}, in widths."""
        later = pulls_by_index(kind.strength, z, horizon, self.order)

        def all_pulls(y: Array) -> Array:
            return later(y) + np.where(y <= z, shortfall(y), 0.0)

        return self._over_best_other(kind, all_pulls, np.append(later.edges, z))

    def _over_best_other(self, kind: OwnKind, function: Callable[[Array], Array], kinks: Array) -> float:
        """E function((M - mean) / width), smooth between kinks."""
        edges = kind.best_other.edges
        merged = merge_edges(edges, kind.mean + kind.width * kinks, low=float(edges[0]), high=float(edges[-1]))
        levels, weights = gauss_rule(merged, self.order)
        return float(np.sum(weights * kind.best_other(levels) * function((levels - kind.mean) / kind.width)))


def own_max_gap(bandit: GaussianBandit, order: int) -> float:
    """E[best arm - worst arm]."""
    different = _different(bandit)
    means, widths = (np.array([row[i] for row, _ in different]) for i in range(2))
    counts = np.array([float(many) for _, many in different])
    return own_widths_best(means, widths, counts, order) + own_widths_best(-means, widths, counts, order)


def shortfall(u: Array) -> Array:
    """psi(u) = E(u + Z)^+."""
    return np.asarray(u * ndtr(u) + normal_density(u))


@functools.lru_cache(maxsize=64)
def pulls_by_index(strength: float, z: float, horizon: int, order: int) -> PanelFunction:
    """E of (y - theta)^+ #{0 < k < horizon: index after k pulls >= y}, theta standard normal, as a function of y.

    After k pulls the posterior variance is v = strength / (strength + k); the posterior mean is normal with variance
    1 - v, and an index above y is one of at least y - z sqrt(v).
    """
    pulls, times = sum_rule(1, max(horizon, 1), order)

    def total(y: Array) -> Array:
        made = np.zeros_like(y)
        for k, many in zip(pulls.tolist(), times.tolist(), strict=True):
            v, rest = strength / (strength + k), k / (strength + k)
            made += many * (_by_mean if v >= rest else _by_distance)(y, math.sqrt(v), math.sqrt(rest), z, order)
        return made[None, :]

    edges = even_edges(-REACH, math.hypot(z, REACH), SMOOTH_PANEL)
    return PanelFunction.fit_halving(total, edges, order)[0]


def _by_mean(y: Array, deviation: float, spread: float, z: float, order: int) -> Array:
    """One pull's term, as an integral over posterior means, which are near each other."""
    start = np.clip((y - z * deviation) / spread, -REACH, REACH)
    panels = math.ceil(2.0 * REACH / (2.0 * INDEX_PANEL))
    zeta, weights = gauss_points(np.linspace(start, REACH, panels + 1, axis=-1), order)
    lost = shortfall((y[:, None] - spread * zeta) / deviation)
    return np.asarray(deviation * np.sum(weights * normal_density(zeta) * lost, axis=1))


def _by_distance(y: Array, deviation: float, spread: float, z: float, order: int) -> Array:
    """The same, as an integral over (y - posterior mean) / deviation, of which little depends."""
    u, weights = gauss_rule(even_edges(-REACH, z, INDEX_PANEL), order)
    means = normal_density((y[:, None] - deviation * u) / spread) / spread
    return np.asarray(deviation**2 * (means @ (weights * shortfall(u))))
