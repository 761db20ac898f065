"""Expectations over the gaps of independent Beta arms, all in log-odds: see numerics/beta_log_odds.py."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from bayesregret import checks
from bayesregret.bounds.bound import FINE
from bayesregret.bounds.gaps.bernoulli_density import PANEL, BetaArmKind, tapered_density
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

# Smaller counts put mass at the floating-point numbers 0 and 1; larger ones need too fine a grid beside flat priors.
SMALLEST_COUNT = DEPTH / FARTHEST
LARGEST_COUNT = 1e8
# Densities in log-odds are analytic in a strip of half-width at least pi/2: even steps h have error exp(-pi^2 / h).
STEP = 0.33
# Gaps below this count as gaps of this size; well above it, the density is nearly constant in log-odds.
SMALLEST_GAP = 1e-22
LONG_PANEL = 6.0
# Densities of gaps below this need no relative accuracy.
NEGLIGIBLE = 0.01
# Relative accuracy of these densities: they are integrals of functions that are resolved to 1e-12.
RESOLVED = 1e-11
HUMP = np.array([-8.0, -4.0, -2.0, 0.0, 2.0, 4.0, 8.0])  # standard deviations


class GapDensity(NamedTuple):
    """Density of an arm's gap x, times (1 - x), as a function of the log-odds of x."""

    kind: BetaArmKind
    tapered: PanelFunction


