"""Expectations over the gaps of independent Beta arms, all in log-odds: see numerics/beta_log_odds.py."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from bayesregret.bounds.bound import FINE
from bayesregret.bounds.gaps.bernoulli_density import PANEL, ArmKind, tapered_density
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit
from bayesregret.numerics import beta_log_odds
from bayesregret.numerics.beta_log_odds import (
    DEPTH,
    FARTHEST,
    expit,
    log_below,
    log_density,
    log_density_at,
    log_odds,
    logit,
)
from bayesregret.numerics.quadrature import PanelFunction, even_edges, gauss_rule, merge_edges

# A flatter prior has weight at 0 and 1 themselves; sharper ones would need too fine a grid beside flat ones.
SMALLEST_COUNT = DEPTH / FARTHEST
LARGEST_COUNT = 1e8
# Densities in log-odds are analytic in a strip of half-width pi/2 at least: even steps h leave out exp(-pi^2 / h).
STEP = 0.33
# Gaps below this are treated like gaps of this size; well above it, density is nearly constant in log-odds.
SMALLEST_GAP = 1e-22
LONG_PANEL = 6.0
# A density of gaps below this is of no weight beside the others.
FLOOR = 0.01
# It is made of functions that are themselves resolved to 1e-12 only.
RESOLVED = 1e-11
HUMP = np.array([-8.0, -4.0, -2.0, 0.0, 2.0, 4.0, 8.0])  # standard deviations


class GapDensity(NamedTuple):
    """An arm's gap x in log-odds l: density(x) (1 - x) as a function of l."""

    kind: ArmKind
    tapered: PanelFunction


