"""Power series in z, known by their values on a circle inside the unit disc.

The coefficient of z^t belongs to round t + 1, and sums of independent counts become products. A series is cut off after
`terms` coefficients; what a product has beyond them comes back, `length` coefficients early, times radius^length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from bayesregret.checks import Array

Series = NDArray[np.complex128]


class Transform:
    """Values at `points` on the circle, for series of real coefficients: half of it is enough."""

    def __init__(self, terms: int, oversampling: float = 4.0, digits: float = 16.0) -> None:
        """What comes back early is made smaller by so many digits; rounding grows by digits / oversampling of them."""
        self.terms = terms
        self.length: int = fft.next_fast_len(int(np.ceil(oversampling * terms)) + 1, real=True)
        self.shrink = 10.0 ** (-digits / self.length * np.arange(terms))
        angles = -2j * np.pi / self.length * np.arange(self.length // 2 + 1)
        self.points: Series = 10.0 ** (-digits / self.length) * np.exp(angles)

    def forward(self, coefficients: Array) -> Series:
        """Values of the series whose coefficients are the rows."""
        values: Series = fft.rfft(coefficients * self.shrink, self.length, axis=-1)
        return values

    def coefficients(self, values: Series) -> Array:
        """The first `terms` coefficients of series given by their values."""
        return np.asarray(fft.irfft(values, self.length, axis=-1)[..., : self.terms] / self.shrink)

    def running_sums(self, values: Series) -> Array:
        """Coefficients of the series divided by 1 - z."""
        return self.coefficients(values / (1.0 - self.points))

    def until_horizon(self) -> Series:
        """Weights: the real part of their product with a series' values is the sum of all its running sums."""
        inverse = np.zeros(self.length)
        inverse[: self.terms] = 1.0 / self.shrink
        terms = np.conj(fft.rfft(inverse))
        twice = np.full(len(self.points), 2.0)
        twice[0] = 1.0
        if self.length % 2 == 0:
            twice[-1] = 1.0
        weights: Series = twice / self.length * terms / (1.0 - self.points)
        return weights
