"""Instances drawn from the prior given that the two best arms are tied, by inversion of distribution functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, ndtri_exp

from bayesregret.bounds.gaps.bernoulli import check_counts
from bayesregret.bounds.gaps.gaussian_heteroscedastic import spread_failure
from bayesregret.checks import Array, fail
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.numerics.best_arm_ties import Ties, beta_ties, normal_ties
from bayesregret.rng import Key
from bayesregret.simulation.kernels.tied_arms import draw_uniforms

AT_A_TIME = 1 << 14  # numbers in one table of uniform draws
UNIFORMS = 3  # of a run, for the place of the tie and for the two arms; one for each arm follows
STEPS = 52  # of bisection on a panel


class TiedInstances:
    """The distribution of instances whose two best arms are tied.

    `weights` and `pseudo_counts` are such that the regret of Thompson sampling is the expectation of the sum over
    rounds, and over both tied arms, of weight / (pseudo-count + pulls before the round).
    """

    def __init__(self, bandit: Bandit) -> None:
        self.arms: _NormalArms | _BetaArms
        if isinstance(bandit, GaussianBandit):
            self.arms = _NormalArms(bandit)
        elif isinstance(bandit, BernoulliBandit):
            self.arms = _BetaArms(bandit)
        else:
            raise fail("bandit", "a Gaussian or Bernoulli bandit", bandit)
        self.pseudo_counts = self.arms.pseudo_counts
        self._ties = self.arms.ties
        self._tail = self._ties.density.integral_to_end()
        self._tails_at_edges = self._tail(self._tail.edges)
        self.weights = self.arms.scale * (np.exp(self._ties.log_scale) * self._tails_at_edges[0])

    @property
    def rows(self) -> int:
        """Number of runs that are drawn at once: always as many, because bits of vectors may depend on their length."""
        return max(1, AT_A_TIME // (len(self.weights) + UNIFORMS))

    def draw(self, key: Key, first_run: int) -> tuple[Array, NDArray[np.int64]]:
        """(rows, arms) mean rewards and (rows, 2) tied arms of the runs from `first_run`, a multiple of `rows`."""
        table = np.empty((self.rows, UNIFORMS + len(self.weights)))
        fill: Any = compile_kernel(draw_uniforms)
        with np.errstate(over="ignore"):
            fill(key, first_run, table)
        table = 1.0 - table  # never 0
        y = self._places(table[:, 0])
        rates = self._rates(y)
        lines = np.arange(len(y))
        first = _chosen(rates * _sum_of_others(rates), table[:, 1])
        rates[lines, first] = 0.0
        second = _chosen(rates, table[:, 2])
        means = self.arms.means_below(np.log(table[:, UNIFORMS:]) + self._ties.log_below(y)[self._ties.kind].T)
        means[lines, first] = means[lines, second] = self.arms.mean_at(y)
        return means, np.stack([first, second], axis=1)

    def _places(self, fraction: Array) -> Array:
        """Places y of the tie, with this fraction of its probability above them."""
        wanted = fraction * self._tails_at_edges[0]
        edges = self._tail.edges
        panel = np.clip(np.searchsorted(-self._tails_at_edges, -wanted, side="right") - 1, 0, len(edges) - 2)
        low, high = edges[panel], edges[panel + 1]
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            is_above = self._tail(middle) > wanted
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        return np.asarray(0.5 * (low + high))

    def _rates(self, y: Array) -> Array:
        """(rows, arms): density over distribution function of each arm, divided by the largest."""
        log_rate = self._ties.log_rate(y)
        rates: Array = np.exp(log_rate - log_rate.max(axis=0))
        return rates[self._ties.kind].T


class _NormalArms:
    def __init__(self, bandit: GaussianBandit) -> None:
        if bandit.noise_kind != "gaussian":
            raise fail("noise_kind", "gaussian", bandit.noise_kind)
        why_not = spread_failure(bandit)
        if why_not is not None:
            raise ValueError(why_not)
        _check_arms(bandit)
        self.mean, self.width = bandit.prior_mean, bandit.prior_widths
        self.scale = bandit.reward_noises**2
        self.pseudo_counts = (bandit.reward_noises / self.width) ** 2
        self.ties: Ties = normal_ties(self.mean, self.width)

    def mean_at(self, y: Array) -> Array:
        return np.asarray(self.mean.max() + y)

    def means_below(self, log_probability: Array) -> Array:
        return np.asarray(self.mean + self.width * ndtri_exp(log_probability))


class _BetaArms:
    def __init__(self, bandit: BernoulliBandit) -> None:
        check_counts(bandit)
        _check_arms(bandit)
        self.alpha, self.beta = bandit.alpha, bandit.beta
        self.scale = np.ones(bandit.arms)
        self.pseudo_counts = self.alpha + self.beta
        self.ties: Ties = beta_ties(self.alpha, self.beta)

    def mean_at(self, y: Array) -> Array:
        return np.asarray(expit(y))

    def means_below(self, log_probability: Array) -> Array:
        return np.asarray(betaincinv(self.alpha, self.beta, np.exp(log_probability)))


def _check_arms(bandit: Bandit) -> None:
    if bandit.arms < 2:
        raise ValueError("bandit must have at least two arms for a tie, got 1")


def _sum_of_others(rates: Array) -> Array:
    """Sum of all numbers in a row but one, for each of them, without subtraction."""
    before, after = np.zeros_like(rates), np.zeros_like(rates)
    before[:, 1:] = np.cumsum(rates[:, :-1], axis=1)
    after[:, :-1] = np.cumsum(rates[:, :0:-1], axis=1)[:, ::-1]
    return before + after


def _chosen(weights: Array, fraction: Array) -> NDArray[np.int64]:
    """For each row a column, drawn with probability proportional to its weight; `fraction` is uniform on (0, 1]."""
    until = np.cumsum(weights, axis=1)
    return np.asarray((until < fraction[:, None] * until[:, -1:]).sum(axis=1), dtype=np.int64)
