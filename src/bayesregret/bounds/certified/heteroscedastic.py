"""Certified forms for heteroscedastic Gaussian arms. Proofs: docs/theory/certified-*.md.

The proofs for equal arms treat one arm at a time; here each arm keeps its prior width and reward noise to the end.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.certified.best_epsilon import best_epsilon
from bayesregret.bounds.gaps.gaussian_heteroscedastic import (
    HeteroscedasticArmKind,
    HeteroscedasticGaps,
    heteroscedastic_max_gap,
    spread_failure,
)
from bayesregret.bounds.paper.prior_dependent import xi_range
from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.numerics.quadrature import sum_rule


@functools.lru_cache(maxsize=32)
def heteroscedastic_gaps(bandit: GaussianBandit, farthest: float, order: int) -> HeteroscedasticGaps:
    return HeteroscedasticGaps(bandit, lambda pseudo_count: farthest, order)


def not_proved(bandit: GaussianBandit) -> str | None:
    """Return a reason if the forms with gaps are not proved or cannot be computed, otherwise None."""
    return first_failure(gaussian_rewards(bandit), spread_failure(bandit))


def overshoot(bandit: GaussianBandit, setting: Setting) -> float:
    """Bound on the best arm's expected excess over its index, per round."""
    return float(bandit.prior_widths.sum()) * setting.excess


def misled(bandit: GaussianBandit, setting: Setting) -> float:
    """Bound on the pulled arm's expected shortfall from its index in rounds in which another arm exceeds its index."""
    return float(bandit.prior_widths.max()) * (bandit.arms - 1) * setting.tail * (setting.z + setting.excess)


def bad_rounds_heteroscedastic(bandit: GaussianBandit, setting: Setting) -> float:
    """Regret in rounds in which the interval of the best arm or of the pulled arm fails."""
    below = float(bandit.prior_widths.max()) * (setting.density + setting.z * setting.tail)
    return setting.horizon * (overshoot(bandit, setting) + misled(bandit, setting) + below)


def pulled(kind: HeteroscedasticArmKind, setting: Setting, x: Array) -> Array:
    """gap (B + 1) in prior widths, at gaps of x prior widths."""
    return 8.0 * setting.L * kind.pseudo_count / x + (1.0 - kind.pseudo_count) * x


def floor_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    gaps = heteroscedastic_gaps(bandit, 2.0 * setting.z, order)
    k, times = sum_rule(0, setting.horizon, order)
    leading = 0.0
    for kind in gaps.kinds:
        reached = np.sqrt(8.0 * setting.L * (kind.pseudo_count / (k + kind.pseudo_count)))
        leading += kind.copies * kind.width * float(times @ gaps.partial_means(kind, reached))
    return Parts({"leading": leading, "bad rounds": bad_rounds_heteroscedastic(bandit, setting)})


def epsilon_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    farthest = 2.0 * setting.z
    gaps = heteroscedastic_gaps(bandit, farthest, order)

    def slope(x: Array) -> Array:
        total = np.full_like(x, setting.horizon)
        for kind in gaps.kinds:
            in_widths = x / kind.width
            reached = in_widths < farthest
            total[reached] -= kind.copies * pulled(kind, setting, in_widths[reached]) * kind.density(in_widths[reached])
        return total

    widest = farthest * float(bandit.prior_widths.max())
    epsilon = setting.epsilon if setting.epsilon is not None else best_epsilon(slope, widest)
    return Parts(
        {
            "leading": _beyond(gaps, setting, epsilon),
            "small gaps": epsilon * setting.horizon,
            "bad rounds": bad_rounds_heteroscedastic(bandit, setting),
        },
        {"epsilon": epsilon},
    )


def _beyond(gaps: HeteroscedasticGaps, setting: Setting, epsilon: float) -> float:
    """E sum gap (B + 1) 1{epsilon <= gap, B >= 0}."""
    farthest = 2.0 * setting.z
    return math.fsum(
        kind.copies
        * kind.width
        * gaps.expect(kind, functools.partial(pulled, kind, setting), epsilon / kind.width, farthest)
        for kind in gaps.kinds
    )


