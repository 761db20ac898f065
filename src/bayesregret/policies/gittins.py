"""Finite-horizon Gittins index (Gittins 1979), as studied by Lattimore (2016) and Kaufmann (2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import choose_arm, current_mean
from bayesregret.contracts.fast import reward_deviation
from bayesregret.dispatch import contract, jitable
from bayesregret.policies.base import PosteriorPolicy

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class BernoulliIndices(NamedTuple):
    """Indices by pulls, wins and remaining rounds: a row for each kind of arm."""

    horizon: int
    table: Array
    kind: NDArray[np.int64]
    starts: NDArray[np.int64]


class GaussianIndices(NamedTuple):
    """Index minus posterior mean, for noise 1, by pulls and remaining rounds: a table for each kind of arm."""

    horizon: int
    widths: Array
    kind: NDArray[np.int64]


@contract()
def gittins_of_state(policy, model, stats, arm, left):
    """Index of an arm with `left` >= 1 remaining rounds; it never falls as `left` grows."""


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
    """Index of an arm in a round; after the horizon its posterior mean.

    An arm may have more pulls than there were rounds, as an agent can be given rewards of earlier ones.
    """
    left = policy.horizon - max(round_ - 1, stats.counts[arm])
    return gittins_of_state(policy, model, stats, arm, left) if left > 0 else current_mean(model, stats, arm)


@choose_arm.implement(BernoulliIndices)
@choose_arm.implement(GaussianIndices)
def choose_by_gittins(policy, model, stats, round_, stream):
    """Choose the highest index. An index falls while its arm waits, so one from an earlier round is an upper bound, and
    only the highest are looked up again. `scratch` holds these bounds, and the counts that they are for, plus 1."""
    arms = stats.counts.shape[0]
    uppers, stamps = stats.scratch[:arms], stats.scratch[arms:]
    for arm in range(arms):
        if stamps[arm] != stats.counts[arm] + 1.0:
            stamps[arm] = stats.counts[arm] + 1.0
            uppers[arm] = gittins_now(policy, model, stats, arm, round_)
    while True:
        best, highest = 0, -math.inf
        for arm in range(arms):
            if uppers[arm] > highest:
                best, highest = arm, uppers[arm]
        index = gittins_now(policy, model, stats, best, round_)
        if index >= highest:
            return best, stream
        uppers[best] = index


@dataclass(frozen=True)
class Gittins(PosteriorPolicy):
    """Index policy: the highest charge per pull at which pulling the arm within the remaining rounds breaks even.

    It needs the horizon: at most 2,000 rounds for Gaussian bandits, fewer if more than 16 arms differ in noise over
    prior width, and at most 300 for Bernoulli bandits.

    Parameters
    ----------
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> agent = Gittins().start(BernoulliBandit(alpha=[1, 2], beta=[1, 2]), horizon=20)
    >>> agent.select()
    0
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
