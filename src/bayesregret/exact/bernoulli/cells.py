"""Exact regret of Bernoulli bandits over long horizons: thresholds in cells, each passed in one move.

Thresholds of few pulls, which arms share most often, stay single. The others are passed many at a time, as if the arms
met them in random order. That is an approximation: its error falls, not quite monotonically, with the number of cells,
and the difference from a sweep with far fewer cells estimates it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.contracts import arm_index
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.exact.bernoulli.lattice import NEGLIGIBLE, ONE, ZERO, U, polya_step
from bayesregret.exact.bernoulli.series import (
    SweepState,
    apply_moves,
    make_sweep_state,
    pulls_of_arms,
    regret_of,
    rounds_of,
    set_distributions,
)
from bayesregret.exact.level_sweep import SweepResult
from bayesregret.exact.power_series import Transform
from bayesregret.models import BernoulliBandit
from bayesregret.policies.selection import as_index

# Numbers of single thresholds, and of cells between them.
SINGLE_THRESHOLDS = 6_000
CELLS = 8_192
# The coarse sweep keeps single thresholds of half as many pulls, and one in COARSER of the other thresholds.
COARSER = 8
# A posterior mean this many standard deviations above a value falls below it with probability at most 1e-16 (Doob's
# inequality for a sub-Gaussian martingale).
SAFE = 8.6
BATCH = 32


def cells_regret(
    bandit: BernoulliBandit,
    settings: Any,
    belief: Any,
    horizon: int,
    best: float,
    arm_kind: NDArray[np.int64],
    first: Sequence[int],
) -> tuple[SweepResult, Array]:
    """Sweep over cells of thresholds, with an estimate of its error after each round."""
    thresholds, kept = choose_thresholds(settings, belief, first, horizon, SINGLE_THRESHOLDS, CELLS)
    transform = Transform(horizon, oversampling=2.5, digits=11.5)
    states = [make_sweep_state(len(transform.points), arm_kind, transform.until_horizon()) for _ in range(2)]
    alpha, beta = bandit.alpha[list(first)], bandit.beta[list(first)]
    start = np.zeros((2, len(first), horizon))
    start[0, :, 0] = 1.0
    start[1, :, 0] = best - alpha / (alpha + beta)
    before = [start, start]
    above = [math.inf, math.inf]
    for i, distributions in enumerate(
        _distributions_at(settings, belief, alpha, beta, first, best, horizon, thresholds)
    ):
        for sweep in (0, 1) if kept[i] else (0,):
            # At a single threshold, arms that tie move in the order of their numbers.
            single = above[sweep] <= np.nextafter(thresholds[i], math.inf)
            _pass_cell(states[sweep], transform, before[sweep], distributions, single, i)
            before[sweep], above[sweep] = distributions, float(thresholds[i])
    fine, coarse = (_found(state, transform) for state in states)
    return fine, np.abs(np.cumsum(fine.regret - coarse.regret))


def choose_thresholds(
    settings: Any, belief: Any, first: Sequence[int], horizon: int, single: int, cells: int
) -> tuple[Array, NDArray[np.bool_]]:
    """Falling thresholds at which distributions are computed (all, if few), and which of them the coarse sweep uses."""
    most = min(horizon, int(math.sqrt(2.0 * single / len(first))))
    cells = cells if most < horizon else 0
    settings = as_index(settings)
    # Cells end at quantiles of all thresholds, estimated from a sample of the lattice.
    step = max(1.0, horizon / math.sqrt(8.0 * cells)) if cells else math.inf
    counts = np.unique(np.append(np.arange(0.0, horizon - 1, step), horizon - 1).astype(int)).tolist() if cells else []
    alone: list[list[float]] = [[], []]
    sample = []
    for arm in first:
        for k in range(most):
            alone[k >= most // 2] += [arm_index(settings, belief, arm, k, float(s)) for s in range(k + 1)]
        for k in counts:
            successes = np.unique(np.append(np.arange(0.0, k, step), k).astype(int)).tolist()
            sample += [arm_index(settings, belief, arm, k, float(s)) for s in successes]
    few, more = (np.unique(each) for each in alone)
    finite = np.array(sample)[np.isfinite(sample)]
    between = np.quantile(finite, np.linspace(0.0, 1.0, cells + 1)) if len(finite) else finite
    coarse = np.concatenate([_both_sides(few), between[::COARSER]])
    thresholds = np.unique(np.concatenate([coarse, _both_sides(more), between]))[::-1]
    return thresholds, np.isin(thresholds, coarse)


def _both_sides(thresholds: Array) -> Array:
    """Thresholds, and the next floating-point numbers above them."""
    return np.concatenate([thresholds, np.nextafter(thresholds[np.isfinite(thresholds)], np.inf)])


def _distributions_at(
    settings: Any,
    belief: Any,
    alpha: Array,
    beta: Array,
    first: Sequence[int],
    best: float,
    horizon: int,
    thresholds: Array,
) -> Iterator[Array]:
    """Yield (2, kinds, horizon), distributions and losses at each threshold, computed by several threads."""
    find, run = (
        compile_kernel(fewest_successes, type(settings), type(belief)),
        compile_kernel(distributions_at_thresholds),
    )
    settings = as_index(settings)

    def several(part: Array) -> Array:
        made = np.zeros((len(part), 2, len(first), horizon))
        scratch = np.zeros(horizon), np.arange(horizon + 2.0), np.zeros(horizon + 2), np.zeros(horizon + 2)
        lowest = np.zeros((len(part), horizon), np.uint64)
        for kind, arm in enumerate(first):
            find(settings, belief, arm, part, lowest)
            run(alpha[kind], beta[kind], best, lowest, *scratch, made[:, 0, kind], made[:, 1, kind])
        return made

    with ThreadPoolExecutor() as pool:
        for part in pool.map(several, np.array_split(thresholds, max(1, len(thresholds) // BATCH))):
            yield from part


def _pass_cell(state: SweepState, transform: Transform, before: Array, after: Array, single: bool, turn: int) -> None:
    """Move all kinds; in a cell of many thresholds as separate groups, alternately in forward and reverse order."""
    kinds = np.arange(after.shape[1])[:: 1 if single or turn % 2 == 0 else -1]
    distribution, loss = transform.forward((after - before)[:, kinds])
    set_distributions(state, transform.forward(before[0]))
    groups = np.zeros_like(kinds) if single else kinds
    ordered, freed = np.ones(len(kinds), np.bool_), np.zeros(len(kinds))
    compile_kernel(apply_moves)(state, distribution, loss, kinds, groups, ordered, freed)


def _found(state: SweepState, transform: Transform) -> SweepResult:
    points = len(transform.points)
    return SweepResult(
        transform.running_sums(regret_of(state, points)),
        pulls_of_arms(state),
        transform.running_sums(rounds_of(state, points)),
    )


def fewest_successes(settings, belief, arm, thresholds, lowest):
    """Write, per threshold and count of pulls, the fewest successes with which an arm is not below the threshold."""
    for i in range(thresholds.shape[0]):
        low = ZERO
        for k in range(lowest.shape[1]):
            low = min(low, U(k) + ONE)
            while low > ZERO and arm_index(settings, belief, arm, k, float(low - ONE)) >= thresholds[i]:
                low -= ONE
            while low <= U(k) and arm_index(settings, belief, arm, k, float(low)) < thresholds[i]:
                low += ONE
            lowest[i, k] = low


def distributions_at_thresholds(alpha, beta, best, lowest, needed, numbers, here, there, distribution, loss):
    for i in range(lowest.shape[0]):
        distribution_at_threshold(alpha, beta, best, lowest[i], needed, numbers, here, there, distribution[i], loss[i])


@jitable
def distribution_at_threshold(alpha, beta, best, lowest, needed, numbers, here, there, distribution, loss):
    """Write distribution and loss at a threshold, given the fewest successes to stay above it after 0, 1, ... pulls."""
    horizon = lowest.shape[0]
    total = alpha + beta
    highest = 0.0
    for back in range(horizon):
        k = horizon - 1 - back
        highest = max(highest, (alpha + float(lowest[k])) / (total + float(k)))
        needed[k] = highest  # a posterior mean that stays above the threshold from here on
    if lowest[0] > ZERO:
        distribution[0] = 1.0
        loss[0] = best - alpha / total
        return
    here[0] = 1.0
    low, high = ZERO, ZERO
    for k in range(1, horizon):
        polya_step(alpha, total, float(k) - 1.0, numbers, low, high, here, there)
        here, there = there, here
        high += ONE
        inverse_total = 1.0 / (total + float(k))
        while low <= high and low < lowest[k]:
            distribution[k] += here[low]
            loss[k] += here[low] * (best - (alpha + float(low)) * inverse_total)
            low += ONE
        if low > high:
            return
        far = needed[k] + SAFE / (2.0 * math.sqrt(total + float(k) + 1.0))
        while high > low and (here[high] < NEGLIGIBLE or (alpha + float(high)) * inverse_total > far):
            high -= ONE
