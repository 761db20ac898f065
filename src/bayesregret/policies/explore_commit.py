"""Explore, then commit: an A/B test that pulls all arms equally often, then only the winner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import choose_arm, choose_linear
from bayesregret.policies.base import BelievingPolicy, keep
from bayesregret.policies.linear_selection import highest_mean
from bayesregret.policies.selection import leading_arm

if TYPE_CHECKING:
    from bayesregret.contracts import Stats
    from bayesregret.models import Bandit


class ExploreRounds(NamedTuple):
    explore: int


@choose_arm.implement(ExploreRounds)
def choose_explore_commit(policy, model, stats, round_, stream):
    """`memory` holds the winner plus 1; 0 while it is undecided."""
    arms = stats.counts.shape[0]
    if round_ <= policy.explore:
        return (round_ - 1) % arms, stream
    if stats.memory[0] == 0.0:
        stats.memory[0] = leading_arm(model, stats) + 1.0
    return int(stats.memory[0]) - 1, stream


@choose_linear.implement(ExploreRounds)
def choose_linear_explore_commit(policy, posterior, stats, round_, stream):
    if round_ <= policy.explore:
        return (round_ - 1) % stats.counts.shape[0], stream
    if stats.memory[0] == 0.0:
        stats.memory[0] = highest_mean(posterior, stats) + 1.0
    return int(stats.memory[0]) - 1, stream


@dataclass(frozen=True)
class ExploreCommit(BelievingPolicy):
    """Explore, then commit: all arms in turn for `explore` rounds, then only the one with the highest posterior mean.

    Parameters
    ----------
    explore : int, optional
        Number of exploration rounds; by default the number that minimises Bayes regret under the prior that the policy
        believes in, which needs a horizon.
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> ExploreCommit().settings(GaussianBandit([0, 0], prior_width=1, reward_noise=1), horizon=1000).explore
    30
    """

    name: ClassVar[str] = "explore-commit"
    more_than_posterior: ClassVar[str] = "it explores until a certain round, and then keeps its winner"
    explore: int | None = None
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.explore is not None:
            keep(self, explore=checks.rounds("explore", self.explore, 0))

    def fixed_for(self, bandit: Bandit, horizon: int | None) -> ExploreCommit:
        return replace(self, explore=self.settings(bandit, horizon).explore)

    def settings(self, bandit: Bandit, horizon: int | None) -> ExploreRounds:
        if self.explore is not None:
            return ExploreRounds(self.explore)
        if horizon is None:
            raise ValueError("explore must be given, a whole number of rounds, when there is no horizon")
        return ExploreRounds((self.prior or bandit).best_exploration(horizon))

    def memory(self, bandit: Bandit) -> int:
        return 1

    def check_memory(self, settings: tuple[Any, ...], belief: tuple[Any, ...], stats: Stats, rounds: int) -> None:
        assert isinstance(settings, ExploreRounds)
        winner, arms = stats.memory[0], len(stats.counts)
        if winner not in range(arms + 1) or (winner == 0.0) != (rounds <= settings.explore):
            raise ValueError(
                f"memory must begin with 0 until exploration ends, then with a number from 1 to {arms}, "
                f"got {checks.in_full(winner)}"
            )
