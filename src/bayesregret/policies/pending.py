"""Indices that count pending pulls: those whose reward has not arrived.

A policy whose index depends on rewards alone repeats its choice until the next reward arrives. The remedy of Desautels,
Krause and Burdick (2014): the mean comes from the rewards received, the width from all pulls, received and pending. An
arm becomes less attractive with each pull, and a batch is spread over the arms. Where the width depends on the number
of pulls alone, as for Gaussian and Bernoulli arms, it is the width that the rewards will leave, whatever they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.contracts import choose_linear, confidence_width, posterior_mean, prior_pulls
from bayesregret.contracts.fast import width_after
from bayesregret.dispatch import contract, jitable
from bayesregret.policies.selection import moves_with_time


@contract(returns="index")
def pending_index(policy, model, stats, arm, pending):
    """Index of an arm with `pending` pulls whose rewards have not arrived; without any it is the policy's index.

    By default: the mean of the rewards received plus the width after all pulls.
    """


@pending_index.otherwise
def mean_plus_counted_width(policy, model, stats, arm, pending):
    width = width_after(policy, model, arm, stats.counts[arm] + pending)
    return mean_of_received(model, stats, arm) + width


@jitable
def mean_of_received(model, stats, arm):
    """Posterior mean of an arm; without a prior and before its first reward, the mean of all rewards received.

    An arm whose pulls are all pending then competes as an average one. Any fixed number in place of the mean would
    favour or exclude such an arm, depending on where rewards lie.
    """
    if has_no_mean(model, stats, arm):
        return mean_of_all(stats)
    return posterior_mean(model, arm, stats.counts[arm], stats.totals[arm])


@jitable
def has_no_mean(model, stats, arm):
    """Whether the arm has neither rewards nor a prior. Its index then also moves with rewards of other arms."""
    return stats.counts[arm] == 0 and prior_pulls(model, arm) == 0.0


@jitable
def mean_of_all(stats):
    """Mean of the rewards received from all arms, 0 before the first."""
    total = 0.0
    for arm in range(len(stats.totals)):
        total += stats.totals[arm]
    return total / stats.received[0] if stats.received[0] > 0 else 0.0


def counts_pending(policy: Any, settings: Any) -> bool:
    """Whether a policy's index counts pending pulls: it can, and no field `count_pending` says otherwise."""
    has_width = confidence_width.supports(settings) or width_after.supports(settings)
    has_width = has_width and not moves_with_time(settings)
    return (has_width or pending_index.supports(settings)) and bool(getattr(policy, "count_pending", True))


def counts_pending_linear(policy: Any, settings: Any) -> bool:
    """The same with a linear belief, where a policy with a `choose_linear` counts them only if it has the field."""
    return bool(getattr(policy, "count_pending", not choose_linear.supports(settings)))


def checked_pending(value: Any) -> bool:
    """Return the field `count_pending` of a policy as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise checks.fail("count_pending", "True or False", value)
    return bool(value)
