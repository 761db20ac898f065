"""The lower bound for every policy on Poisson, exponential and normal-gamma arms.

Proof: docs/theory/certified-lower-conjugate.md. Surpluses come from above, by construction; a second, coarser run
estimates by how much.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_lower
from bayesregret.bounds.certified.lower import Panels, StoppingCurve, lower_bound
from bayesregret.checks import Array
from bayesregret.exact.explore_commit.conjugate import highest_gamma, highest_inverse_gamma, highest_student
from bayesregret.models import ExponentialBandit, NormalGammaBandit, PoissonBandit
from bayesregret.optimal.discounted_exponential import ExponentialArm
from bayesregret.optimal.discounted_normal_gamma import NormalGammaArm
from bayesregret.optimal.discounted_poisson import PoissonAccuracy, gamma_excess, is_coarse, solve_poisson
from bayesregret.optimal.discounted_scaled import Accuracy, ScaledSurplus, solve_scaled

SOURCE = "discounted form"
Counts = NDArray[np.signedinteger]

ACCURACY, MOST_PANELS = 1e-6, 3_000
FEW_KINDS = 10  # beyond, every kind of arm gets less time
# Of all errors the largest power of a refinement is 2: a run with half the accuracy has at most four times the error.
FALL_OF_ERRORS = 3.0
SEEDS = 40  # charges at which panels end from the start, where a prior has its mass
FARTHEST = 1e6  # prior deviations: panels farther below have nothing of the bound
# Poisson arms: seconds are in proportion to charges times stages.
SOLVED, FEWEST_PANELS = 60_000, 250
BRACKETS, WITHIN = 4, 12  # rounds of a search for the index, and charges in each
LOWEST, HIGHEST = -6.0, 6.0  # of charges at which panels end from the start, in normal scores

LEAST_CHARGE = 1e-6  # of the prior mean: below it one panel is enough


# --- exponential and normal-gamma arms --------------------------------------------------------------------------------


@certified_lower.of(ExponentialBandit, SOURCE)
def exponential_lower(bandit: ExponentialBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    kinds, copies = np.unique(np.c_[bandit.shape, bandit.rate], axis=0, return_counts=True)
    steps = Accuracy().coarser(_less_time(len(np.unique(kinds[:, 0]))))

    def curves(steps: Accuracy) -> list[StoppingCurve]:
        return [
            _scaled_curve(count, rate / (shape - 1.0), rate / (shape - 1.0), _exponential(shape, n, steps))
            for (shape, rate), count in zip(kinds.tolist(), copies.tolist(), strict=True)
        ]

    n = setting.horizon
    best = highest_inverse_gamma(bandit, None)
    return _assemble(setting, curves(steps), curves(steps.coarser(2.0)), best, accuracy or ACCURACY)


@certified_lower.of(NormalGammaBandit, SOURCE)
def normal_gamma_lower(bandit: NormalGammaBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    columns = np.c_[bandit.prior_pulls, bandit.shape, bandit.prior_mean, np.sqrt(bandit.scale)]
    kinds, copies = np.unique(columns, axis=0, return_counts=True)
    steps = Accuracy().coarser(_less_time(len(np.unique(kinds[:, :2], axis=0))))

    def curves(steps: Accuracy) -> list[StoppingCurve]:
        return [
            _scaled_curve(count, mean, unit, _normal_gamma(pulls, shape, n, steps))
            for (pulls, shape, mean, unit), count in zip(kinds.tolist(), copies.tolist(), strict=True)
        ]

    n = setting.horizon
    best = highest_student(bandit, None)
    return _assemble(setting, curves(steps), curves(steps.coarser(2.0)), best, accuracy or ACCURACY)


@functools.lru_cache(maxsize=256)
def _exponential(shape: float, horizon: int, accuracy: Accuracy) -> ScaledSurplus:
    return solve_scaled(ExponentialArm(shape), horizon, accuracy)


@functools.lru_cache(maxsize=256)
def _normal_gamma(prior_pulls: float, shape: float, horizon: int, accuracy: Accuracy) -> ScaledSurplus:
    return solve_scaled(NormalGammaArm(prior_pulls, shape), horizon, accuracy)


def _less_time(kinds: int) -> float:
    """How much coarser to compute each of so many kinds of arms; time falls with the third power."""
    return min(4.0, max(1.0, kinds / FEW_KINDS) ** (1.0 / 3.0))


def _scaled_curve(copies: int, mean: float, unit: float, scaled: ScaledSurplus) -> StoppingCurve:
    def surplus(charges: Array) -> Array:
        return unit * scaled((mean - charges) / unit)

    first = max(0, int(np.searchsorted(scaled.values > 0.0, True)) - 1)
    spread = float(scaled.points[first + 1] - scaled.points[first])
    low = min(float(scaled.points[-1]), FARTHEST * spread)
    seeds = scaled.points[first :: max(1, (len(scaled.points) - first) // SEEDS)]
    return StoppingCurve(
        float(copies),
        mean - unit * float(scaled.points[first]),
        mean - unit * low,
        surplus,
        unit * max(0.0, float(scaled.values[first])),
        mean - unit * seeds,
    )


def _assemble(
    setting: Setting, curves: Sequence[StoppingCurve], coarse: Sequence[StoppingCurve], best: float, accuracy: float
) -> Parts:
    lost = max(0.0, Panels(coarse).value - Panels(curves).value) / FALL_OF_ERRORS
    largest = max(abs(best), max(abs(curve.index) for curve in curves))
    most = max(FEWEST_PANELS, MOST_PANELS // max(1, len(curves) // FEW_KINDS))
    return lower_bound(setting, curves, (best, ROUNDING * largest), accuracy, most, slack=lost)


# --- Poisson arms -----------------------------------------------------------------------------------------------------


@certified_lower.of(PoissonBandit, SOURCE)
def poisson_lower(bandit: PoissonBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    n = setting.horizon
    kinds, copies = np.unique(np.c_[bandit.shape, bandit.rate], axis=0, return_counts=True)
    steps = PoissonAccuracy().coarser(_less_time(len(kinds)))
    curves = [
        _poisson_curve(count, shape, rate, n, steps, max(4, SEEDS // len(kinds)))
        for (shape, rate), count in zip(kinds.tolist(), copies.tolist(), strict=True)
    ]
    best = highest_gamma(bandit, None)
    most = max(FEWEST_PANELS, SOLVED // (len(kinds) * max(10, int(math.log(n) / steps.growth))))
    largest = max(abs(best), max(curve.index for curve in curves))
    return lower_bound(setting, curves, (best, ROUNDING * largest), accuracy or ACCURACY, most)


def _poisson_curve(
    copies: int, shape: float, rate: float, horizon: int, accuracy: PoissonAccuracy, seeds: int
) -> StoppingCurve:
    margins = poisson_margins(shape, rate, horizon, accuracy)

    def surplus(charges: Array) -> Array:
        found = np.full_like(charges, shape / rate)  # without a charge
        inside = charges > 0.0
        if inside.any():
            found[inside] = np.maximum(0.0, margins(charges[inside]))
        return found

    quantiles = special.gammaincinv(shape, special.ndtr(np.linspace(LOWEST, HIGHEST, seeds))) / rate
    quantiles = quantiles[quantiles > LEAST_CHARGE * shape / rate]
    return StoppingCurve(float(copies), _poisson_index(shape / rate, margins), 0.0, surplus, jumps=quantiles)


def poisson_margins(shape: float, rate: float, horizon: int, accuracy: PoissonAccuracy) -> Callable[[Array], Array]:
    """(1 - g) C as a function of positive charges."""
    if not is_coarse(shape, rate):
        return functools.partial(solve_poisson, shape, rate, horizon, accuracy=accuracy)

    def shown_after_one(charges: Array) -> Array:
        """The first reward nearly shows the mean, or shows hardly anything: it is shown altogether."""
        over, _ = gamma_excess(shape, rate, charges)
        return (shape / rate - charges) / horizon + (1.0 - 1.0 / horizon) * over

    return shown_after_one


def _poisson_index(mean: float, margins: Callable[[Array], Array]) -> float:
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
