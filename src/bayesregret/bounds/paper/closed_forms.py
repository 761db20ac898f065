"""Closed forms: the earlier square-root bound and the lemmas of the appendix."""

from __future__ import annotations

import math

from bayesregret import checks
from bayesregret.bounds.assumptions import first_failure, gaussian_rewards, homoscedastic_only
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import action_bound, failure_probability, failure_regret, sqrt
from bayesregret.models import BernoulliBandit, GaussianBandit


@sqrt.of(GaussianBandit, "eq. (3)")
@homoscedastic_only
def square_root(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """4 sqrt(2 s^2 K L) (sqrt(n + c) - sqrt(c)), c = s^2 K / s0^2, written without cancellation."""
    n, K = setting.horizon, bandit.arms
    c = bandit.model.pseudo_count * K
    leading = 4.0 * bandit.reward_noise * math.sqrt(2.0 * K * setting.L) * n / (math.sqrt(n + c) + math.sqrt(c))
    return Parts(
        {"leading": leading},
        why_not=first_failure(gaussian_rewards(bandit), "the paper prints the leading term alone, with no remainder"),
    )


def pulls_allowed(most: float, horizon: int) -> int:
    """Number of pulls while all intervals hold, if each needs at most `most` pulls before it."""
    return 0 if most < 0.0 else min(horizon, math.floor(min(most, horizon)) + 1)


@action_bound.of(GaussianBandit, "eq. (6)")
@homoscedastic_only
def action_bound_gaussian(bandit: GaussianBandit, setting: Setting, order: int, *, gap: float) -> Parts:
    gap = checks.positive("gap", gap)
    most = 8.0 * (bandit.reward_noise / gap) ** 2 * setting.L - bandit.model.pseudo_count
    return Parts(
        {"leading": most}, {"certified": pulls_allowed(most, setting.horizon)}, why_not=gaussian_rewards(bandit)
    )


@action_bound.of(BernoulliBandit, "eq. (6) for Theorem 5")
def action_bound_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int, *, gap: float, arm: int = 0) -> Parts:
    gap = checks.positive("gap", gap)
    arm = checks.whole("arm", arm, 0, bandit.arms - 1)
    most = 2.0 * setting.L / gap**2 - float(bandit.alpha[arm] + bandit.beta[arm] + 1.0)
    return Parts({"leading": most}, {"certified": pulls_allowed(most, setting.horizon)})


@failure_regret.of(GaussianBandit, "Lemma 7")
@homoscedastic_only
def lemma_7(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    return Parts({"leading": 2.0 * bandit.prior_width * bandit.arms * setting.delta}, why_not=gaussian_rewards(bandit))


@failure_probability.of(GaussianBandit, "Lemma 9")
@failure_probability.of(BernoulliBandit, "Section 4.3")
def interval_failure(bandit: GaussianBandit | BernoulliBandit, setting: Setting, order: int) -> Parts:
    why_not = gaussian_rewards(bandit) if isinstance(bandit, GaussianBandit) else None
    return Parts({"leading": 2.0 * bandit.arms * setting.delta}, {"per_arm": 2.0 * setting.delta}, why_not=why_not)
