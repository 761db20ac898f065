"""What every agent is: decisions, rewards, and itself as text."""

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
from bayesregret.models.linear import LinearModel
from bayesregret.policies.base import Policy, check_fits, check_fits_linear
from bayesregret.problem import problem_from_dict


class Agent(ABC):
    """What `policy.start(bandit)` gives.

    `select` may be called any number of times before the rewards come, and they may come late and in any order.
    Decisions depend on the rewards received so far alone, but for policies that move with time or chance: there each
    `select` is a round, and with the same seed an agent makes the decisions of the first run of a simulation. Ties go
    to the lowest arm number. Safe to use from several threads.

    >>> agent = BayesUCB(delta=0.01).start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]))
    >>> agent.select()
    0
    >>> agent.update(0, reward=0)
    >>> agent.select()
    1
    """

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> None:
        self.policy = policy
        self.bandit = bandit
        self.horizon = horizon
        self.seed = seed
        self.settings = policy.settings(bandit, horizon)
        self.belief = policy.belief(bandit)
        if isinstance(self.belief, LinearModel):
            check_fits_linear(policy, self.settings)
        else:
            check_fits(policy, bandit, self.settings, self.belief)
        self._index: Array = np.empty(bandit.arms)
        self._lock = threading.Lock()

    def select(self) -> int:
        """The arm to take now."""
        with self._lock:
            return int(self._index.argmax())

    def update(self, arm: int, reward: float) -> None:
        """Take in one reward. A bad arm or reward raises ValueError and changes nothing."""
        arm, reward = self._checked(arm, reward)
        with self._lock:
            self._learn(arm, reward)

    def update_many(self, arms: Iterable[int], rewards: Iterable[float]) -> None:
        """Take in a batch of rewards, in order. If one is bad, ValueError, and none is taken in."""
        arms, rewards = list(arms), list(rewards)
        if len(arms) != len(rewards):
            raise ValueError(f"arms and rewards must be equally many, got {len(arms)} and {len(rewards)}")
        batch = [self._checked(arm, reward) for arm, reward in zip(arms, rewards, strict=True)]
        with self._lock:
            for arm, reward in batch:
                self._learn(arm, reward)

    @property
    def index(self) -> Array:
        """(arms,): the index of each arm; the highest is taken."""
        with self._lock:
            return self._index.copy()

    @property
    @abstractmethod
    def pulls(self) -> NDArray[np.int64]:
        """(arms,): the rewards received of each arm."""

    def to_json(self) -> str:
        """The whole agent as text; `Agent.from_json` gives one that goes on with the same bits."""
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
        """The agent that `to_json` wrote down."""
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
