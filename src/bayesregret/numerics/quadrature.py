"""Quadrature rules for integrals and long sums, and smooth functions stored as polynomials on panels.

The `order` p of a rule is its number of points on a panel. Gauss rules are exact for polynomials of degree 2p - 1, so
on a smooth function the error falls like the panel's length to the power 2p.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array

# Ratio of the end of a block to its start, in long sums: terms are smooth in the logarithm of the index.
BLOCK_GROWTH = 3.0
# A panel is resolved if its last coefficients are below this fraction of the function's largest value.
RESOLVED = 1e-12
RESOLVED_BY = 12  # order at which RESOLVED applies; lower orders resolve fewer digits
MOST_PANELS, MOST_HALVINGS = 4_096, 20  # limits: rounding errors can look like unresolved detail


@functools.cache
def _legendre(order: int) -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(order)


def gauss_rule(edges: Array, order: int) -> tuple[Array, Array]:
    """Points and weights of Gauss-Legendre rules on the panels between the edges, in increasing order."""
    return gauss_points(np.asarray(edges, dtype=np.float64), order)


def gauss_points(edges: Array, order: int) -> tuple[Array, Array]:
    """Points and weights of `gauss_rule` for many rows of edges at once."""
    points, weights = _legendre(order)
    half = 0.5 * np.diff(edges)[..., None]
    shape = (*edges.shape[:-1], -1)
    return (edges[..., :-1, None] + half * (1.0 + points)).reshape(shape), (half * weights).reshape(shape)


def even_edges(low: float, high: float, longest: float) -> Array:
    """Edges of equal panels from low to high, none longer than `longest`."""
    if not high > low:
        return np.array([low, low])
    return np.linspace(low, high, max(1, int(np.ceil((high - low) / longest - 1e-9))) + 1)


def graded_edges(low: float, high: float, growth: float = 2.5) -> Array:
    """Edges in geometric progression from low > 0 to high, for functions like 1/x."""
    if not high > low:
        return np.array([low, low])
    return np.geomspace(low, high, max(1, int(np.ceil(np.log(high / low) / np.log(growth)))) + 1)


def merge_edges(*parts: Array, low: float, high: float) -> Array:
    """Sorted distinct edges between low and high, both included."""
    every = np.concatenate([np.ravel(part) for part in parts] + [np.array([low, high])])
    return np.unique(np.clip(every, low, high))


@functools.lru_cache(maxsize=256)
def sum_rule(first: int, last: int, order: int, marks: tuple[float, ...] = ()) -> tuple[Array, Array]:
    """Points k and weights such that the weighted sum of f(k) is f(first) + ... + f(last - 1) for smooth f.

    Each block ends at `BLOCK_GROWTH` times its start: between `marks`, f must be smooth in log k.
    """
    edges = [first]
    while edges[-1] < last:
        edges.append(min(last, max(edges[-1] + order, int(BLOCK_GROWTH * edges[-1]))))
    return block_sum_rule(sorted({*edges, *(int(mark) for mark in marks if first < mark < last)}), order)


def block_sum_rule(edges: Sequence[int], order: int) -> tuple[Array, Array]:
    """Rule for the sum over the integers from the first edge up to, not including, the last; f smooth between edges.

    Short blocks are summed term by term, longer ones by the Gauss rule of the sum, exact for polynomials of degree
    2 order - 1.
    """
    starts, lengths = np.asarray(edges[:-1], dtype=np.float64), np.diff(np.asarray(edges, dtype=np.float64))
    long = lengths > order
    points, weights = _gauss_sums(starts[long], lengths[long], order)
    each = [
        np.arange(start, start + length) for start, length in zip(starts[~long], lengths[~long], strict=True) if length
    ]
    alone = np.concatenate([*each, np.zeros(0)])
    return np.concatenate([alone, points]), np.concatenate([np.ones(len(alone)), weights])


def _gauss_sums(starts: Array, lengths: Array, order: int) -> tuple[Array, Array]:
    """Gauss rules for sums over `lengths` integers from `starts`: zeros of discrete Chebyshev polynomials."""
    j = np.arange(1.0, order)
    off = 0.5 * j * np.sqrt((lengths[:, None] - j) * (lengths[:, None] + j) / (4.0 * j * j - 1.0))
    jacobi = np.zeros((len(starts), order, order))
    jacobi[:, np.arange(1, order), np.arange(order - 1)] = off  # eigh reads the lower triangle
    nodes, vectors = np.linalg.eigh(jacobi)
    points = nodes + (starts + 0.5 * (lengths - 1.0))[:, None]
    return points.ravel(), (lengths[:, None] * vectors[:, 0] ** 2).ravel()


@functools.cache
def _chebyshev(order: int) -> tuple[Array, Array]:
    """Chebyshev points on [-1, 1] and the matrix from values there to coefficients."""
    angles = np.pi * (np.arange(order) + 0.5) / order
    points = np.cos(angles)[::-1].copy()
    degrees = np.arange(order)
    to_coefficients = np.cos(np.outer(degrees, angles[::-1])) * (2.0 / order)
    to_coefficients[0] *= 0.5
    return points, to_coefficients


def _panel_coefficients(
    functions: Callable[[Array], Array], left: Array, right: Array, order: int
) -> tuple[Array, Array]:
    """(functions, panels, order) Chebyshev coefficients, and (functions, panels) largest absolute values."""
    points, to_coefficients = _chebyshev(order)
    x = left[:, None] + 0.5 * (right - left)[:, None] * (1.0 + points)
    values = functions(x.ravel()).reshape(-1, *x.shape)
    return values @ to_coefficients.T, np.abs(values).max(axis=2)


class PanelFunction:
    """A function stored as one Chebyshev polynomial per panel; zero outside the panels."""

    def __init__(self, edges: Array, coefficients: Array) -> None:
        self.edges = edges  # (panels + 1,)
        self.coefficients = coefficients  # (panels, order)

    @classmethod
    def fit(cls, function: Callable[[Array], Array], edges: Array, order: int) -> PanelFunction:
        """Interpolate `function`, which maps an array of points to their values, on these panels."""
        return cls.fit_rows(lambda x: function(x)[None, :], edges, order)[0]

    @classmethod
    def fit_rows(cls, functions: Callable[[Array], Array], edges: Array, order: int) -> list[PanelFunction]:
        """Interpolate several functions that are evaluated together, with one row of values each."""
        coefficients, _ = _panel_coefficients(functions, edges[:-1], edges[1:], order)
        return [cls(edges, of_one) for of_one in coefficients]

    @classmethod
    def fit_halving(
        cls,
        functions: Callable[[Array], Array],
        edges: Array,
        order: int,
        *,
        floor: float = 0.0,
        each_alone: bool = False,
        resolved: float = RESOLVED,
    ) -> list[PanelFunction]:
        """Interpolate functions on common panels, halving these until they resolve every function.

        Resolved means: up to a small fraction of the function's largest value (if `each_alone`, of its largest value on
        that panel), or of `floor` if that is larger.
        """
        tolerance = resolved ** (order / RESOLVED_BY)
        left, right = edges[:-1], edges[1:]
        made: list[tuple[Array, Array, Array]] = []
        largest = np.array(floor)
        panels = 0
        for halving in range(MOST_HALVINGS + 1):
            coefficients, sizes = _panel_coefficients(functions, left, right, order)  # (functions, panels, order)
            largest = np.maximum(largest, sizes.max(axis=1, keepdims=True))
            scale = np.maximum(sizes, floor) if each_alone else largest
            rough = (np.abs(coefficients[..., -2:]).max(axis=2) > tolerance * scale).any(axis=0)
            panels += len(left)
            if panels > MOST_PANELS or halving == MOST_HALVINGS:
                rough[:] = False
            made.append((left[~rough], right[~rough], coefficients[:, ~rough]))
            middle = 0.5 * (left[rough] + right[rough])
            left, right = np.concatenate([left[rough], middle]), np.concatenate([middle, right[rough]])
            if not len(left):
                break
        starts, ends = (np.concatenate([part[i] for part in made]) for i in (0, 1))
        in_order = np.argsort(starts)
        all_edges = np.append(starts[in_order], ends.max())
        return [cls(all_edges, row) for row in np.concatenate([part[2] for part in made], axis=1)[:, in_order]]

    @classmethod
    def join(cls, parts: Sequence[PanelFunction]) -> PanelFunction:
        """Concatenate functions, each starting where the previous one ends."""
        edges = [parts[0].edges, *(part.edges[1:] for part in parts[1:])]
        return cls(np.concatenate(edges), np.concatenate([part.coefficients for part in parts]))

    def integral_to_end(self) -> PanelFunction:
        """Return the integral from x to the last edge, as a function of x."""
        half = 0.5 * np.diff(self.edges)
        rising = np.polynomial.chebyshev.chebint(self.coefficients.T, lbnd=1.0).T * half[:, None]
        signs = (-1.0) ** np.arange(rising.shape[1])
        panels = -(rising @ signs)  # each panel's integral
        after = np.append(np.cumsum(panels[::-1])[::-1][1:], 0.0)
        falling = -rising
        falling[:, 0] += after
        return PanelFunction(self.edges, falling)

    def __call__(self, x: Array) -> Array:
        panel = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.coefficients) - 1)
        left, right = self.edges[panel], self.edges[panel + 1]
        inside = (x >= self.edges[0]) & (x <= self.edges[-1])
        t = np.where(inside, (2.0 * x - left - right) / (right - left), 0.0)
        return np.where(inside, self._clenshaw(panel, t), 0.0)

    def _clenshaw(self, panel: NDArray[np.intp], t: Array) -> Array:
        columns = np.ascontiguousarray(self.coefficients.T)
        later, last = np.zeros_like(t), np.zeros_like(t)
        for column in columns[:0:-1]:
            later, last = last, 2.0 * t * last - later + column[panel]
        return np.asarray(t * last - later + columns[0][panel])


class CubicTable:
    """Cubic Hermite interpolants of functions on an even grid; constant beyond the ends."""

    def __init__(self, low: float, step: float, values: Array, slopes: Array) -> None:
        """`values` and `slopes` have one row per function."""
        self.low = low
        self.step = step
        rise = np.diff(values)
        first, last = slopes[:, :-1] * step, slopes[:, 1:] * step
        self.cells = np.stack([values[:, :-1], first, 3.0 * rise - 2.0 * first - last, first + last - 2.0 * rise], 1)

    def __call__(self, x: Array) -> list[Array]:
        """Evaluate each function at x."""
        cells = self.cells.shape[2]
        at = np.clip((x - self.low) / self.step, 0.0, cells)
        cell = np.minimum(at.astype(np.intp), cells - 1)
        t = at - cell
        return [a[cell] + t * (b[cell] + t * (c[cell] + t * d[cell])) for a, b, c, d in self.cells]
