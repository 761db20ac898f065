"""Bayes-optimal policy for two or three Bernoulli arms: decisions computed by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import choose_arm
from bayesregret.policies.base import PosteriorPolicy
from bayesregret.policies.selection import leading_arm

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class Switches(NamedTuple):
    """Decisions for two arms: the smallest number of wins of arm 1 at which it is pulled. Empty for one arm."""

    horizon: int
    switch: NDArray[np.uint16]


class Choices(NamedTuple):
    """Decisions for three arms: the arm to pull, by pulls and wins."""

    horizon: int
    places: NDArray[np.int64]
    choice: NDArray[np.uint8]


@choose_arm.implement(Switches)
def choose_by_switch(policy, model, stats, round_, stream):
    if stats.counts.sum() >= policy.horizon:
        return leading_arm(model, stats), stream
    pulls, wins = stats.counts, stats.totals
    all_pulls = pulls[0] + pulls[1]
    place = all_pulls * (all_pulls + 1) * (all_pulls + 2) // 6 + pulls[0] * (pulls[0] + 1) // 2 + int(wins[0])
    return (1 if wins[1] >= policy.switch[place] else 0), stream


@choose_arm.implement(Choices)
def choose_by_state(policy, model, stats, round_, stream):
    pulls, wins = stats.counts, stats.totals
    all_pulls = pulls.sum()
    if all_pulls >= policy.horizon:
        return leading_arm(model, stats), stream
    state = int((wins[0] * (pulls[1] + 1) + wins[1]) * (pulls[2] + 1) + wins[2])
    return int(policy.choice[policy.places[all_pulls, pulls[0], pulls[1]] + state]), stream


@dataclass(frozen=True)
class BayesOptimal(PosteriorPolicy):
    """Policy with the smallest possible Bayes regret, for Bernoulli bandits; it needs the horizon.

    It runs on two arms over at most 500 rounds, or three over 60. With late rewards it ignores rounds whose reward has
    not arrived.

    Parameters
    ----------
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> agent = BayesOptimal().start(BernoulliBandit(alpha=[1, 1], beta=[1, 2]), horizon=10)
    >>> agent.select()
    0
    """

    name: ClassVar[str] = "bayes-optimal"
    prior: Bandit | None = None

    def settings(self, bandit: Bandit, horizon: int | None) -> Any:
        from bayesregret.optimal.bayes_optimal import best_play

        self.belief(bandit)
        if horizon is None:
            raise ValueError("horizon must be given for bayes-optimal")
        play = best_play(self.prior or bandit, horizon)
        if bandit.arms == 3:
            return Choices(horizon, play.places, play.choice)
        return Switches(horizon if bandit.arms == 2 else 0, play.switch)
