"""Work off the event loop: a few threads for all pages, and for each page only the latest request."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from bayesregret.exploring.snapshot import Abandoned, IsAbandoned

T = TypeVar("T")
Start = Callable[[IsAbandoned], Iterator[T]]


@cache
def _threads() -> ThreadPoolExecutor:
    """A thread for each processor: work of all pages waits in one queue, of each page at most one step."""
    return ThreadPoolExecutor(max(2, os.cpu_count() or 2), thread_name_prefix="bayesregret-explore")


class Latest:
    """Runs one iterator at a time, step by step; a new one makes an end of the old one."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._token: object = None
        self.steps = 0  # that were delivered
        self.abandoned = 0  # iterators that did not come to their end

    def start(self, make: Start[T], deliver: Callable[[T], None], fail: Callable[[str], None]) -> None:
        """Deliver each step of a new iterator on the event loop; `fail` gets the message of a ValueError."""
        token = self._token = object()
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(self._run(token, make, deliver, fail))

    def stop(self) -> None:
        self._token = None
        if self._task is not None:
            self._task.cancel()

    async def _run(
        self, token: object, make: Start[T], deliver: Callable[[T], None], fail: Callable[[str], None]
    ) -> None:
        def is_abandoned() -> bool:
            return self._token is not token

        loop = asyncio.get_running_loop()
        steps: Iterator[T] | None = None
        try:
            while not is_abandoned():
                # The first step may be long: the iterator is made in the thread, too.
                if steps is None:
                    steps = await loop.run_in_executor(_threads(), make, is_abandoned)
                step = await loop.run_in_executor(_threads(), _next, steps)
                if is_abandoned():
                    break
                if step is None:
                    return
                self.steps += 1
                deliver(step)
        except (Abandoned, asyncio.CancelledError):
            pass
        except (ValueError, OverflowError, MemoryError) as error:
            if not is_abandoned():
                fail(str(error))
            return
        self.abandoned += 1


def _next(steps: Iterator[T]) -> T | None:
    return next(steps, None)
