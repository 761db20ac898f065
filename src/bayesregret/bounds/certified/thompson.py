"""The certified bound on the regret of Thompson sampling. Proofs: docs/theory/thompson.md."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards
from bayesregret.bounds.bound import COARSE, ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import certified_thompson
from bayesregret.bounds.certified.thompson_forms import (
    AlikeArms,
    FreeNumbers,
    normal_tail,
    search_refined,
    search_ties,
    sub_gaussian_tail,
    value_with,
)
from bayesregret.bounds.gaps.bernoulli import check_counts
from bayesregret.bounds.gaps.gaussian_heteroscedastic import spread_failure
from bayesregret.bounds.gaps.linear import geometry
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit, GaussianBandit, LinearBandit
from bayesregret.numerics.best_arm import TAIL, best_probabilities
from bayesregret.numerics.best_arm_ties import beta_ties, normal_ties
from bayesregret.numerics.correlated_best_arm import drawn_best
from bayesregret.numerics.marginals import BetaMeans, NormalMeans

SEED = 20231210  # of draws for linear bandits: the same number on every call
EFFORT = 0.2  # of these draws
STANDARD_ERRORS = 4.0  # of the drawn entropy: the error of the bound covers these


class Problem(NamedTuple):
    """What the bound takes from a bandit with independent arms."""

    kinds: list[AlikeArms]
    profiles: list[AlikeArms]  # the same arms; those that differ in their complexity alone are together
    entropy: float  # of the best arm, in nats; rounded up
    information_weight: float  # W: the squared regret of a round is at most 2 W times its information


@certified_thompson.of(GaussianBandit, "information and ties")
def thompson_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = first_failure(gaussian_rewards(bandit), spread_failure(bandit))
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    return _smallest(bandit, setting.horizon, order)


@certified_thompson.of(BernoulliBandit, "information and ties")
def thompson_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    check_counts(bandit)
    return _smallest(bandit, setting.horizon, order)


def _smallest(bandit: GaussianBandit | BernoulliBandit, horizon: int, order: int) -> Parts:
    """The smallest of the three forms."""
    if bandit.arms == 1:
        return Parts({"leading": 0.0}, error=0.0)
    problem = _problem(bandit, order)
    plain = math.sqrt(2.0 * horizon * problem.information_weight * problem.entropy)
    found = _multipliers(bandit, horizon)
    refined, xi = value_with(problem.profiles, found.refined, problem.entropy, horizon)
    ties, _ = value_with(problem.kinds, found.ties, problem.entropy, horizon)
    forms = {"information": plain, "refined": refined, "ties": ties}
    best = min(forms, key=forms.__getitem__)
    most = max(zip(problem.kinds, found.ties, strict=True), key=lambda pair: pair[0].copies)[1]
    return Parts(
        {"leading": forms[best]},
        {
            "form": best,
            **forms,
            "entropy": problem.entropy,
            "complexity": math.fsum(arms.copies * arms.complexity for arms in problem.kinds),
            "lambda": found.refined[0].information,
            "nu": found.refined[0].round,
            "xi": xi,
            "ties_mu": most.ties,
            "ties_nu": most.round,
        },
    )


class Found(NamedTuple):
    """Free numbers of the two forms that have some, one set for each kind of arm."""

    refined: list[FreeNumbers]
    ties: list[FreeNumbers]


@functools.lru_cache(maxsize=128)
def _multipliers(bandit: GaussianBandit | BernoulliBandit, horizon: int) -> Found:
    """The same for both orders of quadrature, so that their difference is an error of the integrals alone."""
    problem = _problem(bandit, COARSE)
    return Found(search_refined(problem.profiles, problem.entropy, horizon), search_ties(problem.kinds, horizon))


@functools.lru_cache(maxsize=128)
def _problem(bandit: GaussianBandit | BernoulliBandit, order: int) -> Problem:
    return _bernoulli_problem(bandit, order) if isinstance(bandit, BernoulliBandit) else _gaussian(bandit, order)


def _gaussian(bandit: GaussianBandit, order: int) -> Problem:
    means, widths, noises = bandit.prior_mean - bandit.prior_mean.max(), bandit.prior_widths, bandit.reward_noises
    ties = normal_ties(means, widths)
    kinds = _grouped(_gaussian_arms, (means, widths, noises), ties.overlaps(order)[ties.kind], (widths, noises))
    profiles = _grouped(_gaussian_arms, (widths, noises), np.zeros(bandit.arms), (widths, noises))
    first = noises**2 + widths**2  # variances of the next reward
    entropy = _rounded_up(best_probabilities(NormalMeans(means, widths)))
    return Problem(kinds, profiles, entropy, math.fsum(first) - float(first.min()))


def _grouped(
    make: Callable[..., AlikeArms], keys: tuple[Array, ...], complexities: Array, parameters: tuple[Array, ...]
) -> list[AlikeArms]:
    """Arms with equal keys, together; `make` takes the number of arms, the complexity of one, and its parameters."""
    _, first, copies = np.unique(np.stack(keys), axis=1, return_index=True, return_counts=True)
    rows = np.stack([complexities, *parameters])[:, first].T.tolist()
    return [make(int(many), *row) for many, row in zip(copies, rows, strict=True)]


def _gaussian_arms(copies: int, complexity: float, width: float, noise: float) -> AlikeArms:
    pseudo_count = (noise / width) ** 2

    def variance(pulls: Array) -> Array:
        return noise * noise / (pseudo_count + pulls)

    return AlikeArms(
        copies,
        complexity,
        deviation=lambda pulls: np.sqrt(variance(pulls)),
        per_tie=variance,
        spread=lambda pulls: noise * noise + variance(pulls),
        tail=normal_tail(),
    )


def _bernoulli_problem(bandit: BernoulliBandit, order: int) -> Problem:
    ties = beta_ties(bandit.alpha, bandit.beta)
    pseudo_counts = (bandit.alpha + bandit.beta,)
    kinds = _grouped(_bernoulli_arms, (bandit.alpha, bandit.beta), ties.overlaps(order)[ties.kind], pseudo_counts)
    profiles = _grouped(_bernoulli_arms, pseudo_counts, np.zeros(bandit.arms), pseudo_counts)
    entropy = _rounded_up(best_probabilities(BetaMeans(bandit.alpha, bandit.beta)))
    proxies = math.fsum(reward_proxy(bandit.alpha, bandit.beta))
    return Problem(kinds, profiles, entropy, min(0.25 * (bandit.arms - 1.0), proxies))


def _bernoulli_arms(copies: int, complexity: float, pseudo_count: float) -> AlikeArms:
    return AlikeArms(
        copies,
        complexity,
        deviation=lambda pulls: 0.5 / np.sqrt(pseudo_count + pulls + 1.0),
        per_tie=lambda pulls: 1.0 / (pseudo_count + pulls),
        spread=lambda pulls: np.full_like(pulls, 0.25),
        tail=sub_gaussian_tail(),
    )


def reward_proxy(alpha: Array, beta: Array) -> Array:
    """Variance proxy of a reward with mean alpha / (alpha + beta), (1 - 2m) / (2 log((1 - m) / m)): 1/4 at m = 1/2."""
    apart = (beta - alpha) / (beta + alpha)  # 1 - 2m
    log_odds = np.log(beta / alpha)
    even = np.abs(apart) < 1e-6
    return np.where(even, 0.25, 0.5 * apart / np.where(even, 1.0, log_odds))


def entropy_of(probabilities: Array) -> float:
    """Entropy in nats."""
    some = probabilities[probabilities > 0.0]
    return abs(math.fsum(some * np.log(some)))


def _rounded_up(probabilities: Array) -> float:
    """Upper bound on the entropy, where the tails of each arm and of the best one were left out of the probabilities.

    What is left out is at most `lost`, and entropies differ by at most lost log(K / lost) + lost (Zhang 2007).
    """
    arms = len(probabilities)
    lost = 2.0 * (arms + 1.0) * TAIL
    return min(math.log(arms), entropy_of(probabilities) + lost * (math.log(arms / lost) + 1.0))


# --- linear bandits ------------------------------------------------------------------------------------------------


@certified_thompson.of(LinearBandit, "information, by the rank")
def thompson_linear(bandit: LinearBandit, setting: Setting, order: int) -> Parts:
    """sqrt(2 n d w H), d the rank of the differences of arms, w the largest variance of a next reward."""
    arms = geometry(bandit)
    rank, spread = arms.spread.shape[1], bandit.reward_noise**2 + float(arms.prior_deviation.max()) ** 2
    if rank == 0:
        return Parts({"leading": 0.0}, {"entropy": 0.0, "rank": 0.0, "spread": spread}, error=0.0)
    entropy, error = drawn_entropy(arms.offset, arms.whitened.T)
    value = math.sqrt(2.0 * setting.horizon * rank * spread * entropy)
    return Parts(
        {"leading": value},
        {"entropy": entropy, "rank": float(rank), "spread": spread},
        error=value * (0.5 * STANDARD_ERRORS * error / entropy + ROUNDING),
    )


@functools.lru_cache(maxsize=64)
def _cached_best(mean: tuple[float, ...], root: bytes, rank: int) -> tuple[Array, Array]:
    return drawn_best(np.array(mean), np.frombuffer(root).reshape(rank, -1), seed=SEED, effort=EFFORT)


def drawn_entropy(mean: Array, root: Array) -> tuple[float, float]:
    """Entropy of the best of correlated normal variables, by draws, and a bound on its standard error.

    The entropy of relative frequencies is too low by half the number of arms over that of draws: this is added. No
    entropy is above the logarithm of the number of arms.
    """
    found, stderr = _cached_best(tuple(mean.tolist()), np.ascontiguousarray(root).tobytes(), len(root))
    rare = np.maximum(found, stderr)  # an arm that was never best may be so with a probability like its error
    seen = rare > 0.0
    rows, copies = np.unique(np.stack([rare[seen], stderr[seen]]), axis=1, return_counts=True)
    correction = float(copies @ (0.5 * rows[1] ** 2 / rows[0]))
    # Frequencies of different arms are negatively correlated, those of exchangeable arms are equal.
    error = float(np.linalg.norm(copies * rows[1] * np.abs(np.log(rows[0]))))
    return min(math.log(len(mean)), entropy_of(rare[seen]) + correction), error
