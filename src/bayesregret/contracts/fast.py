"""Optional functions that let the engine skip work. Nobody needs this file to add a policy or a model."""

from __future__ import annotations

from bayesregret.contracts.model import variance_proxy
from bayesregret.contracts.policy import confidence_width
from bayesregret.contracts.statistics import posterior_mean
from bayesregret.dispatch import contract, jitable

# --- models whose posteriors have a known form ---------------------------------------------------------------------


@contract(returns="alpha, beta")
def pseudo_counts(model, stats, arm):
    """Pseudo-counts of successes and failures of the arm's Beta posterior."""


@contract(returns="deviation")
def normal_deviation(model, arm, count):
    """Standard deviation of the arm's mean reward after `count` pulls, where its posterior is normal."""


@contract(returns="deviation")
def reward_deviation(model, arm):
    """Standard deviation of the arm's rewards around their mean, where they are normal or treated as such."""


@contract(returns="divergence")
def divergence(model, arm, mean, other):
    """KL(P_mean || P_other) of the arm's reward distributions."""


# --- models: how fast an index can rise ----------------------------------------------------------------------------


@contract(returns="answer")
def never_lowers(model, pulls, gain):
    """Whether `pulls` rewards that sum to `gain` can only have raised the arm's belief: each of its quantiles."""


@never_lowers.otherwise
def may_lower(model, pulls, gain):
    return False


@contract(returns="bound")
def quantile_rise(model, stats, arm, tail, quantile):
    """Upper bound on how much the arm's quantile, now `quantile`, rises while the tail shrinks e-fold."""


@contract(returns="bound")
def limit_rise(model, arm, mean, limit):
    """Upper bound on how much the arm's `divergence_limit`, now `limit`, rises per unit of divergence."""


# --- policies with a rising index ----------------------------------------------------------------------------------


@contract(returns="answer")
def follows_belief(policy):
    """Whether a rising index never falls with rewards that can only raise the arm's belief, as `never_lowers` says.

    A quantile follows. A mean plus a width does not: a success raises the mean, but may narrow the width by more.
    """


@follows_belief.otherwise
def may_fall(policy):
    return False


@contract(returns="time")
def index_time(policy, round_):
    """Time scale, increasing in the round, on which a rising index with an `index_rise` is concave."""


@contract(returns="slope")
def index_rise(policy, model, stats, arm, round_, index):
    """Upper bound on the slope, in `index_time`, of a rising index that is `index` now; also valid in later rounds."""


@contract(returns="height, slope, time, reaches")
def index_tangent(policy, model, stats, arm, round_, value):
    """Line above a rising index, now and later: its height and slope at a time, and that time.

    Also return whether the index is surely at least `value` now. The line is tightest if it touches the index where
    the index equals `value`.
    """


@contract(returns="multiplier")
def index_multiplier(policy, round_):
    """Number of posterior standard deviations between a rising index and the posterior mean, the same for all arms.

    It is finite, at least 0 and never falls; it is positive if a belief starts with no information on some arm. The
    policy's field `multipliers` holds the values of the first rounds, from round 0, and may be empty.
    """


# --- policies: the parts of an index -------------------------------------------------------------------------------


@contract(returns="width")
def width_after(policy, model, arm, count):
    """Width that the policy adds to the arm's posterior mean after `count` pulls, whatever their rewards were."""


@width_after.otherwise
def width_of_variance(policy, model, arm, count):
    return confidence_width(policy, variance_proxy(model, arm, count))


@contract(returns="mean, width")
def centre_and_width(policy, model, arm, count, total):
    """Posterior mean, and the width that the policy puts around it."""


@centre_and_width.otherwise
def mean_and_width(policy, model, arm, count, total):
    return posterior_mean(model, arm, count, total), width_after(policy, model, arm, count)


@jitable
def mean_plus_width(policy, model, arm, count, total):
    """Index of a policy that has a `confidence_width` or a `width_after`."""
    centre, width = centre_and_width(policy, model, arm, count, total)
    return centre + width


@contract(returns="policy")
def for_arm(policy, arm):
    """Policy for this arm alone, so that what it looks up by the arm's number is looked up once for many rounds."""


@for_arm.otherwise
def as_for_all(policy, arm):
    return policy


# --- policies that can guarantee their choice for several rounds ---------------------------------------------------


@contract(returns="arm, lease, stream")
def take_lead(policy, model, stats, updated, round_, stream):
    """Like `choose_arm`, with a lease: up to round `lease.until` the same arm is chosen again, as long as it alone gets
    new data and `keeps_lead`.

    `updated` is the only arm with new data since the last call, or the number of arms if there may be others. Runs
    that use leases do not keep `stats.squares`.
    """


@contract(returns="answer")
def keeps_lead(policy, model, lease, round_, arm, count, total):
    """Whether the lease holds in this round, given the leading arm's data."""
