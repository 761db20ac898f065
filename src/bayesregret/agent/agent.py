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
from bayesregret.agent.saved import FORMAT, VERSION, numbers, parsed
from bayesregret.checks import Array
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.policy_data import policy_from_dict, policy_to_dict
from bayesregret.problem import problem_from_dict
from bayesregret.simulation.kernels.select import Selection


class Agent(ABC):
    """A policy in service: one decision at a time, made by `policy.start(bandit)`.

    `select` may be called any number of times before rewards arrive, and rewards may arrive late and in any order. A
    pull is pending from `select` until `update` brings its reward, or until `forget`. BayesUCB, UCB1, MOSS and LinUCB
    count pending pulls in their widths, so that an agent that is asked many times spreads its choices over the arms.
    Policies that depend on time or on random draws take each `select` as a round; with the same seed an agent makes the
    decisions of the first run of a simulation. Ties go to the lowest arm number. Safe to use from several threads.

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
    >>> [agent.select() for _ in range(4)]
    [0, 1, 0, 1]
    >>> agent.update(0, reward=0)
    >>> agent.forget(1)
    >>> agent.pending.tolist()
    [1, 1]
    """

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        self.policy = policy
        self.bandit = bandit
        self.horizon = horizon
        self.seed = seed
        self.settings, self.belief = chosen.settings, chosen.belief
        self._index: Array = np.empty(bandit.arms)
        self._pending = [0] * bandit.arms
        self._lock = threading.Lock()

    def select(self) -> int:
        """Return the arm to pull now; the pull is pending until its reward arrives."""
        with self._lock:
            arm = self._choose()
            self._pending[arm] += 1
            return arm

    def update(self, arm: int, reward: float) -> None:
        """Learn from one reward. A bad arm or reward raises ValueError and changes nothing.

        An arm without a pending pull is fine, as for rewards from elsewhere.

        Parameters
        ----------
        arm : int
            The arm that was pulled.
        reward : float
            Its reward.
        """
        arm, reward = self._checked(arm, reward)
        with self._lock:
            self._receive(arm, reward)

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
                self._receive(arm, reward)

    def forget(self, arm: int) -> None:
        """Give up on the reward of one pending pull: it will never arrive, and counts no more.

        Parameters
        ----------
        arm : int
            The arm that was pulled; ValueError if none of its pulls is pending.
        """
        arm = checks.whole("arm", arm, 0, self.bandit.arms - 1)
        with self._lock:
            if self._pending[arm] == 0:
                raise ValueError(f"arm must be one with a pending pull, got {arm}")
            self._pending[arm] -= 1
            self._forgotten(arm)

    @property
    def index(self) -> Array:
        """(arms,): the index of each arm, pending pulls included; the arm with the highest is pulled."""
        with self._lock:
            self._refresh_index()
            return self._index.copy()

    @property
    @abstractmethod
    def pulls(self) -> NDArray[np.int64]:
        """(arms,): number of rewards received from each arm."""

    @property
    def pending(self) -> NDArray[np.int64]:
        """(arms,): number of pulls of each arm whose reward has not arrived."""
        with self._lock:
            return np.array(self._pending)

    def to_json(self) -> str:
        """Return the whole agent as text; `Agent.from_json` continues from it with the same bits."""
        with self._lock:
            state = self._state() | {"pending": list(self._pending)}
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
            state = data["state"]
            if "pending" in state:  # states of earlier versions have none
                agent._pending = [int(number) for number in numbers(state, "pending", (agent.bandit.arms,))]
            agent._restore(state)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"agent state must be what to_json wrote, but has no usable {error}") from None
        return agent

    def _checked(self, arm: int, reward: float) -> tuple[int, float]:
        return checks.whole("arm", arm, 0, self.bandit.arms - 1), self.bandit.check_reward(reward)

    def _receive(self, arm: int, reward: float) -> None:
        if self._pending[arm] > 0:
            self._pending[arm] -= 1
        self._learn(arm, reward)

    def _choose(self) -> int:
        """Return the arm to pull; its pull is not yet pending."""
        self._refresh_index()
        return int(self._index.argmax())

    def _refresh_index(self) -> None:  # noqa: B027 (an index that is always up to date needs nothing)
        """Compute what is out of date in `_index`."""

    @abstractmethod
    def _learn(self, arm: int, reward: float) -> None:
        """Add a reward, whose pull is no longer pending."""

    def _forgotten(self, arm: int) -> None:  # noqa: B027 (most agents keep nothing about pending pulls)
        """Take notice of a pull that is no longer pending."""

    @abstractmethod
    def _state(self) -> dict[str, Any]: ...

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None:
        """Read a state back; `_pending` is already restored."""
