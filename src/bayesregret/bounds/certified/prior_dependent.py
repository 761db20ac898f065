"""Certified gap-free, prior-dependent, small-width and trivial forms for independent arms. Proofs: docs/theory."""

from __future__ import annotations

import math

import numpy as np

from bayesregret.bounds.assumptions import gaussian_rewards, with_heteroscedastic_form
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import (
    certified_gap_free,
    certified_prior_dependent,
    certified_small_width,
    certified_trivial,
)
from bayesregret.bounds.certified.gap_dependent import bad_rounds_bernoulli, bad_rounds_gaussian, farthest_gap
from bayesregret.bounds.certified.heteroscedastic import (
    gap_free_heteroscedastic,
    prior_dependent_heteroscedastic,
    small_width_heteroscedastic,
    trivial_heteroscedastic,
)
from bayesregret.bounds.gaps.bernoulli import BernoulliGaps, bernoulli_gaps
from bayesregret.bounds.gaps.bernoulli_density import BetaArmKind
from bayesregret.bounds.gaps.gaussian import gaussian_gaps
from bayesregret.bounds.paper.prior_dependent import INFINITE_AT_ZERO, gaussian_complexity, xi_range
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit, GaussianBandit
from bayesregret.numerics.quadrature import sum_rule


@certified_gap_free.of(GaussianBandit, "gap-free form")
@with_heteroscedastic_form(gap_free_heteroscedastic)
def gap_free_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """z times the largest possible sum of posterior standard deviations, attained by pulling all arms equally often."""
    n, K, s0, r = setting.horizon, bandit.arms, bandit.prior_width, bandit.model.pseudo_count
    each, left_over = divmod(n, K)
    k, times = sum_rule(0, each, order)
    deviations = K * float(times @ np.sqrt(r / (k + r))) + left_over * math.sqrt(r / (each + r))
    return Parts(
        {"leading": setting.z * s0 * deviations, "bad rounds": n * K * s0 * setting.excess},
        why_not=gaussian_rewards(bandit),
    )


@certified_gap_free.of(BernoulliBandit, "gap-free form")
def gap_free_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    """z times the sum of the n largest standard deviations 1/(2 sqrt(c + k + 1)), c an arm's prior pseudo-count."""
    n = setting.horizon
    firsts, copies = np.unique(bandit.alpha + bandit.beta + 1.0, return_counts=True)
    threshold = _smallest_threshold(firsts, copies.astype(np.float64), n)
    deviations = 0.0
    counted = 0
    for first, count in zip(firsts.tolist(), copies.tolist(), strict=True):
        pulls = max(0, math.floor(threshold - first) + 1)
        k, times = sum_rule(0, pulls, order)
        deviations += count * 0.5 * float(times @ (1.0 / np.sqrt(first + k)))
        counted += count * pulls
    deviations -= (counted - n) * 0.5 / math.sqrt(threshold)  # arms that tie for the last pulls
    tails = math.sqrt(2.0 * math.pi) * setting.tail * 0.5 * float(copies @ (1.0 / np.sqrt(firsts)))
    return Parts({"leading": setting.z * deviations, "bad rounds": n * tails})


def _smallest_threshold(firsts: Array, copies: Array, horizon: int) -> float:
    """Smallest threshold that `horizon` or more of the numbers first + k, k = 0, 1, ..., do not exceed."""
    low, high = float(firsts.min()) - 1.0, float(firsts.min()) + horizon
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        enough = float(copies @ np.maximum(0.0, np.floor(middle - firsts) + 1.0)) >= horizon
        low, high = (low, middle) if enough else (middle, high)
    return high


@certified_small_width.of(GaussianBandit, "small-width form")
@with_heteroscedastic_form(small_width_heteroscedastic)
def small_width_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """While intervals hold, the gap of a pulled arm is at most 2 z prior widths."""
    gap = min(gaussian_gaps(bandit, order).max_gap, 2.0 * setting.z)
    return Parts(
        {
            "leading": setting.horizon * bandit.prior_width * gap,
            "bad rounds": bad_rounds_gaussian(bandit, setting),
        },
        why_not=gaussian_rewards(bandit),
    )


