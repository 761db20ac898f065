"""Linear bandit with Gaussian rewards, Section 3.3 of the paper.

All computations are in whitened coordinates: with prior_cov = F F', the parameter is prior_mean + F zeta for a standard
normal zeta, and an arm's feature vector becomes F'x. The prior covariance is then the identity, so a singular one needs
no inverse and no special case.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import draw_means, draw_reward
from bayesregret.contracts.mixture import component
from bayesregret.models.bandit import Bandit, Instance
from bayesregret.rng import INSTANCE, normal, open_stream, run_word, seed_key

# Vector instructions work on whole groups of arms; the columns beyond the last arm are zero.
ARM_GROUP = 16
CACHE_LINE = 64  # bytes
# Eigenvalues of a covariance smaller than this fraction of the largest one, of either sign, count as zero.
ROUNDING = 1e-12
DIGITS_KEPT = 1e-3  # relative: largest change of an arm's variance by the digits of a posterior covariance


class LinearModel(NamedTuple):
    """`whitened[i, a]` is coordinate i of arm a's whitened features; columns from `arms` on are padding."""

    whitened: Array
    offset: Array  # mean reward of each arm at the prior mean; -inf for padding, so that it never leads
    reward_noise: float
    arms: int


class WhitenedData(NamedTuple):
    """Rewards, for the whitened parameter: its posterior precision is I + directions diag(gains) directions'."""

    directions: Array  # (r, r): orthonormal columns
    gains: Array
    misfits: Array  # of each pulled arm: its sample mean minus the prior one, in standard errors of the sample mean
    along: Array  # misfits in the directions


