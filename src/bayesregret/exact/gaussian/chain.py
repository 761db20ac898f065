"""Markov chain whose first exit is the time when the index of a Gaussian arm first falls below a threshold.

After k pulls let x = (posterior mean - threshold) / (posterior standard deviation). Under the prior, the next x is
sqrt(1 + e) x + sqrt(e) times a standard normal, with e = 1 / (pseudo_count + k), whatever the threshold. The index is
below the threshold exactly when x is below a barrier. So the exit times for all thresholds are those of one chain: only
its start depends on the threshold, and its barrier too if the policy's pseudo-count differs from the prior's.

The chain carries expectations of smooth functions of x, represented by their values on panels above the barrier, not
the density of x: a start is a single point, whose density no panel could represent. Heights are measured from the
barrier. Panels are short near it, where the noise of one step shapes the functions, and long elsewhere.
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

# In standard deviations: the longest step, and the height above which an arm exits with probability at most 1e-15.
REACH = 7.8
SAFE = 8.2
# Panel lengths, in standard deviations of a step at the barrier and of the posterior far from it.
FIRST_PANEL, PANEL, GROWTH = 1.5, 1.5, 1.7
MOST_PANELS = 500
# Longest interval, in standard deviations, on which a polynomial of the rule's order resolves a normal density.
CHUNK = 3.0
# Step at which the trapezoidal rule is exact to 1e-15 for a smooth function times a normal density, over both tails.
TRAPEZOID = 0.62
SQRT_2PI = math.sqrt(2.0 * math.pi)


class HeightPanels(NamedTuple):
    """Panels of heights between 0 and the last edge, with `order` nodes each, where functions have their values."""

    edges: Array
    nodes: Array
    reference: Array  # nodes of the panel [-1, 1]
    barycentric: Array
    rule_points: Array  # Gauss rule on [-1, 1]
    rule_weights: Array


@functools.lru_cache(maxsize=64)
def chebyshev_nodes(order: int) -> tuple[Array, Array]:
    """Chebyshev points on [-1, 1] with their barycentric weights."""
    angles = np.pi * (np.arange(order) + 0.5) / order
    return -np.cos(angles), np.asarray(np.cos(np.pi * np.arange(order)) * np.sin(angles))


def on_panels(edges: Array, order: int) -> Array:
    """Chebyshev points on every panel, in order."""
    reference, _ = chebyshev_nodes(order)
    return np.asarray((0.5 * (edges[1:] + edges[:-1])[:, None] + 0.5 * np.diff(edges)[:, None] * reference).ravel())


def graded_panels(first: float, longest: float, end: float, growth: float = GROWTH) -> Array:
    """Edges from 0 to `end`; a panel is at most `longest` and at most `first` + (growth - 1) times its start."""
    if end > MOST_PANELS * longest:
        raise ValueError(
            "prior must be closer to the true one for an exact computation: it is off by "
            f"{end / longest:.0f} times the true prior's width"
        )
    edges = [0.0]
    while edges[-1] < end:
        edges.append(edges[-1] + min(longest, first + (growth - 1.0) * edges[-1]))
    return np.array(edges) * (end / edges[-1])


def make_panels(edges: Array, order: int) -> HeightPanels:
    return HeightPanels(
        edges, on_panels(edges, order), *chebyshev_nodes(order), *np.polynomial.legendre.leggauss(order)
    )


@jitable
def spread(weight, centre, noise, panels, bases, target):
    """Add to `target` the weight times the expectation of every nodal function at centre + noise xi, xi ~ N(0, 1)."""
    top = panels.edges[-1]
    low = max(-REACH, -centre / noise)
    high = min(REACH, (top - centre) / noise)
    if high <= low:
        return
    panel = 0
    finer = max(1.0, noise)  # the functions vary on the scale of the next step's noise, which is below 1
    if low == -REACH and high == REACH:
        steps = int(2.0 * REACH / TRAPEZOID * finer)
        for i in range(steps + 1):
            xi = -REACH + i * (2.0 * REACH / steps)
            part = weight * (2.0 * REACH / steps) * math.exp(-0.5 * xi * xi) / SQRT_2PI
            panel = add_value(part, centre + noise * xi, panel, panels, bases, target)
        return
    chunks = max(1, math.ceil((high - low) / CHUNK * finer))
    half = 0.5 * (high - low) / chunks
    for chunk in range(chunks):
        middle = low + (2 * chunk + 1) * half
        for i in range(panels.rule_points.shape[0]):
            xi = middle + half * panels.rule_points[i]
            part = weight * half * panels.rule_weights[i] * math.exp(-0.5 * xi * xi) / SQRT_2PI
            panel = add_value(part, centre + noise * xi, panel, panels, bases, target)


@jitable
def add_value(part, height, panel, panels, bases, target):
    """Add `part` times every nodal function's value at a height on this panel or a later one; return that panel."""
    edges, order = panels.edges, panels.reference.shape[0]
    while panel < edges.shape[0] - 2 and height > edges[panel + 1]:
        panel += 1
    at = 2.0 * (height - edges[panel]) / (edges[panel + 1] - edges[panel]) - 1.0
    total = 0.0
    for j in range(order):
        off = at - panels.reference[j]
        if off == 0.0:
            target[panel * order + j] += part
            return panel
        bases[j] = panels.barycentric[j] / off
        total += bases[j]
    for j in range(order):
        target[panel * order + j] += part / total * bases[j]
    return panel


