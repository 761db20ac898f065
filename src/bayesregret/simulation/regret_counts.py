"""Counts of regrets in narrow bins, so that quantiles need no memory for each run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayesregret.dispatch import compile_kernel
from bayesregret.simulation.kernels.regret_bins import BIN_SHIFT, BINS, count_in_bins

MANY = 1 << 12  # numbers, from which on compiled code counts them


class RegretCounts:
    """Number of regrets in each bin; the counts do not depend on the order of runs.

    A bin holds the numbers whose exponent and first ten binary digits are the same: it is at most 0.1 percent wide.
    """

    def __init__(self) -> None:
        self.counts = np.zeros(BINS, np.int64)

    def add(self, regrets: NDArray[np.float64]) -> None:
        """Count numbers of at least 0."""
        if len(regrets) >= MANY:
            compile_kernel(count_in_bins)(regrets, self.counts)
        else:
            np.add.at(self.counts, np.maximum(regrets, 0.0).view(np.int64) >> BIN_SHIFT, 1)

    def quantile(self, share: float) -> float:
        """The smallest number that at least this share of all numbers does not exceed, up to the width of a bin.

        Numbers are taken to be evenly spread in each bin.
        """
        up_to = np.cumsum(self.counts)
        rank = max(0, math.ceil(share * up_to[-1]) - 1)
        number = int(np.searchsorted(up_to, rank, side="right"))
        low, high = (np.array([number, number + 1]) << BIN_SHIFT).view(np.float64)
        count = self.counts[number]
        return float(low + (high - low) * (rank - (up_to[number] - count) + 0.5) / count) if low > 0.0 else 0.0
