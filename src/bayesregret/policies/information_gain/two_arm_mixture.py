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
            near, far = (arm, other) if gaps[arm] <= gaps[other] else (other, arm)
            part = farther_share(gaps[near], gaps[far], gains[near], gains[far])
            if part == 0.0 and arm != other:
                continue  # one of the arms alone is better
            gap = gaps[near] + part * (gaps[far] - gaps[near])
            gain = gains[near] + part * (gains[far] - gains[near])
            if gain > 0.0 and gap * gap < lowest * gain * (1.0 - TIES):
                first, second, lowest = arm, other, gap * gap / gain
                share = 1.0 - part if arm == near else part
    return first, second, share


@jitable
def farther_share(gap, farther_gap, gain, farther_gain):
    """The share of the arm with the larger gap where the ratio, which is convex, has its lowest point; 0 at an end.

    That arm's, as it is known to its last digits even where the gaps are of very different sizes.
    """
    if gap == farther_gap or gain == farther_gain:
        return 0.0
    share = gap / (farther_gap - gap) - 2.0 * gain / (farther_gain - gain)
    return share if 0.0 < share < 1.0 else 0.0
