"""Choices of policies that believe in a mixture: every reward moves the indices of all arms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import choose_arm, confidence_width, current_mean, posterior_draw
from bayesregret.contracts.mixture import component, draw_component, posterior_variance
from bayesregret.policies.selection import NO_ARM


class HighestInMixture(NamedTuple):
    """A policy with a `confidence_width`, by the mixture's posterior mean and variance."""

    policy: Any


@choose_arm.implement(HighestInMixture)
def choose_highest_in_mixture(policy, model, stats, round_, stream):
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        width = confidence_width(policy.policy, posterior_variance(model, stats, arm))
        index = current_mean(model, stats, arm) + width
        if not index <= highest:
            if math.isnan(index):
                return NO_ARM, stream
            best, highest = arm, index
    return best, stream


class HighestDrawInMixture(NamedTuple):
    """Thompson sampling: draw the component, then all arms from it."""


@choose_arm.implement(HighestDrawInMixture)
def choose_highest_draw_in_mixture(policy, model, stats, round_, stream):
    number, stream = draw_component(model, stats, stream)
    part = component(model.parts, number)
    best, highest = 0, -math.inf
    for arm in range(stats.counts.shape[0]):
        value, stream = posterior_draw(part, stats, arm, stream)
        if value > highest:
            best, highest = arm, value
    return best, stream
