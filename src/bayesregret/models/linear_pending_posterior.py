"""Posterior of a linear bandit with pending pulls: means from the rewards received, variances after all pulls.

The posterior covariance depends on the features of the pulled arms alone, not on their rewards. So the variances that
pending rewards will leave are known in advance, exactly: a second posterior counts every pull when it is made.
"""

from __future__ import annotations

from typing import NamedTuple

from bayesregret.checks import Array
from bayesregret.contracts import information, mean_now, means_at, variance_now
from bayesregret.dispatch import jitable
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_lazy_posterior import (
    LazyPosterior,
    copy_lazy_posterior,
    count_linear_pulls,
    make_lazy_posterior,
    pulls_in,
)


class PendingPosterior(NamedTuple):
    received: LazyPosterior
    counted: LazyPosterior  # all pulls, without the rewards of pending ones: its means are not used
    mean: Array  # (columns,): of `received`
    roots: Array  # (r, columns): of `received`


def with_pending(received: LazyPosterior, model: LinearModel) -> PendingPosterior:
    """Posterior that shares the received rewards with `received`; no pull is counted yet."""
    return PendingPosterior(received, make_lazy_posterior(model), received.mean, received.roots)


@jitable
def count_missing(posterior, model, pending, anew):
    """Count the pulls, received and pending, that are not counted yet; all of them if `anew`."""
    if anew:
        copy_lazy_posterior(posterior.counted, posterior.received)
    for arm in range(pending.shape[0]):
        missing = pulls_in(posterior.received, arm) + pending[arm] - pulls_in(posterior.counted, arm)
        if missing > 0:
            count_linear_pulls(posterior.counted, model, arm, missing)


@mean_now.implement(PendingPosterior)
def mean_from_received(posterior, arm):
    return mean_now(posterior.received, arm)


@means_at.implement(PendingPosterior)
def means_from_received(posterior, xi, means):
    means_at(posterior.received, xi, means)


@variance_now.implement(PendingPosterior)
def variance_after_all(posterior, arm):
    return variance_now(posterior.counted, arm)


@information.implement(PendingPosterior)
def information_of_all(posterior):
    return information(posterior.counted)
