"""Exact regret of explore-then-commit: a sum of two terms, for any horizon."""

from __future__ import annotations

import numpy as np

from bayesregret import checks
from bayesregret.exact.explore_commit.best_length import (
    ARMS_DIFFER,
    best_exploration_length,
    expected_best,
    expected_highest,
    prior_means,
)
from bayesregret.models import MixtureBandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.old_spellings import horizon_by_name


@horizon_by_name
def explore_commit_regret(bandit: BanditLike, explore: int | None = None, *, horizon: int) -> float:
    """Compute the exact Bayes regret of `ExploreCommit` on a bandit with independent arms.

    A round of exploration costs the gap between the best arm and the arm pulled; a later round the gap between the best
    arm and the arm with the highest posterior mean after exploration.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        A bandit with independent arms, and without Rademacher noise; or a mixture of such bandits whose arms have the
        same prior in each component. There the policy may believe in the mixture or in any bandit with equal arms: all
        keep the arm with the highest sample mean.
    explore : int, optional
        Rounds of exploration, over all arms in turn; by default the number with the smallest regret. On a mixture a
        multiple of the number of arms.
    horizon : int
        Number of rounds.

    Returns
    -------
    float
        Bayes regret at the horizon.

    Examples
    --------
    >>> bandit = GaussianBandit([1, 0], prior_width=1, reward_noise=1)
    >>> [round(explore_commit_regret(bandit, horizon=1000, explore=explore), 6) for explore in (0, 10, None)]
    [199.641228, 44.007515, 33.444906]
    """
    bandit = as_bandit(bandit)
    means = prior_means(bandit)
    if means is None and isinstance(bandit, MixtureBandit):
        raise ValueError(f"bandit must not be a mixture {ARMS_DIFFER}")
    if means is None:
        raise ValueError(
            f"bandit must have independent arms, and no rademacher noise, for an exact regret, got {bandit.a_kind} one"
        )
    horizon = checks.whole("horizon", horizon, 1)
    rounds = best_exploration_length(bandit, horizon) if explore is None else checks.whole("explore", explore, 0)
    rounds = min(rounds, horizon)
    if isinstance(bandit, MixtureBandit) and len(bandit.bandits) > 1 and rounds < horizon and rounds % bandit.arms > 0:
        raise ValueError(f"explore must be a multiple of the {bandit.arms} arms on a mixture, got {rounds}")
    pulls = rounds // bandit.arms + (np.arange(bandit.arms) < rounds % bandit.arms)
    best = expected_best(bandit)
    regret = np.sum(pulls * (best - means)) + (horizon - rounds) * (best - expected_highest(bandit, pulls))
    return max(0.0, float(regret))  # negative values are rounding
