"""Gittins index (Gittins 1979): with a discount, or for a finite horizon (Lattimore 2016, Kaufmann 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import arm_index, choose_arm, current_mean, posterior_mean, prior_pulls, prior_total
from bayesregret.contracts.fast import reward_deviation, width_after
from bayesregret.dispatch import contract, jitable, rarely_called
from bayesregret.policies.base import PosteriorPolicy, keep, optional_probability
from bayesregret.policies.pending import pending_index

if TYPE_CHECKING:
    from bayesregret.models import Bandit

U = np.uint64
ONE, TWO = U(1), U(2)


# --- finite horizon: indices by pulls and remaining rounds -----------------------------------------------------------


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


# --- with a discount: indices by the arm's own data ------------------------------------------------------------------
# No number of rewards leads out of a table: counts beyond it are looked up at its end.


class DiscountedWidths(NamedTuple):
    """Index minus posterior mean, for noise 1, by pulls: a row for each kind of Gaussian arm."""

    widths: Array
    kind: NDArray[np.int64]


@width_after.implement(DiscountedWidths)
def discounted_width(policy, model, arm, count):
    """Beyond the table the width falls as one over the pulls, pseudo-count included, as it does after many pulls."""
    pseudo_count, place = prior_pulls(model, arm), min(U(count), U(policy.widths.shape[1] - 1))
    falls = (pseudo_count + float(place)) / (pseudo_count + float(count))
    return reward_deviation(model, arm) * policy.widths[policy.kind[arm], place] * falls


class DiscountedIndices(NamedTuple):
    """Indices by failures and successes: a row for each kind of Bernoulli arm, in which `place_of` finds them."""

    table: Array
    kind: NDArray[np.int64]
    depth: Any  # the table has fewer pulls than this, a np.uint64


@jitable
def place_of(depth, pulls, successes):
    """Place in a row of the table; all are unsigned.

    A success leads to the next place: most pulls are of arms that mostly succeed, and large tables are slow to jump in.
    """
    failures = pulls - successes
    return ((failures * (TWO * depth + ONE - failures)) >> ONE) + successes


@arm_index.implement(DiscountedIndices)
def discounted_index(policy, model, arm, count, total):
    pulls = U(count)
    if pulls < policy.depth:
        return policy.table[policy.kind[arm], place_of(policy.depth, pulls, min(U(total), pulls))]
    return index_at_mean(policy, model, arm, count, total)


@pending_index.implement(DiscountedIndices)
def discounted_index_with_pending(policy, model, stats, arm, pending):
    """Pending rewards count as their expectation, the posterior mean."""
    count, total = stats.counts[arm], stats.totals[arm]
    if pending == 0:
        return arm_index(policy, model, arm, count, total)
    return index_at_mean(
        policy, model, arm, count + pending, total + pending * posterior_mean(model, arm, count, total)
    )


@rarely_called
def index_at_mean(policy, model, arm, count, total):
    """Index at any number of successes, interpolated between whole ones.

    Beyond the table the index exceeds the mean by as much as an arm with the same mean at the end of the table, times
    the ratio of the pulls, pseudo-counts included.
    """
    pseudo_count, start, mean = (
        prior_pulls(model, arm),
        prior_total(model, arm),
        posterior_mean(model, arm, count, total),
    )
    pulls = min(U(count), policy.depth - ONE)
    all_pulls = pseudo_count + float(pulls)
    successes = min(max(mean * all_pulls - start, 0.0), float(pulls))
    low = U(successes)
    high, part = min(low + ONE, pulls), successes - float(low)
    row = policy.table[policy.kind[arm]]
    below, above = row[place_of(policy.depth, pulls, low)], row[place_of(policy.depth, pulls, high)]
    index = (1.0 - part) * below + part * above
    excess = index - (start + successes) / all_pulls
    return mean + excess * (all_pulls / (pseudo_count + float(count)))


@dataclass(frozen=True)
class Gittins(PosteriorPolicy):
    """Index policy: the highest charge per pull at which pulling the arm, and stopping at the best time, breaks even.

    With a `discount`, each pull counts less than the one before by this factor, and the index depends on the arm's own
    rewards alone: the policy is as fast as BayesUCB and has an `exact_regret`. It is given a table of indices by pulls,
    for horizons up to 10,000,000 with Gaussian and 5,000 with Bernoulli bandits; without a horizon too.

    Without a `discount`, the arm is pulled at most for the remaining rounds where tables by remaining rounds are small
    enough: up to 2,000 rounds for Gaussian bandits, fewer if more than 16 arms differ in noise over prior width, and up
    to 300 for Bernoulli bandits. For longer horizons n the discount is 1 - 1/n.

    Where rewards are late, an index with a discount counts pulls whose reward is still pending, as if it were the
    posterior mean.

    Parameters
    ----------
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.
    discount : float, optional
        Weight of each pull relative to the one before, between 0 and 1.

    Examples
    --------
    >>> agent = Gittins().start(BernoulliBandit(alpha=[1, 2], beta=[1, 2]), horizon=20)
    >>> agent.select()
    0
    >>> bandit = GaussianBandit([1, 0], prior_width=1, reward_noise=1)
    >>> Gittins(discount=0.9).start(bandit).index.round(4).tolist()
    [1.7466, 0.7466]
    """

    name: ClassVar[str] = "gittins"
    prior: Bandit | None = None
    discount: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        keep(self, discount=optional_probability("discount", self.discount))

    def fixed_for(self, bandit: Bandit, horizon: int | None) -> Gittins:
        return replace(self, discount=self._discount(self.prior or bandit, horizon))

    def settings(self, bandit: Bandit, horizon: int | None) -> Any:
        import bayesregret.optimal.discounted_tables as discounted
        import bayesregret.optimal.gittins as finite

        self.belief(bandit)
        believed: Any = self.prior or bandit
        discount = self._discount(believed, horizon)
        if discount is None:
            if believed.kind == "gaussian":
                return GaussianIndices(horizon, *finite.gaussian_tables(believed, horizon))  # type: ignore[arg-type]
            return BernoulliIndices(horizon, *finite.bernoulli_tables(believed, horizon))  # type: ignore[arg-type]
        depth = discounted.depth_of_tables(believed, horizon, discount)
        if believed.kind == "gaussian":
            return DiscountedWidths(*discounted.gaussian_tables(believed, discount, depth))
        return DiscountedIndices(*discounted.bernoulli_tables(believed, discount, depth), U(depth))

    def _discount(self, believed: Any, horizon: int | None) -> float | None:
        """The discount of the indices, None if they are those of the finite horizon."""
        from bayesregret.optimal.gittins import longest_horizon

        longest = longest_horizon(believed)
        if self.discount is not None:
            return self.discount
        if horizon is None:
            raise ValueError("horizon or discount must be given for gittins")
        return None if horizon <= longest else 1.0 - 1.0 / horizon

    def scratch(self, bandit: Bandit) -> int:
        return 2 * bandit.arms
