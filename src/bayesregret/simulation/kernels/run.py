"""One simulated run and a block of runs: the parts that all kernels share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.dispatch import contract, jitable, rarely_called

# Curves are averaged over blocks of this many runs, in the order of runs: the same bits on any number of threads.
BLOCK = 64


# Values of `RunPlan.stop`.
STOPPED, WRONG_CHOICE = 1, 2
# Value of `RunPlan.epsilon` if rounds on the best arm are not counted.
NOT_TRACKED = -1.0


class RunPlan(NamedTuple):
    """What every run needs to know."""

    horizon: int
    checkpoints: NDArray[np.int64]  # rising, within 1..horizon
    stop: NDArray[np.uint8]  # (1,): not 0 to end all runs soon; set from outside, or by a run with a wrong choice
    wrong: NDArray[np.int64]  # (1,): the wrong choice: no arm, or NO_ARM where an index is nan
    delay: int  # rounds that rewards arrive late
    batch: int  # rewards arrive at ends of batches of this many rounds
    epsilon: float = NOT_TRACKED  # a round with at most this gap is near the best


class Record(NamedTuple):
    """Results of the runs of one task."""

    final_regret: NDArray[np.float64]  # (runs,)
    best_pulls: NDArray[np.int64]  # (runs,): rounds on the best arm
    pulls: NDArray[np.int64]  # (arms,): summed over runs
    block_mean: NDArray[np.float64]  # (blocks, checkpoints): mean of cumulative regret
    block_squares: NDArray[np.float64]  # (blocks, checkpoints): sum of squared deviations from it
    # (checkpoints,): runs whose regret did not grow between the previous checkpoint and this one, or by at most epsilon
    on_best: NDArray[np.int64]
    near_best: NDArray[np.int64]
    rows: NDArray[np.float64]  # (BLOCK, checkpoints): scratch, the curves of one block


def make_record(runs: int, arms: int, checkpoints: int) -> Record:
    blocks = -(-runs // BLOCK)
    return Record(
        np.empty(runs),
        np.empty(runs, np.int64),
        np.zeros(arms, np.int64),
        np.empty((blocks, checkpoints)),
        np.empty((blocks, checkpoints)),
        np.zeros(checkpoints, np.int64),
        np.zeros(checkpoints, np.int64),
        np.empty((BLOCK, checkpoints)),
    )


@contract(returns="regret, best")
def play_run(state, world, policy, belief, key, run, plan, curve):
    """Simulate one run: fill `curve` at the checkpoints; return the final regret and the best arm.

    The class of `state` selects the kernel; afterwards it holds the pulls of each arm.
    """


@contract(returns="pulls")
def add_pulls(state, pulls, best):
    """Add the pulls of each arm in the run just played; return those of arm `best`."""


def play_blocks(state, world, policy, belief, key, first_run, plan, record):
    """Simulate the runs from `first_run` on, as many as `record` holds, block after block."""
    runs = record.final_regret.shape[0]
    for block in range(record.block_mean.shape[0]):
        begin = block * BLOCK
        size = min(BLOCK, runs - begin)
        for row in range(size):
            regret, best = play_run(state, world, policy, belief, key, first_run + begin + row, plan, record.rows[row])
            if plan.stop[0]:
                return
            record.final_regret[begin + row] = regret
            record.best_pulls[begin + row] = add_pulls(state, record.pulls, best)
        reduce_rows(record.rows, size, record.block_mean[block], record.block_squares[block])
        if plan.epsilon >= 0.0:
            count_on_best(record.rows, size, plan.epsilon, record.on_best, record.near_best)


@jitable
def reduce_rows(rows, size, mean, squares):
    """Mean and sum of squared deviations of each column over the first `size` rows, in two passes."""
    for column in range(mean.shape[0]):
        mean[column] = 0.0
        squares[column] = 0.0
    for row in range(size):
        for column in range(mean.shape[0]):
            mean[column] += rows[row, column]
    for column in range(mean.shape[0]):
        mean[column] /= size
    for row in range(size):
        for column in range(mean.shape[0]):
            deviation = rows[row, column] - mean[column]
            squares[column] += deviation * deviation


def add_blocks(block_mean, block_squares, last_size, runs, mean, squares):
    """Add the curves of blocks, in order, to the mean and squared deviations of those of `runs` runs before them.

    All blocks are whole but the last, which has `last_size` runs. By Chan, Golub and LeVeque's update: no cancellation,
    however large the regret.
    """
    blocks = block_mean.shape[0]
    for block in range(blocks):
        size = BLOCK if block < blocks - 1 else last_size
        fraction = size / (runs + size)
        weight = runs * fraction
        for column in range(mean.shape[0]):
            off = block_mean[block, column] - mean[column]
            mean[column] += fraction * off
            squares[column] += block_squares[block, column] + off * off * weight
        runs += size


@jitable
def count_on_best(rows, size, epsilon, on_best, near_best):
    """Count, for each checkpoint, the rows that did not grow since the one before, and those that grew little."""
    for row in range(size):
        before = 0.0
        for column in range(on_best.shape[0]):
            gap = rows[row, column] - before
            before = rows[row, column]
            on_best[column] += gap == 0.0
            near_best[column] += gap <= epsilon


@jitable
def best_arm(means):
    """Arm with the highest mean, the lowest-numbered one on ties."""
    best = 0
    for arm in range(1, means.shape[0]):
        if means[arm] > means[best]:
            best = arm
    return best


@jitable
def is_wrong(plan, arm, arms):
    """Whether this is no arm; then also end all runs, because memory outside the arrays must not be touched."""
    if 0 <= arm < arms:
        return False
    refuse(plan, arm)
    return True


@rarely_called
def refuse(plan, arm):
    """End all runs, because a policy chose this."""
    plan.wrong[0] = arm
    plan.stop[0] = WRONG_CHOICE


@jitable
def mark_checkpoints(plan, curve, marked, rounds, pulls, regret, gap):
    """Write the regret at the checkpoints that lie within the next `pulls` rounds; return how many are marked.

    Regret grows by the same gap in each of these rounds, so a checkpoint among them is exact by arithmetic.
    """
    while marked < curve.shape[0] and plan.checkpoints[marked] <= rounds + pulls:
        curve[marked] = regret + (plan.checkpoints[marked] - rounds) * gap
        marked += 1
    return marked
