"""Kernels of the GPU engine: who plays which run, and the sums over blocks.

`make_lane_kernel` makes one that runs a processor's own kernel on each lane. `make_leader_kernel` makes one that is
shaped for a GPU: 32 lanes, a warp, execute the same instruction at the same time, so a lane that has to change its
leader waits until it is worth while for all of them; and what a lane looks up at random is in shared memory.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, float64, uint64

from bayesregret.contracts import arm_index, draw_means, draw_reward
from bayesregret.contracts.fast import for_arm
from bayesregret.policies.selection import NO_ARM
from bayesregret.rng import INSTANCE, LAYERS, REWARD, ZIGGURAT, open_stream, run_word
from bayesregret.simulation.engines.gpu.lanes import in_shared_memory, lane_of, world_of
from bayesregret.simulation.kernels.index_leader import LONGEST_STREAK
from bayesregret.simulation.kernels.run import (
    BLOCK,
    add_pulls,
    best_arm,
    count_on_best,
    play_run,
    reduce_rows,
    refuse,
)

U = np.uint64
ONE = U(1)
EVERY_LANE = 0xFFFFFFFF  # of a warp
LONGEST = int(LONGEST_STREAK)
# Rounds of single lanes that a warp loses by waiting, before the lanes that wait change their leaders.
PATIENCE = 12
AFTER_ZIGGURAT = ZIGGURAT.size  # place in shared memory, in words of eight bytes
LEADER_WORDS = 7  # that `play_leaders` keeps in shared memory for each arm of a lane
WORD, PULLS = U(32), U(0xFFFFFFFF)  # pulls and counters share a word, half for each
MOST_LEADER_ROUNDS = 2**24  # so that neither can outgrow its half
NEVER = 2**62  # round of the checkpoint after the last
PLAYS, WAITS, ENDED = 0, 1, 2  # what a lane does


def fill_ziggurat() -> None:
    """Copy the layers of the ziggurat to shared memory: lookups at random are slow everywhere else."""
    table = cuda.shared.array(0, float64)
    for layer in range(cuda.threadIdx.x, LAYERS, cuda.blockDim.x):
        table[2 * layer] = ZIGGURAT[layer, 0]
        table[2 * layer + 1] = ZIGGURAT[layer, 1]
    cuda.syncthreads()


@functools.cache
def make_lane_kernel(states_in_shared: bool) -> Callable[..., Any]:
    """Make the kernel that runs a processor's own kernel on each lane; states may be in shared memory."""

    def play_on_lanes(
        states, worlds, policy, belief, key, first_run, plan, rows, final_regret, best_pulls, lane_pulls, pulls
    ):
        fill_ziggurat()
        lane = cuda.grid(1)
        if states_in_shared:
            state = lane_of(in_shared_memory(states, AFTER_ZIGGURAT), cuda.threadIdx.x)
        else:
            state = lane_of(states, lane)
        world, own_pulls = world_of(worlds, lane), lane_pulls[:, lane]
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

    return play_on_lanes