class BernoulliGaps:
    """The prior of a Bernoulli bandit as the bounds need it."""

    def __init__(self, bandit: BernoulliBandit, order: int) -> None:
        check_counts(bandit)
        self.order = order
        self.arms = bandit.arms
        pairs, counts = np.unique(np.stack([bandit.alpha, bandit.beta]), axis=1, return_counts=True)
        self.alphas, self.betas, self.counts = pairs[0], pairs[1], counts.astype(np.float64)
        self.supports = [beta_log_odds.support(a, b) for a, b in zip(self.alphas, self.betas, strict=True)]
        self.sharpest = min(beta_log_odds.width(a, b) for a, b in zip(self.alphas, self.betas, strict=True))
        # Even steps integrate a bell to the last digit when it is so many steps wide; the best of K arms is narrower.
        steps_per_width = 1.6 * math.sqrt(2.0 + 2.0 * math.log(self.arms))
        self.step = min(STEP, self.sharpest / steps_per_width) * FINE / order
        self.kinds = self._kinds() if self.arms > 1 else []

    # --- the best other arm ---------------------------------------------------------------------------------------

    def _kinds(self) -> list[ArmKind]:
        """All kinds on common panels, so that each distribution function is computed once."""
        low, high = min(s[0] for s in self.supports), max(s[1] for s in self.supports)
        humps = [np.linspace(*s, 9) for s in self.supports if s[1] - s[0] < 8.0 * PANEL]
        edges = merge_edges(even_edges(low, high, PANEL), *humps, low=low, high=high)
        fewer = self.counts - np.eye(len(self.counts))
        functions = PanelFunction.fit_halving(lambda y: self.best(fewer, y), edges, self.order)
        densities, above = functions[: len(fewer)], functions[len(fewer) :]
        return [
            ArmKind(
                int(self.counts[i]),
                float(self.alphas[i]),
                float(self.betas[i]),
                self.supports[i],
                max(self.supports[j][0] for j in np.flatnonzero(fewer[i])),
                densities[i],
                above[i],
            )
            for i in range(len(fewer))
        ]

    def best(self, counts: Array, y: Array) -> Array:
        """For every row of counts of arms of each kind: the density of the best arm, then P(best arm above y)."""
        log_all = np.zeros((len(counts), len(y)))
        ratios = np.zeros_like(log_all)
        for of_kind, alpha, beta in zip(counts.T[:, :, None], self.alphas, self.betas, strict=True):
            below = log_below(alpha, beta, y)
            log_all += of_kind * below
            ratios += of_kind * np.exp(np.minimum(log_density(alpha, beta, y) - below, FARTHEST))
        return np.concatenate([np.exp(log_all) * ratios, -np.expm1(log_all)])

    # --- gaps -----------------------------------------------------------------------------------------------------

    @functools.cached_property
    def densities(self) -> list[GapDensity]:
        return [density for kind in self.kinds if (density := self._gap_density(kind)) is not None]

    def _gap_density(self, kind: ArmKind) -> GapDensity | None:
        """Fitted to each panel's own size where gaps are small, since functions like 1/x are asked for there."""
        best_high, lowest = kind.best_other.edges[-1], kind.support[0]
        short_of_one = expit(-best_high) + expit(lowest)
        if short_of_one >= 1.0:
            return None  # the arm is surely the best
        low = math.log(SMALLEST_GAP)
        high = math.log1p(-short_of_one) - math.log(short_of_one)
        small = min(high, math.log(0.1 * self.sharpest / 4.0))
        humps = self._gap_humps(kind)
        density = functools.partial(tapered_density, kind, self.step, self.order)
        near = merge_edges(
            even_edges(low, min(small, -10.0), LONG_PANEL),
            even_edges(min(small, -10.0), small, PANEL),
            humps,
            low=low,
            high=small,
        )
        fit = functools.partial(PanelFunction.fit_halving, density, order=self.order, floor=FLOOR, resolved=RESOLVED)
        parts = fit(near, each_alone=True)
        if high > small:
            parts += fit(merge_edges(even_edges(small, high, PANEL), humps, low=small, high=high))
        return GapDensity(kind, PanelFunction.join(parts))

    def _gap_humps(self, kind: ArmKind) -> Array:
        """Log-odds around the gaps to other arms: these may be so sharp that evenly spaced points would miss them."""
        mean, deviation = beta_log_odds.moments(kind.alpha, kind.beta)
        found = []
        for alpha, beta in zip(self.alphas.tolist(), self.betas.tolist(), strict=True):
            other, its_deviation = beta_log_odds.moments(alpha, beta)
            levels = (other - mean) + math.hypot(deviation, its_deviation) * HUMP
            found += [logit(level) for level in levels.tolist() if 0.0 < level < 1.0]
        return np.array(found)

    def expect(
        self,
        function: Callable[[ArmKind, Array], Array],
        low: float = 0.0,
        high: Callable[[ArmKind], float] = lambda kind: 1.0,
    ) -> float:
        """E of the sum over suboptimal arms of function(kind, gap), for gaps from low to high(kind).

        `function` may be as steep as 1/x where `low` is positive.
        """
        total = 0.0
        for density in self.densities:
            x, weights = self._rule(density, low, high(density.kind))
            total += density.kind.copies * float(np.sum(weights * function(density.kind, x)))
        return total

    def _rule(self, density: GapDensity, low: float, high: float) -> tuple[Array, Array]:
        edges = density.tapered.edges
        start, end = max(logit(low), edges[0]), min(logit(high), edges[-1])
        head = density.tapered(edges[:1]) * SMALLEST_GAP if low < SMALLEST_GAP <= high else np.zeros(0)
        if not end > start:
            return np.full(len(head), SMALLEST_GAP), head
        points, weights = gauss_rule(merge_edges(edges, even_edges(start, end, PANEL), low=start, high=end), self.order)
        x = np.exp(log_expit(points))
        return (
            np.concatenate([np.full(len(head), SMALLEST_GAP), x]),
            np.concatenate([head, weights * density.tapered(points) * x]),
        )

    def density(self, gap: GapDensity, x: Array) -> Array:
        """The density of one arm's gap at x < 1."""
        return gap.tapered(np.maximum(log_odds(x), gap.tapered.edges[0])) / (1.0 - x)

    def partial_means(self, density: GapDensity, points: Array) -> Array:
        """E of one arm's gap where it is at most x, for every x of `points`."""
        edges = density.tapered.edges
        with np.errstate(divide="ignore"):
            ends = np.clip(log_odds(np.minimum(points, 1.0)), edges[0], edges[-1])
        cuts = np.unique(np.concatenate([edges, even_edges(edges[0], edges[-1], PANEL), ends]))
        y, weights = gauss_rule(cuts, self.order)
        panels = (weights * density.tapered(y) * np.exp(2.0 * log_expit(y))).reshape(-1, self.order).sum(axis=1)
        return np.concatenate([[0.0], np.cumsum(panels)])[np.searchsorted(cuts, ends)]

    @functools.cached_property
    def max_gap(self) -> float:
        """E[best arm - worst arm]: the integral of P(some arm below m) - P(all arms below m)."""
        if self.arms == 1:
            return 0.0
        low, high = min(s[0] for s in self.supports), max(s[1] for s in self.supports)
        humps = [np.linspace(*support, 33) for support in self.supports]
        y, weights = gauss_rule(merge_edges(even_edges(low, high, 0.5), *humps, low=low, high=high), self.order)
        log_all, log_none = np.zeros_like(y), np.zeros_like(y)
        for count, alpha, beta in zip(self.counts, self.alphas, self.betas, strict=True):
            log_all += count * log_below(alpha, beta, y)
            log_none += count * log_below(beta, alpha, -y)
        between = -np.expm1(log_all) - np.exp(log_none)
        return float(np.sum(weights * between * np.exp(log_expit(y) + log_expit(-y))))

    # --- the prior integral ---------------------------------------------------------------------------------------

    def overlap(self, kind: ArmKind, nearest: float, farthest: float) -> float:
        """The integral of h(m - xi(m)) f(m) dm for one arm, xi(m) in [nearest, farthest] where h(m - xi) is largest.

        Infinite where the density is infinite at 0, since xi can reach that. Otherwise the density rises up to its
        mode: xi is `nearest` while m is below it, then m less the mode, and `farthest` once m is farther than that.
        """
        if kind.alpha < 1.0:
            return math.inf
        mode = beta_log_odds.mode(kind.alpha, kind.beta)
        rising = self._shifted(kind, nearest, nearest, min(1.0, mode + nearest))
        falling = self._shifted(kind, farthest, mode + farthest, 1.0) if mode < 1.0 else 0.0
        level = self._best_between(kind, mode + nearest, mode + farthest)
        highest = math.exp(beta_log_odds.log_mode_density(kind.alpha, kind.beta)) if level > 0.0 else 0.0
        return rising + falling + level * highest

    def _shifted(self, kind: ArmKind, shift: float, low: float, high: float) -> float:
        """The integral of h(m - shift) f(m) dm from low to high, by even steps in the log-odds of the way between."""
        if not high > low:
            return 0.0
        reach = DEPTH / min(1.0, float(self.betas.min()))
        y = np.linspace(-DEPTH, reach, math.ceil((DEPTH + reach) / self.step) + 1)
        part, left = (high - low) * np.exp(log_expit(y)), (high - low) * np.exp(log_expit(-y))
        m, rest = low + part, (1.0 - high) + left
        values = kind.best_other(np.log(m) - np.log(rest)) / (m * rest)  # of m itself, not of its log-odds
        values *= (
            np.exp(log_density_at(kind.alpha, kind.beta, (low - shift) + part, rest + shift))
            * part
            * np.exp(log_expit(-y))
        )
        return max(0.0, float(values.sum() * (y[1] - y[0])))

    def _best_between(self, kind: ArmKind, low: float, high: float) -> float:
        """The probability that the best other arm is between low and high."""
        above = [float(kind.best_other_above(np.array([logit(at)]))[0]) for at in (low, high) if at < 1.0]
        return max(0.0, sum(above[:1]) - sum(above[1:]))

    @functools.cached_property
    def complexity_at_zero(self) -> float:
        """The sum over arms of the integral of h(m) f(m) dm."""
        return self._same_point(0.0)

    @functools.cached_property
    def variance_complexity(self) -> float:
        """The sum over arms of the integral of h(m) m (1 - m) f(m) dm."""
        return self._same_point(1.0)

    def _same_point(self, power: float) -> float:
        """The sum over arms of the integral of h(m) (m (1 - m))^power f(m) dm, infinite where it diverges at 0 or 1."""
        if self.arms == 1:
            return 0.0
        fewer = self.counts - np.eye(len(self.counts))
        flattest = np.array([self.betas[others > 0].min() for others in fewer])
        # Towards 0 and 1 the integrands are exponential in the log-odds, with these rates.
        falls = float(self.counts @ self.alphas) - 1.0 + power, self.betas + flattest - 1.0 + power
        if min(falls[0], float(falls[1].min())) <= 0.0:
            return math.inf
        low, high = (min(FARTHEST, 2.0 * DEPTH / min(1.0, float(np.min(rate)))) for rate in falls)

        def integrands(y: Array) -> Array:
            shape = (power - 1.0) * (log_expit(y) + log_expit(-y))
            own = np.array([log_density(a, b, y) for a, b in zip(self.alphas, self.betas, strict=True)])
            return self.best(fewer, y)[: len(fewer)] * np.exp(own + shape)

        humps = [np.linspace(*support, 13) for support in self.supports]
        y, weights = gauss_rule(merge_edges(even_edges(-low, high, PANEL), *humps, low=-low, high=high), self.order)
        ends = integrands(np.array([-low, high])) / np.stack([np.full(len(fewer), falls[0]), falls[1]], axis=1)
        return float(self.counts @ (integrands(y) @ weights + ends.sum(axis=1)))


@functools.lru_cache(maxsize=32)
def bernoulli_gaps(bandit: BernoulliBandit, order: int) -> BernoulliGaps:
    return BernoulliGaps(bandit, order)


def check_counts(bandit: BernoulliBandit) -> None:
    for name, counts in (("alpha", bandit.alpha), ("beta", bandit.beta)):
        for count in (float(counts.min()), float(counts.max())):
            if not SMALLEST_COUNT <= count <= LARGEST_COUNT:
                raise ValueError(
                    f"{name} must be between {SMALLEST_COUNT:.3g} and {LARGEST_COUNT:g} for a bound, got {count:g}"
                )
