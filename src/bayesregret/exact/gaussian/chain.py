"""When the index of a Gaussian arm first falls below a level: the chain behind every exact number for Gaussian arms.

After k pulls write x = (posterior mean - level) / posterior deviation. Under the prior the next x is
sqrt(1 + e) x + sqrt(e) times a standard normal, e = 1 / (strength + k), whatever the level. The index is below the
level exactly when x is below a barrier, so the time of the first exit is that of one chain, and only its start (and,
where the policy's prior is as strong as another, its barrier) depends on the level.

What is carried along is not the density of x but the means of smooth functions of it, kept by their values on panels
above the barrier: a start is a point, whose density no panel could hold. Heights are measured from the barrier; panels
are short there, since a step's noise shapes the functions near it, and long elsewhere.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.numerics.quadrature import gauss_rule

# Steps reach so many standard deviations; an arm so far above its level falls below it with chance 1e-15 at most.
REACH = 7.8
SAFE = 8.2
# Panels, in standard deviations of a step at the barrier and of the posterior far from it.
FIRST_PANEL, PANEL, GROWTH = 1.5, 1.5, 1.7
MOST_PANELS = 500
# A normal density is a polynomial of the rule's order on so many of its deviations.
CHUNK = 3.0
# The trapezoidal rule is exact to 1e-15 for a smooth function times a normal density, if it sees both tails.
TRAPEZOID = 0.62
SQRT_2PI = math.sqrt(2.0 * math.pi)


class Panels(NamedTuple):
    """Functions of a height between 0 and the last edge, by their values at `nodes`, `order` of them on each panel."""

    edges: Array
    nodes: Array
    reference: Array  # the nodes of a panel from -1 to 1
    barycentric: Array
    rule_points: Array  # Gauss's rule from -1 to 1
    rule_weights: Array


@functools.lru_cache(maxsize=64)
def chebyshev_nodes(order: int) -> tuple[Array, Array]:
    """Chebyshev's points from -1 to 1 with their barycentric weights."""
    angles = np.pi * (np.arange(order) + 0.5) / order
    return -np.cos(angles), np.asarray(np.cos(np.pi * np.arange(order)) * np.sin(angles))


def on_panels(edges: Array, order: int) -> Array:
    """Chebyshev's points on every panel, in order."""
    reference, _ = chebyshev_nodes(order)
    return np.asarray((0.5 * (edges[1:] + edges[:-1])[:, None] + 0.5 * np.diff(edges)[:, None] * reference).ravel())


def graded_panels(first: float, longest: float, end: float, growth: float = GROWTH) -> Array:
    """Edges from 0 to the end, short at 0: none longer than `longest`, nor than a share of its distance from 0."""
    if end > MOST_PANELS * longest:
        raise ValueError(
            "prior must be nearer to the truth for an exact computation: it is "
            f"{end / longest:.0f} times as far off as the truth is wide"
        )
    edges = [0.0]
    while edges[-1] < end:
        edges.append(edges[-1] + min(longest, first + (growth - 1.0) * edges[-1]))
    return np.array(edges) * (end / edges[-1])


def make_panels(edges: Array, order: int) -> Panels:
    return Panels(edges, on_panels(edges, order), *chebyshev_nodes(order), *np.polynomial.legendre.leggauss(order))


@jitable
def spread(weight, centre, noise, panels, bases, target):
    """Add to `target` the weight times the mean of every nodal function at centre + noise xi, xi standard normal."""
    top = panels.edges[-1]
    low = max(-REACH, -centre / noise)
    high = min(REACH, (top - centre) / noise)
    if high <= low:
        return
    panel = 0
    finer = max(1.0, noise)  # what follows varies on the next step's noise, and that is below 1
    if low == -REACH and high == REACH:
        steps = int(2.0 * REACH / TRAPEZOID * finer)
        for i in range(steps + 1):
            xi = -REACH + i * (2.0 * REACH / steps)
            share = weight * (2.0 * REACH / steps) * math.exp(-0.5 * xi * xi) / SQRT_2PI
            panel = add_value(share, centre + noise * xi, panel, panels, bases, target)
        return
    chunks = max(1, math.ceil((high - low) / CHUNK * finer))
    half = 0.5 * (high - low) / chunks
    for chunk in range(chunks):
        middle = low + (2 * chunk + 1) * half
        for i in range(panels.rule_points.shape[0]):
            xi = middle + half * panels.rule_points[i]
            share = weight * half * panels.rule_weights[i] * math.exp(-0.5 * xi * xi) / SQRT_2PI
            panel = add_value(share, centre + noise * xi, panel, panels, bases, target)


@jitable
def add_value(share, height, panel, panels, bases, target):
    """Add the share times every nodal function's value at a height, on this panel or a later one; return which."""
    edges, order = panels.edges, panels.reference.shape[0]
    while panel < edges.shape[0] - 2 and height > edges[panel + 1]:
        panel += 1
    at = 2.0 * (height - edges[panel]) / (edges[panel + 1] - edges[panel]) - 1.0
    total = 0.0
    for j in range(order):
        off = at - panels.reference[j]
        if off == 0.0:
            target[panel * order + j] += share
            return panel
        bases[j] = panels.barycentric[j] / off
        total += bases[j]
    for j in range(order):
        target[panel * order + j] += share / total * bases[j]
    return panel


