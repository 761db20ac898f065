"""The levels of a Bernoulli bandit, every single one, in the order in which they are met.

Above a level, every arm has made at least as many pulls as it takes to fall below it with failures alone, `fewest`. So
a point with k pulls matters only if k + (arms - 1) fewest < horizon, and two arms' points with k and k' pulls matter to
each other only if k + k' + (arms - 2) fewest < horizon. Points for which twice their own pulls are too many for that
need no order among themselves: all of a kind that lie between two levels of the others make one move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array

Ints = NDArray[np.int64]


class Moves(NamedTuple):
    """In the order of falling levels; moves of one group are met at the same level."""

    kind: Ints
    level: Array
    first: Ints  # fewest pulls of the points that are set free
    last: Ints  # most
    limit: Ints  # more pulls than this do not matter
    group: Ints
    ordered: NDArray[np.bool_]  # a single level; else many, of no order among themselves

    def part(self, begin: int, end: int) -> Moves:
        return self._replace(**{name: values[begin:end] for name, values in self._asdict().items()})


def every_move(index: Array, arms: int) -> Moves:
    """All moves for tables of indices of all kinds, (kinds, horizon, horizon + 1)."""
    kinds = len(index)
    points = [_points_that_matter(index, kind, arms) for kind in range(kinds)]
    kind, level, pulls, limit, early = (np.concatenate(parts) for parts in zip(*points, strict=True))

    # Between early levels, the others of one kind go together: number the stretches, then sort by stretch and kind.
    marks = np.unique(level[early])  # rising
    position = np.searchsorted(marks, level)  # so many early levels are lower
    tied = np.append(marks, np.nan)[position] == level
    stretch = 2 * (len(marks) - position) - tied  # between marks: even; at a mark: odd
    order = np.lexsort((kind, stretch))
    stretch, kind, level, pulls, limit = (each[order] for each in (stretch, kind, level, pulls, limit))
    starts = np.flatnonzero(np.diff(stretch * kinds + kind, prepend=-1))
    return Moves(
        kind[starts],
        np.minimum.reduceat(level, starts),
        np.minimum.reduceat(pulls, starts),
        np.maximum.reduceat(pulls, starts),
        np.maximum.reduceat(limit, starts),
        stretch[starts],
        stretch[starts] % 2 == 1,
    )


def _points_that_matter(index: Array, kind: int, arms: int) -> tuple[Array, ...]:
    """Of one kind: kind, level, pulls and limit of the points, and whether their order matters."""
    horizon = index.shape[1]
    pulls, successes = np.tril_indices(horizon)
    level = index[kind, pulls, successes]
    fewest = _fewest_pulls(index, level)
    limit = horizon - (arms - 1) * fewest
    early = 2 * pulls + max(arms - 2, 0) * fewest < horizon
    kept = pulls < limit
    return np.full(int(kept.sum()), kind), level[kept], pulls[kept], limit[kept], early[kept]


def _fewest_pulls(index: Array, level: Array) -> Ints:
    """The fewest pulls that an arm of any kind makes above each level, the horizon at most."""
    fewest = np.full(len(level), index.shape[1])
    for failures in index[:, :, 0]:
        # With failures alone it makes every pull whose lowest index so far is above the level; at the level itself
        # it may be that another arm goes first.
        falling = np.minimum.accumulate(failures)[::-1]
        fewest = np.minimum(fewest, len(falling) - np.searchsorted(falling, level, side="right"))
    return fewest
