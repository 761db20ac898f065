"""The workers of a Dask cluster."""

from __future__ import annotations

import itertools
import math
import uuid
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from bayesregret import checks
from bayesregret.simulation.engines.cluster import worker
from bayesregret.simulation.engines.cluster.connection import Connection
from bayesregret.simulation.engines.cluster.tasks import Task, Tasks
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.kernels.run import BLOCK

if TYPE_CHECKING:
    import distributed

    from bayesregret.simulation.kernels.run import Record
    from bayesregret.simulation.simulation import Simulation

TASK_SECONDS = 1.0  # a dead worker costs no more, and Dask's own work is nothing beside it
TASKS_A_SECOND = 200  # at most, from all workers: one costs the client and the scheduler some 3 ms
FIRST_SECONDS = 0.25  # of the first tasks, whose cost is only estimated
SHORTEST = 0.05
MOST_BYTES = 16_000_000  # of a task's results
MOST_FETCHED = 4  # times this: what is fetched at once
AHEAD, FEWEST_AHEAD = 3, 16  # tasks under way for each that the cluster runs at once, and at least
UNKNOWN_THREADS = 1000
ENGINES = tuple(worker.ENGINES)
OUT_OF_TURN = 10  # priority of a simulation's tasks before those of small points


class ClusterEngine(Engine):
    """Plays runs on the workers of a Dask cluster.

    Needs `pip install "bayesregret[cluster]"`. The bits of a result are those of `ThreadsEngine`. A worker that dies
    costs its tasks only: others do them again.

    Parameters
    ----------
    cluster : distributed.Client or str
        A Dask client; the address of a scheduler, such as `"tcp://host:8786"`; or `"local:4"` for four processes of
        this machine. Clusters that a text stands for are opened once, and closed when Python exits.
    engine : {"threads", "gpu"}
        Where a worker plays: on its threads, or on all GPUs that it sees.

    Examples
    --------
    >>> engine = ClusterEngine("local:2")
    >>> engine
    ClusterEngine("local:2")
    >>> ClusterEngine("tcp://host:8786", engine="gpu")
    ClusterEngine("tcp://host:8786", engine="gpu")
    """

    name: ClassVar[str] = "cluster"

    def __init__(self, cluster: distributed.Client | str, engine: str = "threads") -> None:
        self.engine = checks.one_of("engine", engine, ENGINES)
        self._connection = Connection(cluster, on_gpus=self.engine == "gpu")
        self._open_tasks: set[Tasks] = set()

    def __repr__(self) -> str:
        target = self._connection.target
        shown = f'"{target}"' if isinstance(target, str) else repr(target)
        return f"ClusterEngine({shown})" if self.engine == "threads" else f'ClusterEngine({shown}, engine="gpu")'

    @property
    def client(self) -> distributed.Client:
        """The Dask client, which is opened if necessary."""
        return self._connection.client

    @property
    def tasks_at_once(self) -> int:
        """Number of tasks that the cluster runs at once; while there are no workers yet, as many as there may be."""
        return self._connection.tasks_at_once() or UNKNOWN_THREADS

    @property
    def processors_each(self) -> int:
        """Number of processor cores that one of these tasks uses, or that its GPU stands for."""
        return worker.ENGINES[self.engine].processors

    @property
    def processors(self) -> int:  # type: ignore[override]
        """Number of the workers' threads, or of the processor cores that their GPUs stand for."""
        return self.tasks_at_once * self.processors_each

    @property
    def most_tasks(self) -> int:
        """Number of tasks that are under way at once: results that wait for their turn need memory."""
        return max(FEWEST_AHEAD, AHEAD * self._connection.tasks_at_once())

    def tasks(self) -> Tasks:
        """Return a place for tasks, which the caller closes; workers that compute other bits are refused."""
        self._connection.compare()
        made = Tasks(self._connection)
        self._open_tasks.add(made)
        return made

    def twin(self) -> ClusterEngine:
        """Return an engine on the same cluster that can be closed by itself."""
        return ClusterEngine(self._connection.target, self.engine)

    def close(self) -> None:
        """Cancel all tasks of this engine; the cluster stays open."""
        for tasks in list(self._open_tasks):
            tasks.close()

    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        if begin >= end:
            return
        token = uuid.uuid4().hex
        bandit, policy = simulation.recipe.args  # type: ignore[attr-defined]
        parcel = worker.pack(simulation.recipe, [type(bandit), type(policy), *simulation.classes])
        tasks = self.tasks()
        sizes = Sizes(simulation, self._connection.lanes, self.processors_each)
        waiting: deque[tuple[Task, int]] = deque()
        next_run = begin
        try:
            while waiting or next_run < end:
                while next_run < end and len(waiting) < self.most_tasks:
                    runs = sizes.runs(end - next_run, self.tasks_at_once)
                    name = (policy.name, f"runs {next_run:,} to {next_run + runs:,}")
                    arguments = (token, parcel, next_run, runs, self.engine)
                    task = tasks.start(name, worker.play, *arguments, priority=OUT_OF_TURN)
                    waiting.append((task, runs))
                    next_run += runs
                ended = [task for task, _ in itertools.takewhile(lambda pair: pair[0].is_done, waiting)]
                if not ended:
                    tasks.wait()
                    continue
                for _, (record, seconds) in tasks.collect(ended[: sizes.fetched_at_once()]):
                    _, runs = waiting.popleft()
                    sizes.measured(runs, seconds)
                    yield _with_own_memory(record)
        finally:
            tasks.close()
            self._open_tasks.discard(tasks)
            if waiting:
                self._connection.run_everywhere(worker.stop, token)


