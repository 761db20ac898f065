"""The index of Gittins (1979) for the rounds that are left, as Kaufmann (2018) and Lattimore (2016) study it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import choose_arm, current_mean, reward_deviation
from bayesregret.dispatch import contract, jitable
from bayesregret.policies.base import BelievingPolicy

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class BernoulliIndices(NamedTuple):
    """A row for each kind of arm: by pulls, wins and rounds left."""

    horizon: int
    table: Array
    kind: NDArray[np.int64]
    starts: NDArray[np.int64]


class GaussianIndices(NamedTuple):
    """What is added to the posterior mean, for noise 1: a table for each kind of arm, by pulls and rounds left."""

    horizon: int
    widths: Array
    kind: NDArray[np.int64]


@contract
def gittins_of_state(policy, model, stats, arm, left):
    """The index of an arm with so many rounds left, at least 1: never falls as they become more."""


@gittins_of_state.implement(BernoulliIndices)
def gittins_of_wins(policy, model, stats, arm, left):
    pulls, row = stats.counts[arm], policy.table[policy.kind[arm]]
    return row[policy.starts[pulls] + int(stats.totals[arm]) * (policy.horizon - pulls) + left - 1]


@gittins_of_state.implement(GaussianIndices)
def gittins_of_mean(policy, model, stats, arm, left):
    width = policy.widths[policy.kind[arm], stats.counts[arm], left - 1]
    return current_mean(model, stats, arm) + reward_deviation(model, arm) * width


@jitable
def gittins_now(policy, model, stats, arm, round_):
    """Rewards from elsewhere make the table shorter. After the horizon there is nothing to learn for."""
    left = policy.horizon - max(round_ - 1, stats.counts[arm])
    return gittins_of_state(policy, model, stats, arm, left) if left > 0 else current_mean(model, stats, arm)


@choose_arm.implement(BernoulliIndices)
@choose_arm.implement(GaussianIndices)
def choose_by_gittins(policy, model, stats, round_, stream):
    """An index falls while its arm waits, so one from an earlier round is a ceiling, and only the highest are looked up
    again. `scratch` holds the ceilings and the counts that they were found for, plus 1."""
    arms = stats.counts.shape[0]
    ceilings, stamps = stats.scratch[:arms], stats.scratch[arms:]
    for arm in range(arms):
        if stamps[arm] != stats.counts[arm] + 1.0:
            stamps[arm] = stats.counts[arm] + 1.0
            ceilings[arm] = gittins_now(policy, model, stats, arm, round_)
    while True:
        best, highest = 0, -math.inf
        for arm in range(arms):
            if ceilings[arm] > highest:
                best, highest = arm, ceilings[arm]
        index = gittins_now(policy, model, stats, best, round_)
        if index >= highest:
            return best, stream
        ceilings[best] = index


@dataclass(frozen=True)
class Gittins(BelievingPolicy):
    """Index: the highest charge for each pull at which pulling the arm within the rounds left does not lose.

    For Gaussian bandits over at most 2,000 rounds, fewer where more than 16 arms differ in noise over prior width, and
    Bernoulli ones over at most 300. It needs the horizon. `prior` is a bandit whose prior the policy believes in, the
    true one if None.

    >>> Gittins()
    Gittins(prior=None)
    """

    name: ClassVar[str] = "gittins"
    prior: Bandit | None = None

    def settings(self, bandit: Bandit, horizon: int | None) -> Any:
        from bayesregret.optimal.gittins import bernoulli_tables, check_within_horizon, gaussian_tables

        self.belief(bandit)
        believed: Any = self.prior or bandit
        horizon = check_within_horizon(believed, horizon)
        if believed.kind == "gaussian":
            return GaussianIndices(horizon, *gaussian_tables(believed, horizon))
        return BernoulliIndices(horizon, *bernoulli_tables(believed, horizon))

    def scratch(self, bandit: Bandit) -> int:
        return 2 * bandit.arms
