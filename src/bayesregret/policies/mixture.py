"""The two arms between which information-directed sampling draws: the least (expected gap)^2 / (expected gain)."""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called

# Pairs of arms whose ratios differ by less than this share are equal but for rounding.
TIES = 1e-9
# A uniform draw is never so near to 1.
NEVER = 2.0**-54


@rarely_called
def best_mixture(gaps, gains):
    """The two arms, and the share of the first, whose squared expected gap is smallest for the expected gain.

    Ties go to the lowest numbers. Where no arm tells anything, the one with the smallest gap is taken.
    """
    arms = gaps.shape[0]
    first, second, share, lowest = 0, 0, 1.0, math.inf
    next_gap = math.inf
    for arm in range(1, arms):
        if gaps[arm] < gaps[first]:
            first, second, next_gap = arm, arm, gaps[first]
        else:
            next_gap = min(next_gap, gaps[arm])
    if gaps[first] <= NEVER * next_gap:  # the best arm is known: no other would have a larger share than this ratio
        return first, second, share
    for arm in range(arms):
        for other in range(arm, arms):
            part = 1.0 if other == arm else best_share(gaps[arm], gaps[other], gains[arm], gains[other])
            gap = gaps[other] + part * (gaps[arm] - gaps[other])
            gain = gains[other] + part * (gains[arm] - gains[other])
            if gain > 0.0 and gap * gap < lowest * gain * (1.0 - TIES):
                first, second, share, lowest = arm, other, part, gap * gap / gain
    return first, second, share


@jitable
def best_share(gap, other_gap, gain, other_gain):
    """Where the ratio, which is convex in the share, has its lowest point; 1 if that is at an end, which is an arm."""
    if gap == other_gap or gain == other_gain:
        return 1.0
    share = other_gap / (gap - other_gap) - 2.0 * other_gain / (gain - other_gain)
    return share if 0.0 < share < 1.0 else 1.0
