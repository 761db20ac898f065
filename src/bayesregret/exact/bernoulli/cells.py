"""Bernoulli bandits over long horizons: levels in cells, each passed in one move.

Levels of few pulls, which arms share most often, stay single. The others are passed many at a time as if the arms met
them in random order. That is an approximation; its error falls, not quite steadily, with the number of cells, and the
difference from a sweep with far fewer of them tells about it.
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
from bayesregret.exact.bernoulli.lattice import NOTHING, ONE, ZERO, U, polya_step
from bayesregret.exact.bernoulli.series import (
    Book,
    make_book,
    make_moves,
    pulls_of_arms,
    regret_of,
    rounds_of,
    start_batch,
)
from bayesregret.exact.level_sweep import Found
from bayesregret.exact.power_series import Transform
from bayesregret.models import BernoulliBandit
from bayesregret.policies.base import as_index

# So many single levels, and so many cells between them.
SINGLE_LEVELS = 6_000
CELLS = 8_192
# A coarser sweep has single levels of half as many pulls only, and one of so many of the others.
COARSER = 8
# A posterior mean so many deviations above what it must reach falls below it with chance 1e-16 at most (Doob's
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
) -> tuple[Found, Array]:
    """The sweep cell by cell, with an estimate of its error after each round."""
    levels, kept = choose_levels(settings, belief, first, horizon, SINGLE_LEVELS, CELLS)
    transform = Transform(horizon, oversampling=2.5, digits=11.5)
    books = [make_book(len(transform.points), arm_kind, transform.until_horizon()) for _ in range(2)]
    alpha, beta = bandit.alpha[list(first)], bandit.beta[list(first)]
    start = np.zeros((2, len(first), horizon))
    start[0, :, 0] = 1.0
    start[1, :, 0] = best - alpha / (alpha + beta)
    before = [start, start]
    above = [math.inf, math.inf]
    for i, laws in enumerate(_laws(settings, belief, alpha, beta, first, best, horizon, levels)):
        for sweep in (0, 1) if kept[i] else (0,):
            # A single level: arms that tie there go by their numbers.
            single = above[sweep] <= np.nextafter(levels[i], math.inf)
            _pass_cell(books[sweep], transform, before[sweep], laws, single, i)
            before[sweep], above[sweep] = laws, float(levels[i])
    fine, coarse = (_found(book, transform) for book in books)
    return fine, np.abs(np.cumsum(fine.regret - coarse.regret))


def choose_levels(
    settings: Any, belief: Any, first: Sequence[int], horizon: int, single: int, cells: int
) -> tuple[Array, NDArray[np.bool_]]:
    """Falling levels at which laws are known, and which of them a coarser sweep has, too; all levels, if few."""
    most = min(horizon, int(math.sqrt(2.0 * single / len(first))))
    cells = cells if most < horizon else 0
    settings = as_index(settings)
    # Quantiles of all levels, from a sample of about so many of them.
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
    levels = np.unique(np.concatenate([coarse, _both_sides(more), between]))[::-1]
    return levels, np.isin(levels, coarse)


def _both_sides(levels: Array) -> Array:
    """Levels, and the numbers just above them."""
    return np.concatenate([levels, np.nextafter(levels[np.isfinite(levels)], np.inf)])


def _laws(
    settings: Any,
    belief: Any,
    alpha: Array,
    beta: Array,
    first: Sequence[int],
    best: float,
    horizon: int,
    levels: Array,
) -> Iterator[Array]:
    """(2, kinds, horizon): laws and losses at each level, made by as many threads as there are."""
    find, run = compile_kernel(fewest_successes, type(settings), type(belief)), compile_kernel(laws_at_levels)
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
        for part in pool.map(several, np.array_split(levels, max(1, len(levels) // BATCH))):
            yield from part


def _pass_cell(book: Book, transform: Transform, before: Array, after: Array, single: bool, turn: int) -> None:
    """All kinds move; in a cell of many levels each as a group of its own, in turn from the first and from the last."""
    kinds = np.arange(after.shape[1])[:: 1 if single or turn % 2 == 0 else -1]
    law, loss = transform.forward((after - before)[:, kinds])
    start_batch(book, transform.forward(before[0]))
    groups = np.zeros_like(kinds) if single else kinds
    ordered, freed = np.ones(len(kinds), np.bool_), np.zeros(len(kinds))
    compile_kernel(make_moves)(book, law, loss, kinds, groups, ordered, freed)


def _found(book: Book, transform: Transform) -> Found:
    points = len(transform.points)
    return Found(
        transform.running_sums(regret_of(book, points)),
        pulls_of_arms(book),
        transform.running_sums(rounds_of(book, points)),
    )


def fewest_successes(settings, belief, arm, levels, lowest):
    """The fewest successes with which an arm is not below each level, by pulls."""
    for i in range(levels.shape[0]):
        low = ZERO
        for k in range(lowest.shape[1]):
            low = min(low, U(k) + ONE)
            while low > ZERO and arm_index(settings, belief, arm, k, float(low - ONE)) >= levels[i]:
                low -= ONE
            while low <= U(k) and arm_index(settings, belief, arm, k, float(low)) < levels[i]:
                low += ONE
            lowest[i, k] = low


def laws_at_levels(alpha, beta, best, lowest, needed, numbers, here, there, law, loss):
    for i in range(lowest.shape[0]):
        law_at_level(alpha, beta, best, lowest[i], needed, numbers, here, there, law[i], loss[i])


@jitable
def law_at_level(alpha, beta, best, lowest, needed, numbers, here, there, law, loss):
    """Law and loss at a level, given the fewest successes with which an arm is not below it after 0, 1, ... pulls."""
    horizon = lowest.shape[0]
    total = alpha + beta
    highest = 0.0
    for back in range(horizon):
        k = horizon - 1 - back
        highest = max(highest, (alpha + float(lowest[k])) / (total + float(k)))
        needed[k] = highest  # the posterior mean that is enough from here on
    if lowest[0] > ZERO:
        law[0] = 1.0
        loss[0] = best - alpha / total
        return
    here[0] = 1.0
    low, high = ZERO, ZERO
    for k in range(1, horizon):
        polya_step(alpha, total, float(k) - 1.0, numbers, low, high, here, there)
        here, there = there, here
        high += ONE
        share = 1.0 / (total + float(k))
        while low <= high and low < lowest[k]:
            law[k] += here[low]
            loss[k] += here[low] * (best - (alpha + float(low)) * share)
            low += ONE
        if low > high:
            return
        far = needed[k] + SAFE / (2.0 * math.sqrt(total + float(k) + 1.0))
        while high > low and (here[high] < NOTHING or (alpha + float(high)) * share > far):
            high -= ONE
