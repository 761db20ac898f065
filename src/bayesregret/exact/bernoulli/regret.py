"""Exact regret of Bernoulli bandits: a sweep over every threshold of the lattice or, for long horizons, over cells."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel
from bayesregret.exact.bernoulli.cells import cells_regret
from bayesregret.exact.bernoulli.lattice import Lattices, index_table, lower_threshold, make_lattices
from bayesregret.exact.bernoulli.series import (
    apply_moves,
    make_sweep_state,
    pulls_of_arms,
    regret_of,
    rounds_of,
    set_distributions,
)
from bayesregret.exact.bernoulli.thresholds import Moves, all_moves
from bayesregret.exact.level_sweep import SweepResult
from bayesregret.exact.power_series import Series, Transform
from bayesregret.models import BernoulliBandit
from bayesregret.numerics.expected_maximum import beta_best

# Oversampling and digits of series. For many rounds, where they dominate the time, pulls add up within 3e-11.
FEW_ROUNDS, FEW_TERMS, MANY_TERMS = 500, (2.5, 11.5), (2.0, 10.5)
# A new stage, with shorter series, begins when the series need this fraction fewer terms.
STAGE = 0.04
# Moves computed, transformed and applied at a time: their rows fit into the cache.
BATCH = 48
# Batches after which distributions are reset to exact values, without accumulated rounding.
BATCHES_TO_REFRESH = 8
# Largest horizon at which every threshold is swept.
LARGEST_FULL_SWEEP = 1_200
BATCHES_AHEAD = 8


def bernoulli_regret(
    bandit: BernoulliBandit,
    settings: Any,
    belief: Any,
    horizon: int,
    kinds: tuple[NDArray[np.int64], list[int], Array],
) -> tuple[SweepResult, Array]:
    """Result of the sweep, and an estimate of its error after each round."""
    best = beta_best(bandit.alpha, bandit.beta)
    arm_kind, first, tables = kinds
    if horizon > LARGEST_FULL_SWEEP:
        return cells_regret(bandit, settings, belief, horizon, best, arm_kind, first)
    lattices = make_lattices(bandit.alpha[first], bandit.beta[first], best, tables)
    return sweep_every_threshold(lattices, all_moves(tables, bandit.arms), arm_kind, horizon), np.zeros(horizon)


def bernoulli_kinds(
    bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int
) -> tuple[NDArray[np.int64], list[int], Array]:
    """Kind of each arm, first arm of each kind, and the kinds' tables of indices (for long horizons, cut off)."""
    horizon = min(horizon, LARGEST_FULL_SWEEP)
    found: dict[tuple[float, float, bytes], int] = {}
    kinds, first, tables = [], [], []
    for arm in range(bandit.arms):
        table = index_table(settings, belief, arm, horizon)
        key = (float(bandit.alpha[arm]), float(bandit.beta[arm]), table.tobytes())
        if key not in found:
            found[key] = len(found)
            first.append(arm)
            tables.append(table)
        kinds.append(found[key])
    return np.array(kinds), first, np.array(tables)


def sweep_every_threshold(lattices: Lattices, moves: Moves, arm_kind: NDArray[np.int64], horizon: int) -> SweepResult:
    """Sweep over every threshold: exact up to rounding.

    As the threshold falls, every arm has certainly made `sure` pulls, so all series begin with that power of z; it is
    factored out, and they need fewer terms.
    """
    found = SweepResult(np.zeros(horizon), np.zeros(len(arm_kind)), np.zeros(horizon))
    distributions = np.zeros((len(lattices.alpha), horizon))
    distributions[:, 0] = 1.0
    make = compile_kernel(apply_moves)
    for stage, sure in _stages(moves, len(arm_kind), horizon):
        terms = horizon - len(arm_kind) * sure
        transform = Transform(terms, *(FEW_TERMS if horizon <= FEW_ROUNDS else MANY_TERMS))
        state = make_sweep_state(len(transform.points), arm_kind, transform.until_horizon())
        for batch in _batches(lattices, stage, distributions, transform, slice(sure, sure + terms)):
            if batch.distributions is not None:
                set_distributions(state, batch.distributions)
            distribution, loss = batch.changes[:, 0], batch.changes[:, 1]
            which = batch.which
            make(state, distribution, loss, stage.kind[which], stage.group[which], stage.ordered[which], batch.freed)
        points = len(transform.points)
        found.regret[horizon - terms :] += transform.running_sums(regret_of(state, points))
        found.rounds[horizon - terms :] += transform.running_sums(rounds_of(state, points))
        found.pulls[:] += pulls_of_arms(state)
    return found


