"""A lower bound on the regret of Thompson sampling. Proof: docs/theory/thompson.md.

A tie of the arms a and b costs the sum over rounds of their posterior variances (Bernoulli: of 1 / (pseudo-counts +
pulls)). In round k + 1 the two have at most k pulls together, and however these are divided, the sum is at least
(s_a + s_b)^2 / (r_a + r_b + k), by Cauchy and Schwarz.
"""

from __future__ import annotations

import numpy as np

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import certified_thompson_lower
from bayesregret.bounds.gaps.bernoulli import check_counts
from bayesregret.bounds.gaps.gaussian_heteroscedastic import spread_failure
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit, GaussianBandit
from bayesregret.numerics.best_arm_ties import Ties, beta_ties, normal_ties
from bayesregret.numerics.harmonic_sums import harmonic_sum


@certified_thompson_lower.of(GaussianBandit, "ties")
def thompson_lower_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = first_failure(gaussian_rewards(bandit), spread_failure(bandit))
    if why_not is not None or bandit.arms == 1:
        return Parts({"leading": 0.0}, why_not=why_not)
    widths, noises = bandit.prior_widths, bandit.reward_noises
    ties = normal_ties(bandit.prior_mean, widths, noises)
    return _lower(ties, noises, (noises / widths) ** 2, setting, order)


@certified_thompson_lower.of(BernoulliBandit, "ties")
def thompson_lower_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    check_counts(bandit)
    if bandit.arms == 1:
        return Parts({"leading": 0.0})
    ties = beta_ties(bandit.alpha, bandit.beta)
    return _lower(ties, np.ones(bandit.arms), bandit.alpha + bandit.beta, setting, order)


def _lower(ties: Ties, noises: Array, pseudo_counts: Array, setting: Setting, order: int) -> Parts:
    """`noises` and `pseudo_counts` are those of the arms."""
    noise, count = np.empty(len(ties.counts)), np.empty(len(ties.counts))
    noise[ties.kind], count[ties.kind] = noises, pseudo_counts
    costs = (noise[:, None] + noise) ** 2 * harmonic_sum(count[:, None] + count, setting.horizon)
    complexity = float(ties.counts @ ties.overlaps(order))
    return Parts({"leading": ties.pair_integral(costs, order)}, {"complexity": complexity})
