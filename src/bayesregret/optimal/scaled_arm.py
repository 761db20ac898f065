"""What an arm of a location-scale family brings to its discounted stopping problem, in discounted_scaled.py."""

from __future__ import annotations

import math
from typing import Protocol

from bayesregret.checks import Array
from bayesregret.dispatch import contract


class ScaledArm(Protocol):
    """One arm of a location-scale family; everything is in units of the posterior's scale."""

    @property
    def pseudo_count(self) -> float:
        """Prior pseudo-count."""
        ...

    @property
    def is_extreme(self) -> bool:
        """Whether pulls after the first teach too little, or the first one too much, to be computed."""
        ...

    def excess(self, pulls: float, t: Array) -> tuple[Array, Array]:
        """E(theta - y)^+ and E(y - theta)^+, where the posterior mean is t above y."""
        ...


@contract(returns="middle, deviation, first, last")
def step_range(arm, pulls, length):
    """Where x has most of its mass after the next `length` rewards, and between which ends it has all but nothing.

    Mass counts 1 / slope times.
    """


@contract(returns="logarithm")
def log_normaliser(arm, pulls, length):
    """Constant in the logarithm of the density of x."""


@contract(returns="weight, slope, shift")
def step(arm, pulls, length, normaliser, x):
    """Density of x over the slope; slope and shift."""


@contract(returns="low, high")
def given_up(arm, pulls, length, t, zero):
    """The interval of x in which slope t + shift is below the zero."""


@contract(returns="u")
def coordinate(arm, unit, t):
    """A function of t in which losses are equally smooth."""


@contract(returns="t")
def at_coordinate(arm, unit, u):
    """The t with this coordinate."""


@contract(returns="unit")
def unit_of_mean(arm, pulls):
    """Typical deviation of the mean reward from its posterior mean after these pulls."""


@contract(returns="t")
def kink(arm, pulls, length, zero):
    """From where on the arm is not given up next time, whatever x is; infinite if there is no such t."""


@kink.otherwise
def no_kink(arm, pulls, length, zero):
    return math.inf


@contract(returns="mean, deviation")
def growth_of_scale(arm, pulls, length):
    """Of a further, independent factor of the scale."""


@growth_of_scale.otherwise
def no_growth(arm, pulls, length):
    return 1.0, 0.0


@contract(returns="deviation")
def step_deviation(arm, pulls, length, t):
    """Typical change of the coordinate by the next rewards, near t."""
