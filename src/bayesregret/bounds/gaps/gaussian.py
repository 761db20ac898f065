"""Expectations over the gaps of independent Gaussian arms, all in units of the prior width.

Write mu_a for an arm's prior mean and f_a for the density of the best other arm. Given that the best other arm is at
m = mu_a + w, the arm's gap is w minus a standard normal. So every expectation over gaps depends on the prior only
through f(w) = sum over arms of f_a(mu_a + w), one function of one variable, and the gaps' density is f smoothed by
a standard normal: p(x) = sum over arms of P(gap in dx)/dx = integral of f(w) phi(w - x) dw, x > 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.numerics.expected_maximum import REACH, SHARP_PANEL, TOP, gaussian_best_above
from bayesregret.numerics.quadrature import (
    PanelFunction,
    even_edges,
    gauss_rule,
    graded_edges,
    merge_edges,
    sum_rule,
)

# The product of two densities this many widths apart underflows to zero.
NO_OVERLAP = 56.0
# A function smoothed by a standard normal has no feature narrower than 1.
SMOOTH_PANEL = 1.0
INDEX_PANEL = 1.2
LOWEST_LOG = -700.0
LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def normal_density(x: Array) -> Array:
    return np.exp(-0.5 * x * x - LOG_SQRT_2PI)


class GaussianArmKind(NamedTuple):
    """Arms of equal prior mean."""

    copies: int
    ahead: float  # the highest other prior mean minus the arms' prior mean
    log_best_other: PanelFunction  # log density of the best other arm, measured from the highest other prior mean


class Piece(NamedTuple):
    """A stretch of possible gaps, with f and p as functions of the distance from an origin."""

    origin: float
    best_other: PanelFunction
    density: PanelFunction


class GaussianGaps:
    """Distribution of the gaps of a homoscedastic Gaussian bandit, and expectations over it."""

    def __init__(self, bandit: GaussianBandit, order: int) -> None:
        self.order = order
        self.width = bandit.prior_width
        values, counts = np.unique(-bandit.prior_mean, return_counts=True)
        self.means, self.counts = -values, counts.astype(np.float64)
        self.arms = bandit.arms
        self.kinds = self._kinds() if self.arms > 1 else []
        self.pieces = list(self._pieces())

    # --- the best other arm ---------------------------------------------------------------------------------------

    def _kinds(self) -> list[GaussianArmKind]:
        """Kinds of arms: the highest mean is ahead of every arm, except of a single arm at the top."""
        if self.counts[0] > 1:
            return self._kinds_behind_top(0)
        return [self._single_top(), *self._kinds_behind_top(1)]

    def _kinds_behind_top(self, first: int) -> list[GaussianArmKind]:
        behind = (self.means[0] - self.means) / self.width
        near = behind <= NO_OVERLAP
        edges = even_edges(-REACH - float(behind[near].max()), TOP, SHARP_PANEL)
        all_arms, without_one = _log_best(behind[near], self.counts[near], edges, self.order)
        logs = without_one + [all_arms] * int((~near).sum())
        return [GaussianArmKind(int(self.counts[i]), float(behind[i]), logs[i]) for i in range(first, len(self.means))]

    def _single_top(self) -> GaussianArmKind:
        """The single arm at the top, measured from the second highest mean."""
        behind = (self.means[1] - self.means[1:]) / self.width
        near = behind <= NO_OVERLAP
        ahead = float((self.means[1] - self.means[0]) / self.width)
        edges = even_edges(-REACH, TOP + min(NO_OVERLAP, -ahead), SHARP_PANEL)
        all_others, _ = _log_best(behind[near], self.counts[1:][near], edges, self.order)
        return GaussianArmKind(1, ahead, all_others)

    def _pieces(self) -> Iterable[Piece]:
        """Stretches of gaps, overlapping ones joined; one far from zero has an origin different from 0."""
        reachable = sorted((k for k in self.kinds if k.ahead + TOP > -REACH), key=lambda kind: kind.ahead)
        while reachable:
            joined = [reachable.pop(0)]
            while reachable and reachable[0].ahead - joined[-1].ahead < TOP + 3.0 * REACH:
                joined.append(reachable.pop(0))
            origin = joined[0].ahead if joined[0].ahead > TOP + 3.0 * REACH else 0.0
            yield self._piece(origin, joined)

    def _piece(self, origin: float, kinds: list[GaussianArmKind]) -> Piece:
        offsets = [kind.ahead - origin for kind in kinds]
        low, high = offsets[0] - REACH, offsets[-1] + TOP
        if origin == 0.0:
            low = max(low, -REACH)  # an arm this far ahead of all others is always best

        def best_other(w: Array) -> Array:
            total = np.zeros_like(w)
            for kind, offset in zip(kinds, offsets, strict=True):
                eta = w - offset
                inside = (eta >= -REACH) & (eta <= TOP)
                total[inside] += kind.copies * np.exp(kind.log_best_other(eta[inside]))
            return total

        f = PanelFunction.fit(best_other, even_edges(low, high, SHARP_PANEL), self.order)
        w, weights = gauss_rule(f.edges, self.order)
        weights = weights * f(w)

        def density(x: Array) -> Array:
            return smoothed(x, w, weights)

        lowest = 0.0 if origin == 0.0 else low - REACH
        p = PanelFunction.fit(density, even_edges(lowest, high + REACH, SMOOTH_PANEL), self.order)
        return Piece(origin, f, p)

    # --- expectations over gaps -----------------------------------------------------------------------------------

    def expect(
        self,
        function: Callable[[Array], Array],
        low: float = 0.0,
        high: float = math.inf,
        growth: float = 2.5,
    ) -> float:
        """E of the sum over suboptimal arms of function(gap), for gaps from low to high.

        When `low` is positive the function may be as steep as 1/x, or change within a gap `growth` times as large.
        """
        total = 0.0
        for piece in self.pieces:
            x, weights = self._rule(piece, low, high, growth)
            total += float(np.sum(weights * function(piece.origin + x)))
        return total

    def _rule(self, piece: Piece, low: float, high: float, growth: float) -> tuple[Array, Array]:
        """Points, as distances from the piece's origin, with weights that hold the gaps' density."""
        edges = piece.density.edges
        start, end = max(low - piece.origin, edges[0]), min(high - piece.origin, edges[-1])
        if not end > start:
            return np.zeros(0), np.zeros(0)
        graded = graded_edges(start, end, growth) if piece.origin == 0.0 and start > 0.0 else edges[:0]
        x, weights = gauss_rule(merge_edges(edges, graded, low=start, high=end), self.order)
        return x, weights * piece.density(x)

    def density(self, x: Array) -> Array:
        """Sum over arms of the density of the gap at x."""
        total = np.zeros_like(x)
        for piece in self.pieces:
            total += piece.density(x - piece.origin)
        return total

    def partial_means(self, points: Array) -> Array:
        """E of the sum of the gaps that are at most x, for every x in `points`."""
        total = np.zeros_like(points)
        for piece in self.pieces:
            ends = np.clip(points - piece.origin, piece.density.edges[0], piece.density.edges[-1])
            edges = np.unique(np.concatenate([piece.density.edges, ends]))
            x, weights = gauss_rule(edges, self.order)
            panels = (weights * piece.density(x) * (piece.origin + x)).reshape(-1, self.order).sum(axis=1)
            until = np.concatenate([[0.0], np.cumsum(panels)])
            total += until[np.searchsorted(edges, ends)]
        return total

    @functools.cached_property
    def best_above_top(self) -> float:
        """E[best arm] minus the highest prior mean."""
        return gaussian_best_above(self.means, self.counts, self.width, self.order) / self.width

    @functools.cached_property
    def max_gap(self) -> float:
        """E[best arm - worst arm]."""
        if self.arms == 1:
            return 0.0
        worst = gaussian_best_above(-self.means, self.counts, self.width, self.order) / self.width
        return float(self.means[0] - self.means[-1]) / self.width + self.best_above_top + worst

    @functools.cached_property
    def gap_sum(self) -> float:
        """E of the sum of all gaps."""
        behind = (self.means[0] - self.means) / self.width
        return float(np.sum(self.counts * behind)) + self.arms * self.best_above_top

    # --- the prior integral ---------------------------------------------------------------------------------------

    def complexity(self, nearest: float = 0.0, farthest: float = 0.0) -> float:
        """Sum over arms of the integral of h_a(m - xi(m)) f_a(m) dm, per unit of width.

        xi(m) maximises h_a(m - xi) between nearest and farthest: it is m - mu_a if that is between them.
        """
        return math.fsum(kind.copies * self._overlap(kind, nearest, farthest) for kind in self.kinds)

    def _overlap(self, kind: GaussianArmKind, nearest: float, farthest: float) -> float:
        edges = kind.log_best_other.edges
        kinks = np.array([nearest, farthest]) - kind.ahead
        eta, weights = gauss_rule(merge_edges(edges, kinks, low=edges[0], high=edges[-1]), self.order)
        y = eta + kind.ahead
        off = y - np.clip(y, nearest, farthest)
        return float(np.sum(weights * np.exp(kind.log_best_other(eta) - 0.5 * off * off - LOG_SQRT_2PI)))

    # --- pulls at which the index is high enough ------------------------------------------------------------------

    def index_sum(self, pseudo_count: float, z: float, horizon: int) -> float:
        """E of the sum over suboptimal arms of the gap times #{k < horizon: index after k pulls >= best arm}.

        After k pulls the posterior variance is v = pseudo_count / (pseudo_count + k), the posterior mean is normal with
        variance 1 - v, and with u = (best other arm - posterior mean) / sqrt(v) the k-th term is the integral over
        u < z of v psi(u) E f(sqrt(v) u + sqrt(1 - v) zeta) du, psi(u) = E(u + Z)^+.
        """
        u, zeta, weights = _index_rule(z, self.order)
        pulls, times = sum_rule(0, horizon, self.order)
        total = 0.0
        for k, multiplicity in zip(pulls.tolist(), times.tolist(), strict=True):
            v = pseudo_count / (pseudo_count + k)
            w = math.sqrt(v) * u + math.sqrt(k / (pseudo_count + k)) * zeta
            near = math.fsum(float(weights @ piece.best_other(w - piece.origin)) for piece in self.pieces)
            total += multiplicity * v * near
        return total


@functools.lru_cache(maxsize=32)
def gaussian_gaps(bandit: GaussianBandit, order: int) -> GaussianGaps:
    return GaussianGaps(bandit, order)


def _log_best(behind: Array, counts: Array, edges: Array, order: int) -> tuple[PanelFunction, list[PanelFunction]]:
    """Log density of the best arm, and of the best arm without one arm of a kind, for every kind.

    `behind` holds the distances of the means below an origin, in widths. The density is the product of all distribution
    functions times the sum of density over distribution function; the omitted arm is never subtracted, since it may
    account for nearly all of the sum.
    """

    def logs(x: Array) -> Array:
        at = x + behind[:, None]
        log_below = log_ndtr(at)
        ratio = np.exp(-0.5 * at * at - LOG_SQRT_2PI - log_below)
        rows = [_log_product(counts, log_below, ratio)]
        for kind in range(len(counts)):
            fewer = counts.copy()
            fewer[kind] -= 1
            rows.append(_log_product(fewer, log_below, ratio))
        return np.array(rows)

    fitted = PanelFunction.fit_rows(logs, edges, order)
    return fitted[0], fitted[1:]


def _log_product(counts: Array, log_below: Array, ratio: Array) -> Array:
    with np.errstate(divide="ignore"):
        log = counts @ log_below + np.log(counts @ ratio)
    return np.maximum(log, LOWEST_LOG)


def smoothed(x: Array, w: Array, weights: Array) -> Array:
    """Sum of weights times normal densities around the points w, which are sorted."""
    result = np.empty_like(x)
    for part in range(0, len(x), 256):
        rows = slice(part, part + 256)
        first, last = np.searchsorted(w, [x[rows].min() - REACH, x[rows].max() + REACH])
        result[rows] = normal_density(x[rows, None] - w[None, first:last]) @ weights[first:last]
    return result


@functools.lru_cache(maxsize=64)
def _index_rule(z: float, order: int) -> tuple[Array, Array, Array]:
    """Pairs (u, zeta) with weights psi(u) phi(zeta) for u < z; pairs with negligible weight are omitted."""
    u, u_weights = gauss_rule(even_edges(-REACH, z, INDEX_PANEL), order)
    u_weights = u_weights * (u * ndtr(u) + normal_density(u))
    step = 2.4 / order  # with this step the trapezoidal rule is exact to the last digit for a normal density
    zeta = step * np.arange(-int(REACH / step), int(REACH / step) + 1, dtype=np.float64)
    weights = np.outer(u_weights, step * normal_density(zeta))
    kept = np.nonzero(weights > 1e-20)
    return u[kept[0]], zeta[kept[1]], weights[kept]
