"""The best policy there is for two or three Bernoulli arms: decisions that a dynamic programme found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import choose_arm
from bayesregret.policies.base import BelievingPolicy
from bayesregret.policies.selection import leading_arm

if TYPE_CHECKING:
    from bayesregret.models import Bandit


class Switches(NamedTuple):
    """For two arms: from how many wins of arm 1 on it is pulled. With one arm there are none."""

    horizon: int
    switch: NDArray[np.uint16]


class Choices(NamedTuple):
    """For three arms: which is pulled, by pulls and wins."""

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
class BayesOptimal(BelievingPolicy):
    """No policy has less Bayes regret: for Bernoulli bandits of two arms over at most 500 rounds, or three over 60.

    It needs the horizon. Where rewards come late it plays as if the rounds without a reward had not been. `prior` is a
    bandit whose prior the policy believes in, the true one if None.

    >>> BayesOptimal()
    BayesOptimal(prior=None)
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
