"""Slow obvious twins of the bounds' expectations: averages over drawn instances, and sums over every single pull.

The averages follow the definitions literally: draw instances, compute the gaps of the arms that are not best. The sums
are for problems where every integral is one-dimensional or has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaln, gammaln, ndtr

from bayesregret import BernoulliBandit, GaussianBandit

BATCH = 100_000


class Average(NamedTuple):
    mean: float
    stderr: float


def density(x):
    return np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def draw_instances(bandit, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(draws, arms) mean rewards."""
    if isinstance(bandit, GaussianBandit):
        return bandit.prior_mean + bandit.prior_width * rng.standard_normal((draws, bandit.arms))
    return rng.beta(bandit.alpha, bandit.beta, size=(draws, bandit.arms))


def average(
    bandit, function: Callable[[np.ndarray, np.random.Generator], np.ndarray], draws: int, seed: int
) -> Average:
    """Mean over instances of a function of (draws, arms) mean rewards, with its standard error."""
    rng = np.random.default_rng(seed)
    values = np.concatenate(
        [function(draw_instances(bandit, BATCH, rng), rng) for _ in range(math.ceil(draws / BATCH))]
    )
    return Average(float(values.mean()), float(values.std() / math.sqrt(len(values))))


def over_gaps(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """The sum over arms that are not best of a function of (draws, arms) gaps."""

    def total(means: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        gaps = means.max(axis=1, keepdims=True) - means
        others = gaps > 0.0
        return np.where(others, function(np.where(others, gaps, 1.0)), 0.0).sum(axis=1)

    return total


def largest_gap(means: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return means.max(axis=1) - means.min(axis=1)


def pulls_before(bandit, delta: float) -> Callable[[np.ndarray], np.ndarray]:
    """B of eq. (6): an arm's count before a pull is at most this while intervals hold."""
    L = math.log(1.0 / delta)
    if isinstance(bandit, GaussianBandit):
        r = (bandit.reward_noise / bandit.prior_width) ** 2
        return lambda gap: 8.0 * bandit.reward_noise**2 * L / gap**2 - r
    return lambda gap: 2.0 * L / gap**2 - (bandit.alpha + bandit.beta + 1.0)


def index_excess(bandit, horizon: int, delta: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """Regret that the index form charges over arms and numbers of pulls k < horizon, with drawn rewards.

    Gaussian: (M - theta)^+ 1{U_k >= M}. Bernoulli: (M - theta)^+ - (M - theta) 1{M > U_k}.
    """
    z = math.sqrt(2.0 * math.log(1.0 / delta))

    def total(means: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        best_other = np.stack([np.delete(means, arm, axis=1).max(axis=1) for arm in range(bandit.arms)], axis=1)
        lead = best_other - means
        charged = np.zeros(len(means))
        successes = np.zeros(means.shape)
        for k in range(horizon):
            if isinstance(bandit, GaussianBandit):
                s, s0 = bandit.reward_noise, bandit.prior_width
                rewards = k * means + s * math.sqrt(k) * rng.standard_normal(means.shape)
                variance = 1.0 / (1.0 / s0**2 + k / s**2)
                index = variance * (bandit.prior_mean / s0**2 + rewards / s**2) + z * math.sqrt(variance)
                terms = np.maximum(lead, 0.0) * (index >= best_other)
            else:
                counts = bandit.alpha + bandit.beta + k
                index = (bandit.alpha + successes) / counts + z * np.sqrt(0.25 / (counts + 1.0))
                terms = np.maximum(lead, 0.0) - lead * (best_other > index)
                successes += rng.random(means.shape) < means
            charged += terms.sum(axis=1)
        return charged

    return total


# --- two Gaussian arms, every pull ---------------------------------------------------------------------------------


def two_arm_index_sum(bandit: GaussianBandit, z: float, horizon: int) -> float:
    """The other arm's density, smoothed by the posterior mean's spread, is normal of variance 2 s0^2 - v."""
    s, s0 = bandit.reward_noise, bandit.prior_width
    behind = float(bandit.prior_mean[0] - bandit.prior_mean[1])
    points, weights = np.polynomial.legendre.leggauss(400)
    low = -12.0
    u = low + 0.5 * (z - low) * (1.0 + points)
    weights = 0.5 * (z - low) * weights * (u * ndtr(u) + density(u))
    terms = []
    for k in range(horizon):
        v = 1.0 / (1.0 / s0**2 + k / s**2)
        spread = math.sqrt(2.0 * s0**2 - v)
        terms += [
            v / spread * float(weights @ density((math.sqrt(v) * u + ahead) / spread)) for ahead in (behind, -behind)
        ]
    return math.fsum(terms)


def two_arm_floor_sum(bandit: GaussianBandit, log_inverse_delta: float, horizon: int) -> float:
    """E gap 1{gap <= x_k} for every k: the gap is the size of a normal variable."""
    s, s0 = bandit.reward_noise, bandit.prior_width
    mean, spread = float(bandit.prior_mean[0] - bandit.prior_mean[1]), math.sqrt(2.0) * s0
    k = np.arange(horizon, dtype=np.float64)
    reached = np.sqrt(8.0 * s**2 * log_inverse_delta / (k + (s / s0) ** 2))
    total = np.zeros(horizon)
    for centre in (mean, -mean):
        low, high = -centre / spread, (reached - centre) / spread
        total += centre * (ndtr(high) - ndtr(low)) + spread * (density(low) - density(high))
    return math.fsum(total)


# --- equal Bernoulli arms, every pull and success ------------------------------------------------------------------


def bernoulli_index_sum(bandit: BernoulliBandit, log_inverse_delta: float, horizon: int) -> float:
    """Sum over the whole lattice, for two arms or for uniform ones: there the best other arm has a closed form."""
    return math.fsum(_lattice_sum(bandit, arm, log_inverse_delta, horizon) for arm in range(bandit.arms))


def _lattice_sum(bandit: BernoulliBandit, arm: int, log_inverse_delta: float, horizon: int) -> float:
    alpha, beta = float(bandit.alpha[arm]), float(bandit.beta[arm])
    above, expected = _best_other(bandit, arm)
    terms = []
    for k in range(horizon):
        j = np.arange(k + 1.0)
        width = math.sqrt(0.5 * log_inverse_delta / (alpha + beta + k + 1.0))
        index = (alpha + j) / (alpha + beta + k) + width
        j, index = j[index < 1.0], index[index < 1.0]
        if alpha == beta == 1.0:
            weights = np.full(len(j), 1.0 / (k + 1.0))
        else:
            weights = _beta_binomial(k, j, alpha, beta)
        terms.append(float(weights @ (expected(index) + width * above(index))))
    panels = 500  # enough to resolve a sharp prior
    points, weights = np.polynomial.legendre.leggauss(10)
    m = ((np.arange(panels)[:, None] + 0.5 * (1.0 + points)) / panels).ravel()
    weights = np.tile(0.5 * weights / panels, panels)
    lead = float(weights @ (betainc(alpha, beta, m) * above(m)))  # P(theta < m < M), integrated
    return horizon * lead - math.fsum(terms)


def _beta_binomial(k: int, j: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    log_weights = gammaln(k + 1.0) - gammaln(j + 1.0) - gammaln(k - j + 1.0)
    return np.exp(log_weights + betaln(alpha + j, beta + k - j) - betaln(alpha, beta))


def _best_other(bandit: BernoulliBandit, arm: int):
    """P(M > u) and E(M - u)^+."""
    others = [i for i in range(bandit.arms) if i != arm]
    if len(others) == 1:
        a, b = float(bandit.alpha[others[0]]), float(bandit.beta[others[0]])

        def above(u):
            return betainc(b, a, 1.0 - u)

        def expected(u):
            return a / (a + b) * betainc(b, a + 1.0, 1.0 - u) - u * above(u)

        return above, expected
    assert (bandit.alpha == 1.0).all()
    assert (bandit.beta == 1.0).all()
    power = len(others)
    return (lambda u: 1.0 - u**power), (lambda u: (1.0 - u) - (1.0 - u ** (power + 1)) / (power + 1))


def uniform_two_arm_floor_sum(log_inverse_delta: float, horizon: int) -> float:
    """Two uniform arms: the gap has density 2 (1 - x)."""
    reached = np.minimum(1.0, np.sqrt(2.0 * log_inverse_delta / (np.arange(horizon) + 3.0)))
    return math.fsum(reached**2 - 2.0 * reached**3 / 3.0)