def index_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    gaps = heteroscedastic_gaps(bandit, 2.0 * setting.z, order)
    leading = math.fsum(
        kind.copies * kind.width * gaps.index_sum(kind, setting.z, setting.horizon) for kind in gaps.kinds
    )
    bad = setting.horizon * (overshoot(bandit, setting) + misled(bandit, setting))
    return Parts({"leading": leading, "bad rounds": bad})


def gap_free_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """z times the sum of the n largest posterior standard deviations over all arms and numbers of pulls."""
    n = setting.horizon
    firsts, steps = bandit.prior_widths**-2.0, bandit.reward_noises**-2.0
    precision = _highest_precision(firsts, steps, n)
    deviations, counted = 0.0, 0
    for first, step in zip(firsts.tolist(), steps.tolist(), strict=True):
        pulls = _count_at_most(first, step, precision, n)
        k, times = sum_rule(0, pulls, order)
        deviations += float(times @ (1.0 / np.sqrt(first + step * k)))
        counted += pulls
    deviations -= (counted - n) / math.sqrt(precision)  # arms that tie for the last pulls
    return Parts(
        {"leading": setting.z * deviations, "bad rounds": n * overshoot(bandit, setting)},
        why_not=gaussian_rewards(bandit),
    )


def most_uncertain(bandit: GaussianBandit, horizon: int) -> Array:
    """Return (horizon,): the largest posterior standard deviations over all arms and numbers of pulls, falling."""
    firsts, steps = bandit.prior_widths**-2.0, bandit.reward_noises**-2.0
    precision = _highest_precision(firsts, steps, horizon)
    each = [
        first + step * np.arange(_count_at_most(first, step, precision, horizon))
        for first, step in zip(firsts.tolist(), steps.tolist(), strict=True)
    ]
    return np.asarray(1.0 / np.sqrt(np.sort(np.concatenate(each))[:horizon]))


def _count_at_most(first: float, step: float, precision: float, most: int) -> int:
    """Number of the precisions first, first + step, ... that are at most `precision`."""
    return 0 if precision < first else min(most, math.floor(min((precision - first) / step, most)) + 1)


def _highest_precision(firsts: Array, steps: Array, horizon: int) -> float:
    """Smallest number that `horizon` or more of the precisions first + step k, k = 0, 1, ..., do not exceed."""
    low, high = 0.0, float(np.min(firsts + steps * horizon))
    for _ in range(2_000):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        counted = np.minimum(np.floor((middle - firsts) / steps) + 1.0, horizon)[middle >= firsts]
        low, high = (low, middle) if float(counted.sum()) >= horizon else (middle, high)
    return high


def small_width_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """While intervals hold, the gap of a pulled arm is at most 2 z times the largest prior width."""
    gap = min(heteroscedastic_max_gap(bandit, order), 2.0 * setting.z * float(bandit.prior_widths.max()))
    return Parts(
        {"leading": setting.horizon * gap, "bad rounds": bad_rounds_heteroscedastic(bandit, setting)},
        why_not=gaussian_rewards(bandit),
    )


def trivial_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    return Parts({"leading": setting.horizon * heteroscedastic_max_gap(bandit, order)})


def prior_dependent_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """Gaps between 1/n and u by the prior's largest density of each arm, those beyond e2 by their expectation."""
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    gaps = heteroscedastic_gaps(bandit, 2.0 * setting.z, order)
    e1, e2 = xi_range(setting)
    leading = math.fsum(kind.copies * _between_windows(gaps, kind, setting, e1, e2) for kind in gaps.kinds)
    return Parts(
        {
            "leading": leading,
            "large gaps": _beyond(gaps, setting, e2),
            "small gaps": 1.0,
            "bad rounds": bad_rounds_heteroscedastic(bandit, setting),
        }
    )


def _between_windows(
    gaps: HeteroscedasticGaps, kind: HeteroscedasticArmKind, setting: Setting, e1: float, e2: float
) -> float:
    """One arm's regret at gaps between e1 and e2."""
    low, high, r = e1 / kind.width, e2 / kind.width, kind.pseudo_count
    u = min(high, max(low, 2.0 * setting.z))
    integral = 8.0 * setting.L * r * math.log(u / low) + 0.5 * (1.0 - r) * (u * u - low * low)
    return kind.width * integral * gaps.overlap(kind, low, u)