@certified_small_width.of(BernoulliBandit, "small-width form")
def small_width_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    """While intervals hold, the gap of a pulled arm is at most two confidence widths of the widest prior."""
    widest = math.sqrt(0.5 * setting.L / (float(np.min(bandit.alpha + bandit.beta)) + 1.0))
    gap = min(bernoulli_gaps(bandit, order).max_gap, 2.0 * widest)
    return Parts({"leading": setting.horizon * gap, "bad rounds": bad_rounds_bernoulli(bandit, setting)})


@certified_trivial.of(GaussianBandit, "trivial form")
@with_heteroscedastic_form(trivial_heteroscedastic)
def trivial_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    return Parts({"leading": setting.horizon * bandit.prior_width * gaussian_gaps(bandit, order).max_gap})


@certified_trivial.of(BernoulliBandit, "trivial form")
def trivial_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    return Parts({"leading": setting.horizon * bernoulli_gaps(bandit, order).max_gap})


@certified_prior_dependent.of(GaussianBandit, "Corollary 2, repaired")
@with_heteroscedastic_form(prior_dependent_heteroscedastic)
def prior_dependent_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """Gaps up to u by the prior's largest density, those beyond e2 by their expectation, those below 1/n by 1."""
    gaps, r, L = gaussian_gaps(bandit, order), bandit.model.pseudo_count, setting.L
    e1, e2 = (side / gaps.width for side in xi_range(setting))
    farthest = math.sqrt(8.0 * L)
    u = min(e2, max(e1, farthest))
    integral = 8.0 * L * r * math.log(u / e1) + 0.5 * (1.0 - r) * (u * u - e1 * e1)
    density = gaussian_complexity(bandit, order, e1 * gaps.width, u * gaps.width) * gaps.width
    beyond = gaps.expect(lambda x: 8.0 * L * r / x + (1.0 - r) * x, low=e2, high=farthest) if e2 < farthest else 0.0
    return Parts(
        {
            "leading": gaps.width * integral * density,
            "large gaps": gaps.width * beyond,
            "small gaps": 1.0,
            "bad rounds": bad_rounds_gaussian(bandit, setting),
        },
        {"complexity": density / gaps.width, "xi_at_most": u * gaps.width},
        why_not=gaussian_rewards(bandit),
    )


@certified_prior_dependent.of(BernoulliBandit, "Theorem 5, repaired")
def prior_dependent_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    gaps, L = bernoulli_gaps(bandit, order), setting.L
    _, e2 = xi_range(setting)
    farthest = farthest_gap(bandit, setting)

    def pulled(kind: BetaArmKind, x: Array) -> Array:
        return 2.0 * L / x - kind.pseudo_count * x

    leading = sum(kind.copies * _middle_gaps(gaps, kind, setting, farthest(kind)) for kind in gaps.kinds)
    return Parts(
        {
            "leading": leading,
            "large gaps": gaps.expect(pulled, low=e2, high=farthest) if e2 < 1.0 else 0.0,
            "small gaps": 1.0,
            "bad rounds": bad_rounds_bernoulli(bandit, setting),
        },
        note=INFINITE_AT_ZERO if math.isinf(leading) else None,
    )


def _middle_gaps(gaps: BernoulliGaps, kind: BetaArmKind, setting: Setting, farthest: float) -> float:
    """Regret of one arm at gaps between 1/n and 1/sqrt(log n)."""
    e1, e2 = xi_range(setting)
    u = min(e2, max(e1, farthest))
    integral = 2.0 * setting.L * math.log(u / e1) - 0.5 * kind.pseudo_count * (u * u - e1 * e1)
    return integral * gaps.overlap(kind, e1, u) if integral > 0.0 else 0.0
