"""Information-directed sampling on a linear belief, by variances: Russo and Van Roy (2018), Section 6.3.

Draws of the parameter stand for its posterior. Among them, those at which arm b is best give P(b is best) and
E[mean_a | b is best]. An arm's gain is how much its mean varies with which arm is best,
v_a = sum over b of P(b) (E[mean_a | b] - E[mean_a])^2; its gap is E[best mean] - E[mean_a]. The arm is drawn from the
mixture of two that has the least (expected gap)^2 / (expected gain).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bayesregret.contracts import choose_linear, means_at
from bayesregret.dispatch import jitable
from bayesregret.policies.information_gain.two_arm_mixture import best_mixture
from bayesregret.policies.linear_selection import draw_normals, first_highest
from bayesregret.rng import uniform


class VarianceDirected(NamedTuple):
    """`draws` are made anew in every round."""

    draws: int


class Room(NamedTuple):
    """Parts of `known.scratch`."""

    means: Any  # (columns,)
    gaps: Any  # (columns,)
    gains: Any  # (columns,)
    times: Any  # (columns,): how many draws each arm is best at
    sums: Any  # (columns * rank,): of these draws
    xi: Any  # (rank,)
    middle: Any  # (rank,): mean of all draws


def scratch_for_draws(rank: int, columns: int) -> int:
    return 4 * columns + rank * columns + 2 * rank


@jitable
def lay_out(scratch, rank, columns):
    sums = 4 * columns
    xi = sums + rank * columns
    return Room(
        scratch[:columns],
        scratch[columns : 2 * columns],
        scratch[2 * columns : 3 * columns],
        scratch[3 * columns : sums],
        scratch[sums:xi],
        scratch[xi : xi + rank],
        scratch[xi + rank : xi + 2 * rank],
    )


@choose_linear.implement(VarianceDirected)
def choose_variance_directed(policy, posterior, stats, round_, stream):
    rank, columns = posterior.roots.shape
    room = lay_out(stats.scratch, rank, columns)
    arms = stats.counts.shape[0]
    stream = draw_best_arms(posterior, room, policy.draws, stream)
    weigh(posterior, room, arms, policy.draws)
    first, second, share = best_mixture(room.gaps[:arms], room.gains[:arms])
    u, stream = uniform(stream)
    return (first if u < share else second), stream


@jitable
def draw_best_arms(posterior, room, draws, stream):
    """Count how often each arm is best, and sum up the draws at which it is."""
    rank = room.xi.shape[0]
    room.times[:] = 0.0
    room.sums[:] = 0.0
    for _ in range(draws):
        stream = draw_normals(room.xi, stream)
        means_at(posterior, room.xi, room.means)
        best = first_highest(room.means)
        room.times[best] += 1.0
        for i in range(rank):
            room.sums[best * rank + i] += room.xi[i]
    return stream


@jitable
def weigh(posterior, room, arms, draws):
    """Gaps and gains, from the draws alone: then no gap is negative, and a best arm in no doubt has none."""
    rank = room.xi.shape[0]
    room.middle[:] = 0.0
    for best in range(arms):
        for i in range(rank):
            room.middle[i] += room.sums[best * rank + i]
    for i in range(rank):
        room.middle[i] /= draws
    means_at(posterior, room.middle, room.gaps)
    room.gains[:] = 0.0
    highest = 0.0
    for best in range(arms):
        if room.times[best] > 0.0:
            for i in range(rank):
                room.xi[i] = room.sums[best * rank + i] / room.times[best]
            means_at(posterior, room.xi, room.means)
            chance = room.times[best] / draws
            highest += chance * room.means[best]
            for arm in range(arms):
                room.gains[arm] += chance * (room.means[arm] - room.gaps[arm]) ** 2
    for arm in range(arms):
        room.gaps[arm] = max(0.0, highest - room.gaps[arm])