class LinearBandit(Bandit):
    """Bandit whose mean rewards are linear in a parameter with a Gaussian prior.

    Parameters
    ----------
    features : array_like
        Table with one row for each arm: the mean reward is the row times the parameter.
    prior_mean : array_like
        Prior mean of the parameter.
    prior_cov : array_like, optional
        Prior covariance of the parameter: any symmetric positive semi-definite matrix.
    prior_width : float, optional
        Prior standard deviation of each coordinate, in place of `prior_cov`: w stands for w^2 times the identity.
    reward_noise : float
        Standard deviation of rewards around their mean.

    Examples
    --------
    >>> LinearBandit(features=[[1.0, 0.0], [0.6, 0.8]], prior_mean=[1.0, 0.0], prior_width=0.5, reward_noise=1.0)
    LinearBandit(features=[[1. , 0. ], [0.6, 0.8]], prior_mean=[1., 0.], prior_width=0.5, reward_noise=1.0)
    """

    kind: ClassVar[str] = "linear"
    arm_fields: ClassVar[tuple[str, ...]] = ("features",)

    def __init__(
        self,
        features: ArrayLike,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike | None = None,
        prior_width: float | None = None,
        *,
        reward_noise: float,
    ) -> None:
        self.features = checks.array("features", features, 2, "a table of numbers, one row for each arm")
        dimension = self.features.shape[1]
        may_be = f"a list of {dimension} numbers, one for each column of features"
        self.prior_mean = checks.array("prior_mean", prior_mean, 1, may_be)
        if len(self.prior_mean) != dimension:
            raise ValueError(f"prior_mean must be {may_be}, got {len(self.prior_mean)}")
        if (prior_cov is None) == (prior_width is None):
            raise ValueError("one of prior_cov and prior_width must be given, and not both")
        self.prior_cov = None if prior_cov is None else _checked_covariance(prior_cov, dimension)
        self.prior_width = None if prior_width is None else checks.positive("prior_width", prior_width)
        self.reward_noise = checks.positive("reward_noise", reward_noise)
        self.arms = len(self.features)
        self.reward_proxy = self.reward_noise * self.reward_noise
        self.covariance = self._covariance(dimension)
        self.covariance_root = _root(self.covariance)  # (d, r): F with F F' the prior covariance, r its rank
        self.model = self._model()

    def _covariance(self, dimension: int) -> Array:
        """(d, d): the prior covariance."""
        if self.prior_cov is not None:
            return self.prior_cov
        assert self.prior_width is not None
        return self.prior_width * self.prior_width * np.eye(dimension)

    def _model(self) -> LinearModel:
        """Whiten the features; arms are columns."""
        columns = -(-self.arms // ARM_GROUP) * ARM_GROUP
        whitened = aligned(self.covariance_root.shape[1], columns)
        whitened[:, : self.arms] = _product(self.covariance_root.T, self.features.T)
        offset = aligned(columns)
        offset[: self.arms] = _product(self.prior_mean[None, :], self.features.T)[0]
        offset[self.arms :] = -np.inf
        return LinearModel(whitened, offset, self.reward_noise, self.arms)

    def for_costs(self) -> LinearBandit:
        return LinearBandit(
            self.features, -self.prior_mean, self.prior_cov, self.prior_width, reward_noise=self.reward_noise
        )

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> LinearBandit:
        data = self._data(counts, totals)
        root = self.covariance_root @ (data.directions / np.sqrt(1.0 + data.gains))
        moved = data.directions @ (np.sqrt(data.gains) / (1.0 + data.gains) * data.along)
        mean = self.prior_mean + self.covariance_root @ moved
        made = LinearBandit(self.features, mean, root @ root.T, reward_noise=self.reward_noise)
        _check_digits(made, self.features @ root)
        return made

    def log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> float:
        data, noise = self._data(counts, totals), self.reward_noise**2
        apart = float(data.misfits @ data.misfits - data.along @ data.along)  # what no parameter explains
        explained = math.fsum(data.along**2 / (1.0 + data.gains))
        known = counts.sum(dtype=float) * math.log(noise) + math.fsum(squares) / noise
        return -0.5 * float(math.fsum(np.log1p(data.gains)) + max(0.0, apart) + explained + known)

    def _data(self, counts: NDArray[np.int64], totals: Array) -> WhitenedData:
        """Singular values of the pulled arms' whitened features: products of features would lose half the digits."""
        rank, pulled = self.covariance_root.shape[1], np.flatnonzero(counts)
        root_counts = np.sqrt(counts[pulled]) / self.reward_noise
        scaled = np.zeros((rank, max(rank, len(pulled))))  # as many columns as rows, for all directions
        scaled[:, : len(pulled)] = self.model.whitened[:, pulled] * root_counts
        misfits = np.zeros(scaled.shape[1])
        misfits[: len(pulled)] = (totals[pulled] / counts[pulled] - self.model.offset[pulled]) * root_counts
        directions, singular, arms = np.linalg.svd(scaled, full_matrices=False)
        return WhitenedData(directions, singular * singular, misfits, arms @ misfits)

    def ridge_model(self, regularisation: float) -> LinearModel:
        """Return the belief whose posterior mean is ridge regression; it uses the features and the noise alone.

        Parameters
        ----------
        regularisation : float
            Factor of the squared norm of the parameter in ridge regression.
        """
        width = self.reward_noise / math.sqrt(regularisation)
        zero = np.zeros(self.features.shape[1])
        ridge: LinearModel = LinearBandit(self.features, zero, prior_width=width, reward_noise=self.reward_noise).model
        return ridge

    def draw_instance(self, *, seed: int, run: int = 0) -> Instance:
        means = self.draw_means(1, seed=seed, first_run=run)[0]
        key = seed_key(seed)
        with np.errstate(over="ignore"):
            stream = open_stream(key, run_word(key, run), INSTANCE)
            parameter = self.prior_mean.copy()
            for column in self.covariance_root.T:
                z, stream = normal(stream)
                parameter += z * column
        return Instance(means, parameter)


def aligned(*shape: int) -> Array:
    """Return zeros that start on a cache line: vector instructions are half as fast across two lines."""
    size = math.prod(shape)
    memory = np.zeros(size + CACHE_LINE // 8)
    skip = -memory.ctypes.data % CACHE_LINE // 8
    return memory[skip : skip + size].reshape(shape)


def _check_digits(posterior: LinearBandit, roots: Array) -> None:
    """Raise ValueError if a covariance matrix has too few digits for this posterior; rows of `roots` are arms."""
    kept = (posterior.model.whitened[:, : posterior.arms] ** 2).sum(axis=0)
    if not np.allclose(kept, (roots * roots).sum(axis=1), rtol=DIGITS_KEPT, atol=checks.SMALLEST**2):
        raise ValueError(
            "prior_cov must have enough digits for the posterior, but rewards have made one direction of the parameter "
            "more than a million times as certain as another"
        )


def _checked_covariance(value: Any, dimension: int) -> Array:
    """Return a symmetric positive semi-definite matrix of this size."""
    may_be = f"a symmetric positive semi-definite matrix, {dimension} by {dimension}"
    made = checks.array("prior_cov", value, 2, may_be)
    if made.shape != (dimension, dimension):
        raise ValueError(f"prior_cov must be {may_be}, got {made.shape[0]} by {made.shape[1]}")
    scale = float(np.abs(made).max())
    if np.abs(made - made.T).max() > ROUNDING * scale:
        raise ValueError(f"prior_cov must be {may_be}, but is not symmetric")
    smallest = float(np.linalg.eigvalsh(made / (scale or 1.0))[0])
    if smallest < -dimension * ROUNDING:
        raise ValueError(f"prior_cov must be {may_be}, but has the eigenvalue {smallest * scale:.3g}")
    return made


def _root(covariance: Array) -> Array:
    """(d, r): root of a semi-definite matrix by the Cholesky decomposition with pivots.

    LAPACK would not give the same bits on every machine; nor would its matrix product.
    """
    rest = (covariance + covariance.T) / 2.0
    rounding = ROUNDING * len(rest) * np.diagonal(rest)  # relative to each coordinate: their sizes may differ vastly
    columns: list[Array] = []
    while len(columns) < len(rest):
        left = np.where(np.diagonal(rest) > rounding, np.diagonal(rest), 0.0)
        pivot = int(np.argmax(left))
        if left[pivot] == 0.0:
            break
        column = rest[:, pivot] / np.sqrt(rest[pivot, pivot])
        rest = rest - column[:, None] * column[None, :]
        columns.append(column)
    return np.array(columns).reshape(len(columns), len(rest)).T


def _product(left: Array, right: Array) -> Array:
    """Matrix product, summed in a fixed order."""
    total = np.zeros((left.shape[0], right.shape[1]))
    for i in range(left.shape[1]):
        total += left[:, i, None] * right[None, i, :]
    return total


@draw_means.implement(LinearModel)
def linear_means(model, means, stream):
    for arm in range(model.arms):
        means[arm] = model.offset[arm]
    for i in range(model.whitened.shape[0]):
        z, stream = normal(stream)
        for arm in range(model.arms):
            means[arm] += z * model.whitened[i, arm]
    return stream


@draw_reward.implement(LinearModel)
def linear_reward(model, arm, mean, stream):
    z, stream = normal(stream)
    return mean + model.reward_noise * z, stream


@component.implement(LinearModel)
def linear_component(stacked, number):
    return LinearModel(
        stacked.whitened[number], stacked.offset[number], stacked.reward_noise[number], stacked.arms[number]
    )
