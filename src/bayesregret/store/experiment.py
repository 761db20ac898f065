"""An experiment: durable decisions and rewards, for many threads and processes."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesregret import checks
from bayesregret.agent import Agent
from bayesregret.agent.names import checked_names, unknown_name
from bayesregret.agent.saved import plain
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.store.decision import Decision
from bayesregret.store.errors import UnknownError
from bayesregret.store.events import ADD, PAUSE, RESUME, STOP, Event, checked_key, decision_number
from bayesregret.store.export import Record, export, exported, records
from bayesregret.store.live import Live
from bayesregret.store.writer import Change, Decide, Expire, Request, Reward

if TYPE_CHECKING:
    from bayesregret.status import Progress, Status


class Experiment:
    """An experiment in a store, made by `ExperimentStore.start` or found by `ExperimentStore.experiment`.

    Decisions and rewards are events of an append-only log in the database. What a method has done is durable when the
    method returns. Several threads may share an experiment, and several processes may each open it: decisions are those
    of one agent that is fed in the order of the log.

    Parameters
    ----------
    live : Live
        Its state in this process, made by the store.

    Attributes
    ----------
    name : str
        Name of the experiment in its store.
    policy : Policy
        The policy that decides, as the experiment was started with it.
    horizon : int
        Number of rounds.
    seed : int
        Seed of the policy's random choices.
    unit : str or None
        What a round is, such as "visitor".

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = experiments(f"sqlite:///{folder.name}/runs.db")
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> experiment = store.start("checkout", bandit, "bayes-ucb", horizon=1000, arms=["blue", "green"])
    >>> decision = experiment.decide(key="user-17")
    >>> decision.name, experiment.decide(key="user-17") == decision
    ('blue', True)
    >>> experiment.reward(decision.id, 1.0)
    >>> experiment.reward(decision.id, 1.0)
    >>> experiment.agent().pulls.tolist()
    [1, 0]
    >>> store.close()
    >>> folder.cleanup()
    """

    def __init__(self, live: Live) -> None:
        self.name = live.name
        self._uuid = live.uuid
        self._setup = live.setup
        self._live = live

    @property
    def policy(self) -> Policy:
        return self._setup.policy

    @property
    def horizon(self) -> int:
        return self._setup.horizon

    @property
    def seed(self) -> int:
        return self._setup.seed

    @property
    def unit(self) -> str | None:
        return self._setup.unit

    @property
    def reward_after(self) -> float | None:
        """Seconds after which a missing reward is given up; None for never."""
        return self._setup.reward_after

    @property
    def appended(self) -> dict[str, int]:
        """Number of events, by kind, that this process has appended to the log."""
        return dict(self._live.appended)

    @property
    def problem(self) -> Bandit:
        """The bandit of all arms, paused and added ones among them, before any reward."""
        with self._live.reading() as (_, fold):
            return fold.bandit

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of all arms, paused and added ones among them."""
        with self._live.reading() as (_, fold):
            return tuple(fold.names)

    @property
    def paused(self) -> tuple[str, ...]:
        """Names of the arms that are paused."""
        with self._live.reading() as (_, fold):
            return tuple(name for name, is_paused in zip(fold.names, fold.paused, strict=True) if is_paused)

    @property
    def running(self) -> bool:
        """Whether there are rounds left and nobody has stopped the experiment."""
        with self._live.reading() as (_, fold):
            return not fold.stopped and fold.decided < fold.setup.horizon

    # --- decisions and rewards ---------------------------------------------------------------------------------------

    def decide(self, key: str | None = None) -> Decision:
        """Return a decision, which is durable; the same key always gives the same one.

        ClosedError once the rounds are over or the experiment was stopped, but a key that has a decision keeps it.

        Parameters
        ----------
        key : str, optional
            Text that identifies the request, such as the id of a user; without one every call is a decision of its own.
        """
        return self._one(Decide((None if key is None else checked_key(key),)))[0]  # type: ignore[no-any-return]

    def decide_many(self, keys: int | Iterable[str]) -> list[Decision]:
        """Return several decisions, made in one transaction, or none if there are too few rounds left.

        Parameters
        ----------
        keys : int or iterable of str
            The keys, or the number of decisions without one.
        """
        if isinstance(keys, str | bytes) or not isinstance(keys, int | Iterable):
            raise checks.fail("keys", "a list of keys, or a number of decisions", keys)
        if isinstance(keys, int):
            return self._one(Decide((None,) * checks.whole_up_to("keys", keys, 0, 10**6)))  # type: ignore[no-any-return]
        return self._one(Decide(tuple(map(checked_key, keys))))  # type: ignore[no-any-return]

    def reward(self, decision: str, value: float) -> None:
        """Record the reward of a decision: once or several times, in any order with others, is the same.

        Another reward than the one in the log, or one after `reward_after`, raises ConflictError and changes nothing.

        Parameters
        ----------
        decision : str
            The id of the decision.
        value : float
            Its reward.
        """
        self._one(self._reward([(decision, value)]))

    def reward_many(self, rewards: Iterable[tuple[str, float]]) -> None:
        """Record several rewards in one transaction, or none of them if one is refused.

        Parameters
        ----------
        rewards : iterable of (str, float)
            Ids of decisions with their rewards.
        """
        self._one(self._reward(rewards))

    def apply(self, requests: Iterable[Sequence[Any]]) -> list[Decision | ValueError | None]:
        """Do several requests of different callers in one transaction; the error of one does not affect the others.

        Parameters
        ----------
        requests : iterable of tuple
            Each is ("decide", key), where the key may be None, or ("reward", decision, value).

        Returns
        -------
        list
            For each request its decision, None for a reward, or the error by which it is refused.
        """
        made: list[Request | ValueError] = []
        for request in requests:
            try:
                made.append(self._request(request))
            except ValueError as error:
                made.append(error)
        done = iter(self._live.do([request for request in made if not isinstance(request, ValueError)]))
        results = [request if isinstance(request, ValueError) else next(done) for request in made]
        return [result[0] if isinstance(result, list) else result for result in results]

    def expire(self) -> None:
        """Give up now on rewards that are later than `reward_after`; any other request does so, too."""
        self._one(Expire())

    # --- arms --------------------------------------------------------------------------------------------------------

    def pause(self, arm: int | str) -> None:
        """Decide for this arm no more, until `resume`; its late rewards are still taken.

        Parameters
        ----------
        arm : int or str
            Number or name of the arm.
        """
        self._one(Change(PAUSE, self._arm(arm)))

    def resume(self, arm: int | str) -> None:
        """Decide for this arm again, with all that its rewards have taught.

        Parameters
        ----------
        arm : int or str
            Number or name of the arm.
        """
        self._one(Change(RESUME, self._arm(arm)))

    def add_arm(self, name: str, prior: dict[str, Any]) -> None:
        """Add an arm, after the others.

        Parameters
        ----------
        name : str
            Name of the arm.
        prior : dict
            Its fields of the bandit, as for `Bandit.with_arm`: ``{"alpha": 1, "beta": 30}``.
        """
        (name,) = checked_names([name], 1, "name")
        _check_fields(prior)
        self._setup.problem.with_arm(**prior)  # refuses wrong fields
        self._one(Change(ADD, None, json.dumps({"name": name, "prior": prior}, default=plain)))

    def stop(self) -> None:
        """Make no more decisions; late rewards are still taken."""
        self._one(Change(STOP))

    # --- what there is -----------------------------------------------------------------------------------------------

    def agent(self) -> Agent:
        """Return a copy of the agent that makes the next decision; its arms are those that are not paused."""
        with self._live.reading() as (_, fold):
            return copy.copy(fold.agent)

    def state(self) -> str:
        """Return the whole state as text; two states with the same text are equal, bit for bit."""
        with self._live.reading() as (_, fold):
            return fold.to_text()

    def log(self, after: int = 0) -> Iterator[Event]:
        """Yield the events of the log, in order.

        Parameters
        ----------
        after : int
            Number of the event after which to begin.
        """
        yield from self._live.events(checks.whole("after", after, 0))

    def replay(self) -> Agent:
        """Return the agent that the log gives, from nothing; StoreError if it is not the current one, bit for bit.

        It also checks that no event is missing or has changed since it was written.
        """
        return self._live.replay()

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the log to a file, whole or not at all; return the number of events.

        Parameters
        ----------
        path : str or os.PathLike
            A file that ends in .csv, .jsonl or .parquet.
        """
        return export(self._records, path)

    def exported(self, format: str) -> bytes:
        """Return the content of the file that `export` writes.

        Parameters
        ----------
        format : str
            "csv", "jsonl" or "parquet".
        """
        return exported(self._records(), format)

    def _records(self) -> list[Record]:
        return records(self._uuid, self.arms, self.log())

    def progress(self) -> Progress:
        """Return the facts from which the status is computed."""
        from bayesregret.status import Progress

        with self._live.reading() as (log, fold):
            arms, rewards, tested = self._live.rewards(log)
            return Progress(
                bandit=fold.bandit,
                agent=copy.copy(fold.agent),
                horizon=self.horizon,
                decisions=np.array(fold.decisions),
                reward_arms=arms,
                rewards=rewards,
                tested=tested,
                pending=np.array(fold.pending),
                name=self.name,
                arms=tuple(fold.names),
                unit=self.unit,
                paused=tuple(arm for arm, is_paused in enumerate(fold.paused) if is_paused),
                equal_split=np.array(fold.split_equally()),
                stopped=fold.stopped,
                started=fold.started or None,
                last=fold.time or None,
            )

    def status(self, *, exact: bool = True, level: float = 0.95) -> Status:
        """Return what the experiment has learned, what it has cost and what it may still cost.

        Parameters
        ----------
        exact : bool
            Whether to compute exact numbers where there are any, which takes longer.
        level : float
            Probability of the credible intervals.
        """
        from bayesregret.status import experiment_status

        return experiment_status(self.progress(), exact=exact, level=level)

    def __repr__(self) -> str:
        return f"<experiment {self.name}: {self.policy.name} on {self._setup.problem.a_kind} bandit>"

    # --- within ------------------------------------------------------------------------------------------------------

    def _one(self, request: Request) -> Any:
        (outcome,) = self._live.do([request])
        if isinstance(outcome, ValueError):
            raise outcome
        return outcome

    def _request(self, given: Sequence[Any]) -> Request:
        match given:
            case ["decide", key]:
                return Decide((None if key is None else checked_key(key),))
            case ["reward", decision, value]:
                return self._reward([(decision, value)])
        raise checks.fail("request", '("decide", key) or ("reward", decision, value)', given)

    def _reward(self, rewards: Iterable[tuple[str, float]]) -> Reward:
        try:
            pairs = [(decision, value) for decision, value in rewards]
        except (TypeError, ValueError):
            raise checks.fail("rewards", "a list of pairs, the id of a decision and its reward", rewards) from None
        return Reward(tuple((self._decision_number(decision), self._value(value)) for decision, value in pairs))

    def _decision_number(self, decision: str) -> int:
        number = decision_number(self._uuid, decision)
        if number is None:
            raise UnknownError(f"decision must be the id of one of {self.name}, got {checks.shown(decision)}")
        return number

    def _value(self, value: float) -> float:
        return float(self._setup.problem.check_reward(value)) + 0.0  # -0.0 becomes 0.0, as SQLite stores it

    def _arm(self, arm: int | str) -> int:
        names = self.arms
        if isinstance(arm, str):
            if arm not in names:
                raise unknown_name(arm, names)
            return names.index(arm)
        return checks.whole("arm", arm, 0, len(names) - 1)


def _check_fields(prior: Any) -> None:
    if not isinstance(prior, dict) or not all(isinstance(field, str) for field in prior):
        raise checks.fail("prior", 'the fields of one arm, such as {"alpha": 1, "beta": 30}', prior)
