"""Ties of the two best of many independent arms: where they happen, and with what density.

Write h for an arm's density and F for its distribution function. The arms a and b are equal at y with all others below
them with density h_a(y) h_b(y) prod F_i(y), the product over the others. Per pair of arms, and summed over pairs, these
densities are products of all F and of two rates h / F: no sum is ever subtracted, since one arm may account for nearly
all of it. For Beta arms the coordinate y is the log-odds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from bayesregret.checks import Array
from bayesregret.numerics import beta_log_odds
from bayesregret.numerics.expected_maximum import REACH, TOP, prior_panel_edges
from bayesregret.numerics.quadrature import PanelFunction, even_edges, gauss_rule, merge_edges

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
LOG_ODDS_PANEL = 1.5
ORDER = 12  # of the panels that are halved until they resolve the density
LOWEST_LOG = -700.0
ZOOMS, ZOOM_POINTS = 6, 33  # of the search for the peak
CHUNK = 4_000_000  # numbers in memory at a time


@dataclass(frozen=True, eq=False)
class Ties:
    """The density of ties of the two best arms, for arms of several kinds."""

    counts: Array  # (kinds,): number of arms of each kind
    kind: NDArray[np.intp]  # (arms,): the kind of each arm
    log_below: Callable[[Array], Array]  # (kinds, points): log F
    log_rate: Callable[[Array], Array]  # (kinds, points): log h / F
    edges: Array  # of panels that resolve every h and F

    @functools.cached_property
    def log_scale(self) -> float:
        """Logarithm of the largest density of a tie: far apart arms have tiny ones."""
        return self._peak[0]

    @functools.cached_property
    def _peak(self) -> tuple[float, Array]:
        """Logarithm of the largest density of a tie, and edges that close in on its place.

        The peak may be in a gap between all priors, far narrower than the gap.
        """
        points, around = gauss_rule(self.edges, ORDER)[0], []
        for _ in range(ZOOMS):
            best = int(np.argmax(self._log_ties(points)))
            low, high = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
            around += [low, high]
            points = np.linspace(low, high, ZOOM_POINTS)
        return float(self._log_ties(points).max()), np.array(around)

    @functools.cached_property
    def density(self) -> PanelFunction:
        """Density of a tie of any two arms, divided by exp(log_scale)."""
        edges = merge_edges(self.edges, self._peak[1], low=self.edges[0], high=self.edges[-1])

        def scaled(y: Array) -> Array:
            return np.exp(np.maximum(self._log_ties(y) - self.log_scale, LOWEST_LOG))[None, :]

        return PanelFunction.fit_halving(scaled, edges, ORDER)[0]

    def _log_ties(self, y: Array) -> Array:
        """Log of the sum over pairs of arms, by kinds: pairs of one kind, and of each kind with those before it."""
        log_all, rates, log_top = self._parts(y)
        counts = self.counts[:, None]
        before = np.zeros_like(rates)
        before[1:] = np.cumsum(counts[:-1] * rates[:-1], axis=0)
        pairs = np.sum(counts * rates * (before + 0.5 * (counts - 1.0) * rates), axis=0)
        with np.errstate(divide="ignore"):
            return np.asarray(log_all + 2.0 * log_top + np.log(pairs))

    def _parts(self, y: Array) -> tuple[Array, Array, Array]:
        """Log of the product of all F; (kinds, points) rates over the largest one, and its logarithm."""
        log_rate = self.log_rate(y)
        log_top = log_rate.max(axis=0)
        return self.counts @ self.log_below(y), np.exp(log_rate - log_top), log_top

    def pair_integral(self, factor: Array, order: int) -> float:
        """Sum over pairs of arms of their (kinds, kinds) factor times the integral of the pair's density of ties."""
        pairs = np.outer(self.counts, self.counts)
        np.fill_diagonal(pairs, self.counts * (self.counts - 1.0))
        weighted = 0.5 * factor * pairs
        return float(self._integrate(lambda rates: np.sum(rates * (weighted @ rates), axis=0), order))

    def overlaps(self, order: int) -> Array:
        """(kinds,): for an arm of each kind, the integral of its density times that of the best other arm."""
        others = self.counts - np.eye(len(self.counts))
        return np.asarray(self._integrate(lambda rates: rates * (others @ rates), order))

    def _integrate(self, of_rates: Callable[[Array], Array], order: int) -> Array:
        """Integral of the product of all F times quadratic forms of the rates."""
        points, weights = gauss_rule(self.density.edges, order)
        total = np.zeros(())
        size = max(1, CHUNK // len(self.counts))
        for first in range(0, len(points), size):
            part = slice(first, first + size)
            log_all, rates, log_top = self._parts(points[part])
            total = total + of_rates(rates) @ (weights[part] * np.exp(log_all + 2.0 * log_top))
        return total


def normal_ties(means: Array, widths: Array, *more: Array) -> Ties:
    """Ties of at least two normal arms; the coordinate is measured from the highest mean.

    Arms of one kind are equal in `more`, too.
    """
    rows, kind, counts = _kinds(means - means.max(), widths, *more)
    centres, spreads = rows[:2]
    starts = np.repeat(centres - REACH * spreads, counts)
    # At least two arms are above `low`, and none is above `high`.
    low, high = float(np.sort(starts)[-2]), float(np.max(centres + TOP * spreads))
    edges = prior_panel_edges(centres, spreads, centres + TOP * spreads, low, high)

    def log_below(y: Array) -> Array:
        return np.asarray(log_ndtr((y - centres[:, None]) / spreads[:, None]))

    def log_rate(y: Array) -> Array:
        at = (y - centres[:, None]) / spreads[:, None]
        return np.asarray(-0.5 * at * at - LOG_SQRT_2PI - np.log(spreads)[:, None] - log_ndtr(at))

    return Ties(counts.astype(np.float64), kind, log_below, log_rate, edges)


def beta_ties(alpha: Array, beta: Array) -> Ties:
    """Ties of at least two Beta arms, in log-odds: there a density is h(m) m (1 - m), m the mean reward.

    So the integral of an arm's density times that of the best other arm is that of h(m) m (1 - m) f(m) dm.
    """
    rows, kind, counts = _kinds(alpha, beta)
    pairs = rows.T.tolist()
    supports = [beta_log_odds.support(a, b) for a, b in pairs]
    low, high = min(start for start, _ in supports), max(end for _, end in supports)
    humps = [np.linspace(*support, 13) for support in supports]

    def log_below(y: Array) -> Array:
        return np.array([beta_log_odds.log_below(a, b, y) for a, b in pairs])

    def log_rate(y: Array) -> Array:
        return np.array([beta_log_odds.log_density(a, b, y) - beta_log_odds.log_below(a, b, y) for a, b in pairs])

    edges = merge_edges(even_edges(low, high, LOG_ODDS_PANEL), *humps, low=low, high=high)
    return Ties(counts.astype(np.float64), kind, log_below, log_rate, edges)


def _kinds(*parameters: Array) -> tuple[Array, NDArray[np.intp], NDArray[np.int64]]:
    """(parameters, kinds): the distinct parameters; the kind of each arm, and the number of arms of each kind."""
    rows, kind, counts = np.unique(np.stack(parameters), axis=1, return_inverse=True, return_counts=True)
    return rows, kind.ravel(), counts
