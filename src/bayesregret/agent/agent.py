"""The base class of agents: decisions, rewards, and a saved state."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from msgspec import UNSET, Struct
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent.names import pairs, unknown_name
from bayesregret.agent.printed import summary, table
from bayesregret.agent.remaining import Remaining, Sums
from bayesregret.agent.saved import VERSION, Settings, encode_state, parse, read_settings, read_state, restored, to_text
from bayesregret.agent.states import of_length
from bayesregret.checks import MOST_ROUNDS, Array
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.simulation.kernels.select import Selection
from bayesregret.simulation.kernels.wrong_choice import highest_index

if TYPE_CHECKING:
    from bayesregret.agent.posterior import Posterior


class Agent(ABC):
    """A policy in service: one decision at a time, made by `policy.start(bandit)`.

    `select` may be called any number of times before rewards arrive, and rewards may arrive late and in any order. A
    pull is pending from `select` until `update` brings its reward, or until `forget`. BayesUCB, UCB1, MOSS and LinUCB
    count pending pulls in their widths, so that an agent that is asked many times spreads its choices over the arms.
    Policies that depend on time or on random draws take each `select` as a round; with the same seed an agent makes the
    decisions of the first run of a simulation. Ties go to the lowest arm number. Safe to use from several threads.

    Arms have numbers, from 0, and names if `start` was given them; `update`, `update_many` and `forget` take either.

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
    >>> agent
    <agent of bayes-ucb on a bernoulli bandit, 2 arms, after 1 reward, 2 pending>
    """

    schema: ClassVar[type[Struct]]  # what this kind of agent saves

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls is Agent:
            raise TypeError("an agent is made by policy.start(bandit), or read by Agent.from_json(text)")
        return super().__new__(cls)

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int, chosen: Selection) -> None:
        self.policy = policy
        self.problem = bandit
        self.horizon = horizon
        self.seed = seed
        self.settings, self.belief, self._own = chosen.settings, chosen.belief, chosen.own
        self._index: Array = np.empty(bandit.arms)
        self._pending = [0] * bandit.arms
        self._names: tuple[str, ...] | None = None
        self._rewards = 0
        self._lock = threading.Lock()

    def select(self) -> int:
        """Return the arm to pull now; the pull is pending until its reward arrives."""
        with self._lock:
            arm = self._choose()
            if self._pending[arm] < MOST_ROUNDS:
                self._pending[arm] += 1
            return arm

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms; their numbers as texts if `start` was given none."""
        return self._names or tuple(map(str, range(self.problem.arms)))

    def name_of(self, arm: int) -> str:
        """Return the name of an arm; its number as a text if it has none.

        Parameters
        ----------
        arm : int
            Number of the arm, as `select` returns it.

        Examples
        --------
        >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
        >>> agent = Thompson().start(bandit, seed=1, arms=["blue", "green"])
        >>> agent.name_of(agent.select())
        'green'
        """
        arm = checks.whole("arm", arm, 0, self.problem.arms - 1)
        return str(arm) if self._names is None else self._names[arm]

    def update(self, arm: int | str, reward: float) -> None:
        """Learn from one reward. A bad arm or reward raises ValueError and changes nothing.

        An arm without a pending pull is fine, as for rewards from elsewhere.

        Parameters
        ----------
        arm : int or str
            The arm that was pulled, by its number or its name.
        reward : float
            Its reward.
        """
        number, reward = self._checked(arm, reward)
        with self._lock:
            self._receive(number, reward)

    def update_many(self, arms: Iterable[int | str], rewards: Iterable[float]) -> None:
        """Learn from several rewards, in order. If one of them is bad, raise ValueError and learn from none.

        Parameters
        ----------
        arms : iterable of int or str
            The arms that were pulled, by their numbers or names.
        rewards : iterable of float
            Their rewards.
        """
        batch = [self._checked(arm, reward) for arm, reward in pairs(arms, rewards)]
        with self._lock:
            for arm, reward in batch:
                self._receive(arm, reward)

    def expect(self, arm: int | str) -> None:
        """Count a pull that was decided elsewhere: it is a round, and pending until its reward or `forget`.

        Parameters
        ----------
        arm : int or str
            The arm that was pulled, by its number or its name.
        """
        number = self._number(arm)
        with self._lock:
            if self._pending[number] < MOST_ROUNDS:
                self._pending[number] += 1
            self._expected(number)

    def forget(self, arm: int | str) -> None:
        """Give up on the reward of one pending pull: it will never arrive, and counts no more.

        Parameters
        ----------
        arm : int or str
            The arm that was pulled, by its number or its name; ValueError if none of its pulls is pending.
        """
        number = self._number(arm)
        with self._lock:
            if self._pending[number] == 0:
                raise ValueError(f"arm must be one with a pending pull, got {arm}")
            self._pending[number] -= 1
            self._forgotten(number)

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

    def bandit(self) -> Bandit:
        """Return the posterior of `problem`, as a bandit of its own: the bandit of the rounds that are left.

        `plan`, `simulate`, `exact_regret` and `bounds` answer for these rounds if they are given it. Pending pulls are
        not part of it, as their rewards may still come. ValueError, in one line, if the posterior is no bandit, or if
        the policy has not kept what it needs.

        Examples
        --------
        >>> agent = BayesUCB().start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=100)
        >>> agent.update_many([0, 0, 1], [1, 0, 1])
        >>> agent.bandit()
        BernoulliBandit(alpha=[2., 2.], beta=[2., 1.])
        """
        return self._learned(self.problem, self._locked_sums())

    def posterior(self, level: float = 0.95) -> Posterior:
        """Return what the agent has learned: of each arm the mean, a credible interval and the probability to be best.

        By the prior of `problem`; pending pulls do not count. ValueError, in one line, if there is no `bandit`.

        Parameters
        ----------
        level : float
            Probability of the credible intervals.

        Examples
        --------
        >>> agent = Thompson().start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]))
        >>> agent.update_many([0, 0, 1], [1, 0, 1])
        >>> agent.posterior().best_probability.round(3).tolist()
        [0.3, 0.7]
        """
        from bayesregret.agent.posterior import Posterior
        from bayesregret.agent.summary import summarise  # needs SciPy, which agents do not

        level, sums = checks.probability("level", level), self._locked_sums()
        found = summarise(self._learned(self.problem, sums), level)
        return Posterior(self.arms, sums.counts, *found, level, self.problem.kind)

    def remaining(self) -> Remaining:
        """Return what is left to do: the posterior as a bandit, the policy that goes on with it, and the rounds left.

        An agent that `policy.start(bandit, horizon=horizon)` starts with these three makes the decisions that this one
        would make, up to its random bits, and `simulate` and `plan` say what to expect of it. A policy with its own
        `prior` gets the posterior of that prior, and a delta of one over the horizon stays one over the whole horizon.
        ValueError if decisions depend on more than the posterior: on counts of pulls or on the round.

        Each call of `select` is a round. An agent of a policy without clock does not count its calls: there every
        reward and every pending pull is one. Pending pulls are not part of the posterior: the new agent takes their
        rewards when they come, but does not count these pulls until then.

        Returns
        -------
        Remaining
            The named tuple (bandit, policy, horizon); the horizon is None if this agent has none.

        Examples
        --------
        >>> agent = BayesUCB().start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=100)
        >>> agent.update_many([0, 0, 1], [1, 0, 1])
        >>> bandit, policy, horizon = agent.remaining()
        >>> policy.delta, horizon
        (0.01, 97)
        >>> policy.start(bandit, horizon=horizon).select() == agent.select()
        True
        """
        with self._lock:
            sums, decided = self._sums(), self._decisions()
        fixed = self.policy.fixed_for(self.problem, self.horizon)
        policy = fixed.continued(lambda prior: self._learned(prior, sums), self.horizon)
        left = None if self.horizon is None else max(0, self.horizon - decided)
        return Remaining(self._learned(self.problem, sums), policy, left)

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
        agent = settings.start()
        agent._restore_state(read_state(parsed, agent._start_settings(), agent.schema), parsed.version)
        return agent

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the saved state."""
        with self._lock:
            state = encode_state(self._saved_state())
        return restored, (self._start_settings(), state)

    def __repr__(self) -> str:
        return f"<agent of {self._summary()}>"

    def __str__(self) -> str:
        return table(self.arms, self.pulls, self.pending) + "\n" + self._summary()

    def _summary(self) -> str:
        return summary(self.policy.name, self.problem, self.horizon, self._rewards, sum(self._pending))

    def _start_settings(self) -> Settings:
        return Settings(self.policy, self.problem, self.horizon, self.seed, self._names)

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

    def _checked(self, arm: int | str, reward: float) -> tuple[int, float]:
        return self._number(arm), self.problem.check_reward(reward)

    def _number(self, arm: int | str) -> int:
        """Return the number of an arm that is given by its number or its name."""
        if type(arm) is int and 0 <= arm < len(self._pending):  # most calls: a full check takes longer
            return arm
        if isinstance(arm, str) and arm in self._numbers:
            return self._numbers[arm]
        if isinstance(arm, str) and self._names is not None:
            raise unknown_name(arm, self._names)
        return checks.whole("arm", arm, 0, self.problem.arms - 1)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.arms)}

    def _locked_sums(self) -> Sums:
        with self._lock:
            return self._sums()

    def _learned(self, prior: Bandit, sums: Sums) -> Bandit:
        try:
            return prior.after(*sums)
        except ValueError as error:
            raise ValueError(f"agent of {self.policy.name} has no posterior that is a bandit: {error}") from None

    def _receive(self, arm: int, reward: float) -> None:
        if self._pending[arm] > 0:
            self._pending[arm] -= 1
        if self._rewards == MOST_ROUNDS:  # one more would teach nothing, and could not be counted
            self._forgotten(arm)
            return
        self._rewards += 1
        self._learn(arm, reward)

    @abstractmethod
    def _sums(self) -> Sums:
        """Return the sums of all rewards."""

    def _decisions(self) -> int:
        """Return the number of decisions so far, as far as it is known."""
        return self._rewards + sum(self._pending)

    def _choose(self) -> int:
        """Return the arm to pull; its pull is not yet pending."""
        self._refresh_index()
        return highest_index(self._index, self._own, self.belief)

    def _refresh_index(self) -> None:  # noqa: B027 (an index that is always up to date needs nothing)
        """Compute what is out of date in `_index`."""

    @abstractmethod
    def _learn(self, arm: int, reward: float) -> None:
        """Add a reward, whose pull is no longer pending."""

    def _expected(self, arm: int) -> None:  # noqa: B027 (most agents keep nothing about pending pulls)
        """Take notice of a pending pull that was decided elsewhere."""

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
