"""The state of one experiment in this process, kept up to date with the log, and changed by group commits."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from bayesregret.agent import Agent
from bayesregret.store.database import Database
from bayesregret.store.errors import StoreError, StoreWriteError
from bayesregret.store.events import Event
from bayesregret.store.fold import Fold
from bayesregret.store.group_commit import GroupCommit, Ticket
from bayesregret.store.log import SNAPSHOT_EVERY, Log
from bayesregret.store.rewards import Ordered, Rewards
from bayesregret.store.setup import Setup
from bayesregret.store.writer import Due, Request, Writer


class Live:
    """The fold over the log of one experiment, for all threads of this process.

    Every transaction first takes the events of other processes. If one fails, the fold is thrown away, and made anew
    from the newest snapshot and the log.
    """

    def __init__(
        self, database: Database, number: int, name: str, uuid: str, setup: str, clock: Callable[[], float]
    ) -> None:
        self._database = database
        self._number = number
        self.name = name
        self.uuid = uuid
        self.setup = Setup.from_text(setup)
        self._setup_text = setup
        self._clock = clock
        self._lock = threading.Lock()  # of all that follows
        self._fold: Fold | None = None
        self._due = Due()
        self._saved = 0  # number of the event of the newest snapshot, as far as this process knows
        self._rewards = Rewards()
        self._commits = GroupCommit(self._run)
        self.appended: Counter[str] = Counter()  # events that this process has written, by kind

    def do(self, requests: list[Request]) -> list[Any]:
        """Do requests in one transaction; return the result of each, or the ValueError by which it is refused."""
        return self._commits.do(requests)  # type: ignore[no-any-return]

    @contextmanager
    def reading(self) -> Iterator[tuple[Log, Fold]]:
        """The log, and the fold that is up to date with it; no other thread changes it meanwhile."""
        with self._lock, self._database.read() as connection:
            log = Log(connection, self._number)
            yield log, self._up_to_date(log)

    def rewards(self, log: Log) -> Ordered:
        """Return all rewards, within `reading`."""
        return self._rewards.catch_up(log, self._due.after, self.setup.reward_after is not None)

    def events(self, after: int) -> Iterator[Event]:
        with self._database.read() as connection:
            yield from Log(connection, self._number).after(after)

    def replay(self) -> Agent:
        """Return the agent that the log gives, from nothing; StoreError if the live state is another, bit for bit."""
        with self.reading() as (_, current):
            number, live = current.number, current.to_text()
        fold = Fold(self.uuid, self._setup_text)
        with self._database.read() as connection:
            self._catch_up(Log(connection, self._number), fold, number)
        if fold.to_text() != live:
            raise StoreError(f"{self._database.name}: the state of {self.name} is not that of its log")
        return fold.agent

    def close(self) -> None:
        """Save a snapshot, so that the next process need not fold again what this one did."""
        with self._lock, suppress(StoreError, StoreWriteError):
            if self._fold is not None and self._fold.number > self._saved:
                with self._database.write(self._number) as connection:
                    log = Log(connection, self._number)
                    log.snapshot(self._up_to_date(log))
            self._fold = None

    def _run(self, tickets: list[Ticket]) -> None:
        """Do the requests of many threads in one transaction."""
        requests = [request for ticket in tickets for request in ticket.request]
        with self._lock:
            try:
                with self._database.write(self._number) as connection:
                    log = Log(connection, self._number)
                    outcomes, counts = self._do(log, self._up_to_date(log), requests)
            except BaseException:
                self._fold, self._due = None, Due()  # what was not committed is gone
                raise
            self.appended += counts
        for ticket in tickets:
            ticket.result, outcomes = outcomes[: len(ticket.request)], outcomes[len(ticket.request) :]

    def _do(self, log: Log, fold: Fold, requests: list[Request]) -> tuple[list[Any], Counter[str]]:
        writer = Writer(log, fold, self._clock(), requests)
        writer.expire(self._due)
        outcomes = [_outcome(writer, request) for request in requests]
        writer.flush()
        if fold.number >= self._saved + SNAPSHOT_EVERY:
            log.snapshot(fold)
            self._saved = fold.number
        return outcomes, writer.counts

    def _up_to_date(self, log: Log) -> Fold:
        """Return the fold with all events of the log; the lock must be held."""
        fold = self._fold
        try:
            if fold is None:
                fold = Fold(self.uuid, self._setup_text)
                log.restore(fold)
                self._saved = fold.number
            self._catch_up(log, fold)
        except BaseException:
            self._fold = None
            raise
        self._fold = fold
        return fold

    def _catch_up(self, log: Log, fold: Fold, until: int | None = None) -> None:
        try:
            log.catch_up(fold, until)
        except StoreError as error:
            raise StoreError(f"{self._database.name}: the log of {self.name} is damaged: {error}") from None


def _outcome(writer: Writer, request: Request) -> Any:
    try:
        return writer.do(request)
    except ValueError as error:
        return error