def task_seconds(at_once: int) -> float:
    """Length of a task: a second, or longer on clusters that would end more tasks than Dask can follow."""
    return max(TASK_SECONDS, at_once / TASKS_A_SECOND)


class Sizes:
    """How many runs a task has: about a second, less towards the end, and first of all by the estimated cost.

    On GPUs it has whole turns of their lanes: fewer runs would take as long, and could need another kernel.
    """

    def __init__(self, simulation: Simulation, lanes: int = 0, processors: int = 1) -> None:
        self._run_seconds = simulation.cost() / processors / 1e9
        self._seconds = self._runs = 0.0  # measured
        # Bytes of the results of a block: two numbers of each run, and two for each checkpoint.
        self._block_bytes = 16 * (BLOCK + len(simulation.plan.checkpoints))
        self._turn = max(1, min(math.ceil(lanes / BLOCK), MOST_BYTES // self._block_bytes))  # blocks
        self._largest = 1  # blocks of a task so far

    def runs(self, left: int, at_once: int) -> int:
        turn = BLOCK * self._turn
        turn_seconds = turn * self._run_seconds
        seconds = task_seconds(at_once) if self._runs else FIRST_SECONDS
        most = min(seconds / turn_seconds, MOST_BYTES / (self._turn * self._block_bytes))
        fair = max(left / (turn * 2 * at_once), SHORTEST / turn_seconds)
        size = turn * max(1, math.floor(min(most, fair)))
        if left - size < turn:  # too few for a task of their own
            size = left
        self._largest = max(self._largest, math.ceil(size / BLOCK))
        return size

    def measured(self, runs: int, seconds: float | None) -> None:
        """Learn from a task; what was measured longer ago counts less."""
        if seconds is None:
            return
        self._seconds, self._runs = 0.9 * self._seconds + seconds, 0.9 * self._runs + runs
        self._run_seconds = max(self._seconds / self._runs, 1e-12)

    def fetched_at_once(self) -> int:
        """Number of results to fetch together."""
        return max(1, MOST_FETCHED * MOST_BYTES // (self._largest * self._block_bytes))


def _with_own_memory(record: Record) -> Record:
    """Copy the results that are kept: as they arrive, they hold on to the memory of the whole message."""
    return record._replace(final_regret=record.final_regret.copy(), best_pulls=record.best_pulls.copy())
