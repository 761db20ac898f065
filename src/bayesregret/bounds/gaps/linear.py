"""Expectations over the gaps of linear bandits drawn from the prior.

Means are `offset + whitened . zeta` with zeta standard normal, and gaps depend on differences of arms alone. If these
lie on one line, the expectation is one-dimensional and computed by quadrature; otherwise by a randomised lattice rule
with a fixed seed, which returns the same number on every call and a standard error from independent randomisations.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesregret import checks
from bayesregret.bounds.bound import COARSE, FINE, ROUNDING
from bayesregret.bounds.gaps.lines import (
    Indices,
    inverse_gap_integral,
    mass_of,
    top_integral,
    top_two_pieces,
    trimmed,
)
from bayesregret.checks import Array
from bayesregret.models import LinearBandit

# Features of arms are equal if they agree up to this fraction of the terms of their sums.
SAME = 1e-13
# A vector whose remainder is below this fraction of it lies in the span of the others.
IN_SPAN = 1e-12

SEED = 20231210
RANDOMISATIONS = 16
# The error of a certified bound is this many errors of its expectation over gaps, most of which are standard errors.
STANDARD_ERRORS = 4.0
ACCURACY = 7e-4  # target standard error, relative to the expectation; two in quadrature are 0.1 percent
FIRST_POINTS, FIRST_LINES = 2**4, 2**9  # of one randomisation
LARGEST_WORK = 2**27  # points times arms, summed over all randomisations
PILOT = 2**10
CHUNK = 2**16  # points times arms at a time: small enough for the processor's cache
# Quadrature along lines: fine in the one-dimensional case, coarse for random lines, whose sampling error dominates.
FAR, EXACT_PANEL = 9.0, 1.0
LINE_REACH, LINE_ORDER, LINE_PANEL = 5.5, 4, 2.0

# An extensible lattice of 2^16 points that contains the smaller ones of 2^m points. Found coordinate by coordinate, as
# the best of random candidates for the shift-averaged error with weights 1/j, by tests/golden/lattice_vector.py.
LATTICE_POINTS = 2**16
LATTICE = (
    1, 39759, 54761, 1987, 30683, 49789, 25061, 37153, 35493, 55391, 59017, 8393, 1465, 46093, 32397, 45881, 54901,
    2841, 44829, 63419, 64839, 26543, 40551, 1623, 50473, 1553, 40069, 10853, 58521, 29527, 24341, 39895, 3929, 31671,
    37341, 3831, 20743, 20839, 40531, 22581, 64981, 15369, 11601, 1311, 30395, 42921, 57035, 61227,
)  # fmt: skip


class GapEstimate(NamedTuple):
    """An expectation over gaps with its error."""

    value: float
    error: float  # a standard error, or the difference of two rules where the expectation is one-dimensional

    @property
    def margin(self) -> float:
        """The error that a certified bound reports."""
        return STANDARD_ERRORS * self.error


class Geometry(NamedTuple):
    """The distinct arms; in each instance all means differ from `offset + spread . zeta` by the same amount."""

    offset: Array  # (arms,)
    spread: Array  # (arms, dimension of the differences), in coordinates of falling size
    whitened: Array  # (arms, rank of the prior): the whitened features
    prior_deviation: Array  # (arms,): the prior standard deviation of each arm's mean
    rank: int  # of the whitened features

    @property
    def arms(self) -> int:
        return len(self.offset)


@functools.lru_cache(maxsize=64)
def geometry(bandit: LinearBandit) -> Geometry:
    """Merge identical arms, and reduce differences of arms to as few coordinates as possible."""
    whitened, offset = bandit.model.whitened[:, : bandit.arms].T, bandit.model.offset[: bandit.arms]
    kept = _distinct(bandit, whitened, offset)
    whitened, offset = whitened[kept], offset[kept]
    size = np.linalg.norm(whitened, axis=1)
    difference = whitened - whitened[0]
    basis = span(difference, size + size[0])
    return Geometry(offset - offset.max(), difference @ basis.T, whitened, size, len(span(whitened, size)))


def _distinct(bandit: LinearBandit, whitened: Array, offset: Array) -> Indices:
    """First arm of each group with equal features, up to rounding."""
    table = np.column_stack([whitened, offset])
    rounding = SAME * np.abs(bandit.features) @ np.abs(np.column_stack([bandit.covariance_root, bandit.prior_mean]))
    scale = np.maximum(rounding.max(axis=0), np.finfo(float).tiny)
    # Equal arms are neighbours on a generic line.
    order = np.argsort((table / scale) @ np.random.default_rng(SEED).standard_normal(table.shape[1]), kind="stable")
    apart = np.abs(np.diff(table[order], axis=0)) > rounding[order][1:] + rounding[order][:-1]
    starts = np.flatnonzero(np.concatenate([[True], apart.any(axis=1)]))
    return np.sort(np.minimum.reduceat(order, starts))


def span(vectors: Array, size: Array) -> Array:
    """Return (rank, dimension): an orthonormal basis of the rows, the longest first, by the Gram-Schmidt process."""
    rest, basis = vectors.copy(), np.empty((0, vectors.shape[1]))
    while len(basis) < vectors.shape[1]:
        length = np.linalg.norm(rest, axis=1)
        length[length <= IN_SPAN * size] = 0.0
        longest = int(np.argmax(length))
        if length[longest] == 0.0:
            break
        direction = rest[longest] / length[longest]
        direction -= basis.T @ (basis @ direction)
        direction /= np.linalg.norm(direction)
        basis = np.vstack([basis, direction])
        rest -= np.outer(rest @ direction, direction)
    return basis


# --- expectations --------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def expected_inverse_gap(bandit: LinearBandit, cutoff: float, accuracy: float | None = None) -> GapEstimate:
    """E[1 / max(smallest gap, cutoff)]; 0 if there is only one arm."""
    arms = geometry(bandit)
    if arms.arms == 1:
        return GapEstimate(0.0, 0.0)
    if arms.spread.shape[1] == 0:
        first, second = np.sort(arms.offset)[:-3:-1]
        return GapEstimate(1.0 / max(first - second, cutoff), 0.0)
    if arms.spread.shape[1] == 1:
        pieces = top_two_pieces(*_only_line(arms), FAR)
        weight = np.ones(len(pieces.start))
        fine, coarse = (inverse_gap_integral(pieces, weight, cutoff, order, EXACT_PANEL) for order in (FINE, COARSE))
        return GapEstimate(fine, abs(fine - coarse) + ROUNDING * fine)
    # Random instances resolve gaps down to `small`; random lines resolve smaller ones.
    small = _small_gap(arms)
    at_least = max(cutoff, small)
    plain = expectation_of_gaps(
        bandit, lambda gaps: 1.0 / np.maximum(np.partition(gaps, 1)[:, 1], at_least), accuracy=accuracy
    )
    if cutoff >= small:
        return plain
    dimension = arms.spread.shape[1]
    along_lines = _inverse_gap_along_lines(arms, cutoff, small)
    rest = randomised_mean(arms.arms, (dimension, dimension), along_lines, plain.value, accuracy)
    return GapEstimate(plain.value + rest.value, math.hypot(plain.error, rest.error))


def _small_gap(arms: Geometry) -> float:
    """About half of the median smallest gap."""
    gaps = np.partition(drawn_gaps(arms, PILOT), 1)
    return 0.5 * float(np.median(gaps[:, 1]))


def drawn_gaps(arms: Geometry, draws: int) -> Array:
    """(draws, arms): gaps of random instances, always the same ones, for choices that precede an expectation."""
    zeta = np.random.default_rng(SEED).standard_normal((draws, arms.spread.shape[1]))
    means = arms.offset + zeta @ arms.spread.T
    return np.asarray(means.max(axis=1, keepdims=True) - means)


@functools.lru_cache(maxsize=64)
def expected_largest_gap(bandit: LinearBandit) -> GapEstimate:
    """E[best mean - worst mean]."""
    arms = geometry(bandit)
    if arms.arms > 1 and arms.spread.shape[1] == 1:
        intercept, slope = _only_line(arms)
        best = top_integral(top_two_pieces(intercept, slope, FAR), intercept[0], slope[0])
        intercept, slope = -intercept[:, ::-1], -slope[:, ::-1]
        value = best + top_integral(top_two_pieces(intercept, slope, FAR), intercept[0], slope[0])
        return GapEstimate(value, ROUNDING * (value + float(np.ptp(intercept))))
    return expectation_of_gaps(bandit, lambda gaps: gaps.max(axis=1))


def _only_line(arms: Geometry) -> tuple[Array, Array]:
    """Intercepts and slopes (1, arms) of a one-dimensional family of instances, the least steep arm first."""
    order = np.argsort(arms.spread[:, 0], kind="stable")
    return arms.offset[None, order], arms.spread[None, order, 0]


def expectation_of_gaps(
    bandit: LinearBandit, function: Callable[[Array], Array], known_part: float = 0.0, accuracy: float | None = None
) -> GapEstimate:
    """E[function(gaps)], with an error relative to its sum with `known_part`.

    The function takes (instances, distinct arms) and returns one number per instance.
    """
    arms = geometry(bandit)
    if arms.spread.shape[1] == 0:
        return GapEstimate(float(function((arms.offset.max() - arms.offset)[None, :])[0]), 0.0)

    def total(_: int, zeta: Array) -> float:
        means = arms.offset + zeta[0] @ arms.spread.T
        return float(np.sum(function(means.max(axis=1, keepdims=True) - means)))

    return randomised_mean(arms.arms, (1, arms.spread.shape[1]), total, known_part, accuracy)


def _inverse_gap_along_lines(arms: Geometry, cutoff: float, small: float) -> Callable[[int, Array], float]:
    """Integrals of 1 / max(gap, cutoff) - 1 / max(gap, small) along lines of instances.

    The lines have the directions of a random orthonormal frame, one frame per randomisation.

    A line on which the two best arms are nearly parallel has a huge integral when they are close, so each piece is
    weighted by the squared cosine of the angle between the line and the difference of its two arms. For each pair of
    arms these weights add up to 1 over the frame.
    """
    rng = np.random.default_rng(SEED)
    dimension = arms.spread.shape[1]
    frames = [_frame(rng, dimension) for _ in range(RANDOMISATIONS)]

    def total(randomisation: int, zeta: Array) -> float:
        frame = frames[randomisation]
        slope = (frame @ arms.spread.T)[:, None, :]
        along = np.einsum("lpd,ld->lp", zeta, frame)[:, :, None]
        intercept = arms.offset + zeta @ arms.spread.T - along * slope
        slope = np.broadcast_to(slope, intercept.shape)
        pieces = top_two_pieces(intercept.reshape(-1, arms.arms), slope.reshape(-1, arms.arms), LINE_REACH)
        pieces = trimmed(pieces, small)  # beyond it the difference is 0
        length = np.linalg.norm(arms.spread[pieces.top] - arms.spread[pieces.second], axis=1)
        parallel = length == 0.0  # equal weights on all lines
        weight = np.where(parallel, 1.0 / dimension, (pieces.slope / np.where(parallel, 1.0, length)) ** 2)
        whole = inverse_gap_integral(pieces, weight, cutoff, LINE_ORDER, LINE_PANEL)
        return whole - float(np.sum(weight * mass_of(pieces))) / small

    return total


def _frame(rng: np.random.Generator, dimension: int) -> Array:
    """A random orthonormal basis."""
    return span(rng.standard_normal((dimension, dimension)), np.zeros(dimension))


# --- randomised lattice rules --------------------------------------------------------------------------------------


def randomised_mean(
    arms: int,
    shape: tuple[int, int],
    total: Callable[[int, Array], float],
    known_part: float = 0.0,
    accuracy: float | None = None,
) -> GapEstimate:
    """Mean of a function over randomly shifted lattices, doubled until the error is small against mean + `known_part`.

    The function takes a tuple of shape[0] points in shape[1] dimensions. `total` takes the number of the randomisation
    and an array of such tuples, (shape[0], tuples, shape[1]), and returns the sum over the tuples.
    """
    tolerance = ACCURACY if accuracy is None else checks.probability("accuracy", accuracy)
    shifts = np.random.default_rng([SEED, *shape]).random((RANDOMISATIONS, *shape))
    sums = np.zeros(RANDOMISATIONS)
    cost = arms * shape[0]
    points, done = max(FIRST_POINTS, 2 ** math.ceil(math.log2(FIRST_LINES / shape[0]))), 0
    while True:
        for randomisation in range(RANDOMISATIONS):
            for index in _new_indices(done, points, cost):
                sums[randomisation] += total(randomisation, _normal_points(index, points, shifts[randomisation]))
        done = points
        means = sums / done
        value, error = float(means.mean()), float(means.std(ddof=1)) / math.sqrt(RANDOMISATIONS)
        error += abs(value) / (done * RANDOMISATIONS)  # rarer events may not have been sampled
        work = 2 * done * cost * RANDOMISATIONS
        if error <= tolerance * abs(value + known_part) or done == LATTICE_POINTS or work > LARGEST_WORK:
            return GapEstimate(value, error)
        points = 2 * done


def _new_indices(done: int, points: int, cost: int) -> list[NDArray[np.int64]]:
    """Indices of the points that the lattice of half the size lacks, the odd ones, in chunks."""
    new = np.arange(points) if done == 0 else np.arange(1, points, 2)
    return np.array_split(new, math.ceil(len(new) * cost / CHUNK))


def _normal_points(index: NDArray[np.int64], points: int, shift: Array) -> Array:
    """Return standard normal points (len(shift), len(index), dimensions); coordinates beyond LATTICE are random."""
    dimensions = shift.shape[1]
    lattice = np.array(LATTICE[:dimensions], dtype=np.int64)
    uniform = np.empty((len(index), dimensions))
    # Integer arithmetic first: a product of fractions would lose the relevant digits.
    uniform[:, : len(lattice)] = (index[:, None] * lattice % points) / points
    if dimensions > len(lattice):
        drawn = np.random.default_rng([SEED, points, int(index[0]), dimensions])
        uniform[:, len(lattice) :] = drawn.random((len(index), dimensions - len(lattice)))
    shifted = (uniform + shift[:, None, :]) % 1.0
    return np.asarray(ndtri(np.clip(shifted, 1e-16, 1.0 - 1e-16)))