def make_operator(
    scale: float, shift: float, noise: float, heights: Array, panels: Any, bases: Array, out: Any
) -> None:
    """Write, row by row, the expectations of the nodal functions after a step from each height."""
    for row in range(heights.shape[0]):
        for column in range(out.shape[1]):
            out[row, column] = 0.0
        spread(1.0, scale * heights[row] + shift, noise, panels, bases, out[row])


def carry(scale: float, shift: float, noise: float, row: Array, panels: Any, bases: Array, out: Array) -> None:
    """Write the expectations after a step for one row of expectations; skip weights lost in rounding."""
    for column in range(out.shape[0]):
        out[column] = 0.0
    for i in range(row.shape[0]):
        if abs(row[i]) > 1e-19:
            spread(row[i], scale * panels.nodes[i] + shift, noise, panels, bases, out)


class Chain:
    """Expectations of smooth functions of the height above the barrier, step by step, for one or many starts."""

    def __init__(self, pseudo_count: float, barriers: Array, order: int) -> None:
        """`barriers`: the x at which the index equals the threshold after 0, 1, ... pulls; the first is not used."""
        self.pseudo_count, self.barriers = pseudo_count, barriers
        last_noise = 1.0 / math.sqrt(pseudo_count + len(barriers))
        self.panels = make_panels(graded_panels(FIRST_PANEL * last_noise, PANEL, self._safe_height()), order)
        self.means: Array = np.zeros((0, 0))
        self._bases = np.empty(order)
        self._operator = np.empty((len(self.panels.nodes),) * 2)

    def _safe_height(self) -> float:
        """Height without exits: the posterior mean, a martingale, is SAFE deviations above all later barriers."""
        roots = np.sqrt(self.pseudo_count + np.arange(len(self.barriers), dtype=np.float64))
        later = np.maximum.accumulate((self.barriers[1:] / roots[1:])[::-1])[::-1] * roots[1:]
        return float(np.max(SAFE + np.maximum(later, 0.0) - self.barriers[1:], initial=SAFE))

    def _step(self, pulls: int) -> tuple[float, float]:
        """Scale and noise of the step after `pulls` pulls."""
        e = 1.0 / (self.pseudo_count + pulls)
        return math.sqrt(1.0 + e), math.sqrt(e)

    def start(self, x: Array) -> tuple[Array, Array]:
        """Make the first step from each x; return P(exit) and E[x; exit]."""
        scale, noise = self._step(0)
        barrier = self.barriers[1]
        self.means = np.empty((len(x), len(self.panels.nodes)))
        run = compile_kernel(make_operator)
        run(scale, -barrier, noise, x, self.panels, self._bases, self.means)
        return exit_moments((scale * x - barrier) / noise, noise, barrier)

    def advance(self, pulls: int) -> tuple[Array, Array]:
        """Make one more step, after `pulls` pulls; return what `start` returns."""
        scale, noise = self._step(pulls)
        shift = scale * self.barriers[pulls] - self.barriers[pulls + 1]
        probability, mean = exit_moments((scale * self.panels.nodes + shift) / noise, noise, self.barriers[pulls + 1])
        gone = self.means @ np.stack([probability, mean], axis=1)
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
        """Downward drift of an arm at the barrier, relative to the next barrier, in units of the step's noise."""
        scale, noise = self._step(pulls)
        return float(self.barriers[pulls + 1] - scale * self.barriers[pulls]) / noise

    def exit_density(self, pulls: int, heights: Array) -> Array:
        """Density of the exit point of the next step, at heights below the barrier."""
        scale, noise = self._step(pulls)
        shift = scale * self.barriers[pulls] - self.barriers[pulls + 1]
        off = (heights - (scale * self.panels.nodes + shift)[:, None]) / noise
        return np.asarray(self.means @ np.exp(-0.5 * off * off)) / (noise * SQRT_2PI)


def exit_moments(c: Array, noise: float, barrier: float) -> tuple[Array, Array]:
    """Probability that X = barrier + noise (c + xi) is below the barrier, and E[X; X < barrier]."""
    probability = ndtr(-c)
    return probability, barrier * probability + noise * (c * probability - np.exp(-0.5 * c * c) / SQRT_2PI)


def overshoot_rule(shift: float, order: int) -> tuple[Array, Array]:
    """Points below the barrier and weights, in units of the noise of a step that drifts down by `shift`."""
    return gauss_rule(np.linspace(0.0, REACH + max(0.0, shift), 4), order)
