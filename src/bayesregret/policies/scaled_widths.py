"""Policies whose index is a centre plus a level times a width: the clock moves the level alone, the same for all arms.

An arm's centre and width are kept until it has new data, so a look at all arms is a product and a sum for each. And not
even that is needed while the leader, at an earlier level, is above what the others will be at a later one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import centre_and_width, choose_arm, index_level
from bayesregret.dispatch import jitable

# How far ahead the others are looked at: a share of the rounds so far, or so many.
SHARE_OF_ROUNDS, FEWEST_ROUNDS = 8, 4
# Indices rise ever more slowly: of the time in which one would rise to the leader's, were it steady, this share.
CAUTION = 0.5
# Levels of so many rounds are computed beforehand, if the horizon is as long.
LEVELS_KEPT = 1 << 14
# Levels may be off by rounding.
ROUNDING = 1e-13


class HighestScaled(NamedTuple):
    """A policy with an `index_level` and a `centre_and_width`. `scratch` can be computed again at any time."""

    policy: Any


# What `scratch` holds: the leader plus 1, or 0 if there is none; the others' highest index in the last round that it is
# good for; that round; the level when it was found; the rewards received by then, and the leader's among them; and a
# centre that is enough for the leader in any of these rounds. After that each arm's centre, its width, the count they
# are for, plus 1.
LEADER, TOP, GOOD_UNTIL, LEVEL, RECEIVED, COUNT, ENOUGH, HEAD = range(8)


def scratch_for_scaled(arms: int) -> int:
    return HEAD + 3 * arms


@jitable
def scaled_index(policy, model, known, arm, round_):
    """The index of one arm, to the last bit."""
    centre, width = centre_and_width(policy, model, arm, known.counts[arm], known.totals[arm])
    return centre + index_level(policy, round_) * width


@choose_arm.implement(HighestScaled)
def choose_highest_scaled(policy, model, known, round_, stream):
    scratch = known.scratch
    leader = int(scratch[LEADER]) - 1
    if leader >= 0 and round_ <= scratch[GOOD_UNTIL]:
        count = known.counts[leader]
        if known.received[0] - scratch[RECEIVED] == count - scratch[COUNT]:  # new rewards are of the leader alone
            centre, width = centre_and_width(policy.policy, model, leader, count, known.totals[leader])
            # The width, which is much of the work, is rarely asked for.
            if centre > scratch[ENOUGH] or centre + scratch[LEVEL] * width > scratch[TOP]:
                return leader, stream
    return look_at_all(policy.policy, model, known, round_), stream


@jitable
def look_at_all(policy, model, known, round_):
    """The arm with the highest index; and for how long no other can have it, while the leader's does not fall far."""
    scratch = known.scratch
    level = index_level(policy, round_)
    renew(policy, model, known)
    later = round_ + max(FEWEST_ROUNDS, round_ // SHARE_OF_ROUNDS)
    best, lead, top = lead_now_and_top_later(known, level, index_level(policy, later))
    if top >= lead:
        _, _, second = lead_now_and_top_later(known, level, level)
        share = CAUTION * (lead - second) / (top - second) if top > second else 0.0
        later = round_ + int((later - round_) * share)
        _, _, top = lead_now_and_top_later(known, level, index_level(policy, later))
    scratch[LEADER] = best + 1.0 if lead > top and later > round_ else 0.0
    top += ROUNDING * abs(top)
    count = known.counts[best]
    _, width = centre_and_width(policy, model, best, count + (later - round_), known.totals[best])
    scratch[ENOUGH] = top - (1.0 - ROUNDING) * level * width
    scratch[TOP], scratch[GOOD_UNTIL], scratch[LEVEL] = top, later, level
    scratch[RECEIVED], scratch[COUNT] = known.received[0], count
    return best


@jitable
def renew(policy, model, known):
    """Centres and widths of arms that have new data."""
    scratch, arms = known.scratch, known.counts.shape[0]
    centres, widths, stamps = scratch[HEAD:], scratch[HEAD + arms :], scratch[HEAD + 2 * arms :]
    for arm in range(arms):
        count = known.counts[arm]
        if stamps[arm] != count + 1.0:
            stamps[arm] = count + 1.0
            centres[arm], widths[arm] = centre_and_width(policy, model, arm, count, known.totals[arm])


@jitable
def lead_now_and_top_later(known, level, later_level):
    """The arm with the highest index at a level, that index, and the highest of the other arms at a later level."""
    arms = known.counts.shape[0]
    centres, widths = known.scratch[HEAD:], known.scratch[HEAD + arms :]
    best, lead, own, top = 0, -math.inf, -math.inf, -math.inf
    for arm in range(arms):
        now, later = centres[arm] + level * widths[arm], centres[arm] + later_level * widths[arm]
        leads = now > lead
        top = max(top, own if leads else later)
        own = later if leads else own
        best, lead = (arm, now) if leads else (best, lead)
    return best, lead, top
