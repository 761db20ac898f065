"""Discounted stopping problems of Poisson arms: a recursion over the sum of rewards for each charge.

After k pulls the mean reward is Gamma(a, b), a = shape + sum of rewards, b = rate + k. The sum of the next B rewards is
negative binomial: P(x + 1) / P(x) = (a + x) / (x + 1) * B / (b + B). Each stage stores W at a = shape + spacing i.

With spacing 1 all this is exact. Where sums are large, only those with a + x on the next lattice are taken: for smooth
functions the rest is below all digits (Euler and Maclaurin), and a kink, which W has where the arm is given up, makes
the sum too small by at most spacing^2 / 12 times the probability times the change of slope. So the value next to it is
raised by spacing / 12 times the change of slope.

Values are multiplied by 1 - g. Far above the charge W is at most m - y plus a constant; where stopping is better it is
0, and so it is for all lower sums.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.optimal.discounted_stages import Stage, make_stages

SURE, SURE_SUMS = 7.0, 25.0  # deviations, and rewards, beyond which an arm is not abandoned
FALL = 1e-11  # of probabilities, relative to the mode's, beyond which they are left out
GIVEN_UP = 9.0  # deviations below the charge at which an arm is given up
SMOOTH = 30.0  # from this shape on, probabilities are smooth
FEWEST_PULLS = (1e-4, 1e-6)  # smallest prior pseudo-counts, for shapes below SMOOTH and above
LARGEST_SHAPE = 1e12
REACH = 1e-12  # probability that the mean reward is beyond what lattices reach


class PoissonAccuracy(NamedTuple):
    """All these may be refined independently; every choice overestimates W."""

    growth: float = 0.06  # of the pseudo-count in a block
    points: float = 12.0  # per deviation of the mean, at least this, at most twice this
    step_points: float = 1.0  # per deviation of a step, likewise


class StageLattices(NamedTuple):
    """For each stage and charge: where W is stored, and what it is at the top."""

    rates: Array  # (stages,)
    blocks: Array  # (stages,): rewards revealed until the next stage
    gains: Array
    discounts: Array
    spacings: Array  # (stages, charges)
    tops: Array  # (stages, charges): highest i
    depths: NDArray[np.int64]  # (stages, charges): how many points below the top there are
    above: Array  # (stages, charges): E(y - theta)^+ at the top


def gamma_excess(shape: float | Array, rate: float | Array, y: Array) -> tuple[Array, Array]:
    """E(theta - y)^+ and E(y - theta)^+ for Gamma variables."""
    below, above = _tails(shape, rate * y)
    part_below, part_above = _tails(shape + 1.0, rate * y)
    mean = shape / rate
    return np.maximum(0.0, mean * part_above - y * above), np.maximum(0.0, y * below - mean * part_below)


def _tails(shape: float | Array, x: Array) -> tuple[Array, Array]:
    return special.gammainc(shape, x), special.gammaincc(shape, x)


def is_coarse(shape: float, rate: float) -> bool:
    """Whether the sums after one pull are too many, or their number too small a part of the shape, to be computed."""
    return rate < FEWEST_PULLS[int(shape >= SMOOTH)] or not 1.0 / LARGEST_SHAPE <= shape <= LARGEST_SHAPE


def solve_poisson(shape: float, rate: float, horizon: int, charges: Array, accuracy: PoissonAccuracy) -> Array:
    """Return (1 - g) C for each positive charge, before the first pull; where it is negative, W is 0."""
    stages = make_stages(horizon, rate, accuracy.growth)
    solve = compile_kernel(_solve)
    found = np.empty(len(charges))
    workers = max(1, min(os.cpu_count() or 1, len(charges)))

    def some(first: int) -> None:
        part = np.ascontiguousarray(charges[first::workers])
        lattices = _lattices(shape, rate, stages, part, accuracy)
        size = int(lattices.depths.max()) + 1
        last = shape + lattices.spacings[-1][:, None] * np.maximum(lattices.tops[-1][:, None] - np.arange(size), 0.0)
        over, _ = gamma_excess(last, lattices.rates[-1], part[:, None])
        values = np.empty(len(part))
        solve(shape, part, lattices, over, np.empty(size), np.empty(size), values)
        found[first::workers] = values

    if workers == 1:
        some(0)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(some, range(workers)))
    return found


def _lattices(
    shape: float, rate: float, stages: list[Stage], charges: Array, accuracy: PoissonAccuracy
) -> StageLattices:
    revealed = np.array([stage.revealed for stage in stages], dtype=np.float64)
    rates, blocks = rate + revealed, np.diff(revealed)
    centres = rates[:, None] * charges
    deviations = np.sqrt(centres)
    widest = deviations / accuracy.points
    steps = np.sqrt(charges * (blocks * (1.0 + blocks / rates[:-1]))[:, None])
    widest[1:] = np.minimum(widest[1:], steps / accuracy.step_points)
    spacings = np.exp2(np.floor(np.log2(np.maximum(1.0, widest))))
    highest = revealed * float(special.gammainccinv(shape, REACH)) / rate
    reached = (highest + SURE * np.sqrt(highest) + SURE_SUMS)[:, None]
    sure = np.maximum(centres + SURE * deviations + SURE_SUMS - shape, 0.0)
    tops = np.ceil(np.minimum(reached, sure) / spacings)
    tops[0] = 1.0  # the prior is the point before, and computed in any case
    lows = np.floor(np.maximum(centres - GIVEN_UP * deviations - shape, 0.0) / spacings)
    lows[0] = 0.0
    _, above = gamma_excess(shape + spacings * tops, rates[:, None], charges)
    depths = np.maximum(tops - lows, 1.0).astype(np.int64)
    gains, discounts = (np.array([stage[field] for stage in stages]) for field in (2, 3))
    return StageLattices(rates, np.append(blocks, 0.0), gains, discounts, spacings, tops, depths, above)


def _solve(shape, charges, lattices, ahead, now, later, found):
    """For each charge, from the last stage to the first. Points are counted from the top down."""
    last = lattices.rates.shape[0] - 1
    for j in range(charges.shape[0]):
        low = 0  # the last point that is stored: all lower sums are worth as much
        for stage in range(last, -1, -1):
            rate, spacing, top = lattices.rates[stage], lattices.spacings[stage, j], lattices.tops[stage, j]
            now[0] = (shape + spacing * top) / rate - charges[j] + lattices.above[stage, j]
            depth, value = lattices.depths[stage, j], 0.0
            lowest = depth
            for k in range(1, depth + 1):
                have = spacing * max(top - k, 0.0)
                if stage == last:
                    expected = ahead[j, k]
                else:
                    expected = _expected(shape, have, charges[j], lattices, stage, j, later, low)
                margin = (shape + have) / rate - charges[j]
                value = lattices.gains[stage] * margin + lattices.discounts[stage] * expected
                now[k] = max(0.0, value)
                if value <= 0.0:
                    lowest = k
                    break
            if value <= 0.0 and spacing > 1.0:  # sums over the lattice may miss a part of the kink
                now[lowest] = (now[lowest - 1] - value) / 12.0
                if lowest < depth:
                    lowest += 1
                    now[lowest] = 0.0
            low = lowest
            for k in range(low + 1):
                later[k] = now[k]
        found[j] = value


@jitable
def _expected(shape, have, charge, lattices, stage, j, later, low):
    """Expected value after the block, from the mode of its sum outwards."""
    spacing = lattices.spacings[stage + 1, j]
    rate, block = lattices.rates[stage], lattices.blocks[stage]
    a, odds = shape + have, block / (rate + block)
    mean = a * block / rate
    stride, start = 1.0, max(0.0, math.floor((a - 1.0) * block / rate))
    if a >= SMOOTH and spacing > 1.0:
        stride = spacing
        start = math.ceil((have + start) / spacing) * spacing - have
    mass, moment, total = 0.0, 0.0, 0.0
    x, probability = start, 1.0
    while probability > FALL:
        mass += probability
        moment += probability * x
        total += probability * _value(shape, have + x, charge, lattices, stage + 1, j, later, low)
        probability *= _ratio(a, x, odds, stride)
        x += stride
    x, probability = start, 1.0
    while x >= stride:
        x -= stride
        probability /= _ratio(a, x, odds, stride)
        if probability <= FALL:
            break
        mass += probability
        moment += probability * x
        total += probability * _value(shape, have + x, charge, lattices, stage + 1, j, later, low)
    return total / mass + abs(mean - moment / mass) / (rate + block)


@jitable
def _value(shape, have, charge, lattices, stage, j, later, low):
    """W when rewards sum to `have`: straight lines between points, as at the lowest one below, known above the top."""
    place = lattices.tops[stage, j] - have / lattices.spacings[stage, j]
    if place <= 0.0:
        return (shape + have) / lattices.rates[stage] - charge + lattices.above[stage, j]
    if place >= low:
        return later[low]
    point = int(place)
    return later[point] + (place - point) * (later[point + 1] - later[point])


@jitable
def _ratio(a, x, odds, stride):
    """P(x + stride) / P(x), a product of as many factors: exactly if stride = 1, else from the middle one."""
    half = 0.5 * (stride - 1.0)
    over, under = a + x + half, x + 1.0 + half
    factor, power = over / under * odds, stride
    while power > 1.0:
        factor *= factor
        power *= 0.5
    bend = (stride * stride - 1.0) * stride / 24.0 * (1.0 / (under * under) - 1.0 / (over * over))
    return factor * (1.0 + bend * (1.0 + 0.5 * bend))
