"""Table of widths of Gaussian Gittins indices, by pulls and rounds left within a horizon.

Few pulls or rounds are computed one by one, larger numbers at four nodes per octave. The logarithm of a width is a
smooth function of the logarithms of both; splines of degree 5 interpolate it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from bayesregret.checks import Array
from bayesregret.optimal.gittins_gaussian import fill_widths

ONE_BY_ONE, IN_AN_OCTAVE = 16, 4
DEGREE = 5
STRONG = 1e4  # pseudo-count from which on all priors use the same scale of pulls


def gaussian_table(pseudo_count: float, horizon: int) -> Array:
    """Return (horizon, horizon): the width for noise 1 after k pulls with m rounds left is at [k, m - 1], for k + m at
    most the horizon; the rest is 0.
    """
    table = np.zeros((horizon, horizon))
    if horizon == 1:
        return table
    pulls, rounds = _nodes(0, horizon - 1), _nodes(2, horizon)
    # A node serves the numbers between it and the previous node, so it needs the rounds that those need.
    before = np.concatenate([[-1], pulls[:-1]])
    needed = np.concatenate([[0], rounds[:-1]]) + before[:, None] + 1 < horizon
    widths = np.where(needed, np.nan, 0.0)
    fill_widths(pseudo_count + pulls, rounds, widths)
    between = [
        np.exp(_spline(np.log(rounds[: row.sum()]), np.log(width[: row.sum()]), np.log(np.arange(2, horizon - k))))
        for k, row, width in zip(before, needed, widths, strict=True)
        if row.any()
    ]
    # Logarithm of all pulls, up to a constant; for a strong prior, a scale that does as well.
    scaled = np.log1p(np.arange(horizon) / min(pseudo_count, STRONG))
    for m in range(2, horizon + 1):
        column = np.array([row[m - 2] for row in between if len(row) > m - 2])
        wanted = scaled[: horizon - m + 1]
        table[: len(wanted), m - 1] = np.exp(_spline(scaled[pulls[: len(column)]], np.log(column), wanted))
    # Indices rise with the rounds left; interpolation must preserve that.
    return np.where(table > 0.0, np.maximum.accumulate(table, axis=1), 0.0)


def _nodes(first: int, last: int) -> NDArray[np.int64]:
    """Increasing integers from first to last: all of them at first, then four per octave."""
    octaves = ONE_BY_ONE * 2.0 ** (np.arange(IN_AN_OCTAVE * 64) / IN_AN_OCTAVE)
    nodes = np.concatenate([np.arange(first, ONE_BY_ONE), np.rint(octaves[octaves < last])])
    return np.unique(np.append(nodes[nodes < last], last)).astype(np.int64)


def _spline(x: Array, y: Array, wanted: Array) -> Array:
    return np.asarray(make_interp_spline(x, y, k=min(DEGREE, len(x) - 1))(wanted))
