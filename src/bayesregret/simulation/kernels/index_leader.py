"""Independent arms: the kernel that stays on its leader.

Only the pulled arm's index moves. So a run stays with the leading arm and compares one number a round with the
runner-up's index; the other arms are looked at only when the lead changes, by a tournament in O(log K).

The k-th reward of an arm comes from the arm's own stream, so it is the same whatever the policy and whenever it is
pulled: policies meet the same noise, and the difference of two of them is far less noisy than either. It also lets the
kernel draw each arm's next reward before it is taken: whether the leader stays is then known before the draw that
follows is done, and the processor need not wait for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import (
    arm_index,
    centre_and_width,
    confidence_width,
    draw_means,
    draw_reward,
    for_arm,
    inverse_pulls,
    mean_plus_width,
    prior_pulls,
    prior_total,
    variance_proxy,
)
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.rng import INSTANCE, REWARD, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.kernels.run import add_pulls, best_arm, mark_checkpoints, play_run
from bayesregret.simulation.kernels.tournament import Tournament, make_tournament, play_all, seat, swap_leader

U = np.uint64
ONE = U(1)
# A streak is cut after so many pulls, to hear whether the user wants an end.
LONGEST_STREAK = U(1 << 22)


class ArmsState(NamedTuple):
    """What a run knows of each arm; `counts`, `totals` and `ahead` include the one reward drawn ahead."""

    means: NDArray[np.float64]
    counts: NDArray[np.uint64]
    totals: NDArray[np.float64]
    ahead: NDArray[np.float64]  # the index that the arm will have after its next pull
    streams: NDArray[np.uint64]  # (arms, 4)
    tree: Tournament


def make_arms_state(arms: int) -> ArmsState:
    return ArmsState(
        np.empty(arms),
        np.empty(arms, np.uint64),
        np.empty(arms),
        np.empty(arms),
        np.empty((arms, 4), np.uint64),
        make_tournament(arms),
    )


@play_run.implement(ArmsState)
def play_arms(state, world, policy, belief, key, run, plan, curve):
    start = run_word(key, run)
    draw_means(world, state.means, open_stream(key, start, INSTANCE))
    best = best_arm(state.means)
    for arm in range(state.means.shape[0]):
        seat(state.tree, arm, arm_index(policy, belief, arm, 0, 0.0))
        stream = open_stream(key, start, REWARD + U(arm))
        reward, stream = draw_reward(world, arm, state.means[arm], stream)
        keep(state, arm, ONE, reward, arm_index(policy, belief, arm, ONE, reward), stream)
    leader = play_all(state.tree)

    horizon = U(plan.horizon)
    rounds = U(0)
    regret = 0.0
    marked = 0
    while True:
        arm = leader
        before = state.counts[arm]
        mean = state.means[arm]
        runner_up = state.tree.indices[1]
        yields_ties = state.tree.arms[1] < arm
        last = before + min(horizon - rounds, LONGEST_STREAK)

        stream = read_stream(state.streams, arm)
        count = before
        total = state.totals[arm]
        index = state.ahead[arm]
        while True:
            # Take the reward drawn ahead: the arm's index is now `index`. Draw the next one.
            reward, stream = draw_reward(world, arm, mean, stream)
            count += ONE
            total += reward
            ahead = arm_index(policy, belief, arm, count, total)
            if index <= runner_up:
                if index < runner_up or yields_ties:
                    break
            if count >= last:
                break
            index = ahead

        pulls = count - before
        gap = state.means[best] - mean
        marked = mark_checkpoints(plan, curve, marked, np.int64(rounds), np.int64(pulls), regret, gap)
        regret += np.int64(pulls) * gap
        rounds += pulls
        keep(state, arm, count, total, ahead, stream)
        if rounds >= horizon or plan.stop[0]:
            return regret, best
        if index < runner_up or (index == runner_up and yields_ties):  # beaten, not cut
            leader = swap_leader(state.tree, arm, index)


@jitable
def keep(state, arm, count, total, ahead, stream):
    """Put away what is known of an arm until it leads again."""
    state.counts[arm] = count
    state.totals[arm] = total
    state.ahead[arm] = ahead
    write_stream(state.streams, arm, stream)


@add_pulls.implement(ArmsState)
def add_arms_pulls(state, pulls, best):
    for arm in range(pulls.shape[0]):
        pulls[arm] += np.int64(state.counts[arm] - ONE)
    return np.int64(state.counts[best] - ONE)


# An index that is a mean plus a width needs a division and a square root that depend on the number of pulls alone.
# They are done once for each count, not once for each round. Arms whose prior is worth the same, and of which one pull
# tells the same, share a row.
TABLE_ENTRIES = 1 << 20


class Tabulated(NamedTuple):
    """A policy with a `confidence_width`, as a table of one over the pulls and of the width."""

    start: NDArray[np.float64]  # (arms,): prior totals
    row: NDArray[np.uint64]  # (arms,): where the arm's row of the table begins
    table: NDArray[np.float64]  # one over the pulls and the width, count after count, row after row


class TabulatedAtFirst(NamedTuple):
    """The same where there is no room for all counts: beyond the table the formula itself is used."""

    first: Tabulated
    depth: Any  # counts in a row
    policy: Any


class TabulatedArm(NamedTuple):
    """A table for one arm."""

    start: Any
    row: Any
    table: NDArray[np.float64]


def tabulate(policy: Any, belief: Any, arms: int, horizon: int) -> Tabulated | TabulatedAtFirst:
    """Tables as deep as the horizon, or as there is room for."""
    worth = np.array([(prior_pulls(belief, arm), variance_proxy(belief, arm, 1)) for arm in range(arms)])
    _, first, row = np.unique(worth, axis=0, return_index=True, return_inverse=True)
    depth = min(horizon + 2, TABLE_ENTRIES // len(first))
    table = np.empty((len(first), depth, 2))
    compile_kernel(_fill_table, type(policy), type(belief))(policy, belief, first, table)
    start = np.array([prior_total(belief, arm) for arm in range(arms)])
    made = Tabulated(start, (2 * depth * row.ravel()).astype(np.uint64), table.ravel())
    return made if depth == horizon + 2 else TabulatedAtFirst(made, U(depth), policy)


def _fill_table(policy: Any, belief: Any, arms: NDArray[np.int64], table: NDArray[np.float64]) -> None:
    for row in range(table.shape[0]):
        for count in range(table.shape[1]):
            table[row, count, 0] = inverse_pulls(belief, arms[row], count)
            table[row, count, 1] = confidence_width(policy, variance_proxy(belief, arms[row], count))


@for_arm.implement(Tabulated)
@jitable
def tabulated_arm(policy, arm):
    return TabulatedArm(policy.start[arm], policy.row[arm], policy.table)


@centre_and_width.implement(TabulatedArm)
@jitable
def tabulated_parts_of_arm(policy, model, arm, count, total):
    """To the last bit those of the policy."""
    entry = policy.row + (U(count) << ONE)
    return (policy.start + total) * policy.table[entry], policy.table[entry + ONE]


@centre_and_width.implement(Tabulated)
def tabulated_parts(policy, model, arm, count, total):
    return tabulated_parts_of_arm(tabulated_arm(policy, arm), model, arm, count, total)


@centre_and_width.implement(TabulatedAtFirst)
def tabulated_parts_at_first(policy, model, arm, count, total):
    if U(count) < policy.depth:
        return centre_and_width(policy.first, model, arm, count, total)
    return centre_and_width(policy.policy, model, arm, count, total)


arm_index.implement(Tabulated)(mean_plus_width)
arm_index.implement(TabulatedAtFirst)(mean_plus_width)
