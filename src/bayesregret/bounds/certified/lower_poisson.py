"""The lower bound for every policy on Poisson arms. Proof: docs/theory/certified-lower-conjugate.md.

Every charge has a recursion of its own. A fast one, whose surplus is a little too large, is used for all panels. How
much too large is a smooth function of the charge: it is computed for few charges and taken off.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.interpolate import PchipInterpolator

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_lower
from bayesregret.bounds.certified.lower import NO_REGRET, SHORT, ChargePanels, StoppingCurve, lower_bound
from bayesregret.checks import Array
from bayesregret.exact.explore_commit.conjugate import highest_gamma
from bayesregret.models import PoissonBandit
from bayesregret.optimal.discounted_poisson import PoissonAccuracy, gamma_excess, is_coarse, solve_poisson

ACCURACY = 3e-6
FAST = PoissonAccuracy()
# The accurate recursion, with finer lattices where the sums of rewards are small enough.
FINE, STEP_POINTS, SMALL = PoissonAccuracy(1.6e-3, 32.0, 2.0), 4.0, 1_000.0
SHORT_GROWTH = 6.4e-4  # of blocks up to the horizon SHORT
LEFT = 1.0 / 3.0  # of the errors of coarser lattices at most this fraction is left
CHARGES, FEWEST_CHARGES = 48, 16  # at which the fast recursion is corrected
FEW_KINDS, MOST_TIMES = 2.0, 8.0  # beyond, every kind of arms gets less time: blocks are longer, charges fewer
# Seconds are in proportion to panels times the square root of the horizon, for every kind of arms.
STEPS, FEWEST_PANELS, MOST_PANELS = 100_000, 250, 6_000
BRACKETS, WITHIN = 4, 12  # rounds of a search for the index, and charges in each
SECANTS, ENOUGH = 6, 1e-9
SEEDS, LOWEST, HIGHEST = 40, -6.0, 6.0  # charges at which panels end from the start, in normal scores
LEAST_CHARGE = 1e-6  # of the prior mean: below it one panel is enough

# Below this shape the expected mean of the best arm has fewer digits.
TINY_SHAPE, TINY_ERROR = 1e-14, 1e-4

Margins = Callable[[Array], Array]


class Corrected(NamedTuple):
    """The margins of a kind of arms, corrected in several ways."""

    zero: float  # charge from which on the arm is not pulled
    quantiles: Array
    fine: Margins
    longer: Margins
    rough: Margins
    sparse: Margins  # as `fine`, with a correction from half of the charges


@certified_lower.of(PoissonBandit, "discounted form")
def poisson_lower(bandit: PoissonBandit, setting: Setting, order: int, accuracy: float | None = None) -> Parts:
    if bandit.arms == 1:
        return NO_REGRET
    n = setting.horizon
    kinds, copies = np.unique(np.c_[bandit.shape, bandit.rate], axis=0, return_counts=True)
    times = min(MOST_TIMES, max(1.0, len(kinds) / FEW_KINDS))
    solved = [_corrected(shape, rate, n, times) for shape, rate in kinds.tolist()]
    best = highest_gamma(bandit, None)

    def curves(which: str) -> list[StoppingCurve]:
        means = (kinds[:, 0] / kinds[:, 1]).tolist()
        return [
            _curve(count, mean, each, getattr(each, which))
            for count, mean, each in zip(copies.tolist(), means, solved, strict=True)
        ]

    value, sparse, longer, rough = (
        ChargePanels(curves(which)).value for which in ("fine", "sparse", "longer", "rough")
    )
    best_error = (TINY_ERROR if kinds[:, 0].min() < TINY_SHAPE else ROUNDING) * best
    most = min(MOST_PANELS, max(FEWEST_PANELS, int(STEPS / n**0.5 / len(kinds))))
    return lower_bound(
        setting,
        curves("fine"),
        (best, best_error),
        accuracy or ACCURACY,
        most,
        unseen_error=LEFT * (abs(rough - longer) + abs(sparse - value)),
        slack=max(0.0, longer - sparse),
    )


@functools.lru_cache(maxsize=64)
def _corrected(shape: float, rate: float, horizon: int, times: float) -> Corrected:
    mean = shape / rate
    quantiles = special.gammaincinv(shape, special.ndtr(np.linspace(LOWEST, HIGHEST, SEEDS))) / rate
    quantiles = quantiles[quantiles > LEAST_CHARGE * mean]
    if is_coarse(shape, rate):
        shown = functools.partial(_shown_after_one, shape, rate, horizon)
        return Corrected(_bracket(mean, shown), quantiles, shown, shown, shown, shown)
    accuracy = FINE._replace(step_points=STEP_POINTS) if horizon * mean <= SMALL else FINE
    accuracy = accuracy._replace(growth=min(accuracy.growth, SHORT_GROWTH)) if horizon <= SHORT else accuracy
    accuracy = accuracy._replace(growth=accuracy.growth * times)
    longer_blocks = accuracy._replace(growth=2.0 * accuracy.growth)
    coarser = longer_blocks._replace(points=0.5 * accuracy.points, step_points=0.5 * accuracy.step_points)
    fast, fine, longer, rough = (
        functools.partial(solve_poisson, shape, rate, horizon, accuracy=each)
        for each in (FAST, accuracy, longer_blocks, coarser)
    )
    index = _polished(mean, _bracket(mean, fast), fine)
    charges = max(FEWEST_CHARGES, int(CHARGES / times))
    even = np.linspace(0.0, index, charges // 2 + 1)[1:]
    every = np.unique(np.append(even, quantiles[quantiles < index][:: max(1, 2 * SEEDS // charges)]))
    sparse = np.unique(np.append(every[1::2], index))
    at_sparse = fast(sparse)
    excess = fast(every) - fine(every)
    return Corrected(
        index,
        quantiles,
        _less(fast, every, excess),
        _less(fast, sparse, at_sparse - longer(sparse)),
        _less(fast, sparse, at_sparse - rough(sparse)),
        _less(fast, sparse, excess[np.isin(every, sparse)]),
    )


def _less(fast: Margins, charges: Array, excess: Array) -> Margins:
    """The fast margins, less an excess that is known for some charges; it is 0 without a charge."""
    between = PchipInterpolator(np.append(0.0, charges), np.append(0.0, excess))

    def margins(asked: Array) -> Array:
        return fast(asked) - between(asked)

    return margins


def _curve(copies: int, mean: float, solved: Corrected, margins: Margins) -> StoppingCurve:
    def surplus(charges: Array) -> Array:
        found = np.full_like(charges, mean)  # without a charge
        inside = charges > 0.0
        if inside.any():
            found[inside] = np.maximum(0.0, margins(charges[inside]))
        return found

    return StoppingCurve(float(copies), solved.zero, 0.0, surplus, jumps=solved.quantiles)


def _shown_after_one(shape: float, rate: float, horizon: int, charges: Array) -> Array:
    """The first reward nearly shows the mean, or shows hardly anything: it is shown altogether."""
    over, _ = gamma_excess(shape, rate, charges)
    return np.asarray((shape / rate - charges) / horizon + (1.0 - 1.0 / horizon) * over)


def _bracket(mean: float, margins: Margins) -> float:
    """A charge at which the margin is not positive, hardly above its zero; the margin is convex and falls."""
    low, high = mean, 2.0 * mean
    while float(margins(np.array([high]))[0]) > 0.0:
        low, high = high, 2.0 * high
    for _ in range(BRACKETS):
        charges = np.linspace(low, high, WITHIN + 2)[1:-1]
        falls = margins(charges) <= 0.0
        first = int(np.argmax(falls)) if falls.any() else WITHIN
        edges = np.concatenate([[low], charges, [high]])
        low, high = float(edges[first]), float(edges[first + 1])
    return high


def _polished(mean: float, above: float, margins: Margins) -> float:
    """Zero of the margin, from a charge hardly above it: secants of a convex function through points on its left."""
    low, high = mean + 0.98 * (above - mean), mean + 0.99 * (above - mean)
    at_low, at_high = (float(value) for value in margins(np.array([low, high])))
    for _ in range(SECANTS):
        if not at_low > at_high:
            break
        low, at_low, high = high, at_high, high + at_high * (high - low) / (at_low - at_high)
        if abs(high - low) <= ENOUGH * high:
            break
        at_high = float(margins(np.array([high]))[0])
    return high
