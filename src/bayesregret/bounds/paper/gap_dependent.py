"""Theorem 1 and the first part of Theorem 5, as printed."""

from __future__ import annotations

import math

import numpy as np

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards, homoscedastic_only, unless
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import gap_dependent, ucb1_gap_dependent
from bayesregret.bounds.gaps.bernoulli import bernoulli_gaps
from bayesregret.bounds.gaps.bernoulli_density import BetaArmKind
from bayesregret.bounds.gaps.gaussian import GaussianGaps, gaussian_gaps
from bayesregret.checks import Array, in_full
from bayesregret.models import BernoulliBandit, GaussianBandit

AS_PRINTED = "false as printed: it counts negative pulls and forgets one pull per arm; certified_floor repairs both"


@gap_dependent.of(GaussianBandit, "Theorem 1")
@homoscedastic_only
def theorem_1(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    n, K, s0 = setting.horizon, bandit.arms, bandit.prior_width
    epsilon = setting.paper_epsilon
    leading = _clipped_inverse(gaussian_gaps(bandit, order), bandit, setting, prior_pulls=bandit.model.pseudo_count)
    farthest = s0 * math.sqrt(8.0 * setting.L)
    return Parts(
        {
            "leading": leading,
            "small gaps": epsilon * n,
            "failures": 2.0 * (setting.z + 2.0 * K) * s0 * K * n * setting.delta,
        },
        why_not=first_failure(
            gaussian_rewards(bandit),
            unless(
                epsilon <= farthest,
                f"epsilon must be at most prior_width sqrt(8 log(1/delta)) = {in_full(farthest)}: an arm with a larger "
                "gap is not pulled",
            ),
        ),
        note=AS_PRINTED,
    )


@ucb1_gap_dependent.of(GaussianBandit, "Figure 1")
@homoscedastic_only
def infinite_width_trend(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    return Parts(
        {"leading": _clipped_inverse(gaussian_gaps(bandit, order), bandit, setting, prior_pulls=0.0)},
        why_not="a curve of Figure 1, not a stated bound: Theorem 1's remainder is infinite at infinite width",
    )


def _clipped_inverse(gaps: GaussianGaps, bandit: GaussianBandit, setting: Setting, prior_pulls: float) -> float:
    """E sum of 8 s^2 L / max(gap, epsilon) - prior_pulls max(gap, epsilon)."""
    epsilon = setting.paper_epsilon / gaps.width
    pulls = 8.0 * setting.L * bandit.model.pseudo_count

    def count_times_gap(x: Array) -> Array:
        return pulls / x - prior_pulls * x

    near = gaps.expect(np.ones_like, high=epsilon) * float(count_times_gap(np.array(epsilon)))
    return gaps.width * (near + gaps.expect(count_times_gap, low=epsilon))


@gap_dependent.of(BernoulliBandit, "Theorem 5, first part")
def theorem_5_first(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    n, K, L = setting.horizon, bandit.arms, setting.L
    epsilon = setting.paper_epsilon
    gaps = bernoulli_gaps(bandit, order)

    def count_times_gap(kind: BetaArmKind, x: Array) -> Array:
        clipped = np.maximum(x, epsilon)
        return 2.0 * L / clipped - (kind.pseudo_count + 1.0) * clipped

    near = gaps.expect(count_times_gap, high=lambda kind: epsilon)
    farthest = math.sqrt(2.0 * L / (float(np.max(bandit.alpha + bandit.beta)) + 1.0))
    return Parts(
        {
            "leading": near + gaps.expect(count_times_gap, low=epsilon),
            "small gaps": epsilon * n,
            "failures": 2.0 * K * n * setting.delta,
        },
        why_not=unless(
            epsilon <= farthest,
            f"epsilon must be at most sqrt(2 log(1/delta) / (alpha + beta + 1)) = {in_full(farthest)} for every arm: "
            "an arm with a larger gap is not pulled",
        ),
        note=AS_PRINTED,
    )
