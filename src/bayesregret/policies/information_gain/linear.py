"""Information-directed sampling on a linear belief, by variances: Russo and Van Roy (2018), Section 6.3.

The posterior is represented by draws of the parameter. Those at which arm b is best give P(b is best) and
E[mean_a | b is best]. The gain of arm a is the variance of its mean explained by the best arm,
v_a = sum over b of P(b) (E[mean_a | b] - E[mean_a])^2; its gap is E[best mean] - E[mean_a]. The policy draws from the
mixture of two arms with the smallest (expected gap)^2 / (expected gain).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bayesregret.contracts import choose_linear, means_at
from bayesregret.dispatch import jitable
from bayesregret.policies.information_gain.two_arm_mixture import best_mixture
from bayesregret.policies.linear_selection import draw_normals, first_highest
from bayesregret.rng import uniform


class LinearInformationRatio(NamedTuple):
    """The policy makes new draws in every round."""

    draws: int


class LinearWorkspace(NamedTuple):
    """Parts of `stats.scratch`."""

    means: Any  # (columns,)
    gaps: Any  # (columns,)
    gains: Any  # (columns,)
    times: Any  # (columns,): number of draws at which the arm is best
    sums: Any  # (columns * rank,): of these draws
    xi: Any  # (rank,)
    middle: Any  # (rank,): mean of all draws


def scratch_for_draws(rank: int, columns: int) -> int:
    return 4 * columns + rank * columns + 2 * rank


@jitable
def split_scratch(scratch, rank, columns):
    sums = 4 * columns
    xi = sums + rank * columns
    return LinearWorkspace(
        scratch[:columns],
        scratch[columns : 2 * columns],
        scratch[2 * columns : 3 * columns],
        scratch[3 * columns : sums],
        scratch[sums:xi],
        scratch[xi : xi + rank],
        scratch[xi + rank : xi + 2 * rank],
    )


@choose_linear.implement(LinearInformationRatio)
def choose_linear_information_ratio(policy, posterior, stats, round_, stream):
    rank, columns = posterior.roots.shape
    space = split_scratch(stats.scratch, rank, columns)
    arms = stats.counts.shape[0]
    stream = draw_best_arms(posterior, space, policy.draws, stream)
    fill_gaps_and_gains(posterior, space, arms, policy.draws)
    first, second, weight = best_mixture(space.gaps[:arms], space.gains[:arms])
    u, stream = uniform(stream)
    return (first if u < weight else second), stream


@jitable
def draw_best_arms(posterior, space, draws, stream):
    """Count how often each arm is best, and sum the draws at which it is."""
    rank = space.xi.shape[0]
    space.times[:] = 0.0
    space.sums[:] = 0.0
    for _ in range(draws):
        stream = draw_normals(space.xi, stream)
        means_at(posterior, space.xi, space.means)
        best = first_highest(space.means)
        space.times[best] += 1.0
        for i in range(rank):
            space.sums[best * rank + i] += space.xi[i]
    return stream


@jitable
def fill_gaps_and_gains(posterior, space, arms, draws):
    """Compute gaps and gains from the draws alone: then no gap is negative, and a certainly best arm has gap 0."""
    rank = space.xi.shape[0]
    space.middle[:] = 0.0
    for best in range(arms):
        for i in range(rank):
            space.middle[i] += space.sums[best * rank + i]
    for i in range(rank):
        space.middle[i] /= draws
    means_at(posterior, space.middle, space.gaps)
    space.gains[:] = 0.0
    highest = 0.0
    for best in range(arms):
        if space.times[best] > 0.0:
            for i in range(rank):
                space.xi[i] = space.sums[best * rank + i] / space.times[best]
            means_at(posterior, space.xi, space.means)
            probability = space.times[best] / draws
            highest += probability * space.means[best]
            for arm in range(arms):
                off = space.means[arm] - space.gaps[arm]
                space.gains[arm] += probability * (off * off)
    for arm in range(arms):
        space.gaps[arm] = max(0.0, highest - space.gaps[arm])
