"""Leading term of `certified_index` for Bernoulli arms, summed over the lattice of an arm's pulls and successes.

With M the best other arm, the k-th term of the index form is at most E(M - theta)^+ - E (M - theta) 1{M > U_k}, U_k the
index after k pulls. Since the arm's posterior mean is its mean given those pulls, the second part is the average
over the successes j, which are beta-binomial, of E(M - u)^+ + width P(M > u) at u = U_k(j): two functions of one
variable, computed once. Both are zero where u >= 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import erfc, gammaln, log_expit

from bayesregret.bounds.bound import FINE
from bayesregret.bounds.gaps.bernoulli import BernoulliGaps
from bayesregret.bounds.gaps.bernoulli_density import BetaArmKind
from bayesregret.checks import Array
from bayesregret.numerics.beta_log_odds import expit, log_below, log_gamma_ratio, logit
from bayesregret.numerics.quadrature import (
    CubicTable,
    PanelFunction,
    block_sum_rule,
    even_edges,
    gauss_rule,
    merge_edges,
    sum_rule,
)

# Up to this many pulls every lattice point is summed; half as many with the coarse rule, so that the difference of the
# two rules shows the smoothing error.
EXACT_PULLS = 2_048
FADE = 5.0  # erfc is 0 or 2 to twelve digits at the ends
FADE_BLOCKS = 6
OSCILLATION = 0.2  # error of a smoothed sum over a lattice that ends between two points, in units of its last term
ROUNDING = 1e-15  # relative rounding error of a weight, per unit of the prior pseudo-count
CELLS_PER_WIDTH = 250.0
MOST_CELLS = 2**20
PANEL = 0.5
BATCH = 10_000


def index_sum(gaps: BernoulliGaps, log_inverse_delta: float, horizon: int) -> tuple[float, float]:
    """Sum over arms and k < horizon of E(M - theta)^+ - E (M - theta) 1{M > index after k pulls}.

    The second number estimates the error of smoothing the lattice.
    """
    total, smoothing_error = 0.0, 0.0
    for kind in gaps.kinds:
        lattice = PullLattice(gaps, kind, log_inverse_delta, horizon)
        if horizon <= lattice.exact_pulls:
            beyond = math.fsum(lattice.beyond_index(first, last) for first, last in _batches(horizon))
        else:
            beyond = _faded_sum(lattice, horizon)
            rounding = ROUNDING * kind.pseudo_count * horizon * _expected_lead(gaps, kind)
            smoothing_error += kind.copies * (lattice.oscillation_error(horizon) + rounding)
        total += kind.copies * max(0.0, horizon * _expected_lead(gaps, kind) - beyond)
    return total, smoothing_error


def _faded_sum(lattice: PullLattice, horizon: int) -> float:
    """Sum in which exact terms fade into smoothed ones, so that oscillations in k cancel, also at the transition."""
    start, end = lattice.exact_pulls // 4, lattice.exact_pulls

    def exact_fraction(k: Array) -> Array:
        return 0.5 * erfc(FADE * (2.0 * (k - start) / (end - start) - 1.0))

    total = math.fsum(lattice.beyond_index(first, last, exact_fraction) for first, last in _batches(end))
    blocks = np.linspace(start, end, FADE_BLOCKS + 1).astype(int).tolist()
    fading, times = block_sum_rule(blocks, lattice.order)
    after, after_times = sum_rule(end, horizon, lattice.order)
    weights = np.concatenate([times * (1.0 - exact_fraction(fading)), after_times])
    for k, weight in zip(np.concatenate([fading, after]).tolist(), weights.tolist(), strict=True):
        total += weight * lattice.smooth_beyond_index(k)
    return total


def _batches(last: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of k from 0 to last whose lattices have about BATCH points in total."""
    first = 0
    while first < last:
        end = min(last, max(first + 1, math.isqrt(first * first + 2 * BATCH)))
        yield first, end
        first = end


def _expected_lead(gaps: BernoulliGaps, kind: BetaArmKind) -> float:
    """E(M - theta)^+: the integral of P(theta < m < M) dm."""
    low, high = kind.support[0], float(kind.best_other_above.edges[-1])
    if not high > low:
        return 0.0
    arm = np.linspace(*kind.support, 33)
    y, weights = gauss_rule(
        merge_edges(even_edges(low, high, PANEL), kind.best_other_above.edges, arm, low=low, high=high), gaps.order
    )
    above = np.where(y < kind.best_other_above.edges[0], 1.0, kind.best_other_above(y))
    return float(np.sum(weights * np.exp(log_below(kind.alpha, kind.beta, y)) * above * _slope(y)))


