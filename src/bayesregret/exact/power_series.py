"""Power series in z, represented by their values on a circle inside the unit disc.

The coefficient of z^t belongs to round t + 1, and sums of independent counts become products of series. The values are
taken at the `count` points where z^count equals one imaginary number. As coefficients are real, those of a product
beyond the first `count` alias into the imaginary part, which is dropped; only those beyond 2 count alias into the real
part, shifted by 2 count and damped by radius^(2 count).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from bayesregret.checks import Array

Series = NDArray[np.complex128]


class Transform:
    """Transform between the first `terms` real coefficients of a series and its values at `points` on the circle."""

    def __init__(self, terms: int, oversampling: float = 4.0, digits: float = 16.0) -> None:
        """Damp aliased coefficients by `digits` digits; rounding errors grow by digits / oversampling digits."""
        self.terms = terms
        count = fft.next_fast_len(max(terms, int(np.ceil(0.5 * oversampling * terms))))
        log_radius, turn = -0.5 * np.log(10.0) * digits / count, -0.5j * np.pi / count
        self.points: Series = np.exp(log_radius + turn * (4 * np.arange(count) + 1))
        self.weights: Series = np.exp((log_radius + turn) * np.arange(terms))

    def forward(self, coefficients: Array) -> Series:
        """Return the values of the series whose coefficients are the rows."""
        values: Series = fft.fft(coefficients * self.weights, len(self.points), axis=-1, overwrite_x=True)
        return values

    def coefficients(self, values: Series) -> Array:
        """Return the first `terms` coefficients of series given by their values."""
        return np.real(fft.ifft(values, axis=-1)[..., : self.terms] / self.weights)

    def running_sums(self, values: Series) -> Array:
        """Return the coefficients of the series divided by 1 - z."""
        return self.coefficients(values / (1.0 - self.points))

    def until_horizon(self) -> Series:
        """Return weights whose dot product with a series' values has the sum of all its running sums as real part."""
        weights: Series = fft.ifft(1.0 / self.weights, len(self.points)) / (1.0 - self.points)
        return weights
