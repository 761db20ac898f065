"""The certified bound by first passages. Proof: docs/theory/exact.md.

U(a, k) is the index of arm a after k pulls, M(a, k) the lowest of U(a, 0), ..., U(a, k). Pulls are made in the order of
falling M, ties by the arms' numbers, so a pull (a, k) is among the first n only if no other arm b has M(b, n - 1) above
M(a, k), nor, if its number is lower, at M(a, k). That last part matters only where equal arms stay at their first
index; it is kept there, in `_at_top`, since with it the bound for one round is the regret itself. With
Y = max M(b, n - 1) and V = max theta_b over the other arms, which arm a knows nothing of, arm a is pulled at most
min(n, T(Y)) times, T(y) the first k with U(a, k) < y, and

    regret <= sum over arms of E[(V - theta_a)^+ min(n, T_a(Y))].
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards, unless, where_arms_differ
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import certified_first_passage
from bayesregret.bounds.certified.gaussian_passages import TAIL, Passages, passages
from bayesregret.checks import Array
from bayesregret.exact.gaussian.chain import chebyshev_nodes
from bayesregret.exact.regret import one_blas_thread
from bayesregret.models import GaussianBandit
from bayesregret.numerics.quadrature import even_edges, gauss_rule

# What is computed in a second or so.
LONGEST = 10_000
STRONGEST_PRIOR = 1e7
SMALLEST_DELTA = 1e-30
MOST_MEANS = 32
# Panels of levels, in prior widths: the best of many arms is sharper than the prior.
PANEL = 0.9
# Chances below this are none.
TINY = 1e-30
# What the difference of two rules may not show: of tails that are left out, for each arm and round, in prior widths;
# and of the whole, should two rules agree by luck.
LEFT_OUT, BY_LUCK = 1e-10, 3e-7

Ints = NDArray[np.int64]


def _not_computed(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """The proof is for any independent arms, the tables are for arms that differ in their prior means alone."""
    return Parts(
        {"leading": math.inf},
        why_not="first passages are computed for one prior width and one reward noise, and here they differ",
    )


@certified_first_passage.of(GaussianBandit, "first passages")
@where_arms_differ(_not_computed)
def first_passage_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    means, copies = np.unique(bandit.prior_mean, return_counts=True)
    if bandit.arms == 1:
        return Parts({"leading": 0.0})
    why_not = first_failure(gaussian_rewards(bandit), _too_much(bandit, setting, len(means)))
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    # Levels are measured from the highest prior mean, in prior widths.
    behind = (means - means.max()) / bandit.prior_width
    with one_blas_thread():
        table = passages(bandit.model.strength, setting.z, setting.horizon, order)
        edges = _edges(table, behind, copies)
        parts = [_between(table, behind, copies, *pair, order) for pair in itertools.pairwise(edges.tolist())]
        reached = np.flatnonzero(behind + table.top > edges[0]).tolist()
        parts += [_at_top(table, behind, copies, kind) for kind in reached]
    leading = bandit.prior_width * max(0.0, math.fsum(parts))
    unseen = LEFT_OUT * bandit.arms * setting.horizon * bandit.prior_width + BY_LUCK * leading
    return Parts({"leading": leading}, unseen_error=unseen)


def _too_much(bandit: GaussianBandit, setting: Setting, means: int) -> str | None:
    """What would take too long: a table of bounds is to be quick."""
    strength = bandit.model.strength
    return first_failure(
        unless(setting.horizon <= LONGEST, f"first passages need a horizon of at most {LONGEST:,}"),
        unless(strength <= STRONGEST_PRIOR, f"first passages need a prior worth at most {STRONGEST_PRIOR:g} pulls"),
        unless(setting.delta >= SMALLEST_DELTA, f"first passages need a delta of at least {SMALLEST_DELTA:g}"),
        unless(means <= MOST_MEANS, f"first passages need at most {MOST_MEANS} different prior means"),
    )


class Arm(NamedTuple):
    """An arm of one kind, by level and difference between mean and level; slopes are those for a fixed mean."""

    passed: Array
    passed_slope: Array
    ever: Array
    ever_slope: Array
    pulls: Array


def _edges(table: Passages, behind: Array, copies: Ints) -> Array:
    """Rising levels between which all is smooth, from below which nothing comes."""
    bottoms = np.sort(np.repeat(behind, copies))[-2:] - TAIL
    lowest = max(bottoms[0], bottoms[1] - table.apart[-1])
    every = (behind[:, None] + table.top - table.edges).ravel()
    return np.unique(np.append(every[every > lowest], lowest))


def _between(table: Passages, behind: Array, copies: Ints, low: float, high: float, order: int) -> float:
    """The integral over levels between two edges."""
    share = (high - low) / min(PANEL, 0.5 * float(table.edges[1]))
    points = max(3, math.ceil((order - 3) * math.sqrt(min(1.0, share))))
    levels, weights = gauss_rule(even_edges(low, high, PANEL), points)
    arms = [_arm(table, levels - d, 0.5 * (low + high) - d) for d in behind.tolist()]
    passed = _others([arm.passed for arm in arms], [arm.passed_slope for arm in arms], copies)
    ever = _others([arm.ever for arm in arms], [arm.ever_slope for arm in arms], copies)
    total = 0.0
    for i, arm in enumerate(arms):
        total += copies[i] * float(weights @ (arm.pulls * (ever[i][:, None] - passed[i])) @ table.weights)
    return total


def _others(chances: list[Array], slopes: list[Array], copies: Ints) -> Array:
    """For an arm of each kind, the slope of the product of all other arms' chances."""
    safe = np.maximum(chances, TINY)
    rates = np.array(slopes) / safe
    many = copies.reshape(-1, *[1] * (safe.ndim - 1))
    weighted = many * rates
    # Sums over all other kinds, of which none is a difference: the rate of a chance that is none is noise.
    rate = _sums_before(weighted) + _sums_before(weighted[::-1])[::-1] + (many - 1) * rates
    return np.prod(safe**many, axis=0) / safe * rate


