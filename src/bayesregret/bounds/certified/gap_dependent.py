"""The repaired gap-dependent forms: floor, epsilon and index. Proofs: docs/theory/certified-*.md."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import log_expit

from bayesregret.bounds.assumptions import gaussian_rewards, unless, with_heteroscedastic_form
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import certified_epsilon, certified_floor, certified_index
from bayesregret.bounds.certified.bernoulli_index_sum import index_sum
from bayesregret.bounds.certified.best_epsilon import SMALLEST_FRACTION, best_epsilon
from bayesregret.bounds.certified.heteroscedastic import (
    epsilon_heteroscedastic,
    floor_heteroscedastic,
    index_heteroscedastic,
)
from bayesregret.bounds.gaps.bernoulli import bernoulli_gaps
from bayesregret.bounds.gaps.bernoulli_density import BetaArmKind
from bayesregret.bounds.gaps.gaussian import gaussian_gaps
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit, GaussianBandit
from bayesregret.numerics.quadrature import sum_rule

LARGEST_LATTICE = 10**11


def bad_rounds_gaussian(bandit: GaussianBandit, setting: Setting) -> float:
    """C3: regret in rounds in which the interval of the best arm or of the pulled arm fails."""
    K, Q = bandit.arms, setting.tail
    return setting.horizon * bandit.prior_width * ((K + 1) * setting.density + (K - 1) * Q * setting.excess)


def bad_rounds_bernoulli(bandit: BernoulliBandit, setting: Setting) -> float:
    """Regret in rounds in which the interval of the best arm or of the pulled arm fails."""
    return (bandit.arms + 1) * setting.horizon * setting.delta


def farthest_gap(bandit: BernoulliBandit, setting: Setting) -> Callable[[BetaArmKind], float]:
    """Largest gap at which an arm of a kind is ever pulled while its interval holds."""
    return lambda kind: min(1.0, math.sqrt(2.0 * setting.L / (kind.pseudo_count + 1.0)))


# --- floor ---------------------------------------------------------------------------------------------------------


@certified_floor.of(GaussianBandit, "Theorem 1, repaired")
@with_heteroscedastic_form(floor_heteroscedastic)
def floor_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """E sum gap min(n, floor(B) + 1): the sum over k < n of E sum gap 1{gap <= x_k}, x_k the gap at which B = k."""
    gaps, r = gaussian_gaps(bandit, order), bandit.model.pseudo_count
    k, times = sum_rule(0, setting.horizon, order)
    reached = np.sqrt(8.0 * setting.L * (r / (k + r)))
    return Parts(
        {
            "leading": gaps.width * float(times @ gaps.partial_means(reached)),
            "bad rounds": bad_rounds_gaussian(bandit, setting),
        },
        why_not=gaussian_rewards(bandit),
    )


@certified_floor.of(BernoulliBandit, "Theorem 5, repaired")
def floor_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    gaps = bernoulli_gaps(bandit, order)
    leading = 0.0
    for density in gaps.densities:
        prior = density.kind.pseudo_count + 1.0
        # While x_k is at least 1 every gap counts; then the sum is smooth between panels of the density.
        whole = min(setting.horizon, max(0, math.floor(2.0 * setting.L - prior) + 1))
        edges = np.exp(log_expit(density.tapered.edges))
        marks = 2.0 * (math.sqrt(setting.L) / np.maximum(edges, SMALLEST_FRACTION)) ** 2 - prior
        k, times = sum_rule(whole, setting.horizon, order, tuple(np.ceil(marks).tolist()))
        reached = np.append(np.sqrt(2.0 * setting.L / (k + prior)), 1.0)
        leading += density.kind.copies * float(np.append(times, whole) @ gaps.partial_means(density, reached))
    return Parts({"leading": leading, "bad rounds": bad_rounds_bernoulli(bandit, setting)})


# --- epsilon -------------------------------------------------------------------------------------------------------


@certified_epsilon.of(GaussianBandit, "Theorem 1, repaired")
@with_heteroscedastic_form(epsilon_heteroscedastic)
def epsilon_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """E sum gap (B + 1) 1{epsilon <= gap, B >= 0} + epsilon n; in widths the summand is 8 L r / x + (1 - r) x."""
    gaps, r = gaussian_gaps(bandit, order), bandit.model.pseudo_count
    farthest = math.sqrt(8.0 * setting.L)

    def pulled(x: Array) -> Array:
        return 8.0 * setting.L * r / x + (1.0 - r) * x

    def slope(x: Array) -> Array:
        return setting.horizon - pulled(x) * gaps.density(x)

    epsilon = setting.epsilon / gaps.width if setting.epsilon is not None else best_epsilon(slope, farthest)
    leading = gaps.expect(pulled, low=epsilon, high=farthest) if epsilon < farthest else 0.0
    return Parts(
        {
            "leading": gaps.width * leading,
            "small gaps": gaps.width * epsilon * setting.horizon,
            "bad rounds": bad_rounds_gaussian(bandit, setting),
        },
        {"epsilon": gaps.width * epsilon},
        why_not=gaussian_rewards(bandit),
    )


@certified_epsilon.of(BernoulliBandit, "Theorem 5, repaired")
def epsilon_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    gaps = bernoulli_gaps(bandit, order)
    farthest = farthest_gap(bandit, setting)

    def pulled(kind: BetaArmKind, x: Array) -> Array:
        return 2.0 * setting.L / x - kind.pseudo_count * x

    def slope(x: Array) -> Array:
        total = np.full_like(x, setting.horizon)
        for gap in gaps.densities:
            reached = x < farthest(gap.kind)
            total[reached] -= gap.kind.copies * pulled(gap.kind, x[reached]) * gaps.density(gap, x[reached])
        return total

    widest = max((farthest(kind) for kind in gaps.kinds), default=0.0)
    epsilon = setting.epsilon if setting.epsilon is not None else best_epsilon(slope, widest)
    return Parts(
        {
            "leading": gaps.expect(pulled, low=epsilon, high=farthest),
            "small gaps": epsilon * setting.horizon,
            "bad rounds": bad_rounds_bernoulli(bandit, setting),
        },
        {"epsilon": epsilon},
    )


# --- index ---------------------------------------------------------------------------------------------------------


@certified_index.of(GaussianBandit, "index form")
@with_heteroscedastic_form(index_heteroscedastic)
def index_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    gaps, K = gaussian_gaps(bandit, order), bandit.arms
    bad = K * setting.excess + (K - 1) * setting.tail * (setting.z + setting.excess)
    return Parts(
        {
            "leading": gaps.width * gaps.index_sum(bandit.model.pseudo_count, setting.z, setting.horizon),
            "bad rounds": setting.horizon * gaps.width * bad,
        },
        why_not=gaussian_rewards(bandit),
    )


@certified_index.of(BernoulliBandit, "index form")
def index_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    why_not = unless(
        setting.horizon <= LARGEST_LATTICE or bandit.arms == 1,
        f"horizon must be at most {LARGEST_LATTICE:g}: beyond, the sum over pulls is lost in rounding",
    )
    horizon = min(setting.horizon, LARGEST_LATTICE)
    leading, left_out = index_sum(bernoulli_gaps(bandit, order), setting.L, horizon)
    return Parts(
        {"leading": leading, "bad rounds": (bandit.arms - 1) * setting.horizon * setting.delta},
        why_not=why_not,
        unseen_error=left_out,
    )
