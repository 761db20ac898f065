"""Explore, then commit: an A/B test. All arms equally often at first, then the one that did best for good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import choose_arm, choose_linear
from bayesregret.policies.base import BelievingPolicy
from bayesregret.policies.linear_selection import highest_mean
from bayesregret.policies.selection import leading_arm

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class ThenTheWinner(NamedTuple):
    explore: int  # rounds


@choose_arm.implement(ThenTheWinner)
def choose_then_the_winner(policy, model, stats, round_, stream):
    """`memory` holds the winner, plus 1, once it is chosen."""
    arms = stats.counts.shape[0]
    if round_ <= policy.explore:
        return (round_ - 1) % arms, stream
    if stats.memory[0] == 0.0:
        stats.memory[0] = leading_arm(model, stats) + 1.0
    return int(stats.memory[0]) - 1, stream


@choose_linear.implement(ThenTheWinner)
def choose_then_the_linear_winner(policy, posterior, stats, round_, stream):
    if round_ <= policy.explore:
        return (round_ - 1) % stats.counts.shape[0], stream
    if stats.memory[0] == 0.0:
        stats.memory[0] = highest_mean(posterior, stats) + 1.0
    return int(stats.memory[0]) - 1, stream


@dataclass(frozen=True)
class ExploreCommit(BelievingPolicy):
    """All arms in turn for `explore` rounds, then the one with the highest posterior mean, for good.

    If `explore` is None, it is the number of rounds that makes Bayes regret smallest under the prior that the policy
    believes in; that needs a horizon. `prior` is a bandit whose prior the policy believes in, the true one if None.

    >>> ExploreCommit(explore=100)
    ExploreCommit(explore=100, prior=None)
    """

    name: ClassVar[str] = "explore-commit"
    explore: int | None = None
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.explore is not None:
            checks.whole("explore", self.explore, 0)

    def settings(self, bandit: Bandit, horizon: int | None) -> ThenTheWinner:
        if self.explore is not None:
            return ThenTheWinner(int(self.explore))
        if horizon is None:
            raise ValueError("explore must be given, a whole number of rounds, when there is no horizon")
        return ThenTheWinner((self.prior or bandit).best_exploration(horizon))

    def memory(self, bandit: Bandit) -> int:
        return 1
