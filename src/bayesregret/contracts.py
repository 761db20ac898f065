"""The whole contract between the engine, the models and the policies, on one page.

A model is a NamedTuple of arrays and numbers; a policy is a NamedTuple of settings. The engine knows neither: it
calls the functions below, and the class of the first argument picks the body when the kernel is compiled.

What is known about an arm of an independent-arm bandit is two numbers: how often it was pulled (`count`) and the
sum of its rewards (`total`). A conjugate prior is worth `prior_pulls` imaginary pulls that brought `prior_total` in
sum, so that the posterior mean is (prior_total + total) / (prior_pulls + count) in every such model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.dispatch import contract, jitable


class Stats(NamedTuple):
    """What a policy that looks at all arms in every round knows of them."""

    counts: NDArray[np.int64]  # (arms,): rewards received
    totals: NDArray[np.float64]  # (arms,): their sums
    squares: NDArray[np.float64]  # (arms,): sums of their squared deviations from their mean
    memory: NDArray[np.float64]  # what the policy wants to remember; all 0 at first
    scratch: NDArray[np.float64]  # what it may have to compute again; all 0 at first
    received: NDArray[np.int64]  # (1,): rewards received in all
    score: NDArray[np.float64]  # (2,): the last normal quantile that was needed, after the tail it is of


def empty_stats(arms: int, memory: int = 0, scratch: int = 0) -> Stats:
    counts, totals, squares = np.zeros(arms, np.int64), np.zeros(arms), np.zeros(arms)
    return Stats(counts, totals, squares, np.zeros(memory), np.zeros(scratch), np.zeros(1, np.int64), np.zeros(2))


@jitable
def add_reward(stats, arm, reward):
    """One more reward of an arm.

    Deviations are added up reward by reward (Youngs and Cramer 1971): taken from sums of squares at the end, they would
    be lost where rewards are far from 0.
    """
    count, total = stats.counts[arm], stats.totals[arm]
    if count > 0:
        off = count * reward - total
        stats.squares[arm] += off * off / (count * (count + 1.0))
    stats.counts[arm] = count + 1
    stats.totals[arm] = total + reward
    stats.received[0] += 1


# --- a model as the world: what is drawn ---------------------------------------------------------------------------


@contract
def draw_means(model, means, stream):
    """Draw an instance: write the mean reward of every arm into `means`; return the stream that comes after."""


@contract
def draw_reward(model, arm, mean, stream):
    """Draw one reward of an arm with this mean reward; return it and the stream that comes after."""


# --- a model as a belief: what is inferred -------------------------------------------------------------------------


@contract
def prior_pulls(model, arm):
    """How many pulls the prior of this arm is worth."""


@contract
def prior_total(model, arm):
    """The sum of rewards that those imaginary pulls brought."""


@contract
def variance_proxy(model, arm, count):
    """Variance, or sub-Gaussian variance proxy, of the arm's mean reward after `count` pulls."""


@contract
def posterior_draw(model, stats, arm, stream):
    """Draw the arm's mean reward from its posterior; return it and the stream that comes after."""


@contract
def pseudo_counts(model, stats, arm):
    """Both of the arm's Beta posterior, for models that have such."""


@contract
def posterior_quantile(model, stats, arm, tail):
    """What the arm's mean reward exceeds with chance `tail`, given its data."""


@contract
def never_lowers(model, pulls, gain):
    """Whether these pulls, which brought `gain` in sum, can only have raised what is believed of their arm, and so its
    index."""


@never_lowers.otherwise
def may_lower(model, pulls, gain):
    return False


@contract
def quantile_rise(model, stats, arm, tail, quantile):
    """An upper bound on how much the arm's quantile, now `quantile`, rises while the tail shrinks e-fold."""


@contract
def divergence(model, arm, mean, other):
    """The Kullback-Leibler divergence of the arm's rewards with this mean from those with the other."""


@contract
def limit_rise(model, arm, mean, limit):
    """An upper bound on how much the arm's `divergence_limit`, now `limit`, rises for each unit of divergence."""


@contract
def normal_deviation(model, arm, count):
    """Standard deviation of the arm's mean reward after `count` pulls, where its posterior is normal."""


@contract
def reward_deviation(model, arm):
    """Standard deviation of the arm's rewards around their mean, where they are normal or taken for it."""


@contract
def divergence_limit(model, arm, mean, divergence):
    """The highest mean reward from which that of the arm's rewards, if `mean`, has at most this Kullback-Leibler
    divergence."""


# --- a policy: what is done about it -------------------------------------------------------------------------------


@contract
def confidence_width(policy, variance):
    """What the policy adds to a mean that is known up to this variance: never falls as the variance grows.

    A policy with this function runs on every model: its index is the posterior mean plus the width.
    """


