"""The base class of agents: decisions, rewards, and a saved state."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent.saved import FORMAT, VERSION, parsed, policy_from_dict, policy_to_dict
from bayesregret.checks import Array
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.problem import problem_from_dict
from bayesregret.simulation.kernels.select import Selection


class Agent(ABC):
    """A policy in service: one decision at a time, made by `policy.start(bandit)`.

    `select` may be called any number of times before rewards arrive, and rewards may arrive late and in any order.
    Decisions depend only on the rewards received so far, except for policies that depend on time or on random draws:
    there each `select` is a round, and with the same seed an agent makes the decisions of the first run of a
    simulation. Ties go to the lowest arm number. Safe to use from several threads.

    Attributes
    ----------
    policy : Policy
        The policy that decides.
    bandit : Bandit
        The bandit that it plays.
    horizon : int or None
        Number of rounds, if given.
    seed : int
        Seed of the policy's random choices.

    Examples
    --------
    >>> agent = BayesUCB(delta=0.01).start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]))
    >>> agent.select()
    0
    >>> agent.update(0, reward=0)
    >>> agent.select()
    1
    """

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        self.policy = policy
        self.bandit = bandit
        self.horizon = horizon
        self.seed = seed
        self.settings, self.belief = chosen.settings, chosen.belief
        self._index: Array = np.empty(bandit.arms)
        self._lock = threading.Lock()

    def select(self) -> int:
        """Return the arm to pull now."""
        with self._lock:
            return int(self._index.argmax())

    def update(self, arm: int, reward: float) -> None:
        """Learn from one reward. A bad arm or reward raises ValueError and changes nothing.

        Parameters
        ----------
        arm : int
            The arm that was pulled.
        reward : float
            Its reward.
        """
        arm, reward = self._checked(arm, reward)
        with self._lock:
            self._learn(arm, reward)

    def update_many(self, arms: Iterable[int], rewards: Iterable[float]) -> None:
        """Learn from several rewards, in order. If one of them is bad, raise ValueError and learn from none.

        Parameters
        ----------
        arms : iterable of int
            The arms that were pulled.
        rewards : iterable of float
            Their rewards.
        """
        arms, rewards = list(arms), list(rewards)
        if len(arms) != len(rewards):
            raise ValueError(f"arms and rewards must be equally many, got {len(arms)} and {len(rewards)}")
        batch = [self._checked(arm, reward) for arm, reward in zip(arms, rewards, strict=True)]
        with self._lock:
            for arm, reward in batch:
                self._learn(arm, reward)

    @property
    def index(self) -> Array:
        """(arms,): the index of each arm; the arm with the highest is pulled."""
        with self._lock:
            return self._index.copy()

    @property
    @abstractmethod
    def pulls(self) -> NDArray[np.int64]:
        """(arms,): number of rewards received from each arm."""

    def to_json(self) -> str:
        """Return the whole agent as text; `Agent.from_json` continues from it with the same bits."""
        with self._lock:
            state = self._state()
        return json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "policy": policy_to_dict(self.policy),
                "problem": self.bandit.to_dict(),
                "horizon": self.horizon,
                "seed": self.seed,
                "state": state,
            },
            allow_nan=False,
        )

    @staticmethod
    def from_json(text: str) -> Agent:
        """Restore the agent that `to_json` saved.

        Parameters
        ----------
        text : str
            What `to_json` returned.
        """
        data = parsed(text)
        try:
            policy = policy_from_dict(data["policy"])
            agent = policy.start(problem_from_dict(data["problem"]), horizon=data["horizon"], seed=data.get("seed", 0))
            agent._restore(data["state"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"agent state must be what to_json wrote, but has no usable {error}") from None
        return agent

    def _checked(self, arm: int, reward: float) -> tuple[int, float]:
        return checks.whole("arm", arm, 0, self.bandit.arms - 1), self.bandit.check_reward(reward)

    @abstractmethod
    def _learn(self, arm: int, reward: float) -> None: ...

    @abstractmethod
    def _state(self) -> dict[str, Any]: ...

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None: ...
