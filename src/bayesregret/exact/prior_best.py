"""The mean of the best arm under the prior."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from bayesregret.checks import Array
from bayesregret.quadrature import even_edges, gauss_rule

# A standard normal beyond REACH, and the best of any number of arms beyond TOP, are of no weight in a float.
REACH = 9.0
TOP = 10.5
# The density of the best of many arms is as narrow as a quarter of a width.
SHARP_PANEL = 0.25


def gaussian_best_above(means: Array, counts: Array, width: float, order: int) -> float:
    """E[best arm] minus the highest prior mean, for so many arms of each mean."""
    behind = (means.max() - means) / width
    near = behind <= REACH + TOP
    eta, weights = gauss_rule(even_edges(-REACH, TOP, SHARP_PANEL), order)
    log_all = counts[near] @ log_ndtr(eta + behind[near, None])
    # The mean of a variable is the integral of its upper tail over x > 0 less that of its lower tail over x < 0.
    return width * float(np.sum(weights * np.where(eta > 0.0, -np.expm1(log_all), -np.exp(log_all))))