def _slope(y: Array) -> Array:
    """dm/dy at m = expit(y)."""
    return np.exp(log_expit(y) + log_expit(-y))


class PullLattice:
    """Successes of an arm in its first k pulls, and the best other arm's expected excess over its index after them."""

    def __init__(self, gaps: BernoulliGaps, kind: BetaArmKind, log_inverse_delta: float, horizon: int) -> None:
        self.kind = kind
        self.order = gaps.order
        self.log_inverse_delta = log_inverse_delta
        self.above = kind.best_other_above  # P(M > u) by the log-odds of u
        (tail,) = PanelFunction.fit_halving(lambda y: self.above(y) * _slope(y), self.above.edges, gaps.order)
        self.expected = tail.integral_to_end()  # E(M - u)^+
        self.lowest = float(self.above.edges[0])  # P(M > u) is 1 below
        self.lowest_index = expit(self.lowest)
        self.table = self._tabulate(gaps.sharpest)
        halved = gaps.order < FINE and horizon > EXACT_PULLS
        self.exact_pulls = EXACT_PULLS // 2 if halved else EXACT_PULLS
        counts = np.arange(min(self.exact_pulls, horizon) + 1.0)
        self.log_successes = self._log_weight(counts, kind.alpha)
        self.log_failures = self._log_weight(counts, kind.beta)
        self.log_total = self._log_weight(counts, kind.pseudo_count)

    @staticmethod
    def _log_weight(count: Array, prior: float) -> Array:
        """Log of prior (prior + 1) ... (prior + count - 1) / count!; a beta-binomial weight has three such factors."""
        larger, smaller = np.maximum(count + 1.0, prior), np.minimum(count + 1.0, prior)
        return log_gamma_ratio(larger, smaller - 1.0) - gammaln(smaller)

    def _exact(self, y: Array) -> list[Array]:
        """P(M > u) and E(M - u)^+ at the log-odds y of u."""
        return [self.above(y), self.expected(y)]

    def _tabulate(self, sharpest: float) -> Callable[[Array], list[Array]]:
        """Return a table of the same two functions, or `_exact` if the table would be too large."""
        low, high = float(self.above.edges[0]), float(self.above.edges[-1])
        per_width = CELLS_PER_WIDTH * self.order / FINE
        cells = math.ceil((high - low) * per_width / min(1.0, sharpest))
        if cells > MOST_CELLS:
            return self._exact
        grid = np.linspace(low, high, cells + 1)
        values = np.array(self._exact(grid))
        slopes = np.array([-self.kind.best_other(grid), -values[0] * _slope(grid)])
        return CubicTable(low, (high - low) / cells, values, slopes)

    def _width(self, k: Any) -> Any:
        """Confidence width after k pulls."""
        return np.sqrt(0.5 * self.log_inverse_delta / (self.kind.pseudo_count + k + 1.0))

    def _advantage(self, tails: Callable[[Array], list[Array]], k: Any, successes: Any, failures: Any) -> Array:
        """E(M - u)^+ + width P(M > u) at the index u after these successes and failures; zero where u >= 1."""
        width = self._width(k)
        total_count = self.kind.pseudo_count + k
        index = (self.kind.alpha + successes) / total_count + width
        distance_to_one = (self.kind.beta + failures) / total_count - width
        inside = distance_to_one > 0.0
        y = np.log(index / np.where(inside, distance_to_one, 1.0))
        probability, expected = tails(np.maximum(y, self.lowest))
        certain_excess = np.maximum(self.lowest_index - index, 0.0)
        return np.where(inside, expected + certain_excess + width * probability, 0.0)

    def beyond_index(self, first: int, last: int, fraction: Callable[[Array], Array] = np.ones_like) -> float:
        """Sum over k from first to last - 1 of fraction(k) E (M - theta) 1{M > index after k pulls}."""
        pulls = np.arange(first, last)
        k = np.repeat(pulls, pulls + 1)
        successes = np.arange(len(k)) - np.repeat(np.cumsum(pulls + 1) - (pulls + 1), pulls + 1)
        failures = k - successes
        weights = np.exp(self.log_successes[successes] + self.log_failures[failures] - self.log_total[k])
        # Normalising the weights of each k removes the rounding errors of their logarithms.
        sums = np.add.reduceat(weights, np.cumsum(pulls + 1) - (pulls + 1))
        weights *= np.repeat(fraction(pulls.astype(np.float64)) / sums, pulls + 1)
        return float(weights @ self._advantage(self.table, k, successes, failures))

    def _summand(self, k: float, successes: Array, failures: Array) -> Array:
        prior = self.kind
        logs = self._log_weight(successes, prior.alpha) + self._log_weight(failures, prior.beta)
        weights = np.exp(logs - self._log_weight(np.array(k), prior.pseudo_count))
        return weights * self._advantage(self._exact, k, successes, failures)

    def smooth_beyond_index(self, k: float) -> float:
        """E (M - theta) 1{M > index after k pulls}, smoothed, for a large k that need not be a whole number.

        The sum over successes ends where the index reaches 1, between two whole numbers. The position between them
        oscillates with k and cancels in the sum over k, so an integral up to that point replaces the upper part.
        """
        total_count, width = self.kind.pseudo_count + k, self._width(k)
        middle = max(0, int(0.5 * min(k, total_count * (1.0 - width) - self.kind.alpha)))
        successes, weights = block_sum_rule(self._whole_edges(k, middle), self.order)
        lower = float(weights @ self._summand(k, successes, k - successes))
        if middle == 0:
            return lower
        neighbours = np.array([middle - 1.0, middle])
        slope = float(np.diff(self._summand(k, neighbours, k - neighbours))[0])
        return lower + self._upper_integral(k, middle - 0.5) + slope / 24.0  # the Euler-Maclaurin correction

    def oscillation_error(self, horizon: int) -> float:
        """Smoothing error at the horizon, where an oscillation may be cut off: its amplitude times its length.

        The end of the lattice moves by 1, relative to whole numbers, while k grows by 2 sqrt(2 k / log(1/delta)).
        """
        k = float(horizon)
        last = (self.kind.pseudo_count + k) * (1.0 - self._width(k)) - self.kind.alpha - 1.0
        if not 0.0 < last < k or self.log_inverse_delta == 0.0:
            return 0.0
        length = 2.0 * math.sqrt(2.0 * k / self.log_inverse_delta)
        return (
            OSCILLATION * length / (2.0 * math.pi) * float(self._summand(k, np.array([last]), np.array([k - last]))[0])
        )

    def _landmarks(self) -> Array:
        """Log-odds between which the arm's prior is smooth."""
        return np.linspace(*self.kind.support, 33)

    def _whole_edges(self, k: float, last: int) -> list[int]:
        """Whole numbers of successes between which the summand is smooth."""
        total_count = self.kind.pseudo_count + k
        index_edges = np.exp(log_expit(self.above.edges)) - self._width(k)
        means = np.exp(log_expit(self._landmarks()))
        marks = np.ceil(np.concatenate([index_edges, means]) * total_count - self.kind.alpha)
        geometric = 3.0 ** np.arange(2, 2 + math.ceil(math.log(max(last, 1)) / math.log(3.0)))
        edges = np.unique(np.clip(np.concatenate([marks, geometric, [0.0, last]]), 0, last))
        return [int(edge) for edge in edges]

    def _upper_integral(self, k: float, first: float) -> float:
        """Integral of the summand from `first` successes to where the index is 1."""
        kind, total_count, width = self.kind, self.kind.pseudo_count + k, self._width(k)
        low = logit((kind.alpha + first) / total_count + width)
        high = min(float(self.above.edges[-1]), logit((kind.alpha + k) / total_count + width))
        if not high > low:
            return 0.0
        indices = np.exp(log_expit(self._landmarks())) + width
        marks = [logit(float(index)) for index in indices if index < 1.0]
        y, weights = gauss_rule(
            merge_edges(even_edges(low, high, PANEL), self.above.edges, np.array(marks), low=low, high=high),
            self.order,
        )
        distance_to_one = np.exp(log_expit(-y)) + width  # the posterior mean's distance from 1
        failures = total_count * distance_to_one - kind.beta
        return float(np.sum(weights * self._summand(k, k - failures, failures) * _slope(y)) * total_count)
