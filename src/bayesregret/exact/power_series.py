"""Power series in z, known by their values on a circle inside the unit disc.

The coefficient of z^t belongs to round t + 1, and sums of independent counts become products. Values are taken at
the `count` points where z^count is the same imaginary number. Coefficients are real, so what a product has beyond
`count` of them comes back as an imaginary part, where it does no harm, and only what it has beyond twice as many
comes back to the real part, 2 count coefficients early, times radius^(2 count).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from bayesregret.checks import Array

Series = NDArray[np.complex128]


class Transform:
    """Values at `points` on the circle, for series of real coefficients that are cut off after `terms` of them."""

    def __init__(self, terms: int, oversampling: float = 4.0, digits: float = 16.0) -> None:
        """What comes back early is made smaller by so many digits; rounding grows by digits / oversampling of them."""
        self.terms = terms
        count = fft.next_fast_len(max(terms, int(np.ceil(0.5 * oversampling * terms))))
        log_radius, turn = -0.5 * np.log(10.0) * digits / count, -0.5j * np.pi / count
        self.points: Series = np.exp(log_radius + turn * (4 * np.arange(count) + 1))
        self.weights: Series = np.exp((log_radius + turn) * np.arange(terms))

    def forward(self, coefficients: Array) -> Series:
        """Values of the series whose coefficients are the rows."""
        values: Series = fft.fft(coefficients * self.weights, len(self.points), axis=-1, overwrite_x=True)
        return values

    def coefficients(self, values: Series) -> Array:
        """The first `terms` coefficients of series given by their values."""
        return np.real(fft.ifft(values, axis=-1)[..., : self.terms] / self.weights)

    def running_sums(self, values: Series) -> Array:
        """Coefficients of the series divided by 1 - z."""
        return self.coefficients(values / (1.0 - self.points))

    def until_horizon(self) -> Series:
        """Weights: the real part of their product with a series' values is the sum of all its running sums."""
        weights: Series = fft.ifft(1.0 / self.weights, len(self.points)) / (1.0 - self.points)
        return weights
