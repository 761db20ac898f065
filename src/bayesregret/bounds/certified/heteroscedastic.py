"""Certified forms for Gaussian arms that each have a prior width and a reward noise of their own. Proofs: docs/theory.

The proofs for one width look at one arm at a time; here each arm keeps its own numbers to the end.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.certified.best_epsilon import best_epsilon
from bayesregret.bounds.gaps.gaussian_heteroscedastic import OwnGaps, OwnKind, own_max_gap, own_spread
from bayesregret.bounds.paper.prior_dependent import windows
from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.numerics.quadrature import sum_rule


@functools.lru_cache(maxsize=32)
def own_gaps(bandit: GaussianBandit, farthest: float, order: int) -> OwnGaps:
    return OwnGaps(bandit, lambda strength: farthest, order)


def not_proved(bandit: GaussianBandit) -> str | None:
    return first_failure(gaussian_rewards(bandit), own_spread(bandit))


def overshoot(bandit: GaussianBandit, setting: Setting) -> float:
    """What the best arm's index falls short by, in a round."""
    return float(bandit.prior_widths.sum()) * setting.excess


def misled(bandit: GaussianBandit, setting: Setting) -> float:
    """What the taken arm's index promises too much by, in a round in which another arm's falls short."""
    return float(bandit.prior_widths.max()) * (bandit.arms - 1) * setting.tail * (setting.z + setting.excess)


def bad_rounds_own_widths(bandit: GaussianBandit, setting: Setting) -> float:
    """Regret in rounds whose interval of the best or of the taken arm fails."""
    below = float(bandit.prior_widths.max()) * (setting.density + setting.z * setting.tail)
    return setting.horizon * (overshoot(bandit, setting) + misled(bandit, setting) + below)


def pulled(kind: OwnKind, setting: Setting, x: Array) -> Array:
    """gap (B + 1) in widths, at gaps of x widths."""
    return 8.0 * setting.L * kind.strength / x + (1.0 - kind.strength) * x