def _stages(moves: Moves, arms: int, horizon: int) -> Iterator[tuple[Moves, int]]:
    """Yield moves that are made in one stage, with the pulls that every arm has certainly made by then."""
    sure = (horizon - moves.limit) // max(1, arms - 1)
    sure = np.minimum.accumulate(sure[::-1])[::-1]  # minimum over all moves from here on
    begin = 0
    while begin < len(sure):
        enough = STAGE * (horizon - arms * sure[begin])
        end = begin + int(np.searchsorted(arms * (sure[begin:] - sure[begin]), enough))
        while end < len(sure) and moves.group[end] == moves.group[end - 1]:
            end += 1
        yield moves.part(begin, end), int(sure[begin])
        begin = end


class Batch(NamedTuple):
    """Some moves, with the series of their changes of distribution and loss."""

    which: NDArray[np.int64]
    freed: Array
    changes: Series
    distributions: Series | None  # exact ones before the moves, in some batches


def _batches(
    lattices: Lattices, moves: Moves, distributions: Array, transform: Transform, needed: slice
) -> Iterator[Batch]:
    """Yield all moves in order, while other threads release masses and transform rows of the next batches."""
    fill = compile_kernel(release_masses)
    size = BATCH + len(lattices.alpha)
    buffers = [
        (np.zeros((size, 2, distributions.shape[1])), np.zeros(size, np.int64), np.zeros(size))
        for _ in range(BATCHES_AHEAD + 1)
    ]
    end = len(moves.kind)

    def transformed(rows: Array, before: Array | None) -> tuple[Series, Series | None]:
        changes = transform.forward(rows[:, :, needed])
        return changes, None if before is None else transform.forward(before[:, needed])

    with ThreadPoolExecutor(1) as filler, ThreadPoolExecutor(1) as transformer:
        position = 0

        def prepare(turn: int) -> tuple[int, Any]:
            nonlocal position
            rows, which, freed = buffers[turn % len(buffers)]
            before = distributions.copy() if turn % BATCHES_TO_REFRESH == 0 else None
            position, count = fill(lattices, moves, position, BATCH, rows, which, freed, distributions)
            return position, (which[:count], freed[:count], transformer.submit(transformed, rows[:count], before))

        waiting = [filler.submit(prepare, turn) for turn in range(BATCHES_AHEAD)]
        for turn in itertools.count(BATCHES_AHEAD):
            so_far, (which, freed, made) = waiting.pop(0).result()
            if so_far < end:
                waiting.append(filler.submit(prepare, turn))
            yield Batch(which, freed, *made.result())
            if so_far == end:
                return


def release_masses(
    lattices: Any, moves: Any, position: int, batch: int, rows: Array, which: Any, freed: Array, distributions: Array
) -> Any:
    """Write rows of changes of distribution and loss, for whole groups of moves from a position on; skip empty moves.

    Returns the position after them and the number of rows, and updates the distributions.
    """
    count = 0
    while position < moves.kind.shape[0]:
        if count >= batch and (moves.group[position] != moves.group[position - 1]):
            break
        for column in range(rows.shape[2]):
            rows[count, 0, column] = 0.0
            rows[count, 1, column] = 0.0
        kind = moves.kind[position]
        free = lower_threshold(
            lattices,
            kind,
            moves.threshold[position],
            moves.first[position],
            moves.last[position],
            moves.limit[position],
            rows[count, 0],
            rows[count, 1],
        )
        if free > 0.0:
            for column in range(rows.shape[2]):
                distributions[kind, column] += rows[count, 0, column]
            which[count] = position
            freed[count] = free
            count += 1
        position += 1
    return position, count
