"""All thresholds of a Bernoulli bandit, as moves in the order in which a sweep meets them.

Above a threshold, every arm has made at least `fewest` pulls: those that it takes to fall below with failures alone. So
a point with k pulls matters only if k + (arms - 1) fewest < horizon, and two arms' points with k and k' pulls affect
each other only if k + k' + (arms - 2) fewest < horizon. Points too late for that with k' = k need no order among
themselves: all of one kind that lie between two thresholds of the earlier points make one move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array

Ints = NDArray[np.int64]


class Moves(NamedTuple):
    """Moves in the order of falling thresholds; a group meets the same threshold."""

    kind: Ints
    threshold: Array
    first: Ints  # fewest pulls of the released points
    last: Ints  # most pulls of the released points
    limit: Ints  # from this number on, pulls do not matter
    group: Ints
    ordered: NDArray[np.bool_]  # one threshold; otherwise many, whose order does not matter

    def part(self, begin: int, end: int) -> Moves:
        return self._replace(**{name: values[begin:end] for name, values in self._asdict().items()})


def all_moves(index: Array, arms: int) -> Moves:
    """Return all moves for the kinds' tables of indices, (kinds, horizon, horizon + 1)."""
    kinds = len(index)
    points = [_points_that_matter(index, kind, arms) for kind in range(kinds)]
    kind, threshold, pulls, limit, early = (np.concatenate(parts) for parts in zip(*points, strict=True))

    # Between early thresholds, late points of one kind move together: number the stretches, sort by stretch and kind.
    marks = np.unique(threshold[early])  # rising
    position = np.searchsorted(marks, threshold)  # number of lower early thresholds
    tied = np.append(marks, np.nan)[position] == threshold
    stretch = 2 * (len(marks) - position) - tied  # between marks: even; at a mark: odd
    order = np.lexsort((kind, stretch))
    stretch, kind, threshold, pulls, limit = (each[order] for each in (stretch, kind, threshold, pulls, limit))
    starts = np.flatnonzero(np.diff(stretch * kinds + kind, prepend=-1))
    return Moves(
        kind[starts],
        np.minimum.reduceat(threshold, starts),
        np.minimum.reduceat(pulls, starts),
        np.maximum.reduceat(pulls, starts),
        np.maximum.reduceat(limit, starts),
        stretch[starts],
        stretch[starts] % 2 == 1,
    )


def _points_that_matter(index: Array, kind: int, arms: int) -> tuple[Array, ...]:
    """Kind, threshold, pulls and limit of the points of one kind, and whether their order matters."""
    horizon = index.shape[1]
    pulls, successes = np.tril_indices(horizon)
    threshold = index[kind, pulls, successes]
    fewest = _fewest_pulls(index, threshold)
    limit = horizon - (arms - 1) * fewest
    early = 2 * pulls + max(arms - 2, 0) * fewest < horizon
    kept = pulls < limit
    return np.full(int(kept.sum()), kind), threshold[kept], pulls[kept], limit[kept], early[kept]


def _fewest_pulls(index: Array, threshold: Array) -> Ints:
    """Fewest pulls that an arm of any kind makes above each threshold, at most the horizon."""
    fewest = np.full(len(threshold), index.shape[1])
    for failures in index[:, :, 0]:
        # With failures alone, an arm makes every pull whose lowest index so far is above the threshold; at the
        # threshold itself another arm may come first.
        falling = np.minimum.accumulate(failures)[::-1]
        fewest = np.minimum(fewest, len(falling) - np.searchsorted(falling, threshold, side="right"))
    return fewest
