"""How often a Bernoulli arm's index can be high enough, from the lattice of its pulls and successes.

With M the best other arm, the k-th term of the index form is at most E(M - theta)^+ - E (M - theta) 1{M > U_k}, U_k the
index after k pulls. Since the arm's posterior mean is its mean given those pulls, the second part is the average
over the successes j, which are beta-binomial, of E(M - u)^+ + width P(M > u) at u = U_k(j): two functions of one
variable, known once and for all. Both are zero where u >= 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import erfc, gammaln, log_expit

from bayesregret.bounds.bound import FINE
from bayesregret.bounds.gaps.bernoulli import BernoulliGaps
from bayesregret.bounds.gaps.bernoulli_density import ArmKind
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

# Numbers of pulls whose whole lattice is summed; half of them for the coarse rule, so that the difference tells.
WHOLE_LATTICES = 2_048
FADE = 5.0  # erfc is 0 or 2 to twelve digits at the ends
FADE_BLOCKS = 6
SWING = 0.2  # how far a sum over a lattice that ends between two points is off, in units of its last term
ROUNDING = 1e-15  # of a weight, relative, for each count of the prior
CELLS_PER_WIDTH = 250.0
MOST_CELLS = 2**20
PANEL = 0.5
BATCH = 10_000


def index_sum(gaps: BernoulliGaps, log_inverse_delta: float, horizon: int) -> tuple[float, float]:
    """The sum over arms and k < horizon of E(M - theta)^+ - E (M - theta) 1{M > index after k pulls}.

    The second number estimates what smoothing the lattice leaves out.
    """
    total, left_out = 0.0, 0.0
    for kind in gaps.kinds:
        lattice = Lattice(gaps, kind, log_inverse_delta, horizon)
        if horizon <= lattice.whole:
            beyond = math.fsum(lattice.beyond_index(first, last) for first, last in _batches(horizon))
        else:
            beyond = _faded_sum(lattice, horizon)
            rounding = ROUNDING * kind.pseudo_count * horizon * _lead(gaps, kind)
            left_out += kind.copies * (lattice.swing(horizon) + rounding)
        total += kind.copies * max(0.0, horizon * _lead(gaps, kind) - beyond)
    return total, left_out


def _faded_sum(lattice: Lattice, horizon: int) -> float:
    """Exact terms that fade into smooth ones: what swings with k then cancels, also where one takes over."""
    start, end = lattice.whole // 4, lattice.whole

    def exact_share(k: Array) -> Array:
        return 0.5 * erfc(FADE * (2.0 * (k - start) / (end - start) - 1.0))

    total = math.fsum(lattice.beyond_index(first, last, exact_share) for first, last in _batches(end))
    blocks = np.linspace(start, end, FADE_BLOCKS + 1).astype(int).tolist()
    fading, times = block_sum_rule(blocks, lattice.order)
    after, after_times = sum_rule(end, horizon, lattice.order)
    weights = np.concatenate([times * (1.0 - exact_share(fading)), after_times])
    for k, weight in zip(np.concatenate([fading, after]).tolist(), weights.tolist(), strict=True):
        total += weight * lattice.smooth_beyond_index(k)
    return total


def _batches(last: int) -> Iterator[tuple[int, int]]:
    """Ranges of k from 0 to last whose lattices have about BATCH points together."""
    first = 0
    while first < last:
        end = min(last, max(first + 1, math.isqrt(first * first + 2 * BATCH)))
        yield first, end
        first = end


def _lead(gaps: BernoulliGaps, kind: ArmKind) -> float:
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


class Lattice:
    """The successes of an arm in its first k pulls, and what the best other arm has over its index after them."""

    def __init__(self, gaps: BernoulliGaps, kind: ArmKind, log_inverse_delta: float, horizon: int) -> None:
        self.kind = kind
        self.order = gaps.order
        self.log_inverse_delta = log_inverse_delta
        self.above = kind.best_other_above  # P(M > u) by the log-odds of u
        (tail,) = PanelFunction.fit_halving(lambda y: self.above(y) * _slope(y), self.above.edges, gaps.order)
        self.expected = tail.integral_to_end()  # E(M - u)^+
        self.lowest = float(self.above.edges[0])  # below it M is surely above
        self.lowest_level = expit(self.lowest)
        self.table = self._tabulate(gaps.sharpest)
        halved = gaps.order < FINE and horizon > WHOLE_LATTICES
        self.whole = WHOLE_LATTICES // 2 if halved else WHOLE_LATTICES
        counts = np.arange(min(self.whole, horizon) + 1.0)
        self.log_successes = self._log_weight(counts, kind.alpha)
        self.log_failures = self._log_weight(counts, kind.beta)
        self.log_all = self._log_weight(counts, kind.pseudo_count)

    @staticmethod
    def _log_weight(count: Array, prior: float) -> Array:
        """log of prior (prior + 1) ... (prior + count - 1) / count!: beta-binomial weights are made of three."""
        larger, smaller = np.maximum(count + 1.0, prior), np.minimum(count + 1.0, prior)
        return log_gamma_ratio(larger, smaller - 1.0) - gammaln(smaller)

    def _exact(self, y: Array) -> list[Array]:
        """P(M > u) and E(M - u)^+ at the log-odds y of u."""
        return [self.above(y), self.expected(y)]

    def _tabulate(self, sharpest: float) -> Callable[[Array], list[Array]]:
        """The same for quick use, unless the table would be too large."""
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
        """The confidence width after k pulls."""
        return np.sqrt(0.5 * self.log_inverse_delta / (self.kind.pseudo_count + k + 1.0))

    def _advantage(self, over: Callable[[Array], list[Array]], k: Any, successes: Any, failures: Any) -> Array:
        """E(M - u)^+ + width P(M > u) at the index u after so many successes and failures; zero where u >= 1."""
        width = self._width(k)
        all_counts = self.kind.pseudo_count + k
        level = (self.kind.alpha + successes) / all_counts + width
        short = (self.kind.beta + failures) / all_counts - width
        inside = short > 0.0
        y = np.log(level / np.where(inside, short, 1.0))
        probability, expected = over(np.maximum(y, self.lowest))
        surely = np.maximum(self.lowest_level - level, 0.0)
        return np.where(inside, expected + surely + width * probability, 0.0)

    def beyond_index(self, first: int, last: int, share: Callable[[Array], Array] = np.ones_like) -> float:
        """The sum over k from first to last - 1 of share(k) E (M - theta) 1{M > index after k pulls}."""
        pulls = np.arange(first, last)
        k = np.repeat(pulls, pulls + 1)
        successes = np.arange(len(k)) - np.repeat(np.cumsum(pulls + 1) - (pulls + 1), pulls + 1)
        failures = k - successes
        weights = np.exp(self.log_successes[successes] + self.log_failures[failures] - self.log_all[k])
        # That the weights of each k add up to 1 mends what rounding did to their logs.
        sums = np.add.reduceat(weights, np.cumsum(pulls + 1) - (pulls + 1))
        weights *= np.repeat(share(pulls.astype(np.float64)) / sums, pulls + 1)
        return float(weights @ self._advantage(self.table, k, successes, failures))

    def _summand(self, k: float, successes: Array, failures: Array) -> Array:
        prior = self.kind
        logs = self._log_weight(successes, prior.alpha) + self._log_weight(failures, prior.beta)
        weights = np.exp(logs - self._log_weight(np.array(k), prior.pseudo_count))
        return weights * self._advantage(self._exact, k, successes, failures)

    def smooth_beyond_index(self, k: float) -> float:
        """The same for a large k, which need not be whole.

        The sum over successes ends where the index reaches 1, between two whole numbers. Where between them swings to
        and fro with k and cancels over k: so the upper part of the sum is taken as an integral up to that very point.
        """
        all_counts, width = self.kind.pseudo_count + k, self._width(k)
        middle = max(0, int(0.5 * min(k, all_counts * (1.0 - width) - self.kind.alpha)))
        successes, weights = block_sum_rule(self._whole_edges(k, middle), self.order)
        lower = float(weights @ self._summand(k, successes, k - successes))
        if middle == 0:
            return lower
        beside = np.array([middle - 1.0, middle])
        slope = float(np.diff(self._summand(k, beside, k - beside))[0])
        return lower + self._upper_integral(k, middle - 0.5) + slope / 24.0  # Euler and Maclaurin's correction

    def swing(self, horizon: int) -> float:
        """How far smoothing is off at the horizon, where a swing may be cut in half: what swings, times its length.

        The lattice's end moves against whole numbers by 1 while k grows by 2 sqrt(2 k / log(1/delta)).
        """
        k = float(horizon)
        last = (self.kind.pseudo_count + k) * (1.0 - self._width(k)) - self.kind.alpha - 1.0
        if not 0.0 < last < k or self.log_inverse_delta == 0.0:
            return 0.0
        length = 2.0 * math.sqrt(2.0 * k / self.log_inverse_delta)
        return SWING * length / (2.0 * math.pi) * float(self._summand(k, np.array([last]), np.array([k - last]))[0])

    def _landmarks(self) -> Array:
        """Log-odds between which the arm's prior is smooth."""
        return np.linspace(*self.kind.support, 33)

    def _whole_edges(self, k: float, last: int) -> list[int]:
        """Whole numbers of successes between which the summand is smooth."""
        all_counts = self.kind.pseudo_count + k
        levels = np.exp(log_expit(self.above.edges)) - self._width(k)
        means = np.exp(log_expit(self._landmarks()))
        marks = np.ceil(np.concatenate([levels, means]) * all_counts - self.kind.alpha)
        grown = 3.0 ** np.arange(2, 2 + math.ceil(math.log(max(last, 1)) / math.log(3.0)))
        edges = np.unique(np.clip(np.concatenate([marks, grown, [0.0, last]]), 0, last))
        return [int(edge) for edge in edges]

    def _upper_integral(self, k: float, first: float) -> float:
        """The integral of the summand from `first` successes to where the index is 1."""
        kind, all_counts, width = self.kind, self.kind.pseudo_count + k, self._width(k)
        low = logit((kind.alpha + first) / all_counts + width)
        high = min(float(self.above.edges[-1]), logit((kind.alpha + k) / all_counts + width))
        if not high > low:
            return 0.0
        levels = np.exp(log_expit(self._landmarks())) + width
        marks = [logit(float(level)) for level in levels if level < 1.0]
        y, weights = gauss_rule(
            merge_edges(even_edges(low, high, PANEL), self.above.edges, np.array(marks), low=low, high=high),
            self.order,
        )
        short = np.exp(log_expit(-y)) + width  # the posterior mean's distance from 1
        failures = all_counts * short - kind.beta
        return float(np.sum(weights * self._summand(k, k - failures, failures) * _slope(y)) * all_counts)
