"""The experiments that a server has open, and what it asks of them: all that waits is committed together."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bayesregret.service.metrics import Metrics
from bayesregret.store.events import DECIDE, REWARD

if TYPE_CHECKING:
    from bayesregret.store import Experiment, ExperimentStore

T = TypeVar("T")
MOST = 500  # requests in one transaction
WRITERS = 8  # threads that commit, each for one experiment at a time
THREADS = 8  # threads for all other work with the store


class Queue:
    """Requests to one experiment. While some are being committed, the next ones gather."""

    def __init__(self, experiment: Experiment, pool: ThreadPoolExecutor, metrics: Metrics) -> None:
        self.experiment = experiment
        self._pool = pool
        self._metrics = metrics
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, request: Any) -> Any:
        """Return the result of a request as soon as it is durable, or raise its error."""
        outcome = asyncio.get_running_loop().create_future()
        self._waiting.append((request, outcome))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return await outcome

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                await self._commit(batch)
        finally:
            self._worker = None

    async def _commit(self, batch: Sequence[tuple[Any, asyncio.Future[Any]]]) -> None:
        """Do a batch in one transaction. What a client asked for is done even if it has gone away."""
        self._metrics.batches.observe(len(batch))
        requests = [request for request, _ in batch]
        try:
            results = await asyncio.get_running_loop().run_in_executor(self._pool, self.experiment.apply, requests)
        except Exception as error:  # whatever it is, nobody must wait for ever
            results = [error] * len(batch)  # type: ignore[list-item]
        for (_, outcome), result in zip(batch, results, strict=True):
            if outcome.cancelled():
                continue
            if isinstance(result, Exception):
                outcome.set_exception(result)
            else:
                outcome.set_result(result)


class Desk:
    """What the routes of a server use: its store, with each experiment opened once."""

    def __init__(self, store: ExperimentStore) -> None:
        self.store = store
        self.metrics = Metrics(self.repeated)
        self._writers = ThreadPoolExecutor(WRITERS, "writer")
        self._others = ThreadPoolExecutor(THREADS, "store")
        self._open: dict[str, Queue] = {}
        self._opening = asyncio.Lock()
        self._answered = Counter(dict.fromkeys((DECIDE, REWARD), 0))

    async def run(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Run something that waits for the store in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._others, partial(work, *arguments, **named))

    async def queue(self, name: str) -> Queue:
        """Return the queue of an experiment."""
        found = self._open.get(name)
        if found is None:
            async with self._opening:  # not twice
                found = self._open.get(name) or await self._opened(name)
        return found

    async def _opened(self, name: str) -> Queue:
        experiment = await self.run(self.store.experiment, name)
        return self._open.setdefault(name, Queue(experiment, self._writers, self.metrics))

    async def experiment(self, name: str) -> Experiment:
        return (await self.queue(name)).experiment

    async def expire(self) -> None:
        """Give up on rewards that are too late; without a request nobody would."""
        for queue in list(self._open.values()):
            if queue.experiment.reward_after is not None:
                with contextlib.suppress(ValueError, OSError):  # the next second will do
                    await self.run(queue.experiment.expire)

    def running(self) -> int:
        """Return the number of experiments that go on."""
        return sum(self.store.experiment(name).running for name in self.store.names())

    def answered(self, kind: str, number: int) -> None:
        """Count decisions or rewards that a client has been answered."""
        self._answered[kind] += number
        (self.metrics.decisions if kind == DECIDE else self.metrics.rewards).inc(number)

    def repeated(self) -> dict[str, int]:
        """Return how many answered decisions and rewards were in the log already, by kind."""
        appended: Counter[str] = Counter()
        for queue in self._open.values():
            appended.update(queue.experiment.appended)
        return {kind: max(0, number - appended[kind]) for kind, number in self._answered.items()}

    def close(self) -> None:
        """Finish what was begun."""
        for pool in (self._writers, self._others):
            pool.shutdown()
