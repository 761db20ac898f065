"""The base class of agents: decisions, rewards, and a saved state."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from msgspec import UNSET, Struct
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent.saved import VERSION, Settings, decode, encode_state, parse, read_settings, read_state, to_text
from bayesregret.agent.states import of_length
from bayesregret.checks import MOST_ROUNDS, Array, shown
from bayesregret.digits import counted
from bayesregret.models import Bandit
from bayesregret.policies import Policy
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
    problem : Bandit
        The bandit that the agent was started with.
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

    schema: ClassVar[type[Struct]]  # what this kind of agent saves

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        self.policy = policy
        self.problem = bandit
        self.horizon = horizon
        self.seed = seed
        self.settings, self.belief = chosen.settings, chosen.belief
        self._index: Array = np.empty(bandit.arms)
        self._pending = [0] * bandit.arms
        self._rewards = 0
        self._lock = threading.Lock()

    def select(self) -> int:
        """Return the arm to pull now; the pull is pending until its reward arrives."""
        with self._lock:
            arm = self._choose()
            if self._pending[arm] < MOST_ROUNDS:
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
        try:
            arms, rewards = list(arms), list(rewards)
        except TypeError:
            raise ValueError(f"arms and rewards must be lists, got {shown(arms)} and {shown(rewards)}") from None
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
        arm = checks.whole("arm", arm, 0, self.problem.arms - 1)
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
            state = self._saved_state()
        return to_text(self._start_settings(), state)

    @staticmethod
    def from_json(text: str | bytes) -> Agent:
        """Restore the agent that `to_json` saved.

        A text that no agent wrote raises ValueError, in one line. Texts of earlier versions are read, too.

        Parameters
        ----------
        text : str or bytes
            What `to_json` returned.
        """
        parsed = parse(text)
        settings = read_settings(parsed)
        agent = settings.policy.start(settings.problem, horizon=settings.horizon, seed=settings.seed)
        agent._restore_state(read_state(parsed, agent._start_settings(), agent.schema), parsed.version)
        return agent

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the saved state."""
        with self._lock:
            state = encode_state(self._saved_state())
        return _restored, (*self._start_settings(), state)

    def __repr__(self) -> str:
        horizon = f", horizon={self.horizon}" if self.horizon is not None else ""
        return f"<agent of {self.policy!r} on {self.problem!r}{horizon}, after {counted(self._rewards, 'reward')}>"

    def _start_settings(self) -> Settings:
        return Settings(self.policy, self.problem, self.horizon, self.seed)

    def _saved_state(self) -> Any:
        state = self._state()
        state.pending = list(self._pending)
        return state

    def _restore_state(self, state: Any, version: int = VERSION) -> None:
        """Read a state that has the right types; ValueError if no agent can be in it."""
        try:
            if state.pending is not UNSET:
                self._pending = of_length("pending", state.pending, self.problem.arms)
            elif version > 1:
                raise ValueError("pending must be given")
            with np.errstate(all="ignore"):  # absurd numbers are about to be refused
                self._restore(state, version)
        except ValueError as error:
            raise ValueError(f"agent state's {error}") from None
        self._rewards = int(self.pulls.sum())

    def _checked(self, arm: int, reward: float) -> tuple[int, float]:
        return checks.whole("arm", arm, 0, self.problem.arms - 1), self.problem.check_reward(reward)

    def _receive(self, arm: int, reward: float) -> None:
        if self._pending[arm] > 0:
            self._pending[arm] -= 1
        if self._rewards == MOST_ROUNDS:  # one more would teach nothing, and could not be counted
            self._forgotten(arm)
            return
        self._rewards += 1
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
    def _state(self) -> Any:
        """Return the state, of class `schema`; `pending` is added later."""

    @abstractmethod
    def _restore(self, state: Any, version: int) -> None:
        """Read a state of class `schema` back; `_pending` is already restored.

        Raise ValueError if it does not fit the bandit or itself: its message begins with the name of a field.
        """


def _restored(policy: Policy, bandit: Bandit, horizon: int | None, seed: int, state: bytes) -> Agent:
    """Return the agent that was pickled."""
    agent = policy.start(bandit, horizon=horizon, seed=seed)
    agent._restore_state(decode(state, agent.schema))
    return agent
