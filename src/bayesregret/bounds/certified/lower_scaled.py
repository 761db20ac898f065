"""The lower bound for every policy on exponential and normal-gamma arms.

Proof: docs/theory/certified-lower-conjugate.md.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_lower
from bayesregret.bounds.certified.lower import NO_REGRET, ChargePanels, StoppingCurve, lower_bound
from bayesregret.checks import Array
from bayesregret.exact.explore_commit.conjugate import highest_inverse_gamma, highest_student
from bayesregret.models import ExponentialBandit, NormalGammaBandit
from bayesregret.optimal.discounted_exponential import ExponentialArm
from bayesregret.optimal.discounted_normal_gamma import NormalGammaArm
from bayesregret.optimal.discounted_scaled import Accuracy, ScaledSurplus, solve_scaled
from bayesregret.optimal.scaled_arm import ScaledArm, unit_of_mean

SOURCE = "discounted form"

FINE = Accuracy()
ACCURACY, MOST_PANELS = 1e-7, 10_000
FEW_KINDS = 4  # beyond, every kind of arm gets less time
COARSER = 1.5  # accuracy of the run that shows the error; of the change at most this fraction is left
LEFT = 0.2
ROUGH, ROUGHLY = 1e-3, 2.0  # accuracies that are asked for from which on steps are coarser, and by how much
SEEDS = 60  # charges at which panels end from the start, where a prior has its mass
FARTHEST = 1e6  # prior deviations: panels farther below have nothing of the bound


class EqualArms(NamedTuple):
    """Equal arms of a location-scale family."""

    arm: ScaledArm
    mean: float
    unit: float  # in which the arm's stopping problem is solved
    copies: int


@certified_lower.of(ExponentialBandit, SOURCE)
def exponential_lower(bandit: ExponentialBandit, setting: Setting, order: int, accuracy: float | None = None) -> Parts:
    kinds, copies = np.unique(np.c_[bandit.shape, bandit.rate], axis=0, return_counts=True)
    return _location_scale(
        [
            EqualArms(ExponentialArm(shape), rate / (shape - 1.0), rate / (shape - 1.0), count)
            for (shape, rate), count in zip(kinds.tolist(), copies.tolist(), strict=True)
        ],
        setting,
        highest_inverse_gamma(bandit, None),
        accuracy,
    )


@certified_lower.of(NormalGammaBandit, SOURCE)
def normal_gamma_lower(bandit: NormalGammaBandit, setting: Setting, order: int, accuracy: float | None = None) -> Parts:
    columns = np.c_[bandit.prior_pulls, bandit.shape, bandit.prior_mean, np.sqrt(bandit.scale)]
    kinds, copies = np.unique(columns, axis=0, return_counts=True)
    return _location_scale(
        [
            EqualArms(NormalGammaArm(pulls, shape), mean, unit, count)
            for (pulls, shape, mean, unit), count in zip(kinds.tolist(), copies.tolist(), strict=True)
        ],
        setting,
        highest_student(bandit, None),
        accuracy,
    )


def _location_scale(kinds: list[EqualArms], setting: Setting, best: float, accuracy: float | None) -> Parts:
    if sum(kind.copies for kind in kinds) == 1:
        return NO_REGRET
    arms = list(dict.fromkeys(kind.arm for kind in kinds))
    fine = FINE.coarser(max(_less_time(len(arms)), ROUGHLY if accuracy and accuracy >= ROUGH else 1.0))
    rough = fine.coarser(COARSER)
    steps = (fine, rough, rough.longer_blocks(2.0))
    problems = [(arm, setting.horizon, each) for each in steps for arm in arms]
    solve_scaled(arms[0], 1, fine)  # threads must not compile it at the same time
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        solved = dict(zip(problems, pool.map(lambda problem: _solved(*problem), problems), strict=True))

    def curves(chosen: Accuracy) -> list[StoppingCurve]:
        """Of one accuracy, with panels of the finest."""
        return [
            _scaled_curve(kind, *(solved[kind.arm, setting.horizon, each] for each in (fine, chosen))) for kind in kinds
        ]

    value, rough_value, longer_value = (ChargePanels(curves(each)).value for each in steps)
    largest = max(abs(best), max(abs(curve.index) for curve in curves(fine)))
    return lower_bound(
        setting,
        curves(fine),
        (best, ROUNDING * largest),
        accuracy or ACCURACY,
        MOST_PANELS,
        unseen_error=LEFT * abs(rough_value - value),
        slack=max(0.0, longer_value - rough_value),
    )


_solved = functools.lru_cache(maxsize=256)(solve_scaled)


def _less_time(kinds: int) -> float:
    """How much coarser to compute each of so many kinds of arms."""
    return min(2.0, max(1.0, kinds / FEW_KINDS) ** 0.5)


def _scaled_curve(kind: EqualArms, finest: ScaledSurplus, scaled: ScaledSurplus) -> StoppingCurve:
    def surplus(charges: Array) -> Array:
        return kind.unit * scaled((kind.mean - charges) / kind.unit)

    spread = unit_of_mean(kind.arm, 0.0)
    zero, last = finest.zero, min(float(finest.points[-1]), FARTHEST * spread)
    seeds = zero + spread * np.sinh(np.linspace(0.0, np.arcsinh((last - zero) / spread), SEEDS))
    return StoppingCurve(
        float(kind.copies),
        kind.mean - kind.unit * zero,
        kind.mean - kind.unit * last,
        surplus,
        jumps=kind.mean - kind.unit * seeds,
    )
