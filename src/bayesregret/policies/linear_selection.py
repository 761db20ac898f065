"""Choosing the highest index from a linear posterior, the lowest-numbered arm on ties."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayesregret.contracts import choose_linear, confidence_width, mean_now, variance_now
from bayesregret.dispatch import contract, jitable, order_free
from bayesregret.policies.selection import NO_ARM
from bayesregret.rng import normal
from bayesregret.sources import is_outside


class Unproven(NamedTuple):
    """A user's policy with a `confidence_width`, whose index may be nan."""

    policy: Any


@confidence_width.implement(Unproven)
def unproven_width(policy, variance):
    return confidence_width(policy.policy, variance)


@contract(returns="answer")
def is_refused(policy, index):
    """Whether an index is nan. Only those of a user's policy are looked at: it takes a few percent of the time."""


@is_refused.otherwise
def is_accepted(policy, index):
    return False


@is_refused.implement(Unproven)
def is_nan(policy, index):
    return math.isnan(index)


def as_width(settings: Any) -> Any:
    """Settings with a `confidence_width`, marked if they are a user's own."""
    return Unproven(settings) if is_outside((type(settings),)) else settings


class HighestLinear(NamedTuple):
    """A policy with a `confidence_width`, as one with a `choose_linear`."""

    policy: Any


@choose_linear.implement(HighestLinear)
def choose_highest_linear(policy, posterior, stats, round_, stream):
    indices = stats.scratch[: posterior.mean.shape[0]]
    found_nan = False
    for arm in range(indices.shape[0]):
        index = mean_now(posterior, arm) + confidence_width(policy.policy, variance_now(posterior, arm))
        found_nan |= is_refused(policy.policy, index)
        indices[arm] = index
    return NO_ARM if found_nan else first_highest(indices), stream


@jitable
def draw_normals(xi, stream):
    """Fill xi with standard normal draws; return the next stream."""
    for i in range(xi.shape[0]):
        xi[i], stream = normal(stream)
    return stream


@jitable
def highest_mean(posterior, stats):
    """Return the arm with the highest posterior mean."""
    means = stats.scratch[: posterior.mean.shape[0]]
    for arm in range(means.shape[0]):
        means[arm] = mean_now(posterior, arm)
    return first_highest(means)


@jitable
def first_highest(values):
    """Return the place of the highest value, the first on ties."""
    return first_with(values, highest(values))


@order_free
def highest(values):
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    return largest


@jitable
def first_with(values, value):
    """Return the first place that holds this value, the last place if none does."""
    place = 0
    while values[place] != value and place < values.shape[0] - 1:
        place += 1
    return place
