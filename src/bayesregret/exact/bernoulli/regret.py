"""Exact regret of Bernoulli bandits: every level of the lattice, or, for long horizons, cells of many levels."""

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
from bayesregret.exact.bernoulli.lattice import Lattices, index_table, lower, make_lattices
from bayesregret.exact.bernoulli.series import make_book, make_moves, pulls_of_arms, regret_of, rounds_of, start_batch
from bayesregret.exact.bernoulli.thresholds import Moves, every_move
from bayesregret.exact.level_sweep import Found
from bayesregret.exact.power_series import Series, Transform
from bayesregret.models import BernoulliBandit
from bayesregret.numerics.expected_maximum import beta_best

# Oversampling and digits of series: with many rounds, where they take the time, pulls add up to 3e-11 of them.
FEW_ROUNDS, FEW_TERMS, MANY_TERMS = 500, (2.5, 11.5), (2.0, 10.5)
# Series are made anew when they need this share of terms less.
STAGE = 0.04
# Moves whose rows are made, transformed and used at a time: they fit into a processor's cache.
BATCH = 48
# After so many batches the laws are taken anew, free of rounding on the way.
BATCHES_TO_REFRESH = 8
# Up to this horizon every level is swept.
EVERY_LEVEL = 1_200
BATCHES_AHEAD = 8


def bernoulli_regret(
    bandit: BernoulliBandit,
    settings: Any,
    belief: Any,
    horizon: int,
    kinds: tuple[NDArray[np.int64], list[int], Array],
) -> tuple[Found, Array]:
    """What a sweep finds, and an estimate of its error after each round."""
    best = beta_best(bandit.alpha, bandit.beta)
    arm_kind, first, tables = kinds
    if horizon > EVERY_LEVEL:
        return cells_regret(bandit, settings, belief, horizon, best, arm_kind, first)
    lattices = make_lattices(bandit.alpha[first], bandit.beta[first], best, tables)
    return every_level(lattices, every_move(tables, bandit.arms), arm_kind, horizon), np.zeros(horizon)


def bernoulli_kinds(
    bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int
) -> tuple[NDArray[np.int64], list[int], Array]:
    """The kind of each arm, the first arm of each kind, and the kinds' tables of indices, as far as they are needed."""
    horizon = min(horizon, EVERY_LEVEL)
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


def every_level(lattices: Lattices, moves: Moves, arm_kind: NDArray[np.int64], horizon: int) -> Found:
    """The sweep level by level: exact but for rounding.

    As the level falls all arms have made some pulls for certain, `sure` of them, so all series begin with that power of
    z and need fewer terms: it is left out.
    """
    found = Found(np.zeros(horizon), np.zeros(len(arm_kind)), np.zeros(horizon))
    laws = np.zeros((len(lattices.alpha), horizon))
    laws[:, 0] = 1.0
    make = compile_kernel(make_moves)
    for stage, sure in _stages(moves, len(arm_kind), horizon):
        terms = horizon - len(arm_kind) * sure
        transform = Transform(terms, *(FEW_TERMS if horizon <= FEW_ROUNDS else MANY_TERMS))
        book = make_book(len(transform.points), arm_kind, transform.until_horizon())
        for batch in _batches(lattices, stage, laws, transform, slice(sure, sure + terms)):
            if batch.laws is not None:
                start_batch(book, batch.laws)
            law, loss = batch.changes[:, 0], batch.changes[:, 1]
            which = batch.which
            make(book, law, loss, stage.kind[which], stage.group[which], stage.ordered[which], batch.freed)
        points = len(transform.points)
        found.regret[horizon - terms :] += transform.running_sums(regret_of(book, points))
        found.rounds[horizon - terms :] += transform.running_sums(rounds_of(book, points))
        found.pulls[:] += pulls_of_arms(book)
    return found


def _stages(moves: Moves, arms: int, horizon: int) -> Iterator[tuple[Moves, int]]:
    """Moves that are made together, with the pulls that all arms have made by then."""
    sure = (horizon - moves.limit) // max(1, arms - 1)
    sure = np.minimum.accumulate(sure[::-1])[::-1]  # at all moves from here on
    begin = 0
    while begin < len(sure):
        enough = STAGE * (horizon - arms * sure[begin])
        end = begin + int(np.searchsorted(arms * (sure[begin:] - sure[begin]), enough))
        while end < len(sure) and moves.group[end] == moves.group[end - 1]:
            end += 1
        yield moves.part(begin, end), int(sure[begin])
        begin = end


class Batch(NamedTuple):
    """Some moves with the series of their changes of law and loss."""

    which: NDArray[np.int64]
    freed: Array
    changes: Series
    laws: Series | None  # those before the moves, now and then


def _batches(lattices: Lattices, moves: Moves, laws: Array, transform: Transform, needed: slice) -> Iterator[Batch]:
    """All moves, in order; other threads set masses free and transform rows of the batches to come."""
    fill = compile_kernel(set_free)
    size = BATCH + len(lattices.alpha)
    buffers = [
        (np.zeros((size, 2, laws.shape[1])), np.zeros(size, np.int64), np.zeros(size)) for _ in range(BATCHES_AHEAD + 1)
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
            before = laws.copy() if turn % BATCHES_TO_REFRESH == 0 else None
            position, count = fill(lattices, moves, position, BATCH, rows, which, freed, laws)
            return position, (which[:count], freed[:count], transformer.submit(transformed, rows[:count], before))

        waiting = [filler.submit(prepare, turn) for turn in range(BATCHES_AHEAD)]
        for turn in itertools.count(BATCHES_AHEAD):
            so_far, (which, freed, made) = waiting.pop(0).result()
            if so_far < end:
                waiting.append(filler.submit(prepare, turn))
            yield Batch(which, freed, *made.result())
            if so_far == end:
                return


def set_free(
    lattices: Any, moves: Any, position: int, batch: int, rows: Array, which: Any, freed: Array, laws: Array
) -> Any:
    """Rows of changes of law and loss, for whole groups of moves from a position on; those without any are left out.

    Returns the position after them and the number of rows, and keeps the laws up to date.
    """
    count = 0
    while position < moves.kind.shape[0]:
        if count >= batch and (moves.group[position] != moves.group[position - 1]):
            break
        for column in range(rows.shape[2]):
            rows[count, 0, column] = 0.0
            rows[count, 1, column] = 0.0
        kind = moves.kind[position]
        free = lower(
            lattices,
            kind,
            moves.level[position],
            moves.first[position],
            moves.last[position],
            moves.limit[position],
            rows[count, 0],
            rows[count, 1],
        )
        if free > 0.0:
            for column in range(rows.shape[2]):
                laws[kind, column] += rows[count, 0, column]
            which[count] = position
            freed[count] = free
            count += 1
        position += 1
    return position, count
