"""Narrow bins for numbers of at least 0: by exponent and the first ten binary digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BIN_SHIFT = 42  # of the 52 binary digits of a float, those that do not matter
BINS = 1 << 21


def count_in_bins(values: Any, counts: NDArray[np.int64]) -> None:
    """Count numbers in bins; negative ones, which are rounding errors, as 0."""
    for value in values:
        counts[np.float64(max(value, 0.0)).view(np.int64) >> BIN_SHIFT] += 1