def floor_own_widths(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    gaps = own_gaps(bandit, 2.0 * setting.z, order)
    k, times = sum_rule(0, setting.horizon, order)
    leading = 0.0
    for kind in gaps.kinds:
        reached = np.sqrt(8.0 * setting.L * (kind.strength / (k + kind.strength)))
        leading += kind.copies * kind.width * float(times @ gaps.partial_means(kind, reached))
    return Parts({"leading": leading, "bad rounds": bad_rounds_own_widths(bandit, setting)})


def epsilon_own_widths(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    farthest = 2.0 * setting.z
    gaps = own_gaps(bandit, farthest, order)

    def slope(x: Array) -> Array:
        total = np.full_like(x, setting.horizon)
        for kind in gaps.kinds:
            own = x / kind.width
            taken = own < farthest
            total[taken] -= kind.copies * pulled(kind, setting, own[taken]) * kind.density(own[taken])
        return total

    widest = farthest * float(bandit.prior_widths.max())
    epsilon = setting.epsilon if setting.epsilon is not None else best_epsilon(slope, widest)
    return Parts(
        {
            "leading": _beyond(gaps, setting, epsilon),
            "small gaps": epsilon * setting.horizon,
            "bad rounds": bad_rounds_own_widths(bandit, setting),
        },
        {"epsilon": epsilon},
    )


def _beyond(gaps: OwnGaps, setting: Setting, epsilon: float) -> float:
    """E sum gap (B + 1) 1{epsilon <= gap, B >= 0}."""
    farthest = 2.0 * setting.z
    return math.fsum(
        kind.copies
        * kind.width
        * gaps.expect(kind, functools.partial(pulled, kind, setting), epsilon / kind.width, farthest)
        for kind in gaps.kinds
    )


def index_own_widths(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    gaps = own_gaps(bandit, 2.0 * setting.z, order)
    leading = math.fsum(
        kind.copies * kind.width * gaps.index_sum(kind, setting.z, setting.horizon) for kind in gaps.kinds
    )
    bad = setting.horizon * (overshoot(bandit, setting) + misled(bandit, setting))
    return Parts({"leading": leading, "bad rounds": bad})


def gap_free_own_widths(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """z times the sum of the n largest posterior standard deviations among all arms and counts."""
    n = setting.horizon
    firsts, steps = bandit.prior_widths**-2.0, bandit.reward_noises**-2.0
    level = _highest_precision(firsts, steps, n)
    deviations, poured = 0.0, 0
    for first, step in zip(firsts.tolist(), steps.tolist(), strict=True):
        pulls = _below(first, step, level, n)
        k, times = sum_rule(0, pulls, order)
        deviations += float(times @ (1.0 / np.sqrt(first + step * k)))
        poured += pulls
    deviations -= (poured - n) / math.sqrt(level)  # arms that tie for the last pulls
    return Parts(
        {"leading": setting.z * deviations, "bad rounds": n * overshoot(bandit, setting)},
        why_not=gaussian_rewards(bandit),
    )


def most_uncertain(bandit: GaussianBandit, horizon: int) -> Array:
    """(horizon,): the largest posterior standard deviations among all arms and counts, in falling order."""
    firsts, steps = bandit.prior_widths**-2.0, bandit.reward_noises**-2.0
    level = _highest_precision(firsts, steps, horizon)
    each = [
        first + step * np.arange(_below(first, step, level, horizon))
        for first, step in zip(firsts.tolist(), steps.tolist(), strict=True)
    ]
    return np.asarray(1.0 / np.sqrt(np.sort(np.concatenate(each))[:horizon]))


def _below(first: float, step: float, level: float, most: int) -> int:
    """How many of the precisions first, first + step, ... are at most `level`."""
    return 0 if level < first else min(most, math.floor(min((level - first) / step, most)) + 1)


def _highest_precision(firsts: Array, steps: Array, horizon: int) -> float:
    """The least level below which `horizon` or more of the precisions first + step k are, k = 0, 1, ..."""
    low, high = 0.0, float(np.min(firsts + steps * horizon))
    for _ in range(2_000):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        poured = np.minimum(np.floor((middle - firsts) / steps) + 1.0, horizon)[middle >= firsts]
        low, high = (low, middle) if float(poured.sum()) >= horizon else (middle, high)
    return high


def small_width_own_widths(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """While intervals hold no taken arm is worse than 2 z of the widest prior's deviations."""
    gap = min(own_max_gap(bandit, order), 2.0 * setting.z * float(bandit.prior_widths.max()))
    return Parts(
        {"leading": setting.horizon * gap, "bad rounds": bad_rounds_own_widths(bandit, setting)},
        why_not=gaussian_rewards(bandit),
    )


def trivial_own_widths(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    return Parts({"leading": setting.horizon * own_max_gap(bandit, order)})


def prior_dependent_own_widths(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """Gaps between 1/n and u by each prior's largest density, those beyond e2 by their expectation."""
    why_not = not_proved(bandit)
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    gaps = own_gaps(bandit, 2.0 * setting.z, order)
    e1, e2 = windows(setting)
    leading = math.fsum(kind.copies * _between_windows(gaps, kind, setting, e1, e2) for kind in gaps.kinds)
    return Parts(
        {
            "leading": leading,
            "large gaps": _beyond(gaps, setting, e2),
            "small gaps": 1.0,
            "bad rounds": bad_rounds_own_widths(bandit, setting),
        }
    )


def _between_windows(gaps: OwnGaps, kind: OwnKind, setting: Setting, e1: float, e2: float) -> float:
    """One arm's regret at gaps between e1 and e2."""
    low, high, r = e1 / kind.width, e2 / kind.width, kind.strength
    u = min(high, max(low, 2.0 * setting.z))
    integral = 8.0 * setting.L * r * math.log(u / low) + 0.5 * (1.0 - r) * (u * u - low * low)
    return kind.width * integral * gaps.overlap(kind, low, u)