def make_operator(
    scale: float, shift: float, noise: float, heights: Array, panels: Any, bases: Array, out: Any
) -> None:
    """Row by row: the means of the nodal functions after a step from each height."""
    for row in range(heights.shape[0]):
        for column in range(out.shape[1]):
            out[row, column] = 0.0
        spread(1.0, scale * heights[row] + shift, noise, panels, bases, out[row])


def carry(scale: float, shift: float, noise: float, row: Array, panels: Any, bases: Array, out: Array) -> None:
    """The same for one row of means that is carried on; weights that are lost in rounding are left out."""
    for column in range(out.shape[0]):
        out[column] = 0.0
    for i in range(row.shape[0]):
        if abs(row[i]) > 1e-19:
            spread(row[i], scale * panels.nodes[i] + shift, noise, panels, bases, out)


class Chain:
    """Means of smooth functions of the height above the barrier, step by step, for one or many starts."""

    def __init__(self, strength: float, barriers: Array, order: int) -> None:
        """`barriers`: where the index is at the level after 0, 1, ... pulls, in x; the first is not used."""
        self.strength, self.barriers = strength, barriers
        last_noise = 1.0 / math.sqrt(strength + len(barriers))
        self.panels = make_panels(graded_panels(FIRST_PANEL * last_noise, PANEL, self._safe_height()), order)
        self.means: Array = np.zeros((0, 0))
        self._bases = np.empty(order)
        self._operator = np.empty((len(self.panels.nodes),) * 2)

    def _safe_height(self) -> float:
        """The posterior mean is a martingale: so many deviations above all later barriers it hardly ever meets one."""
        roots = np.sqrt(self.strength + np.arange(len(self.barriers), dtype=np.float64))
        later = np.maximum.accumulate((self.barriers[1:] / roots[1:])[::-1])[::-1] * roots[1:]
        return float(np.max(SAFE + np.maximum(later, 0.0) - self.barriers[1:], initial=SAFE))

    def _step(self, pulls: int) -> tuple[float, float]:
        """Scale and noise of the step after so many pulls."""
        e = 1.0 / (self.strength + pulls)
        return math.sqrt(1.0 + e), math.sqrt(e)

    def start(self, x: Array) -> tuple[Array, Array]:
        """The first step, from each x; returns the chance to exit with it and the mean of x then."""
        scale, noise = self._step(0)
        barrier = self.barriers[1]
        self.means = np.empty((len(x), len(self.panels.nodes)))
        run = compile_kernel(make_operator)
        run(scale, -barrier, noise, x, self.panels, self._bases, self.means)
        return exits((scale * x - barrier) / noise, noise, barrier)

    def advance(self, pulls: int) -> tuple[Array, Array]:
        """One step more, after so many pulls; returns what `start` does."""
        scale, noise = self._step(pulls)
        shift = scale * self.barriers[pulls] - self.barriers[pulls + 1]
        chance, mean = exits((scale * self.panels.nodes + shift) / noise, noise, self.barriers[pulls + 1])
        gone = self.means @ np.stack([chance, mean], axis=1)
        if len(self.means) == 1:
            after = np.empty_like(self.means)
            run = compile_kernel(carry)
            run(scale, shift, noise, self.means[0], self.panels, self._bases, after[0])
            self.means = after
        else:
            run = compile_kernel(make_operator)
            run(scale, shift, noise, self.panels.nodes, self.panels, self._bases, self._operator)
            self.means = self.means @ self._operator
        return gone[:, 0], gone[:, 1]

    def drift(self, pulls: int) -> float:
        """How far down the next step takes an arm at the barrier, in its noises."""
        scale, noise = self._step(pulls)
        return float(self.barriers[pulls + 1] - scale * self.barriers[pulls]) / noise

    def exit_density(self, pulls: int, heights: Array) -> Array:
        """Density, at heights below the barrier, of where the next step exits to."""
        scale, noise = self._step(pulls)
        shift = scale * self.barriers[pulls] - self.barriers[pulls + 1]
        off = (heights - (scale * self.panels.nodes + shift)[:, None]) / noise
        return np.asarray(self.means @ np.exp(-0.5 * off * off)) / (noise * SQRT_2PI)


def exits(c: Array, noise: float, barrier: float) -> tuple[Array, Array]:
    """Chance that barrier + noise (c + xi) is below the barrier, and its mean there."""
    chance = ndtr(-c)
    return chance, barrier * chance + noise * (c * chance - np.exp(-0.5 * c * c) / SQRT_2PI)


def overshoot_rule(shift: float, order: int) -> tuple[Array, Array]:
    """Points below the barrier and weights, in noises of a step that drifts down by as many."""
    return gauss_rule(np.linspace(0.0, REACH + max(0.0, shift), 4), order)
