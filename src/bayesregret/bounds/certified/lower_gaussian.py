"""The lower bound for every policy on Gaussian arms. Proof: docs/theory/certified-lower.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.bounds.assumptions import gaussian_rewards
from bayesregret.bounds.bound import COARSE, FINE, Parts, Setting
from bayesregret.bounds.catalog import certified_lower
from bayesregret.bounds.certified.lower import (
    ENOUGH,
    NO_REGRET,
    SHORT,
    ChargePanels,
    StoppingCurve,
    lower_bound,
    raise_to_floors,
)
from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.numerics.expected_maximum import gaussian_best_above, heteroscedastic_best
from bayesregret.optimal.discounted_gaussian import NEGLIGIBLE, discounted_gaussian
from bayesregret.optimal.gaussian_lattice import POINTS

Counts = NDArray[np.signedinteger]

FEWER_POINTS = 4
# Prior widths below the prior mean at which an arm is hardly ever given up.
FAR = 8.0
ACCURACY, FEWEST_PANELS, MOST_PANELS = 1e-7, 1_000, 30_000
# Values at panels' edges, over the kinds of arms.
MOST_VALUES = 3_000_000
# Blocks of pulls are at most this fraction of all pulls; the error of longer ones is above 1e-5 at n = 1,000.
LONGEST_BLOCK = 5e-4
CERTAIN = 1e14  # pseudo-count beyond which counts of pulls are lost in rounding
# Kinds of arms with a pseudo-count of their own beyond which blocks are longer.
FEW_KINDS = 12


@certified_lower.of(GaussianBandit, "discounted form")
def gaussian_lower(bandit: GaussianBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    why_not = gaussian_rewards(bandit)
    if why_not is not None:
        return Parts({"leading": 0.0}, why_not=why_not, error=0.0)
    if bandit.arms == 1:
        return NO_REGRET
    kinds, copies = np.unique(
        np.c_[bandit.prior_mean, bandit.prior_widths, bandit.reward_noises], axis=0, return_counts=True
    )
    longest = LONGEST_BLOCK * max(1.0, len(np.unique(kinds[:, 2] / kinds[:, 1])) / FEW_KINDS)
    found = _with_blocks(kinds, copies, setting, longest, accuracy)
    if setting.horizon <= SHORT and _relative_error(found) > max(accuracy or ACCURACY, ENOUGH):
        again = _with_blocks(kinds, copies, setting, 0.5 * longest, accuracy)
        found = min(found, again, key=_relative_error)
    return raise_to_floors(found, bandit, setting)


def _with_blocks(kinds: Array, copies: Counts, setting: Setting, longest: float, accuracy: Any) -> Parts:
    """The bound, from blocks of pulls of at most this fraction."""
    best = _best(kinds, copies, FINE)
    return lower_bound(
        setting,
        _curves(kinds, copies, setting.horizon, POINTS, longest),
        (best, abs(best - _best(kinds, copies, COARSE))),
        accuracy or ACCURACY,
        min(MOST_PANELS, max(FEWEST_PANELS, MOST_VALUES // len(kinds))),
        *_errors(kinds, copies, setting.horizon, longest),
    )


def _relative_error(found: Parts) -> float:
    bound = found.terms["leading"]
    return (found.error or 0.0) / bound if bound > 0.0 else 0.0


def _curves(kinds: Array, copies: Counts, horizon: int, points: int, longest: float) -> list[StoppingCurve]:
    return [
        _curve(tuple(kind), count, horizon, points, longest)
        for kind, count in zip(kinds.tolist(), copies.tolist(), strict=True)
    ]


def _curve(kind: tuple[float, float, float], copies: int, horizon: int, points: int, longest: float) -> StoppingCurve:
    mean, width, noise = kind
    pseudo_count = (noise / width) ** 2
    if pseudo_count > CERTAIN:
        return _known(mean, width, copies, pseudo_count, horizon)
    arm = discounted_gaussian(pseudo_count, horizon, points, longest)

    def surplus(charges: Array) -> Array:
        return noise * np.maximum(0.0, arm.margin((mean - charges) / noise)[0])

    index = mean + noise * float(arm.widths[0])
    return StoppingCurve(float(copies), index, mean - FAR * width, surplus, noise * arm.neglected)


def _known(mean: float, width: float, copies: int, pseudo_count: float, horizon: int) -> StoppingCurve:
    """An arm whose rewards teach next to nothing: its posterior mean before N pulls is at most as good as after N."""
    learned = width * min(1.0, math.sqrt(-math.log(NEGLIGIBLE) * horizon / pseudo_count))
    neglected = (learned + NEGLIGIBLE * width) / math.sqrt(2.0 * math.pi)

    def surplus(charges: Array) -> Array:
        return np.maximum(0.0, mean - charges)

    return StoppingCurve(float(copies), mean, mean - FAR * width, surplus, neglected)


def _errors(kinds: Array, copies: Counts, horizon: int, longest: float) -> tuple[float, float]:
    """By how much the value on the first panels changes with fewer points, and falls with blocks half as long."""
    fewer = ChargePanels(_curves(kinds, copies, horizon, FEWER_POINTS, longest)).value
    more = ChargePanels(_curves(kinds, copies, horizon, POINTS, longest)).value
    longer = ChargePanels(_curves(kinds, copies, horizon, FEWER_POINTS, 2.0 * longest)).value
    return abs(more - fewer), max(0.0, longer - fewer)


def _best(kinds: Array, copies: Counts, order: int) -> float:
    means, widths, counts = kinds[:, 0], kinds[:, 1], copies.astype(np.float64)
    if np.ptp(widths) == 0.0:
        return float(means.max()) + gaussian_best_above(means, counts, float(widths[0]), order)
    return heteroscedastic_best(means, widths, counts, order)