@contract
def arm_index(policy, model, arm, count, total):
    """The index of an arm; the arm with the highest is taken, the lowest-numbered one on ties.

    For policies whose index is not a mean plus a width. It may depend on this arm's own data alone.
    """


@contract
def rising_index(policy, model, stats, arm, round_):
    """The index of an arm in a round: given the data, it never falls from one round to the next."""


@contract
def index_time(policy, round_):
    """The time in which a rising index that has an `index_rise` rises ever more slowly; it grows with each round."""


@contract
def index_rise(policy, model, stats, arm, round_, index):
    """An upper bound on how fast a rising index, now `index`, rises in `index_time`, now and later."""


@contract
def index_tangent(policy, model, stats, arm, round_, value):
    """A line that a rising index stays below, now and later: its height and slope at a time, and that time. And whether
    the index surely is at least `value` now; the line is best if it touches the index where it is as high."""


@contract
def index_level(policy, round_):
    """How many deviations a rising index is above the posterior mean, the same for all arms: at least 0, never falls,
    and is finite; above 0 if a belief knows nothing of some arm at first. The policy's `levels` are those of the first
    rounds, from round 0 on, if any are kept."""


@contract
def centre_and_width(policy, model, arm, count, total):
    """The posterior mean, and the width that the policy puts around it."""


@centre_and_width.otherwise
def mean_and_width(policy, model, arm, count, total):
    return posterior_mean(model, arm, count, total), confidence_width(policy, variance_proxy(model, arm, count))


@contract
def for_arm(policy, arm):
    """The policy for this arm alone: what it looks up by the arm's number is looked up once for many rounds."""


@for_arm.otherwise
def as_for_all(policy, arm):
    return policy


@contract
def take_lead(policy, model, stats, news, round_, stream):
    """As `choose_arm`, with a lease between arm and stream: up to round `lease.until` the arm is taken again, while it
    alone has new data and `keeps_lead`. `news` is the only arm with new data since the last call; if there may be
    others, it is the number of arms. A run that asks for leases does not keep `known.squares`."""


@contract
def keeps_lead(policy, model, lease, round_, arm, count, total):
    """Whether the lease goes on in this round, the arm having these data now."""


@contract
def choose_arm(policy, model, stats, round_, stream):
    """The arm that is pulled in this round, the first being 1, and the stream that comes after."""


@contract
def choose_linear(policy, posterior, stats, round_, stream):
    """As `choose_arm`, for a linear belief: `posterior` is what the functions below tell about.

    `posterior.roots` has a row for each standard coordinate of the parameter and a column for each arm; columns of
    padding follow, whose mean is -inf.
    """


# --- a linear belief: what such a policy may ask -------------------------------------------------------------------


@contract
def mean_now(posterior, arm):
    """Mean of the arm's mean reward, given all rewards."""


@contract
def variance_now(posterior, arm):
    """Its variance."""


@contract
def means_at(posterior, xi, means):
    """Write every column's mean reward at the parameter with these standard coordinates: they are 0 at its mean, and
    standard normal draws make it a draw from the posterior."""


@contract
def information(posterior):
    """The logarithm of det(prior covariance) / det(posterior covariance) of the parameter."""


@contract
def repeated(posterior):
    """The arm of the last reward, how many of its rewards came in a row, and how far they have moved it, in a unit that
    stays the same while it is repeated; arm 0, none and 0 at first."""


@contract
def repeat(posterior, arm):
    """Let this arm be the repeated one, of which no reward came in a row yet: what is told about rows is about it."""


@contract
def least_leads(posterior, band, squares):
    """Write for each arm the square of by how many deviations its mean is at least below the repeated arm's, 0 where it
    may be above, for all future rewards of this row that keep the repeated arm's mean within `band` deviations; return
    these limits in the unit of `repeated`."""


@contract
def lead_root(posterior, arm, root):
    """Write the standard coordinates of the direction that takes the arm's mean reward above the repeated arm's."""


# --- derived -------------------------------------------------------------------------------------------------------


@jitable
def inverse_pulls(model, arm, count):
    """One over the real and imaginary pulls, 0 where there are none."""
    pulls = prior_pulls(model, arm) + count
    return 1.0 / pulls if pulls > 0.0 else 0.0


@jitable
def posterior_mean(model, arm, count, total):
    """Mean of the arm's mean reward given its data, 0 where nothing is known."""
    return (prior_total(model, arm) + total) * inverse_pulls(model, arm, count)


@jitable
def current_mean(model, stats, arm):
    """Mean of the arm's mean reward given its data."""
    return posterior_mean(model, arm, stats.counts[arm], stats.totals[arm])


@jitable
def mean_plus_width(policy, model, arm, count, total):
    """The index of a policy that has a `confidence_width`."""
    centre, width = centre_and_width(policy, model, arm, count, total)
    return centre + width
