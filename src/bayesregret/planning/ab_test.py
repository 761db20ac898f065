"""An A/B test with equal split: how many rounds of it are best before the winner is taken for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesregret.exact.explore_commit.best_length import prior_means
from bayesregret.models import Bandit
from bayesregret.policies import ExploreCommit, Policy

GROWTH = 2.0

Regrets = Callable[[Policy], Any]


def best_split(bandit: Bandit, horizon: int, regrets: Regrets) -> ExploreCommit:
    """The A/B test of the best length: computed where that can be done, otherwise the best of a simulated sweep.

    `regrets` simulates a policy on the bandit, always on the same instances and the same noise: (runs,).
    """
    if prior_means(bandit) is not None:
        return ExploreCommit(bandit.best_exploration(horizon))
    return min(
        (ExploreCommit(explore) for explore in _lengths(bandit.arms, horizon)),
        key=lambda policy: float(regrets(policy).mean()),
    )


def _lengths(arms: int, horizon: int) -> list[int]:
    """Whole turns of all arms, each sweep about twice as long as the one before, none among them."""
    lengths, turns = [0], 1
    while turns * arms <= horizon // 2:
        lengths.append(turns * arms)
        turns = max(turns + 1, round(GROWTH * turns))
    return lengths
