"""The view "one run": a single experiment, round by round, with the decisions and rewards of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.agent import Agent, Posterior
from bayesregret.checks import Array
from bayesregret.contracts import draw_means, draw_reward
from bayesregret.exploring.limits import MOST_EDITED_ARMS, MOST_PLAYED_ROUNDS
from bayesregret.exploring.settings import PageState
from bayesregret.exploring.snapshot import Abandoned, IsAbandoned, never
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.reproduction.table import Axis, Table, Trend
from bayesregret.rng import INSTANCE, REWARD, open_stream, run_word, seed_key

U = np.uint64
LEVEL = 0.9  # of the credible intervals


@dataclass(frozen=True, eq=False)
class OneRun:
    """A run of one policy on one instance; the first run of a simulation with this seed.

    Attributes
    ----------
    means : ndarray of float, shape (arms,)
        True mean rewards.
    taken : ndarray of int, shape (rounds,)
        The arm of each round.
    rewards, regret : ndarray of float, shape (rounds,)
        Its reward, and the regret up to it.
    agent : callable
        Makes an agent that has learned nothing.
    """

    bandit: Bandit
    policy: str
    seed: int
    means: Array
    taken: NDArray[np.int64]
    rewards: Array
    regret: Array
    fresh: str

    def posterior(self, rounds: int) -> Posterior | None:
        """Return what the policy knows after some rounds; None if there are too many arms to show."""
        if self.bandit.arms > MOST_EDITED_ARMS:
            return None
        agent = Agent.from_json(self.fresh)
        agent.update_many(self.taken[:rounds].tolist(), self.rewards[:rounds].tolist())
        return agent.posterior(level=LEVEL)

    def pulls(self, rounds: int) -> NDArray[np.int64]:
        return np.bincount(self.taken[:rounds], minlength=self.bandit.arms)

    def numbers(self) -> Table:
        """Arm, reward and regret of each round, to save."""
        columns = {"arm": self.taken, "reward": self.rewards}
        trends = tuple(Trend(name, name, "regret", tuple(map(float, column))) for name, column in columns.items())
        drawn = self.table()
        return replace(drawn, trends=(*trends, *drawn.trends))

    def table(self) -> Table:
        """Regret over the rounds, to draw."""
        return Table(
            "one-run",
            f"One run of {self.policy}",
            f"Regret of {self.policy} on the instance of seed {self.seed}.",
            Axis("round"),
            Axis("regret so far"),
            tuple(map(float, range(1, len(self.taken) + 1))),
            (Trend(self.policy, "regret so far", "regret", tuple(self.regret.tolist())),),
        )


@lru_cache(maxsize=64)
def played(bandit: Bandit, name: str, policy: Policy, horizon: int, seed: int) -> OneRun:
    return play(bandit, name, policy, horizon, seed, never)


def play(bandit: Bandit, name: str, policy: Policy, horizon: int, seed: int, is_abandoned: IsAbandoned) -> OneRun:
    """Play the first run of a simulation with this seed, one round at a time."""
    rounds = min(horizon, MOST_PLAYED_ROUNDS)
    agent = policy.start(bandit, horizon=horizon, seed=seed)
    fresh = agent.to_json()
    key, world, means = seed_key(seed), bandit.world(), np.empty(bandit.arms)
    taken, rewards = np.empty(rounds, np.int64), np.empty(rounds)
    streams: dict[int, Any] = {}
    with np.errstate(over="ignore"):
        start = run_word(key, 0)
        draw_means(world, means, open_stream(key, start, INSTANCE))
        for i in range(rounds):
            arm = agent.select()
            stream = streams.get(arm) or open_stream(key, start, REWARD + U(arm))
            rewards[i], streams[arm] = draw_reward(world, arm, means[arm], stream)
            agent.update(arm, float(rewards[i]))
            taken[i] = arm
            if i % 100 == 0 and is_abandoned():
                raise Abandoned
    regret = np.cumsum(means.max() - means[taken])
    return OneRun(bandit, name, seed, means, taken, rewards, regret, fresh)


def watched_run(state: PageState, bandit: Bandit) -> OneRun:
    """Return the run that a page shows."""
    policies = state.play()
    name = state.watched or next(iter(policies))
    return played(bandit, name, policies[name], state.horizon, state.seed + state.instance)