class BernoulliGaps:
    """Distribution of the gaps of a Bernoulli bandit, and expectations over it."""

    def __init__(self, bandit: BernoulliBandit, order: int) -> None:
        check_counts(bandit)
        self.order = order
        self.arms = bandit.arms
        pairs, counts = np.unique(np.stack([bandit.alpha, bandit.beta]), axis=1, return_counts=True)
        self.alphas, self.betas, self.counts = pairs[0], pairs[1], counts.astype(np.float64)
        self.supports = [beta_log_odds.support(a, b) for a, b in zip(self.alphas, self.betas, strict=True)]
        self.sharpest = min(beta_log_odds.width(a, b) for a, b in zip(self.alphas, self.betas, strict=True))
        # A density this many steps wide is integrated to the last digit by even steps; the best of K arms is narrower.
        steps_per_width = 1.6 * math.sqrt(2.0 + 2.0 * math.log(self.arms))
        self.step = min(STEP, self.sharpest / steps_per_width) * FINE / order
        self.kinds = self._kinds() if self.arms > 1 else []

    # --- the best other arm ---------------------------------------------------------------------------------------

    def _kinds(self) -> list[BetaArmKind]:
        """Kinds of arms, on common panels, so that each distribution function is computed once."""
        low, high = min(s[0] for s in self.supports), max(s[1] for s in self.supports)
        humps = [np.linspace(*s, 9) for s in self.supports if s[1] - s[0] < 8.0 * PANEL]
        edges = merge_edges(even_edges(low, high, PANEL), *humps, low=low, high=high)
        other_counts = self.counts - np.eye(len(self.counts))
        functions = PanelFunction.fit_halving(lambda y: self.best(other_counts, y), edges, self.order)
        densities, above = functions[: len(other_counts)], functions[len(other_counts) :]
        return [
            BetaArmKind(
                int(self.counts[i]),
                float(self.alphas[i]),
                float(self.betas[i]),
                self.supports[i],
                max(self.supports[j][0] for j in np.flatnonzero(other_counts[i])),
                densities[i],
                above[i],
            )
            for i in range(len(other_counts))
        ]

    def best(self, counts: Array, y: Array) -> Array:
        """Density of the best arm, then P(best arm above y), for every row of `counts`, the numbers of arms by kind."""
        log_all = np.zeros((len(counts), len(y)))
        ratios = np.zeros_like(log_all)
        for count, alpha, beta in zip(counts.T[:, :, None], self.alphas, self.betas, strict=True):
            below = log_below(alpha, beta, y)
            log_all += count * below
            ratios += count * np.exp(np.minimum(log_density(alpha, beta, y) - below, FARTHEST))
        return np.concatenate([np.exp(log_all) * ratios, -np.expm1(log_all)])

    # --- gaps -----------------------------------------------------------------------------------------------------

    @functools.cached_property
    def densities(self) -> list[GapDensity]:
        return [density for kind in self.kinds if (density := self._gap_density(kind)) is not None]

    def _gap_density(self, kind: BetaArmKind) -> GapDensity | None:
        """Fit with relative accuracy on each panel where gaps are small, since functions like 1/x weigh them."""
        best_high, lowest = kind.best_other.edges[-1], kind.support[0]
        short_of_one = expit(-best_high) + expit(lowest)
        if short_of_one >= 1.0:
            return None  # the arm is certainly the best
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
        fit = functools.partial(
            PanelFunction.fit_halving, density, order=self.order, floor=NEGLIGIBLE, resolved=RESOLVED
        )
        parts = fit(near, each_alone=True)
        if high > small:
            parts += fit(merge_edges(even_edges(small, high, PANEL), humps, low=small, high=high))
        return GapDensity(kind, PanelFunction.join(parts))

    def _gap_humps(self, kind: BetaArmKind) -> Array:
        """Log-odds around the gaps to other arms: their densities may be too sharp for evenly spaced points."""
        mean, deviation = beta_log_odds.moments(kind.alpha, kind.beta)
        found = []
        for alpha, beta in zip(self.alphas.tolist(), self.betas.tolist(), strict=True):
            other, other_deviation = beta_log_odds.moments(alpha, beta)
            gaps = (other - mean) + math.hypot(deviation, other_deviation) * HUMP
            found += [logit(gap) for gap in gaps.tolist() if 0.0 < gap < 1.0]
        return np.array(found)

    def expect(
        self,
        function: Callable[[BetaArmKind, Array], Array],
        low: float = 0.0,
        high: Callable[[BetaArmKind], float] = lambda kind: 1.0,
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
        """Density of one arm's gap at x < 1."""
        return gap.tapered(np.maximum(log_odds(x), gap.tapered.edges[0])) / (1.0 - x)

    def partial_means(self, density: GapDensity, points: Array) -> Array:
        """E of one arm's gap where it is at most x, for every x in `points`."""
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

    def overlap(self, kind: BetaArmKind, nearest: float, farthest: float) -> float:
        """Integral of h(m - xi(m)) f(m) dm for one arm; xi(m) maximises h(m - xi) over [nearest, farthest].

        Infinite if the density h is infinite at 0, since xi can reach that. Otherwise h rises up to its mode: xi is
        `nearest` while m - nearest is below the mode, then m minus the mode, and `farthest` once that exceeds it.
        """
        if kind.alpha < 1.0:
            return math.inf
        mode = beta_log_odds.mode(kind.alpha, kind.beta)
        rising = self._shifted(kind, nearest, nearest, min(1.0, mode + nearest))
        falling = self._shifted(kind, farthest, mode + farthest, 1.0) if mode < 1.0 else 0.0
        plateau = self._best_between(kind, mode + nearest, mode + farthest)
        highest = math.exp(beta_log_odds.log_mode_density(kind.alpha, kind.beta)) if plateau > 0.0 else 0.0
        return rising + falling + plateau * highest

    def _shifted(self, kind: BetaArmKind, shift: float, low: float, high: float) -> float:
        """Integral of h(m - shift) f(m) dm from low to high; even steps in the log-odds of (m - low) / (high - low)."""
        if not high > low:
            return 0.0
        reach = DEPTH / min(1.0, float(self.betas.min()))
        y = np.linspace(-DEPTH, reach, math.ceil((DEPTH + reach) / self.step) + 1)
        part, left = (high - low) * np.exp(log_expit(y)), (high - low) * np.exp(log_expit(-y))
        m, rest = low + part, (1.0 - high) + left
        values = kind.best_other(np.log(m) - np.log(rest)) / (m * rest)  # the density of m, not of its log-odds
        values *= (
            np.exp(log_density_at(kind.alpha, kind.beta, (low - shift) + part, rest + shift))
            * part
            * np.exp(log_expit(-y))
        )
        return max(0.0, float(values.sum() * (y[1] - y[0])))

    def _best_between(self, kind: BetaArmKind, low: float, high: float) -> float:
        """Probability that the best other arm is between low and high."""
        above = [float(kind.best_other_above(np.array([logit(at)]))[0]) for at in (low, high) if at < 1.0]
        return max(0.0, sum(above[:1]) - sum(above[1:]))

    @functools.cached_property
    def complexity_at_zero(self) -> float:
        """Sum over arms of the integral of h(m) f(m) dm."""
        return self._same_point(0.0)

    @functools.cached_property
    def variance_complexity(self) -> float:
        """Sum over arms of the integral of h(m) m (1 - m) f(m) dm."""
        return self._same_point(1.0)

    def _same_point(self, power: float) -> float:
        """Sum over arms of the integral of h(m) (m (1 - m))^power f(m) dm, infinite if it diverges at 0 or 1."""
        if self.arms == 1:
            return 0.0
        other_counts = self.counts - np.eye(len(self.counts))
        flattest = np.array([self.betas[others > 0].min() for others in other_counts])
        # Towards 0 and 1 the integrands decay exponentially in the log-odds, with these rates.
        falls = float(self.counts @ self.alphas) - 1.0 + power, self.betas + flattest - 1.0 + power
        if min(falls[0], float(falls[1].min())) <= 0.0:
            return math.inf
        low, high = (min(FARTHEST, 2.0 * DEPTH / min(1.0, float(np.min(rate)))) for rate in falls)

        def integrands(y: Array) -> Array:
            shape = (power - 1.0) * (log_expit(y) + log_expit(-y))
            arm_log_densities = np.array([log_density(a, b, y) for a, b in zip(self.alphas, self.betas, strict=True)])
            return self.best(other_counts, y)[: len(other_counts)] * np.exp(arm_log_densities + shape)

        humps = [np.linspace(*support, 13) for support in self.supports]
        y, weights = gauss_rule(merge_edges(even_edges(-low, high, PANEL), *humps, low=-low, high=high), self.order)
        ends = integrands(np.array([-low, high])) / np.stack([np.full(len(other_counts), falls[0]), falls[1]], axis=1)
        return float(self.counts @ (integrands(y) @ weights + ends.sum(axis=1)))


@functools.lru_cache(maxsize=32)
def bernoulli_gaps(bandit: BernoulliBandit, order: int) -> BernoulliGaps:
    return BernoulliGaps(bandit, order)


def check_counts(bandit: BernoulliBandit) -> None:
    """Raise an error if alpha or beta is outside the range in which bounds can be computed."""
    for name, counts in (("alpha", bandit.alpha), ("beta", bandit.beta)):
        for count in (float(counts.min()), float(counts.max())):
            if not SMALLEST_COUNT <= count <= LARGEST_COUNT:
                limits = f"between {checks.in_full(SMALLEST_COUNT)} and {checks.in_full(LARGEST_COUNT)}"
                raise ValueError(f"{name} must be {limits} for a bound, got {checks.in_full(count)}")
