"""Gittins indices of a Gaussian arm.

With noise 1 and q pulls (prior pseudo-count plus actual pulls), the index is the posterior mean plus a width that
depends only on q and the rounds left, because indices shift with the mean. The next change of the mean is normal with
variance 1/(q(q + 1)). Let C(x) be the margin of a mean that is x above the charge, and W = max(0, C). With one more
round, C(x) = x + discount * E W(x + step). The width is minus the zero of C.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.optimal.gaussian_lattice import (
    BELOW,
    POINTS,
    REACH,
    SPARE,
    STENCIL,
    SURE,
    IndexLattice,
    drop_every_other,
    end_rule,
    fill_kernel,
    fill_line,
    find_zero,
    last_zero,
    make_lattice,
    one_step_earlier,
    weight_end,
    weight_start,
)


def make_index_lattice(rounds: int, points: int) -> IndexLattice:
    return make_lattice(2 * points * math.ceil(SURE * math.sqrt(rounds) + REACH + 1) + 4 * STENCIL)


def gaussian_width(pulls: float, rounds: int, discount: float, points: int = POINTS) -> float:
    """Width of the index for noise 1; with a discount, after `rounds` the arm is pulled forever or never again."""
    width = np.full((1, 1), np.nan)
    fill_widths(np.array([pulls]), np.array([rounds]), width, discount, points)
    return float(width[0, 0])


def fill_widths(pulls: Any, rounds: Any, widths: Array, discount: float = 1.0, points: int = POINTS) -> None:
    """Fill the nan entries of (pulls, rounds left) with widths."""
    lattice = make_index_lattice(int(rounds.max()), points)
    # With a finite horizon, the last round has nothing left to learn for.
    steps, gain = (rounds - 1, 1.0) if discount == 1.0 else (rounds, 1.0 / (1.0 - discount))
    compile_kernel(_fill)(pulls, steps, widths, discount, gain, points, end_rule(), lattice)


def _fill(
    pulls: Any, steps: Any, widths: Any, discount: float, gain: float, points: int, rule: Any, lattice: Any
) -> None:
    for i in range(pulls.shape[0]):
        for j in range(steps.shape[0]):
            if math.isnan(widths[i, j]):
                widths[i, j] = _width(pulls[i], steps[j], discount, gain, points, rule, lattice)


@jitable
def _width(pulls, steps, discount, gain, points, rule, lattice):
    """Width after `steps` rounds with learning; `gain` is the slope of the margin after all of them."""
    if steps == 0:
        return 0.0
    now, earlier = lattice.now, lattice.earlier
    middle = now.shape[0] // 2
    last = pulls + steps  # pulls after the last step of learning
    spacing = _deviation(pulls + (steps - 1)) / points
    zero, top = 0.0, 0
    for i in range(-SPARE, 1):
        now[middle + i] = gain * spacing * i
    for step in range(1, steps):
        q = last - step
        if _deviation(q) >= 2 * points * spacing:
            spacing, zero, top = 2.0 * spacing, 0.5 * zero, top // 2
            drop_every_other(now, middle, math.ceil(zero) - BELOW, top)
        reach = math.ceil(REACH * _deviation(q) / spacing)
        new_top = math.ceil(SURE * math.sqrt(step) / (math.sqrt(q) * math.sqrt(last)) / spacing)
        fill_line(now, middle, top + 1, new_top + reach, gain * spacing)
        weight_start(now, middle, zero, rule)
        fill_kernel(lattice.kernel, reach, spacing / _deviation(q))
        first = one_step_earlier(now, earlier, lattice.kernel, middle, zero, new_top, reach, spacing, discount)
        zero, top, gain = find_zero(earlier, middle, first), new_top, 1.0 + discount * gain
        now, earlier = earlier, now
    end = max(top, math.ceil(zero) + 2 * STENCIL)
    fill_line(now, middle, top + 1, end, gain * spacing)
    weight_start(now, middle, zero, rule)
    weight_end(now, middle, end, rule)
    return -last_zero(now, middle, math.ceil(zero) - BELOW, end, spacing, _deviation(pulls), 1.0, discount, gain)


@jitable
def _deviation(pulls):
    """Standard deviation of the next step of a mean after `pulls` pulls."""
    return 1.0 / (math.sqrt(pulls) * math.sqrt(pulls + 1.0))
