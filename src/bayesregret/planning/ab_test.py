"""The best length of an A/B test with equal split, after which the winner is kept."""

from __future__ import annotations

from bayesregret.exact.explore_commit.best_length import prior_means
from bayesregret.models import Bandit, MixtureBandit
from bayesregret.planning.beliefs import believed_bandit
from bayesregret.planning.tracked_simulation import SimulateRegrets
from bayesregret.policies import ExploreCommit

GROWTH = 2.0


def best_ab_test(bandit: Bandit, horizon: int, regrets: SimulateRegrets, *, is_immediate: bool = True) -> ExploreCommit:
    """Return the A/B test of the best length: computed where possible, otherwise the best of a simulated sweep."""
    if is_immediate and not isinstance(bandit, MixtureBandit) and prior_means(bandit) is not None:
        return ExploreCommit(bandit.best_exploration(horizon))
    prior = believed_bandit(bandit) if isinstance(bandit, MixtureBandit) else None
    return min(
        (ExploreCommit(explore, prior) for explore in _lengths(bandit.arms, horizon)),
        key=lambda policy: float(regrets(policy).mean()),
    )


def _lengths(arms: int, horizon: int) -> list[int]:
    """Multiples of the number of arms, from 0 to half the horizon, each about twice the one before."""
    lengths, turns = [0], 1
    while turns * arms <= horizon // 2:
        lengths.append(turns * arms)
        turns = max(turns + 1, round(GROWTH * turns))
    return lengths
