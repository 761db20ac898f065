"""Kernels of the GPU engine: who plays which run, and the sums over blocks.

`play_on_lanes` runs a processor's own kernel, one run on each lane. `make_leader_kernel` is shaped for a GPU: 32 lanes,
a warp, execute the same instruction at the same time, so a lane that has to change its leader waits until it is
worth while for all of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, float64, uint64

from bayesregret.contracts import arm_index, draw_means, draw_reward
from bayesregret.policies.selection import NO_ARM
from bayesregret.rng import INSTANCE, LAYERS, REWARD, ZIGGURAT, open_stream, read_stream, run_word, write_stream
from bayesregret.simulation.engines.gpu.lanes import lane_of, world_of
from bayesregret.simulation.kernels.index_leader import LONGEST_STREAK
from bayesregret.simulation.kernels.run import (
    BLOCK,
    add_pulls,
    best_arm,
    count_on_best,
    mark_checkpoints,
    play_run,
    reduce_rows,
    refuse,
)

U = np.uint64
ONE = U(1)
EVERY_LANE = 0xFFFFFFFF  # of a warp
LONGEST = int(LONGEST_STREAK)
# Rounds of single lanes that a warp loses by waiting, before the lanes that wait change their leaders.
PATIENCE = 96
SHARED_BYTES = ZIGGURAT.nbytes


def fill_ziggurat() -> None:
    """Copy the layers of the ziggurat to shared memory: lookups at random are slow everywhere else."""
    table = cuda.shared.array(0, float64)
    for layer in range(cuda.threadIdx.x, LAYERS, cuda.blockDim.x):
        table[2 * layer] = ZIGGURAT[layer, 0]
        table[2 * layer + 1] = ZIGGURAT[layer, 1]
    cuda.syncthreads()


def play_on_lanes(  # type: ignore[no-untyped-def]
    states, worlds, policy, belief, key, first_run, plan, rows, final_regret, best_pulls, lane_pulls, pulls
) -> None:
    """Play the runs from `first_run` on, as many as `final_regret` holds, by the kernel of the class of `states`."""
    fill_ziggurat()
    lane = cuda.grid(1)
    state, world, own_pulls = lane_of(states, lane), world_of(worlds, lane), lane_pulls[:, lane]
    for arm in range(pulls.shape[0]):
        own_pulls[arm] = 0
    for run in range(lane, final_regret.shape[0], cuda.gridsize(1)):
        regret, best = play_run(state, world, policy, belief, key, first_run + run, plan, rows[run])
        if plan.stop[0]:
            return
        final_regret[run] = regret
        best_pulls[run] = add_pulls(state, own_pulls, best)
    for arm in range(pulls.shape[0]):
        cuda.atomic.add(pulls, arm, own_pulls[arm])


@functools.cache
def make_leader_kernel(capacity: int) -> Callable[..., Any]:
    """Make the kernel that stays on the leader, as index_leader.py does, for at most this many arms."""

    def play_leaders(  # type: ignore[no-untyped-def]
        worlds, policy, belief, key, first_run, plan, rows, final_regret, best_pulls, pulls
    ):
        fill_ziggurat()
        means = cuda.local.array(capacity, float64)
        indices = cuda.local.array(capacity, float64)
        totals = cuda.local.array(capacity, float64)
        counts = cuda.local.array(capacity, uint64)
        streams = cuda.local.array((capacity, 4), uint64)
        own_pulls = cuda.local.array(capacity, uint64)
        arms, runs, horizon = pulls.shape[0], final_regret.shape[0], plan.horizon
        lane = cuda.grid(1)
        world = world_of(worlds, lane)
        for arm in range(arms):
            own_pulls[arm] = 0

        run = np.int64(lane)
        started, waits = False, True  # for other lanes of the warp, to change the leader or to end or start a run
        idle, active = 0, cuda.ballot_sync(EVERY_LANE, run < runs)
        best, leader, runner_up, rounds, before, marked = 0, 0, 0, 0, 0, 0
        mean, regret, total, index, second = 0.0, 0.0, 0.0, 0.0, 0.0
        count, stream = U(0), (U(0), U(0), U(0), U(0))
        while active != 0:
            if not waits:
                reward, stream = draw_reward(world, leader, mean, stream)
                count += ONE
                total += reward
                rounds += 1
                index = arm_index(policy, belief, leader, count, total)
                if not index > second:  # so that nan waits, too
                    waits = index != second or runner_up < leader
                waits = waits or rounds == horizon or rounds - before == LONGEST
            waiting = cuda.ballot_sync(EVERY_LANE, waits and run < runs)
            idle += cuda.popc(waiting)
            if waiting == 0 or (idle < PATIENCE and waiting != active):
                continue
            idle = 0
            if waits and started:
                gap = means[best] - mean
                marked = mark_checkpoints(plan, rows[run], marked, before, rounds - before, regret, gap)
                regret += (rounds - before) * gap
                indices[leader], counts[leader], totals[leader] = index, count, total
                write_stream(streams, leader, stream)
                if math.isnan(index):
                    refuse(plan, NO_ARM)
                if plan.stop[0]:
                    run, started = runs, False
                elif rounds == horizon:
                    final_regret[run] = regret
                    best_pulls[run] = np.int64(counts[best])
                    for arm in range(arms):
                        own_pulls[arm] += counts[arm]
                    run += cuda.gridsize(1)
                    started = False
            if run < runs and not started:
                start = run_word(key, first_run + run)
                draw_means(world, means[:arms], open_stream(key, start, INSTANCE))
                best = best_arm(means[:arms])
                rounds, marked, regret, started = 0, 0, 0.0, True
                for arm in range(arms):
                    counts[arm], totals[arm] = 0, 0.0
                    indices[arm] = arm_index(policy, belief, arm, 0, 0.0)
                    write_stream(streams, arm, open_stream(key, start, REWARD + U(arm)))
                    if math.isnan(indices[arm]):
                        refuse(plan, NO_ARM)
            if waits and started:
                leader = 0
                for arm in range(1, arms):
                    if indices[arm] > indices[leader]:
                        leader = arm
                second, runner_up = -np.inf, arms
                for arm in range(arms):
                    if arm != leader and indices[arm] > second:
                        second, runner_up = indices[arm], arm
                mean, total, count, before = means[leader], totals[leader], counts[leader], rounds
                stream = read_stream(streams, leader)
                waits = False
            active = cuda.ballot_sync(EVERY_LANE, run < runs)
        for arm in range(arms):
            cuda.atomic.add(pulls, arm, np.int64(own_pulls[arm]))

    return play_leaders


def reduce_blocks(rows, block_mean, block_squares) -> None:  # type: ignore[no-untyped-def]
    """Mean and squares of each block of runs, one checkpoint of one block on each lane."""
    place = cuda.grid(1)
    block, column = place // rows.shape[1], place % rows.shape[1]
    if block < block_mean.shape[0]:
        begin = block * BLOCK
        size = min(BLOCK, rows.shape[0] - begin)
        after = column + 1
        some, mean, squares = rows[begin:, column:after], block_mean[block], block_squares[block]
        reduce_rows(some, size, mean[column:after], squares[column:after])


def count_blocks(rows, epsilon, on_best, near_best) -> None:  # type: ignore[no-untyped-def]
    """Runs on the best arm and near it, one block on each lane."""
    block = cuda.grid(1)
    if block < on_best.shape[0]:
        begin = block * BLOCK
        size = min(BLOCK, rows.shape[0] - begin)
        count_on_best(rows[begin:], size, epsilon, on_best[block], near_best[block])
