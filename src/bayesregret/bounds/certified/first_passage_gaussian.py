"""The first-passage bound for Gaussian bandits. Proof: docs/theory/exact.md.

U(a, k) is the index of arm a after k pulls, M(a, k) the lowest of U(a, 0), ..., U(a, k). Pulls are made in the order of
falling M, ties by the arms' numbers, so a pull (a, k) is among the first n only if no other arm b has M(b, n - 1) above
M(a, k), nor, if its number is lower, at M(a, k). That last part matters only where equal arms stay at their first
index; `_at_top` keeps it there, since with it the bound for one round is the regret itself. With Y = max M(b, n - 1)
and V = max theta_b over the other arms, which are independent of arm a, arm a is pulled at most min(n, T(Y)) times,
T(y) the first k with U(a, k) < y, and

    regret <= sum over arms of E[(V - theta_a)^+ min(n, T_a(Y))].
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards, unless, with_heteroscedastic_form
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import certified_first_passage
from bayesregret.bounds.certified.gaussian_passages import TAIL, Passages, passages
from bayesregret.checks import Array
from bayesregret.exact.gaussian.chain import chebyshev_nodes
from bayesregret.exact.regret import one_blas_thread
from bayesregret.models import GaussianBandit
from bayesregret.numerics.quadrature import even_edges, gauss_rule

# Limits that keep the computation to about a second.
LONGEST_HORIZON = 10_000
LARGEST_PSEUDO_COUNT = 1e7
SMALLEST_DELTA = 1e-30
MOST_MEANS = 32
# Longest panel of thresholds, in prior widths: the distribution of the best of many arms is sharper than the prior.
PANEL = 0.9
# Smaller probabilities count as this one.
SMALLEST_PROBABILITY = 1e-30
# Errors that the difference of two rules may miss: truncated tails, per arm and round, in prior widths; and a relative
# error, should two rules agree by coincidence.
TRUNCATED_TAILS, COINCIDENCE = 1e-10, 3e-7

Ints = NDArray[np.int64]


def _not_computed(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """Refuse heteroscedastic arms: the proof covers them, but the tables assume that only prior means differ."""
    return Parts(
        {"leading": math.inf},
        why_not="first passages are computed for one prior width and one reward noise, and here they differ",
    )


@certified_first_passage.of(GaussianBandit, "first passages")
@with_heteroscedastic_form(_not_computed)
def first_passage_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    means, copies = np.unique(bandit.prior_mean, return_counts=True)
    if bandit.arms == 1:
        return Parts({"leading": 0.0})
    why_not = first_failure(gaussian_rewards(bandit), _too_expensive(bandit, setting, len(means)))
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    # Thresholds are measured from the highest prior mean, in prior widths.
    shifts = (means - means.max()) / bandit.prior_width
    with one_blas_thread():
        table = passages(bandit.model.pseudo_count, setting.z, setting.horizon, order)
        edges = _edges(table, shifts, copies)
        parts = [_integral_between(table, shifts, copies, *pair, order) for pair in itertools.pairwise(edges.tolist())]
        reached = np.flatnonzero(shifts + table.top > edges[0]).tolist()
        parts += [_at_top(table, shifts, copies, kind) for kind in reached]
    leading = bandit.prior_width * max(0.0, math.fsum(parts))
    unseen = TRUNCATED_TAILS * bandit.arms * setting.horizon * bandit.prior_width + COINCIDENCE * leading
    return Parts({"leading": leading}, unseen_error=unseen)


def _too_expensive(bandit: GaussianBandit, setting: Setting, means: int) -> str | None:
    """Return a reason if the computation would take too long for a table of bounds."""
    pseudo_count = bandit.model.pseudo_count
    return first_failure(
        unless(setting.horizon <= LONGEST_HORIZON, f"first passages need a horizon of at most {LONGEST_HORIZON:,}"),
        unless(
            pseudo_count <= LARGEST_PSEUDO_COUNT,
            f"first passages need a prior pseudo-count of at most {LARGEST_PSEUDO_COUNT:g}",
        ),
        unless(setting.delta >= SMALLEST_DELTA, f"first passages need a delta of at least {SMALLEST_DELTA:g}"),
        unless(means <= MOST_MEANS, f"first passages need at most {MOST_MEANS} different prior means"),
    )


class GaussianArmPassages(NamedTuple):
    """First passages of an arm of one kind, by threshold and offset of the mean from it; slopes are at a fixed mean."""

    passed: Array
    passed_slope: Array
    passed_overall: Array
    passed_overall_slope: Array
    pulls: Array


def _edges(table: Passages, shifts: Array, copies: Ints) -> Array:
    """Rising thresholds between which all functions are smooth; below the first one the integrand is zero."""
    bottoms = np.sort(np.repeat(shifts, copies))[-2:] - TAIL
    lowest = max(bottoms[0], bottoms[1] - table.offsets[-1])
    every = (shifts[:, None] + table.top - table.edges).ravel()
    return np.unique(np.append(every[every > lowest], lowest))


def _integral_between(table: Passages, shifts: Array, copies: Ints, low: float, high: float, order: int) -> float:
    """Integral over thresholds between two edges."""
    fraction = (high - low) / min(PANEL, 0.5 * float(table.edges[1]))
    points = max(3, math.ceil((order - 3) * math.sqrt(min(1.0, fraction))))
    thresholds, weights = gauss_rule(even_edges(low, high, PANEL), points)
    arms = [_arm(table, thresholds - d, 0.5 * (low + high) - d) for d in shifts.tolist()]
    passed = _slopes_of_products([arm.passed for arm in arms], [arm.passed_slope for arm in arms], copies)
    passed_overall = _slopes_of_products(
        [arm.passed_overall for arm in arms], [arm.passed_overall_slope for arm in arms], copies
    )
    total = 0.0
    for i, arm in enumerate(arms):
        total += copies[i] * float(weights @ (arm.pulls * (passed_overall[i][:, None] - passed[i])) @ table.weights)
    return total


def _slopes_of_products(probabilities: list[Array], slopes: list[Array], copies: Ints) -> Array:
    """For an arm of each kind, the slope of the product of all other arms' probabilities."""
    safe = np.maximum(probabilities, SMALLEST_PROBABILITY)
    rates = np.array(slopes) / safe
    multiplicity = copies.reshape(-1, *[1] * (safe.ndim - 1))
    weighted = multiplicity * rates
    # Sums over all other kinds, without subtraction: the rate of a vanishing probability is noise.
    rate = _sums_before(weighted) + _sums_before(weighted[::-1])[::-1] + (multiplicity - 1) * rates
    return np.prod(safe**multiplicity, axis=0) / safe * rate


