"""The index form for linear bandits. See also docs/theory/certified-linear-index.md.

If theta_* <= U_*, a pull of arm a needs theta_* - theta_a <= w (z + zeta): w is its posterior standard deviation, and
zeta, the normalised error of its posterior mean, is standard normal given the past. For any multiplier u >= -z, chosen
beforehand for each arm and count,

- either zeta <= u, and the gap is at most w (z + u): these good pulls are limited in number and in information;
- or zeta > u, and the regret of the round has mean at most w c(u) given the past, c(u) = z Q(u) + phi(u).

The second part is charged for each round as lambda + mu w, and what that does not cover for each arm and count.
`certified_all_gaps` is the case u = z, which it calls bad for zeta > z.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_index
from bayesregret.bounds.certified.linear_knapsack import LARGEST_RATIO, SMALLEST_RATIO, largest_regret
from bayesregret.bounds.certified.linear_learning import InformationLimits, information_limits
from bayesregret.bounds.certified.linear_multipliers import Multipliers, candidates
from bayesregret.bounds.gaps.linear import GapEstimate, Geometry, drawn_gaps, expectation_of_gaps, geometry
from bayesregret.bounds.gaps.lines import ROOT_TWO_PI, Indices
from bayesregret.checks import Array
from bayesregret.models import LinearBandit

# Instances on which candidates for the multipliers are compared: so many draws, numbers and instances in which a pull
# at this multiplier may be good. Other instances give the bound itself.
PILOT, PILOT_NUMBERS, PILOT_HARD, PILOT_U = 2**13, 2**18, 2**9, 2.0


@certified_index.of(LinearBandit, "by the index, with the share of the information")
def linear_index(bandit: LinearBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    """E[good pulls], and the charges for overestimated arms and for rounds in which the best index is too low."""
    arms, limits = geometry(bandit), information_limits(bandit, setting.horizon)
    if arms.arms == 1 or arms.rank == 0:
        return Parts({"leading": 0.0, "overestimates": 0.0, "failures": 0.0})
    good, overestimates, failures = _chosen(arms, limits, setting)
    leading = GapEstimate(0.0, 0.0)
    if good.most > 0.0:
        leading = expectation_of_gaps(bandit, good.regret, overestimates + failures, accuracy)
    rest = overestimates + failures
    return Parts(
        {"leading": leading.value, "overestimates": overestimates, "failures": failures},
        details=good.details(),
        error=leading.margin + ROUNDING * (leading.value + rest),
    )


def underestimates(arms: Geometry, limits: InformationLimits, setting: Setting, u: float) -> float:
    """Regret of the rounds in which the best mean is above its index and zeta is at most u.

    There the gap is at most (theta_* - U_*)^+, whose mean is at most (phi - zQ) sum_b |b|_0 and which is charged for
    each round, plus w (z + zeta)^+. The latter counts on an event of probability at most p, that some other arm is
    above its index: its mean is largest if the event is that zeta is just below u.
    """
    uncertain = int(np.count_nonzero(arms.prior_deviation))
    excess = setting.horizon * setting.excess * float(arms.prior_deviation.sum())
    beyond = float(ndtr(-u))
    probability = min((uncertain - 1) * setting.tail, max(0.0, 1.0 - setting.tail - beyond))
    beside = 0.0
    if probability > 0.0:
        low = -float(ndtri(beyond + probability))
        beside = setting.z * probability + (math.exp(-0.5 * low * low) - math.exp(-0.5 * u * u)) / ROOT_TWO_PI
    return excess + max(0.0, beside) * limits.widths(setting.horizon)


def _chosen(arms: Geometry, limits: InformationLimits, setting: Setting) -> tuple[GoodPulls, float, float]:
    """The candidate with the least bound on the pilot's instances, and its charges for both kinds of rounds."""
    draws = max(16, min(PILOT, PILOT_NUMBERS // arms.arms))
    gaps = drawn_gaps(arms, draws)
    hard = ((gaps > 0.0) & (gaps <= (setting.z + PILOT_U) * arms.prior_deviation)).any(axis=1)
    few = gaps[: int(np.searchsorted(np.cumsum(hard), PILOT_HARD)) + 1]
    widths, least, best = limits.widths(setting.horizon), math.inf, None
    for multipliers in candidates(arms, limits, setting, gaps):
        charges = multipliers.charges(widths, setting.horizon)
        failures = underestimates(arms, limits, setting, float(multipliers.u.max()))
        if charges + failures < least:
            good = GoodPulls(arms, limits, setting, multipliers)
            value = float(good.regret(few).mean()) + charges + failures
            if value < least:
                best, least = (good, charges, failures), value
    assert best is not None
    return best


class GoodPulls:
    """Largest regret of pulls of arms that are overestimated by at most `u` deviations, for many instances."""

    def __init__(self, arms: Geometry, limits: InformationLimits, setting: Setting, multipliers: Multipliers) -> None:
        self.limits, self.horizon, self.chosen = limits, setting.horizon, multipliers
        self.widths = (setting.z + multipliers.u) * limits.noise  # (arms or 1, blocks)
        self.most = float(setting.z + multipliers.u.max()) * limits.widths(setting.horizon)
        first = multipliers.deviation(multipliers.start[None, :]) * (setting.z + multipliers.u) * (1.0 + ROUNDING)
        first = np.where(arms.prior_deviation[:, None] > 0.0, first, 0.0)
        # (arms, blocks): the largest gap of a good pull in this block or a later one.
        self.reach = np.maximum.accumulate(first[:, ::-1], axis=1)[:, ::-1]
        self.widest = np.maximum.accumulate(self.widths, axis=1)

    def regret(self, gaps: Array) -> Array:
        """Return (instances,): the largest regret of good pulls, for gaps (instances, distinct arms)."""
        found = np.zeros(len(gaps))
        hard = ((gaps > 0.0) & (gaps <= self.reach[:, 0])).any(axis=1)  # in others no good pull has regret
        if hard.any():
            gaps = gaps[hard]
            pulls, price = self._pulls_and_prices(gaps)
            most = largest_regret(gaps, pulls, price, self.limits, self.horizon)
            found[hard] = np.minimum(self.most, most)
        return found

    def _pulls_and_prices(self, gaps: Array) -> tuple[Array, Array]:
        """(instances, arms): largest number of good pulls, and least information of one."""
        block = self._last_blocks(gaps)
        row = np.arange(gaps.shape[1]) if len(self.widths) > 1 else np.zeros(gaps.shape[1], dtype=np.intp)
        at = np.maximum(block, 0)
        safe = np.where(gaps > 0.0, gaps, 1.0)
        ratio = np.clip(self.widths[row, at] / safe, SMALLEST_RATIO, LARGEST_RATIO)
        alone = np.floor(ratio * ratio * (1.0 + ROUNDING) - self.chosen.prior_pulls) + 1.0
        pulls = np.clip(alone, self.chosen.start[at] + 1.0, self.chosen.stop[at])
        pulls[(block < 0) | (gaps <= 0.0)] = 0.0
        widest = self.widest[row, at]
        ratio = np.clip(gaps / np.where(widest > 0.0, widest, 1.0), SMALLEST_RATIO, LARGEST_RATIO)
        return pulls, np.log1p(ratio * ratio)

    def _last_blocks(self, gaps: Array) -> Indices:
        """(instances, arms): the last block in which a pull of the arm may be good, -1 if none."""
        if self.reach.shape[1] == 1:
            return np.asarray(np.where(gaps <= self.reach[:, 0], 0, -1), dtype=np.intp)
        found = np.empty(gaps.shape, dtype=np.intp)
        for arm, reach in enumerate(self.reach):
            # Equal values on the right side count as reached: search among the negatives, which rise.
            found[:, arm] = np.searchsorted(-reach, -gaps[:, arm], side="right") - 1
        return found

    def details(self) -> dict[str, float]:
        """Return the charges per round and per width, and the range of the multipliers."""
        low, high = float(self.chosen.u.min()), float(self.chosen.u.max())
        return {"lambda": self.chosen.per_round, "mu": self.chosen.per_width, "least_u": low, "largest_u": high}
