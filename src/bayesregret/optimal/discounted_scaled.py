"""Discounted stopping problems of arms whose posteriors differ in location and scale alone.

After k pulls all that matters is t = (m - y) / s, where m is the posterior mean, y the charge and s the posterior's
scale: W = s w_k(t), here multiplied by 1 - g. The next rewards take t to slope(x) t + shift(x) and s to s / slope(x),
where the law of x depends on k alone. What is stored is the loss q(t) = C(t) - t: the margin C of one more decision
is at least t, and for large t hardly more. With p(t) = max(q(t), -t), the loss where the arm may be given up,

    q_j(t) = g^length E[p_{j+1}(slope t + shift) / slope].

The loss is smooth but for the scale of one step around the margin's zero. So its points are dense there, and farther
out in geometric progression; between points it is a polynomial of degree 5. Expectations are sums by Gauss rules over
panels, which end where the arm is given up.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.optimal.discounted_stages import Stage, make_stages
from bayesregret.optimal.scaled_arm import (
    ScaledArm,
    at_coordinate,
    coordinate,
    given_up,
    growth_of_scale,
    kink,
    log_normaliser,
    step,
    step_deviation,
    step_range,
    unit_of_mean,
)

CORE = 3.0  # steps around the zero in which points are nearly even
LEFT = math.asinh(2.5 / CORE)  # points begin 2.5 steps below the zero
MOST_POINTS = 4_000
FARTHEST = 34.0  # coordinate of a point: the charge is 1e-14 units or times the mean
NEGLIGIBLE = 1e-15  # loss, relative to that at the zero, where points end
STENCIL = 6  # points of a polynomial
NODES = 8  # of the Gauss rule of a panel
MOST_PANELS = 120
GROWTH_OF_PANELS = 0.25  # width of a panel, relative to its distance from the middle, at most
RECENTRED, OFF_CENTRE = 60, 0.8  # how often the points may be moved, and by how many steps they may be off
HALVINGS = 60


class Accuracy(NamedTuple):
    """How finely a stopping problem is solved."""

    longest: float = 1e-3  # block, relative to all pulls, the prior pseudo-count included
    spacing: float = 0.036  # of points, relative to their distance from the zero
    panel: float = 0.75  # width of panels, in deviations of a step

    def coarser(self, times: float) -> Accuracy:
        return Accuracy(self.longest, self.spacing * times, self.panel * times)

    def longer_blocks(self, times: float) -> Accuracy:
        return self._replace(longest=self.longest * times)


class Losses(NamedTuple):
    """Losses at points, for one stage: at the coordinates centre + scale sinh(spacing (i - left))."""

    values: Array
    unit: Array  # of the coordinate; like the next ones (1,)
    centre: Array
    scale: Array
    zero: Array
    number: Any
    kink: Any  # point at which a derivative jumps; 0 if there is none


class Panels(NamedTuple):
    normaliser: Array  # (1,)
    edges: Array
    weights: Array  # (panels, nodes)
    slopes: Array
    shifts: Array
    nodes: Array  # Gauss rule on [0, 1]
    gauss: Array


def make_losses() -> Losses:
    return Losses(np.zeros(MOST_POINTS), np.ones(1), np.zeros(1), np.ones(1), np.zeros(1), *np.zeros((2, 1), np.int64))


def make_panels() -> Panels:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    first, second, third = np.zeros((3, MOST_PANELS, NODES))
    return Panels(np.zeros(1), np.zeros(MOST_PANELS + 1), first, second, third, 0.5 * (1.0 + nodes), 0.5 * weights)


class ScaledSurplus(NamedTuple):
    """(1 - g) w as a function of t.

    `zero` is where the margin becomes positive, and `points` are where it is known, from the zero on.
    """

    arm: Any
    losses: Losses
    spacing: float

    @property
    def zero(self) -> float:
        return float(self.losses.zero[0])

    @property
    def points(self) -> Array:
        at = np.arange(int(self.losses.number[0])) - math.ceil(LEFT / self.spacing)
        places = self.losses.centre[0] + self.losses.scale[0] * np.sinh(self.spacing * at)
        found = np.array([at_coordinate(self.arm, float(self.losses.unit[0]), place) for place in places.tolist()])
        return np.asarray(found[found > self.zero])

    def __call__(self, t: Array) -> Array:
        t = np.ascontiguousarray(t, dtype=np.float64)
        found = np.empty_like(t)
        compile_kernel(_surpluses, type(self.arm))(self.arm, self.losses, self.spacing, t, found)
        return found


def solve_scaled(arm: ScaledArm, horizon: int, accuracy: Accuracy) -> ScaledSurplus:
    """Return (1 - g) w before the first pull."""
    stages = make_stages(horizon, arm.pseudo_count, accuracy.longest)
    if arm.is_extreme:  # the mean is revealed after one pull
        stages = stages[:1]
    now, later, middle = make_losses(), make_losses(), make_losses()
    _mean_revealed(arm, stages[-1], accuracy.spacing, later)
    revealed = np.array([stage.revealed for stage in stages], dtype=np.float64)
    discounts = np.array([stage.discount for stage in stages])
    swapped = compile_kernel(_solve, type(arm))(
        arm, revealed, discounts, accuracy.spacing, accuracy.panel, make_panels(), now, later, middle
    )
    return ScaledSurplus(arm, now if swapped else later, accuracy.spacing)


def _mean_revealed(arm: ScaledArm, stage: Stage, spacing: float, losses: Losses) -> None:
    """Write the losses of the last stage, after which the mean reward is revealed."""

    def margin(t: float) -> float:
        return t + stage.discount * float(arm.excess(stage.revealed, np.array([t]))[1][0])

    below = -1.0
    while margin(below) > 0.0:
        below *= 2.0
    low, high = below, 0.0
    for _ in range(HALVINGS):
        half = 0.5 * (low + high)
        low, high = (low, half) if margin(half) > 0.0 else (half, high)
    losses.unit[0] = unit = unit_of_mean(arm, stage.revealed)
    losses.centre[0], losses.zero[0] = coordinate(arm, unit, high), high
    left = math.ceil(LEFT / spacing)
    losses.scale[0] = scale = coordinate(arm, unit, 0.5 * unit)
    steps = spacing * (np.arange(MOST_POINTS // 2) - left)
    places = losses.centre[0] + scale * np.sinh(steps[steps < math.asinh((FARTHEST - losses.centre[0]) / scale)])
    points = np.array([at_coordinate(arm, unit, place) for place in places.tolist()])
    values = stage.discount * arm.excess(stage.revealed, points)[1]
    number = int(np.argmax(values <= NEGLIGIBLE * max(-high, 1e-3 * unit))) or len(values)
    losses.number[0] = max(number, left + STENCIL)
    losses.values[: len(values)] = values


def _solve(arm, revealed, discounts, spacing, width, panels, now, later, middle):
    """From the last stage but one to the first; whether the result is in `now`."""
    swapped = False
    for j in range(revealed.shape[0] - 2, -1, -1):
        length = revealed[j + 1] - revealed[j]
        ahead = later
        mean, deviation = growth_of_scale(arm, revealed[j], length)
        if mean > 1.0:
            _grow(arm, later, middle, mean, deviation, spacing)
            ahead = middle
        count = _fill_panels(arm, revealed[j], length, width, panels)
        now.unit[0] = unit_of_mean(arm, revealed[j])
        zero = ahead.zero[0]
        for _ in range(RECENTRED):
            _one_stage(arm, revealed[j], length, discounts[j], spacing, zero, panels, count, ahead, now)
            zero = now.zero[0]
            if abs(coordinate(arm, now.unit[0], zero) - now.centre[0]) <= OFF_CENTRE * now.scale[0] / CORE:
                break
        now, later = later, now
        swapped = not swapped
    return swapped


@jitable
def _one_stage(arm, pulls, length, discount, spacing, zero, panels, count, ahead, now):
    left, centre = math.ceil(LEFT / spacing), coordinate(arm, now.unit[0], zero)
    scale = CORE * step_deviation(arm, pulls, length, zero)
    now.kink[0] = 0
    at_kink = kink(arm, pulls, length, ahead.zero[0])
    if at_kink < math.inf:
        distance = coordinate(arm, now.unit[0], at_kink) - centre
        steps = round(math.asinh(distance / scale) / spacing)
        if steps == 0:
            centre += distance
        else:
            scale = distance / math.sinh(spacing * steps)
        now.kink[0] = left + steps if left + steps >= STENCIL else 0
    now.centre[0], now.scale[0] = centre, scale
    number, at_zero = 0, 0.0
    for i in range(now.values.shape[0]):
        t = _place(arm, now, spacing, i - left)
        loss = discount * _expected_loss(arm, pulls, length, t, spacing, panels, count, ahead)
        now.values[i] = loss
        number = i + 1
        if i == left:
            at_zero = max(loss, 1e-3 * now.unit[0])
        if i >= max(left, now.kink[0]) + STENCIL and (
            loss <= NEGLIGIBLE * at_zero or coordinate(arm, now.unit[0], t) > FARTHEST
        ):
            break
    now.number[0] = number
    now.zero[0] = _find_zero(arm, now, spacing)


@jitable
def _place(arm, losses, spacing, steps):
    """t at so many points, as a real number, from the centre."""
    return at_coordinate(arm, losses.unit[0], losses.centre[0] + losses.scale[0] * math.sinh(spacing * steps))


@jitable
def _find_zero(arm, losses, spacing):
    """Zero of t + loss; if it is below the points, a place farther down."""
    left = math.ceil(LEFT / spacing)
    if _place(arm, losses, spacing, -left) + losses.values[0] > 0.0:
        return _place(arm, losses, spacing, -3.0 * left)
    i = 1
    while i < losses.number[0] - 1 and _place(arm, losses, spacing, i - left) + losses.values[i] <= 0.0:
        i += 1
    low, high = i - 1.0, i + 0.0
    for _ in range(HALVINGS):
        half = 0.5 * (low + high)
        if _place(arm, losses, spacing, half - left) + _between(losses, half) > 0.0:
            high = half
        else:
            low = half
    return _place(arm, losses, spacing, high - left)


@jitable
def _between(losses, place):
    """Polynomial through the values at the six points around the place."""
    start = math.floor(place) - 2
    if losses.kink[0] > 0:  # no polynomial crosses it
        start = max(start, losses.kink[0]) if place >= losses.kink[0] else min(start, losses.kink[0] - STENCIL + 1)
    start = min(max(start, 0), losses.number[0] - STENCIL)
    v = losses.values
    a = place - start
    b, c, d, e, f = a - 1.0, a - 2.0, a - 3.0, a - 4.0, a - 5.0
    ab, cd, ef = a * b, c * d, e * f
    return (
        (a * v[start + 1] / 24.0 - b * v[start] / 120.0) * cd * ef
        + (c * v[start + 3] - d * v[start + 2]) / 12.0 * ab * ef
        + (e * v[start + 5] / 120.0 - f * v[start + 4] / 24.0) * ab * cd
    )


@jitable
def _loss(arm, losses, spacing, t):
    """Loss at t, above the zero."""
    z = (coordinate(arm, losses.unit[0], t) - losses.centre[0]) / losses.scale[0]
    size = abs(z)
    place = math.log(size + math.sqrt(size * size + 1.0)) / spacing
    place = math.ceil(LEFT / spacing) + (place if z > 0.0 else -place)
    if place >= losses.number[0] - 1:
        return 0.0
    return _between(losses, place)


@jitable
def _grow(arm, later, grown, mean, deviation, spacing):
    """Expected losses if the scale is multiplied by mean + deviation or mean - deviation."""
    grown.unit[0], grown.scale[0] = later.unit[0], later.scale[0]
    grown.centre[0] = coordinate(arm, grown.unit[0], later.zero[0] * mean)
    grown.number[0] = later.number[0]
    left = math.ceil(LEFT / spacing)
    for i in range(later.number[0]):
        t = _place(arm, grown, spacing, i - left)
        total = 0.0
        for sign in (-1.0, 1.0):
            r = mean + sign * deviation
            total += 0.5 * r * _loss(arm, later, spacing, t / r)
        grown.values[i] = total
    grown.zero[0] = _find_zero(arm, grown, spacing)


@jitable
def _fill_panels(arm, pulls, length, width, panels):
    """Write panels and their nodes; return their number."""
    middle, deviation, first, last = step_range(arm, pulls, length)
    at, count = first, 0
    panels.edges[0] = first
    panels.normaliser[0] = log_normaliser(arm, pulls, length)
    while at < last and count < panels.weights.shape[0]:
        size = max(width * deviation, GROWTH_OF_PANELS * abs(at - middle))
        if at < middle:  # as wide as seen from the inner end
            size = max(width * deviation, GROWTH_OF_PANELS / (1.0 + GROWTH_OF_PANELS) * abs(at - middle))
        for k in range(panels.nodes.shape[0]):
            weight, slope, shift = step(arm, pulls, length, panels.normaliser[0], at + size * panels.nodes[k])
            panels.weights[count, k] = weight * size * panels.gauss[k]
            panels.slopes[count, k], panels.shifts[count, k] = slope, shift
        at += size
        count += 1
        panels.edges[count] = at
    return count


@jitable
def _expected_loss(arm, pulls, length, t, spacing, panels, count, ahead):
    zero = ahead.zero[0]
    low, high = given_up(arm, pulls, length, t, zero)
    cut = -math.inf
    if ahead.kink[0] > 0:
        steps = ahead.kink[0] - math.ceil(LEFT / spacing)
        _, cut = given_up(arm, pulls, length, t, _place(arm, ahead, spacing, steps))
    total = 0.0
    for p in range(count):
        begin, end = panels.edges[p], panels.edges[p + 1]
        if (end <= low or begin >= high) and not begin < cut < end:
            for k in range(panels.nodes.shape[0]):
                total += panels.weights[p, k] * _loss(
                    arm, ahead, spacing, panels.slopes[p, k] * t + panels.shifts[p, k]
                )
        elif low <= begin and end <= high:
            for k in range(panels.nodes.shape[0]):
                total -= panels.weights[p, k] * (panels.slopes[p, k] * t + panels.shifts[p, k])
        else:
            first, second = min(max(low, begin), end), min(max(high, begin), end)
            total += _piece(arm, pulls, length, t, spacing, panels, ahead, begin, first, False)
            total += _piece(arm, pulls, length, t, spacing, panels, ahead, first, second, True)
            third = min(max(cut, second), end)
            total += _piece(arm, pulls, length, t, spacing, panels, ahead, second, third, False)
            total += _piece(arm, pulls, length, t, spacing, panels, ahead, third, end, False)
    return total


@jitable
def _piece(arm, pulls, length, t, spacing, panels, ahead, begin, end, is_given_up):
    total = 0.0
    if end > begin:
        for k in range(panels.nodes.shape[0]):
            weight, slope, shift = step(
                arm, pulls, length, panels.normaliser[0], begin + (end - begin) * panels.nodes[k]
            )
            at = slope * t + shift
            loss = -at if is_given_up else _loss(arm, ahead, spacing, at)
            total += weight * (end - begin) * panels.gauss[k] * loss
    return total


def _surpluses(arm, losses, spacing, t, found):
    for i in range(t.shape[0]):
        found[i] = t[i] + _loss(arm, losses, spacing, t[i]) if t[i] > losses.zero[0] else 0.0