def _sums_before(rows: Array) -> Array:
    """Sum of all rows before each row."""
    return np.concatenate([np.zeros_like(rows[:1]), np.cumsum(rows[:-1], axis=0)])


def _at_top(table: Passages, shifts: Array, copies: Ints, kind: int) -> float:
    """Contribution of arms of this kind whose index never falls below their first index, at that threshold.

    Above it they count as passed. Arms of the kind itself tie there, and the lowest number goes first: an arm is not
    pulled if one before it stays at the threshold.
    """
    at = [float(shifts[kind]) + table.top - d for d in shifts.tolist()]
    at[kind] = table.top
    arms = [_arm(table, np.array([each]), each) for each in at]
    total = 0.0
    for i, arm in enumerate(arms):
        if at[i] <= table.top:
            others = copies - (np.arange(len(arms)) == i)
            passed_overall = _jump([other.passed_overall for other in arms], np.ones(1), others, kind, i == kind)
            above = ndtr(table.top + table.offsets)
            passed = _jump([other.passed[0] for other in arms], above, others, kind, i == kind)
            times = 1.0 if i == kind else float(copies[i])
            total += times * float((arm.pulls[0] * (passed_overall - passed)) @ table.weights)
    return total


def _jump(probabilities: list[Array], above: Array, others: Ints, kind: int, tied: bool) -> Array:
    """Jump of the product of the other arms' probabilities at a kind's first index. If tied, the sum over the arms of
    that kind, each with those before it below the threshold and those after it at or below the threshold."""
    probabilities = [np.maximum(probability, 0.0) for probability in probabilities]
    product = np.zeros_like(above)
    below, multiplicity = probabilities[kind], int(others[kind])
    for before in range(multiplicity + 1 if tied else 1):
        product += below**before * (above ** (multiplicity - before) - below ** (multiplicity - before))
    for i, times in enumerate(others.tolist()):
        if i != kind:
            product = product * probabilities[i] ** times
    return product


def _arm(table: Passages, thresholds: Array, inside: float) -> GaussianArmPassages:
    """First passages of an arm at thresholds on the panel that contains `inside`, measured from its prior mean."""
    shape = (len(thresholds), len(table.offsets))
    zeros, zero, one = np.zeros(shape), np.zeros(len(thresholds)), np.ones(len(thresholds))
    depth = table.top - inside
    if depth < 0.0:
        return GaussianArmPassages(ndtr(thresholds[:, None] + table.offsets), zeros, one, zero, zeros)
    if depth > table.edges[-1]:
        return GaussianArmPassages(zeros, zeros, zero, zero, table.horizon * ndtr(thresholds[:, None] + table.offsets))
    panel = int(np.clip(np.searchsorted(table.edges, depth, side="right") - 1, 0, len(table.edges) - 2))
    left, right = table.edges[panel : panel + 2].tolist()
    values, slopes = _interpolation((2.0 * (table.top - thresholds) - left - right) / (right - left), table.order)
    slopes *= -2.0 / (right - left)  # in the threshold, which falls as the depth grows
    rows = slice(panel * table.order, (panel + 1) * table.order)
    passed, passed_overall = table.passed[rows], table.passed_overall[rows]
    return GaussianArmPassages(
        values @ passed,
        slopes @ passed - values @ table.density[rows],
        values @ passed_overall,
        slopes @ passed_overall,
        values @ table.pulls[rows],
    )


def _interpolation(at: Array, order: int) -> tuple[Array, Array]:
    """Matrices that map values at Chebyshev points to values and slopes at other points."""
    nodes, weights = chebyshev_nodes(order)
    off = at[:, None] - nodes
    off[off == 0.0] = 1e-200
    ratios = weights / off
    values = ratios / ratios.sum(axis=1)[:, None]
    slopes = weights / weights[:, None] / (nodes[:, None] - nodes + np.eye(order))
    np.fill_diagonal(slopes, 0.0)
    np.fill_diagonal(slopes, -slopes.sum(axis=1))
    return values, values @ slopes
