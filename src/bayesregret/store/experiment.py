"""An experiment: durable decisions and rewards, for many threads and processes."""

from __future__ import annotations

import copy
import importlib
import json
import os
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesregret import checks
from bayesregret.agent import Agent
from bayesregret.agent.names import checked_names, unknown_name
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.store.database import Database
from bayesregret.store.errors import StoreError, StoreWriteError, UnknownError
from bayesregret.store.events import ADD, PAUSE, RESUME, STOP, Decision, Event, checked_key, decision_number
from bayesregret.store.export import Record, export, exported, records
from bayesregret.store.fold import Fold
from bayesregret.store.group_commit import GroupCommit, Ticket
from bayesregret.store.log import SNAPSHOT_EVERY, Log
from bayesregret.store.setup import Setup
from bayesregret.store.writer import Change, Decide, Due, Expire, Request, Reward, Writer

if TYPE_CHECKING:
    from bayesregret.status.progress import Progress


class Experiment:
    """An experiment in a store, made by `ExperimentStore.start` or found by `ExperimentStore.experiment`.

    Decisions and rewards are events of an append-only log in the database. What a method has done is durable when the
    method returns. Several threads may share an experiment, and several processes may each open it: decisions are those
    of one agent that is fed in the order of the log.

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
    appended : collections.Counter
        Number of events, by kind, that this process has appended to the log.

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

    def __init__(
        self, database: Database, number: int, name: str, uuid: str, setup: str, clock: Callable[[], float]
    ) -> None:
        self.name = name
        self._database = database
        self._number = number
        self._uuid = uuid
        self._setup_text = setup
        self._clock = clock
        self._setup = Setup.from_text(setup)
        self._lock = threading.Lock()  # of the fold
        self._fold: Fold | None = None
        self._due = Due()
        self._saved = 0  # number of the event of the newest snapshot, as far as this process knows
        self._rewards = (array("q", [0]), array("q"), array("d"))  # last event, arms, rewards
        self._commits = GroupCommit(self._run)
        self.appended: Counter[str] = Counter()

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
    def problem(self) -> Bandit:
        """The bandit of all arms, paused and added ones among them, before any reward."""
        with self._reading() as (_, fold):
            return fold.bandit

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of all arms, paused and added ones among them."""
        with self._reading() as (_, fold):
            return tuple(fold.names)

    @property
    def paused(self) -> tuple[str, ...]:
        """Names of the arms that are paused."""
        with self._reading() as (_, fold):
            return tuple(name for name, is_paused in zip(fold.names, fold.paused, strict=True) if is_paused)

    @property
    def running(self) -> bool:
        """Whether there are rounds left and nobody has stopped the experiment."""
        with self._reading() as (_, fold):
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
        done = iter(self._commits.do([request for request in made if not isinstance(request, ValueError)]))
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
        fields = _fields(prior)
        self._setup.problem.with_arm(**fields)  # refuses wrong fields
        self._one(Change(ADD, None, json.dumps({"name": name, "prior": fields})))

    def stop(self) -> None:
        """Make no more decisions; late rewards are still taken."""
        self._one(Change(STOP))

    # --- what there is -----------------------------------------------------------------------------------------------

    def agent(self) -> Agent:
        """Return a copy of the agent that makes the next decision; its arms are those that are not paused."""
        with self._reading() as (_, fold):
            return copy.copy(fold.agent)

    def state(self) -> str:
        """Return the whole state as text; two states with the same text are equal, bit for bit."""
        with self._reading() as (_, fold):
            return fold.to_text()

    def log(self, after: int = 0) -> Iterator[Event]:
        """Yield the events of the log, in order.

        Parameters
        ----------
        after : int
            Number of the event after which to begin.
        """
        with self._database.read() as connection:
            yield from Log(connection, self._number).after(checks.whole("after", after, 0))

    def replay(self) -> Agent:
        """Return the agent that the log gives, from nothing; StoreError if it is not the current one, bit for bit.

        It also checks that no event is missing or has changed since it was written.
        """
        with self._database.read() as connection:
            log = Log(connection, self._number)
            with self._lock:
                live = self._up_to_date(log).to_text()
            fold = Fold(self._uuid, self._setup_text)
            self._catch_up(log, fold)
            if fold.to_text() != live:
                raise StoreError(f"{self._database.name}: the state of {self.name} is not that of its log")
            return fold.agent

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
        from bayesregret.status.progress import Progress

        with self._reading() as (log, fold):
            last, arms, rewards = self._rewards
            for number, arm, reward in log.rewards(last[0]):
                last[0] = number
                arms.append(arm)
                rewards.append(reward)
            first = next(log.after(0), None)
            return Progress(
                bandit=fold.bandit,
                agent=copy.copy(fold.agent),
                horizon=self.horizon,
                decisions=np.array(fold.decisions),
                reward_arms=np.array(arms, np.int64),
                rewards=np.array(rewards, float),
                pending=np.array(fold.pending),
                name=self.name,
                arms=tuple(fold.names),
                unit=self.unit,
                paused=tuple(arm for arm, is_paused in enumerate(fold.paused) if is_paused),
                equal_split=np.array(fold.split_equally()),
                stopped=fold.stopped,
                started=None if first is None else first.time,
                last=None if first is None else fold.time,
            )

    def status(self, *, exact: bool = True, level: float = 0.95) -> Any:
        """Return what the experiment has learned, what it has cost and what it may still cost.

        Parameters
        ----------
        exact : bool
            Whether to compute exact numbers where there are any, which takes longer.
        level : float
            Probability of the credible intervals.
        """
        module: Any = importlib.import_module("bayesregret.status")
        return module.experiment_status(self.progress(), exact=exact, level=level)

    def __repr__(self) -> str:
        return f"<experiment {self.name}: {self.policy.name} on {self._setup.problem.a_kind} bandit>"

    # --- within ------------------------------------------------------------------------------------------------------

    def _one(self, request: Request) -> Any:
        (outcome,) = self._commits.do([request])
        if isinstance(outcome, ValueError):
            raise outcome
        return outcome

    def _request(self, given: Sequence[Any]) -> Request:
        match list(given):
            case ["decide", key]:
                return Decide((None if key is None else checked_key(key),))
            case ["reward", decision, value]:
                return self._reward([(decision, value)])
        raise checks.fail("request", '("decide", key) or ("reward", decision, value)', given)

    def _reward(self, rewards: Iterable[tuple[str, float]]) -> Reward:
        return Reward(tuple((self._decision_number(decision), self._value(value)) for decision, value in rewards))

    def _decision_number(self, decision: str) -> int:
        number = decision_number(self._uuid, decision)
        if number is None:
            raise UnknownError(f"decision must be the id of one of {self.name}, got {checks.shown(decision)}")
        return number

    def _value(self, value: float) -> float:
        return self._setup.problem.check_reward(value) + 0.0  # -0.0 becomes 0.0, as SQLite stores it

    def _arm(self, arm: int | str) -> int:
        names = self.arms
        if isinstance(arm, str):
            if arm not in names:
                raise unknown_name(arm, names)
            return names.index(arm)
        return checks.whole("arm", arm, 0, len(names) - 1)

    def _run(self, tickets: list[Ticket]) -> None:
        """Do the requests of many threads in one transaction."""
        requests = [request for ticket in tickets for request in ticket.request]
        with self._lock:
            try:
                with self._database.write(self._number) as connection:
                    log = Log(connection, self._number)
                    writer = Writer(log, self._up_to_date(log), self._clock(), requests)
                    outcomes = self._do(log, writer, requests)
            except BaseException:
                self._fold, self._due = None, Due()  # what was not committed is gone
                raise
            self.appended += writer.counts
        for ticket in tickets:
            ticket.result, outcomes = outcomes[: len(ticket.request)], outcomes[len(ticket.request) :]

    def _do(self, log: Log, writer: Writer, requests: list[Request]) -> list[Any]:
        fold = writer.fold
        writer.expire(self._due)
        outcomes = [_outcome(writer, request) for request in requests]
        writer.flush()
        if fold.number >= self._saved + SNAPSHOT_EVERY:
            log.snapshot(fold)
            self._saved = fold.number
        return outcomes

    def _up_to_date(self, log: Log) -> Fold:
        """Return the fold with all events of the log; the lock must be held."""
        fold = self._fold
        try:
            if fold is None:
                fold = Fold(self._uuid, self._setup_text)
                log.restore(fold)
                self._saved = fold.number
            self._catch_up(log, fold)
        except BaseException:
            self._fold = None
            raise
        self._fold = fold
        return fold

    def _catch_up(self, log: Log, fold: Fold) -> None:
        try:
            log.catch_up(fold)
        except StoreError as error:
            raise StoreError(f"{self._database.name}: the log of {self.name} is damaged: {error}") from None

    @contextmanager
    def _reading(self) -> Iterator[tuple[Log, Fold]]:
        with self._lock, self._database.read() as connection:
            log = Log(connection, self._number)
            yield log, self._up_to_date(log)

    def _close(self) -> None:
        """Save a snapshot, so that the next process need not fold again what this one did."""
        with self._lock, suppress(StoreError, StoreWriteError):
            if self._fold is not None and self._fold.number > self._saved:
                with self._database.write(self._number) as connection:
                    log = Log(connection, self._number)
                    log.snapshot(self._up_to_date(log))
            self._fold = None


def _outcome(writer: Writer, request: Request) -> Any:
    try:
        return writer.do(request)
    except ValueError as error:
        return error


def _fields(prior: Any) -> dict[str, Any]:
    """The prior of one arm, as JSON can hold it."""
    if not isinstance(prior, dict) or not all(isinstance(field, str) for field in prior):
        raise checks.fail("prior", 'the fields of one arm, such as {"alpha": 1, "beta": 30}', prior)
    return {
        name: value.tolist() if isinstance(value, np.generic | np.ndarray) else value for name, value in prior.items()
    }
