"""The two arms that information-directed sampling mixes, for the smallest (expected gap)^2 / (expected gain)."""

from __future__ import annotations

import math

from bayesregret.dispatch import jitable, rarely_called

# Ratios of pairs of arms that differ by less than this fraction count as equal.
TIES = 1e-9
# A uniform draw is farther than this from 1.
NEVER = 2.0**-54


@rarely_called
def best_mixture(gaps, gains):
    """Return the two arms, and the weight of the first, with the smallest ratio of squared expected gap to gain.

    Ties go to the lowest-numbered arms. If no arm has a gain, return the arm with the smallest gap.
    """
    arms = gaps.shape[0]
    first, second, weight, lowest = 0, 0, 1.0, math.inf
    next_gap = math.inf
    for arm in range(1, arms):
        if gaps[arm] < gaps[first]:
            first, second, next_gap = arm, arm, gaps[first]
        else:
            next_gap = min(next_gap, gaps[arm])
    if gaps[first] <= NEVER * next_gap:  # the best arm is known: another's weight would be at most this ratio
        return first, second, weight
    for arm in range(arms):
        for other in range(arm, arms):
            near, far = (arm, other) if gaps[arm] <= gaps[other] else (other, arm)
            part = farther_weight(gaps[near], gaps[far], gains[near], gains[far])
            if part == 0.0 and arm != other:
                continue  # one of the arms alone is better
            gap = gaps[near] + part * (gaps[far] - gaps[near])
            gain = gains[near] + part * (gains[far] - gains[near])
            if gain > 0.0 and gap * gap < lowest * gain * (1.0 - TIES):
                first, second, lowest = arm, other, gap * gap / gain
                weight = 1.0 - part if arm == near else part
    return first, second, weight


@jitable
def farther_weight(gap, farther_gap, gain, farther_gain):
    """Return the weight of the arm with the larger gap at the minimum of the ratio, which is convex; 0 at an end.

    This weight, unlike the other arm's, has all its digits even if the gaps are of very different sizes.
    """
    if gap == farther_gap or gain == farther_gain:
        return 0.0
    weight = gap / (farther_gap - gap) - 2.0 * gain / (farther_gain - gain)
    return weight if 0.0 < weight < 1.0 else 0.0