def _sums_before(rows: Array) -> Array:
    """Of all rows before each."""
    return np.concatenate([np.zeros_like(rows[:1]), np.cumsum(rows[:-1], axis=0)])


def _at_top(table: Passages, behind: Array, copies: Ints, kind: int) -> float:
    """What arms whose index never falls below the first one give, at that level.

    Above it they count as passed. Arms of the kind itself tie there, and the lowest number goes first: an arm is not
    pulled if one before it stays at the level.
    """
    at = [float(behind[kind]) + table.top - d for d in behind.tolist()]
    at[kind] = table.top
    arms = [_arm(table, np.array([each]), each) for each in at]
    total = 0.0
    for i, arm in enumerate(arms):
        if at[i] <= table.top:
            others = copies - (np.arange(len(arms)) == i)
            ever = _jump([other.ever for other in arms], np.ones(1), others, kind, i == kind)
            above = ndtr(table.top + table.apart)
            passed = _jump([other.passed[0] for other in arms], above, others, kind, i == kind)
            times = 1.0 if i == kind else float(copies[i])
            total += times * float((arm.pulls[0] * (ever - passed)) @ table.weights)
    return total


def _jump(chances: list[Array], above: Array, others: Ints, kind: int, tied: bool) -> Array:
    """How the product of the other arms' chances jumps at a kind's first index. If tied, the sum over the arms of that
    kind, each with those before it below the level and those after it at most there."""
    chances = [np.maximum(chance, 0.0) for chance in chances]
    product = np.zeros_like(above)
    below, many = chances[kind], int(others[kind])
    for before in range(many + 1 if tied else 1):
        product += below**before * (above ** (many - before) - below ** (many - before))
    for i, times in enumerate(others.tolist()):
        if i != kind:
            product = product * chances[i] ** times
    return product


def _arm(table: Passages, levels: Array, inside: float) -> Arm:
    """All about an arm at levels on the panel that holds `inside`, measured from its prior mean."""
    shape = (len(levels), len(table.apart))
    none, nothing, certain = np.zeros(shape), np.zeros(len(levels)), np.ones(len(levels))
    depth = table.top - inside
    if depth < 0.0:
        return Arm(ndtr(levels[:, None] + table.apart), none, certain, nothing, none)
    if depth > table.edges[-1]:
        return Arm(none, none, nothing, nothing, table.horizon * ndtr(levels[:, None] + table.apart))
    panel = int(np.clip(np.searchsorted(table.edges, depth, side="right") - 1, 0, len(table.edges) - 2))
    left, right = table.edges[panel : panel + 2].tolist()
    values, slopes = _interpolation((2.0 * (table.top - levels) - left - right) / (right - left), table.order)
    slopes *= -2.0 / (right - left)  # as the level rises
    rows = slice(panel * table.order, (panel + 1) * table.order)
    passed, ever = table.passed[rows], table.ever[rows]
    return Arm(
        values @ passed,
        slopes @ passed - values @ table.density[rows],
        values @ ever,
        slopes @ ever,
        values @ table.pulls[rows],
    )


def _interpolation(at: Array, order: int) -> tuple[Array, Array]:
    """Matrices that take values at Chebyshev's points to values and slopes at others."""
    nodes, weights = chebyshev_nodes(order)
    off = at[:, None] - nodes
    off[off == 0.0] = 1e-200
    ratios = weights / off
    values = ratios / ratios.sum(axis=1)[:, None]
    slopes = weights / weights[:, None] / (nodes[:, None] - nodes + np.eye(order))
    np.fill_diagonal(slopes, 0.0)
    np.fill_diagonal(slopes, -slopes.sum(axis=1))
    return values, values @ slopes
