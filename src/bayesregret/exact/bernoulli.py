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
from bayesregret.exact.bernoulli_cells import cells_regret
from bayesregret.exact.bernoulli_lattice import Lattices, index_table, lower, make_lattices
from bayesregret.exact.bernoulli_levels import Moves, every_move
from bayesregret.exact.bernoulli_series import make_book, make_moves, pulls_of_arms, start_batch, whole_series
from bayesregret.exact.prior_best import beta_best
from bayesregret.exact.sweep import Found
from bayesregret.exact.transform import Series, Transform
from bayesregret.models import BernoulliBandit

# Moves whose rows are made, transformed and used at a time: they fit into a processor's cache.
BATCH = 64
# Up to this horizon every level is swept.
EVERY_LEVEL = 1_200
BATCHES_AHEAD = 2


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
    """The sweep level by level: exact but for rounding."""
    transform = Transform(horizon, oversampling=2.5, digits=11.5)
    book = make_book(len(transform.points), arm_kind, transform.until_horizon())
    laws = np.zeros((len(lattices.alpha), horizon))
    laws[:, 0] = 1.0
    make = compile_kernel(make_moves)
    for batch in _batches(lattices, moves, transform):
        kinds = moves.kind[batch.which]
        start_batch(book, transform.forward(laws))
        make(
            book,
            batch.changes[:, 0],
            batch.changes[:, 1],
            kinds,
            moves.group[batch.which],
            moves.ordered[batch.which],
            batch.freed,
        )
        for kind in range(len(laws)):
            laws[kind] += batch.rows[:, 0][kinds == kind].sum(axis=0)
    points = len(transform.points)
    return Found(
        transform.running_sums(whole_series(book.regret, points)),
        pulls_of_arms(book),
        transform.running_sums(whole_series(book.rounds, points)),
    )


class Batch(NamedTuple):
    """Some moves with their changes of law and loss, by pulls and as series."""

    which: NDArray[np.int64]
    freed: Array
    rows: Array
    changes: Series


def _batches(lattices: Lattices, moves: Moves, transform: Transform) -> Iterator[Batch]:
    """All moves, in order; other threads set masses free and transform rows of the batches to come."""
    fill = compile_kernel(set_free)
    size = BATCH + len(lattices.alpha)
    buffers = [
        (np.zeros((size, 2, transform.terms)), np.zeros(size, np.int64), np.zeros(size))
        for _ in range(BATCHES_AHEAD + 1)
    ]
    end = len(moves.kind)
    with ThreadPoolExecutor(1) as filler, ThreadPoolExecutor(1) as transformer:
        position = 0

        def prepare(rows: Array, which: NDArray[np.int64], freed: Array) -> tuple[int, Any]:
            nonlocal position
            position, count = fill(lattices, moves, position, BATCH, rows, which, freed)
            made = transformer.submit(transform.forward, rows[:count])
            return position, (which[:count], freed[:count], rows[:count], made)

        waiting = [filler.submit(prepare, *buffer) for buffer in buffers[:BATCHES_AHEAD]]
        for turn in itertools.count():
            so_far, (which, freed, rows, made) = waiting.pop(0).result()
            if so_far < end:
                waiting.append(filler.submit(prepare, *buffers[(turn + BATCHES_AHEAD) % len(buffers)]))
            yield Batch(which, freed, rows, made.result())
            if so_far == end:
                return


def set_free(lattices: Any, moves: Any, position: int, batch: int, rows: Array, which: Any, freed: Array) -> Any:
    """Rows of changes of law and loss, for whole groups of moves from a position on; those without any are left out.

    Returns the position after them and the number of rows.
    """
    count = 0
    while position < moves.kind.shape[0]:
        if count >= batch and (moves.group[position] != moves.group[position - 1]):
            break
        for column in range(rows.shape[2]):
            rows[count, 0, column] = 0.0
            rows[count, 1, column] = 0.0
        free = lower(
            lattices,
            moves.kind[position],
            moves.level[position],
            moves.first[position],
            moves.last[position],
            moves.limit[position],
            rows[count, 0],
            rows[count, 1],
        )
        if free > 0.0:
            which[count] = position
            freed[count] = free
            count += 1
        position += 1
    return position, count
