"""Group commit: what many threads ask for at the same time is done together, in one transaction.

The first thread that asks leads: it does all that waits, its own request among them, and then makes the first of those
that came meanwhile lead. So there is no thread of our own, and a single caller goes straight through.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from bayesregret.store.errors import StoreWriteError

MOST = 1000  # requests in one transaction


class Ticket:
    """A request and, once it is done, its result or its error."""

    __slots__ = ("done", "error", "request", "result", "wake")

    def __init__(self, request: Any) -> None:
        self.request = request
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.wake = threading.Lock()
        self.wake.acquire()

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result


class GroupCommit:
    """Gives requests of many threads to `run`, several at a time; `run` sets the result or the error of each."""

    def __init__(self, run: Callable[[list[Ticket]], None]) -> None:
        self._run = run
        self._mutex = threading.Lock()
        self._waiting: list[Ticket] = []
        self._leader: Ticket | None = None

    def do(self, request: Any) -> Any:
        """Return the result of a request, or raise its error."""
        ticket = Ticket(request)
        with self._mutex:
            self._waiting.append(ticket)
            leads = self._leader is None
            if leads:
                self._leader = ticket
        try:
            if not leads:
                ticket.wake.acquire()  # until it is done, or leads
            if not ticket.done:
                self._lead()
        except BaseException:  # an interrupt
            self._leave(ticket)
            raise
        return ticket.outcome()

    def _lead(self) -> None:
        with self._mutex:
            batch = self._waiting[:MOST]
            del self._waiting[:MOST]
        try:
            self._run(batch)
        except Exception as error:
            _fail(batch, error)
        except BaseException:
            _fail(batch, StoreWriteError("the process was interrupted while it wrote; ask again"))
            raise
        finally:
            self._hand_over()
            for ticket in batch:
                ticket.done = True
                ticket.wake.release()

    def _hand_over(self) -> None:
        with self._mutex:
            self._leader = self._waiting[0] if self._waiting else None
            if self._leader is not None:
                self._leader.wake.release()

    def _leave(self, ticket: Ticket) -> None:
        """Take back a request of a thread that was interrupted while it waited."""
        with self._mutex:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            was_to_lead = self._leader is ticket
        if was_to_lead:
            self._hand_over()


def _fail(batch: list[Ticket], error: Exception) -> None:
    for ticket in batch:
        ticket.error = error
