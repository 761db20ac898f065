"""Tasks on a cluster: those that are lost with a worker or with the connection are started again."""

from __future__ import annotations

import itertools
import queue
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from bayesregret.simulation.engines.cluster.connection import HEARTBEAT, ClusterError, Connection
from bayesregret.simulation.engines.cluster.worker import lacks

# Dask starts a task again after each of three workers that die meanwhile, and we start it again this often.
MOST_DEATHS = 4
MOST_LOSSES = 100  # of the connection, during one task
# Larger arguments go to the scheduler once, and from worker to worker.
LARGE_ARGUMENT = 50_000
FIRST_OF_ALL = 1000  # priority


class Task:
    """A call on a worker."""

    def __init__(self, name: Sequence[str], function: Callable[..., Any], arguments: Sequence[Any], priority: int):
        self.name, self.function, self.arguments, self.priority = name, function, arguments, priority
        self.future: Any = None
        self.is_done = False
        self.deaths = self.losses = 0

    @property
    def has_failed(self) -> bool:
        """Whether it ended with an error."""
        return bool(self.future.status == "error")


class Tasks:
    """The tasks under way that somebody waits for."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._events: queue.SimpleQueue[tuple[Task, Any] | None] = queue.SimpleQueue()
        self._under_way: set[Task] = set()
        self._large: dict[bytes, Any] = {}
        self._unheard: set[Any] = set()  # keys of tasks that had ended at the last look, but not for us
        self._is_closed = False

    def start(self, name: Sequence[str], function: Callable[..., Any], *arguments: Any, priority: int = 0) -> Task:
        """Start a task; the first part of its name is what the dashboard adds up."""
        task = Task(name, function, arguments, priority)
        self._under_way.add(task)
        self._submit(task)
        return task

    def wait(self) -> list[Task]:
        """Wait until something happens, and return the tasks that ended since the last call, well or not."""
        ended: list[Task] = []
        event = self._next_event()
        while event is not None:
            task, future = event
            if future is task.future and not self._is_lost(task):
                task.is_done = True
                ended.append(task)
            if self._events.empty():
                break
            event = self._next_event()
        if self._is_closed:
            raise ClusterError("these tasks were cancelled")
        return ended

    def wake(self) -> None:
        """Let `wait` return; from any thread."""
        self._events.put(None)

    def collect(self, tasks: Sequence[Task]) -> list[tuple[Task, Any]]:
        """Return tasks that ended, with their results; those whose results are lost meanwhile will end again.

        The error of a task is raised here if it is the first one; otherwise only the tasks before it are returned.
        """
        some = list(itertools.takewhile(lambda task: not task.has_failed, tasks))
        if not some:
            error = tasks[0].future.exception()
            raise ValueError(lacks(error.name, "a worker")) if isinstance(error, ModuleNotFoundError) else error
        try:
            results = self._connection.gather([task.future for task in some])
        except Exception:  # a worker died, or the connection broke
            for task in some:
                task.is_done = False
                self._count_loss(task)
                if task.future.status == "finished":
                    self._events.put((task, task.future))
                else:
                    self._submit(task)
            return []
        self._under_way.difference_update(some)
        return list(zip(some, results, strict=True))

    def close(self) -> None:
        """Cancel what is under way; from any thread."""
        self._is_closed = True
        for task in list(self._under_way):
            with suppress(Exception):
                task.future.release()
        self._under_way.clear()
        self._large.clear()
        self.wake()

    def _submit(self, task: Task) -> None:
        client = self._connection.client
        # In the client's own thread, which forgets all futures when it reconnects: one that is made there meanwhile
        # would end its attempt (a dictionary changes while it is read), and nobody would try again.
        client.sync(self._submit_here, client, task)
        task.future.add_done_callback(lambda future: self._events.put((task, future)))

    async def _submit_here(self, client: Any, task: Task) -> None:
        arguments = [self._sent(client, argument) for argument in task.arguments]
        task.future = client.submit(
            task.function, *arguments, key=(*task.name, uuid.uuid4().hex[:12]), priority=task.priority, pure=False
        )

    def _sent(self, client: Any, argument: Any) -> Any:
        """Return an argument as it is or, if it is large, as the result of a task: no worker's death can lose it."""
        if not isinstance(argument, bytes) or len(argument) < LARGE_ARGUMENT:
            return argument
        sent = self._large.get(argument)
        if sent is None or sent.client is not client or sent.status in ("cancelled", "lost", "error"):
            import dask

            key = ("settings of a simulation", uuid.uuid4().hex[:12])
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": len(argument) * 2}):
                sent = self._large[argument] = client.submit(bytes, argument, key=key, priority=FIRST_OF_ALL)
        return sent

    def _next_event(self) -> tuple[Task, Any] | None:
        while True:
            with suppress(queue.Empty):
                return self._events.get(timeout=HEARTBEAT)
            self._connection.tend()
            self._look_for_unheard()

    def _look_for_unheard(self) -> None:
        """Connect anew if the scheduler says nothing of tasks that ended.

        After a cut, Dask's scheduler may take the end of the old connection for that of the new one: then it takes
        tasks, but sends no more news. Two looks in a row, because news may be on its way.
        """
        waiting = {task.future.key for task in list(self._under_way) if task.future.status == "pending"}
        found = self._connection.unheard(waiting)
        if found & self._unheard:
            self._connection.reconnect()
            found = set()
        self._unheard = found

    def _is_lost(self, task: Task) -> bool:
        """Whether a task that ended has neither result nor error of its own; then it is started again."""
        status = task.future.status
        if status == "error":
            from distributed.scheduler import KilledWorker

            if not isinstance(task.future.exception(), KilledWorker):
                return False
            task.deaths += 1
            if task.deaths >= MOST_DEATHS:
                raise ClusterError(
                    f"all workers that had the task {' '.join(task.name)} died: they may need more memory"
                )
        elif status in ("finished", "lost", "pending"):  # lost: the scheduler has it computed again
            return False
        else:
            self._count_loss(task)
        self._submit(task)
        return True

    def _count_loss(self, task: Task) -> None:
        task.losses += 1
        if task.losses >= MOST_LOSSES:
            raise ClusterError(f"the task {' '.join(task.name)} was lost {task.losses} times")