@functools.cache
def make_leader_kernel(arms: int) -> Callable[..., Any]:
    """Make the kernel that stays on the leader, as index_leader.py does, for this number of arms.

    It needs LEADER_WORDS of shared memory for each arm of a lane.
    """

    def play_leaders(worlds, policy, belief, key, first_run, plan, rows, final_regret, best_pulls, pulls):
        fill_ziggurat()
        # Lanes side by side: whatever arms they look up, they never wait for each other.
        numbers, words = cuda.shared.array(0, float64), cuda.shared.array(0, uint64)
        lanes, lane, size = cuda.blockDim.x, AFTER_ZIGGURAT + cuda.threadIdx.x, arms * cuda.blockDim.x
        means, indices = numbers[lane : lane + size : lanes], numbers[lane + size : lane + 2 * size : lanes]
        totals, a = numbers[lane + 2 * size : lane + 3 * size : lanes], words[lane + 3 * size : lane + 4 * size : lanes]
        b, c = words[lane + 4 * size : lane + 5 * size : lanes], words[lane + 5 * size : lane + 6 * size : lanes]
        counted = words[lane + 6 * size : lane + 7 * size : lanes]  # pulls, and the stream's counter above them
        world, runs, horizon = world_of(worlds, cuda.grid(1)), final_regret.shape[0], plan.horizon
        # A warp starts its runs together; then each turn is a round of every lane that need not wait.
        for run in range(cuda.grid(1), runs + cuda.laneid, cuda.gridsize(1)):
            start = run_word(key, first_run + run)
            draw_means(world, means, open_stream(key, start, INSTANCE))
            best = best_arm(means)
            for arm in range(arms):
                totals[arm], indices[arm] = 0.0, arm_index(policy, belief, arm, 0, 0.0)
                a[arm], b[arm], c[arm], counter = open_stream(key, start, REWARD + U(arm))
                counted[arm] = counter << WORD
                if math.isnan(indices[arm]):
                    refuse(plan, NO_ARM)
            # A streak of arm 0 that has no rounds, so that the first leader is chosen like all others.
            leader, own, mean, index, total, count = np.int32(0), for_arm(policy, 0), means[0], indices[0], 0.0, U(0)
            stream = (a[0], b[0], c[0], counted[0] >> WORD)
            rounds, before, last, marked, due, regret = 0, 0, 0, 0, plan.checkpoints[0], 0.0
            second, runner_up = 0.0, np.int32(0)

            doing, idle = WAITS if run < runs else ENDED, 0
            playing = cuda.ballot_sync(EVERY_LANE, doing != ENDED)
            while playing != 0:
                if doing == PLAYS:
                    reward, stream = draw_reward(world, leader, mean, stream)
                    count += ONE
                    total += reward
                    rounds += 1
                    index = arm_index(own, belief, leader, count, total)
                    leads = index > second or (index == second and leader < runner_up)
                    doing = PLAYS if leads and rounds != last else WAITS
                waiting = cuda.ballot_sync(EVERY_LANE, doing == WAITS)
                idle += cuda.popc(waiting)
                if waiting == 0 or (idle < PATIENCE and waiting != playing):
                    continue
                idle = 0
                if doing == WAITS:
                    gap = means[best] - mean
                    while due <= rounds:
                        rows[run, marked] = regret + (due - before) * gap
                        marked += 1
                        due = plan.checkpoints[marked]  # the last is NEVER
                    regret += (rounds - before) * gap
                    indices[leader], totals[leader], counted[leader] = index, total, count | stream[3] << WORD
                    a[leader], b[leader], c[leader] = stream[0], stream[1], stream[2]
                    if math.isnan(index):
                        refuse(plan, NO_ARM)
                    leader, second, runner_up = two_highest(indices, arms)
                    own, mean, total, count = for_arm(policy, leader), means[leader], totals[leader], counted[leader]
                    stream = (a[leader], b[leader], c[leader], count >> WORD)
                    count &= PULLS
                    before, last = rounds, min(horizon, rounds + LONGEST)
                    doing = PLAYS if rounds < horizon and not plan.stop[0] else ENDED
                playing = cuda.ballot_sync(EVERY_LANE, doing != ENDED)
            if run < runs:
                final_regret[run] = regret
                best_pulls[run] = np.int64(counted[best] & PULLS)
                for arm in range(arms):
                    cuda.atomic.add(pulls, arm, np.int64(counted[arm] & PULLS))

    return play_leaders


def two_highest(indices, arms):
    """The leader, and the index and arm of the runner-up; the lower arm number wins ties. Without branches."""
    leader, runner_up, highest, second = np.int32(0), np.int32(0), -math.inf, -math.inf
    for number in range(arms):
        arm, index = np.int32(number), indices[number]
        leads, follows = index > highest, index > second
        runner_up = leader if leads else (arm if follows else runner_up)
        second = highest if leads else (index if follows else second)
        leader = arm if leads else leader
        highest = index if leads else highest
    return leader, second, runner_up


def reduce_blocks(rows, block_mean, block_squares) -> None:
    """Mean and squares of each block of runs, one checkpoint of one block on each lane."""
    place = cuda.grid(1)
    block, column = place // rows.shape[1], place % rows.shape[1]
    if block < block_mean.shape[0]:
        begin = block * BLOCK
        size = min(BLOCK, rows.shape[0] - begin)
        after = column + 1
        some, mean, squares = rows[begin:, column:after], block_mean[block], block_squares[block]
        reduce_rows(some, size, mean[column:after], squares[column:after])


def count_blocks(rows, epsilon, on_best, near_best) -> None:
    """Runs on the best arm and near it, one block on each lane."""
    block = cuda.grid(1)
    if block < on_best.shape[0]:
        begin = block * BLOCK
        size = min(BLOCK, rows.shape[0] - begin)
        count_on_best(rows[begin:], size, epsilon, on_best[block], near_best[block])
