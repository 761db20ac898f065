"""Certified bounds for linear bandits. See also docs/theory/certified-linear.md.

Write w for the posterior standard deviation of the pulled arm A, and xi_b for the normalised error of arm b's posterior
mean, standard normal given the past. The pulled arm has the highest index, so its gap is at most
(theta_* - U_*)^+ + U_A - theta_A, and 0 when A is best. Hence the gap is at most 2 z w, except on bad rounds, where
another arm has xi_b > z or xi_A < -z: given the past, a round is bad with probability at most K Q. On a bad round the
gap is at most 2 z w plus an excess, whose mean is at most (phi - zQ) times the sum of all arms' standard deviations.
Over n rounds the bad ones cost at most

    n (phi - zQ) sum_b |b|_0 + 2 z Q K W,    |b|_0 prior standard deviations, W an upper bound on the sum of the w's.

Identical arms count once, arms whose mean is certain do not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_all_gaps, certified_gap_free, certified_min_gap, certified_trivial
from bayesregret.bounds.certified.linear_knapsack import LARGEST_RATIO, SMALLEST_RATIO, largest_regret, prior_pulls
from bayesregret.bounds.certified.linear_learning import InformationLimits, information_limits
from bayesregret.bounds.gaps.linear import (
    GapEstimate,
    Geometry,
    expectation_of_gaps,
    expected_inverse_gap,
    expected_largest_gap,
    geometry,
)
from bayesregret.checks import Array
from bayesregret.models import LinearBandit


@certified_trivial.of(LinearBandit, "n E[largest gap]")
def linear_trivial(bandit: LinearBandit, setting: Setting, order: int) -> Parts:
    gap = expected_largest_gap(bandit)
    value = setting.horizon * gap.value
    return Parts(
        {"leading": value},
        details={"expected_largest_gap": gap.value},
        error=setting.horizon * gap.margin + ROUNDING * value,
    )


@certified_gap_free.of(LinearBandit, "the sum of widths")
def linear_gap_free(bandit: LinearBandit, setting: Setting, order: int) -> Parts:
    """z W + n (phi - zQ) sum_b |b|_0: given the history, the mean of U_A - theta_A is exactly z w."""
    arms, limits = geometry(bandit), information_limits(bandit, setting.horizon)
    if arms.arms == 1:
        return Parts({"leading": 0.0, "failures": 0.0})
    W = limits.widths(setting.horizon)
    failures = setting.horizon * setting.excess * float(arms.prior_deviation.sum())
    return Parts({"leading": abs(setting.z * W), "failures": failures}, details=_details(arms, limits, setting))


@certified_min_gap.of(LinearBandit, "Theorem 6 repaired")
def linear_min_gap(bandit: LinearBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    """E[min(8 L V' / Delta_min, 2 z W)] and the bad rounds.

    On a good round the gap is at most (2 z w)^2 / Delta_min and at most 2 z w.
    """
    arms, limits = geometry(bandit), information_limits(bandit, setting.horizon)
    factor = 8.0 * setting.L * limits.variances(setting.horizon)
    most = 2.0 * setting.z * limits.widths(setting.horizon)
    gap = GapEstimate(0.0, 0.0)
    if arms.arms > 1 and factor > 0.0 and most > 0.0:
        gap = expected_inverse_gap(bandit, factor / most, accuracy)
    return _with_bad_rounds(arms, limits, setting, GapEstimate(factor * gap.value, factor * gap.error))


@certified_all_gaps.of(LinearBandit, "every gap with its share of the information")
def linear_all_gaps(bandit: LinearBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    """E[min(knapsack, 2 z W)] and the bad rounds.

    A good pull of an arm with gap D has w >= D/(2z). So it yields at least kappa = log(1 + D^2/(8 L s^2)) of
    information, and it is among the arm's first floor(8 L s^2/D^2 - s^2/|a|_0^2) + 1, since k pulls of the arm alone
    leave it a variance of at most 1/(|a|_0^-2 + k s^-2). N good pulls yield at most the information of any N pulls.
    The knapsack is the largest regret of good pulls under these limits, fractional pulls allowed; or n pulls of the
    largest gaps under the first limit alone, if that is less.
    """
    arms, limits = geometry(bandit), information_limits(bandit, setting.horizon)
    leading = GapEstimate(0.0, 0.0)
    if arms.arms > 1 and arms.rank > 0 and setting.L > 0.0:
        knapsack = Knapsack(arms, limits, setting)
        known_part = _bad_rounds(arms, limits, setting)
        leading = expectation_of_gaps(bandit, knapsack.regret, known_part, accuracy)
    return _with_bad_rounds(arms, limits, setting, leading)


class Knapsack:
    """Largest regret of good pulls, for many instances at once."""

    def __init__(self, arms: Geometry, limits: InformationLimits, setting: Setting) -> None:
        self.limits, self.horizon = limits, setting.horizon
        self.most = 2.0 * setting.z * limits.widths(setting.horizon)
        self.reach = 2.0 * setting.z * arms.prior_deviation * (1.0 + ROUNDING)
        self.width = 2.0 * setting.z * limits.noise  # of two confidence widths after one reward and without a prior
        self.prior_pulls = prior_pulls(arms.prior_deviation, limits.noise)

    def regret(self, gaps: Array) -> Array:
        """Return (instances,): the smaller of the knapsack and 2 z W, for gaps (instances, distinct arms)."""
        found = np.zeros(len(gaps))
        hard = ((gaps > 0.0) & (gaps <= self.reach)).any(axis=1)  # in other instances no good pull has regret
        found[hard] = self._regret_of_hard(gaps[hard])
        return found

    def _regret_of_hard(self, gaps: Array) -> Array:
        ratio = np.clip(gaps / self.width, SMALLEST_RATIO, LARGEST_RATIO) ** 2
        pulls = np.clip(np.floor(1.0 / ratio - self.prior_pulls) + 1.0, 0.0, self.horizon)
        pulls[gaps <= 0.0] = 0.0
        return np.minimum(self.most, largest_regret(gaps, pulls, np.log1p(ratio), self.limits, self.horizon))


def _bad_rounds(arms: Geometry, limits: InformationLimits, setting: Setting) -> float:
    uncertain_arms = int(np.count_nonzero(arms.prior_deviation))
    excess = setting.horizon * setting.excess * float(arms.prior_deviation.sum())
    return excess + 2.0 * setting.z * setting.tail * uncertain_arms * limits.widths(setting.horizon)


def _with_bad_rounds(arms: Geometry, limits: InformationLimits, setting: Setting, leading: GapEstimate) -> Parts:
    if arms.arms == 1:
        return Parts({"leading": 0.0, "failures": 0.0})
    failures = _bad_rounds(arms, limits, setting)
    return Parts(
        {"leading": leading.value, "failures": failures},
        details=_details(arms, limits, setting),
        error=leading.margin + ROUNDING * (leading.value + failures),
    )


def _details(arms: Geometry, limits: InformationLimits, setting: Setting) -> dict[str, Any]:
    return {
        "distinct_arms": float(arms.arms),
        "rank": float(limits.rank),
        "information": float(limits.information(setting.horizon)),
        "V": limits.variances(setting.horizon),
        "widths": limits.widths(setting.horizon),
    }
