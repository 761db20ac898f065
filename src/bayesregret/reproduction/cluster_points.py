"""Points on a cluster: small ones in groups, large ones split into blocks of runs, all scheduled together."""

from __future__ import annotations

import functools
import itertools
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from bayesregret.policies import Policy
from bayesregret.policy_data import policy_from_dict
from bayesregret.problem import bandit_classes, problem_from_dict
from bayesregret.reproduction.point import ALL_BOUNDS, Computed, Result, Settings, compute_point, run_point
from bayesregret.reproduction.precompute import groups_alike
from bayesregret.simulation.cost import KNOWN_COSTS, run_cost
from bayesregret.simulation.engines.cluster import worker
from bayesregret.simulation.engines.cluster.engine import OUT_OF_TURN, ClusterEngine, task_seconds
from bayesregret.simulation.engines.cluster.tasks import Task, Tasks
from bayesregret.simulation.simulate import SMALL_ROUNDS

LARGE_SECONDS = 2.0  # points that are estimated to take longer are split
LARGE_AT_ONCE = 3  # so that the last blocks of one do not run alone; each holds the results of its runs in memory
# Seconds besides simulation, before any were measured: of each point, and of exact regrets and bounds.
EACH_POINT, COMPUTATIONS = 0.002, 0.1
USUAL_COST = 20.0  # of a round, in nanoseconds
FIRST_POINTS, MOST_POINTS = 4, 500  # in a group, before and after times were measured

Finished = tuple[Settings, Result, float]  # with the seconds that it took


class Outcome(NamedTuple):
    """A worker's results of a group of points: those before the first that failed, and its error."""

    finished: list[Finished]
    error: Exception | None


def finished_points(points: Sequence[Settings], engine: ClusterEngine) -> Generator[Finished, None, None]:
    """Run points on a cluster, and yield each as soon as it is finished, in any order.

    The caller closes the iterator, also after an error or an interrupt; then nothing runs any more.
    """
    own = engine.twin()  # what is closed is ours alone
    with ThreadPoolExecutor(LARGE_AT_ONCE, thread_name_prefix="bayesregret") as pool:
        tasks = own.tasks()
        try:
            yield from PointSchedule(points, own, tasks, pool).run()
        finally:
            own.close()
            pool.shutdown(wait=True, cancel_futures=True)


class PointSchedule:
    """What is left to do, what is under way, and who gets its results."""

    def __init__(self, points: Sequence[Settings], engine: ClusterEngine, tasks: Tasks, pool: ThreadPoolExecutor):
        self.engine, self.tasks, self.pool = engine, tasks, pool
        self.definitions = _definitions(points)
        by_cost = sorted(((self._estimated(settings), settings) for settings in points), key=lambda pair: -pair[0])
        self.large = deque(settings for seconds, settings in by_cost if seconds > LARGE_SECONDS)
        alike = groups_alike([settings for seconds, settings in by_cost if seconds <= LARGE_SECONDS])
        self.small = deque(itertools.chain.from_iterable(alike))
        self.under_way: dict[Task, Callable[[Any], Iterator[Finished]]] = {}  # with who takes the result
        self.simulating: dict[Future[Result], tuple[Settings, float]] = {}  # with the time of the start
        self.estimated = self.measured = 0.0  # seconds of small points

    def run(self) -> Iterator[Finished]:
        while self.large or self.small or self.under_way or self.simulating:
            self._fill()
            self.tasks.wait()
            ended = sorted((task for task in self.under_way if task.is_done), key=lambda task: task.has_failed)
            for task, result in self.tasks.collect(ended) if ended else []:
                yield from self.under_way.pop(task)(result)
            for simulated in [future for future in self.simulating if future.done()]:
                settings, begin = self.simulating.pop(simulated)
                yield settings, simulated.result(), time.perf_counter() - begin

    def _fill(self) -> None:
        """Start tasks until the cluster has enough: computations of large points first, because blocks follow them."""
        while self.large and len(self.under_way) < self.engine.most_tasks:
            settings = self.large.popleft()
            if has_computations(settings):
                compute = functools.partial(compute_point, settings)
                name, taker = (
                    ("exact regrets and bounds", "of a large point"),
                    functools.partial(self._simulate, settings),
                )
                self._start(name, compute, taker, priority=2 * OUT_OF_TURN)
            else:
                self._simulate(settings, None)
        while self.small and len(self.under_way) < self.engine.most_tasks:
            group = self._next_group()
            run = functools.partial(run_points, group, self.engine.engine)
            self._start(("points", f"{len(group)} points"), run, self._take_group)

    def _start(
        self,
        name: tuple[str, str],
        function: Callable[[], Any],
        taker: Callable[[Any], Iterator[Finished]],
        priority: int = 0,
    ) -> None:
        parcel = worker.pack(function, self.definitions)
        self.under_way[self.tasks.start(name, worker.call, parcel, priority=priority)] = taker

    def _simulate(self, settings: Settings, computed: Computed | None) -> Iterator[Finished]:
        """Simulate a large point from a thread of this process; its blocks are tasks like any other."""
        future = self.pool.submit(run_point, settings, self.engine, computed)
        self.simulating[future] = settings, time.perf_counter()
        future.add_done_callback(lambda _: self.tasks.wake())
        return iter(())

    def _next_group(self) -> list[Settings]:
        """Take points for about a second, and longer with many workers."""
        at_once = self.engine.tasks_at_once
        most_seconds = task_seconds(at_once)
        ratio = self.measured / self.estimated if self.estimated else 1.0
        most = MOST_POINTS if self.estimated else FIRST_POINTS
        fair = len(self.small) // (2 * at_once)
        group: list[Settings] = []
        seconds = 0.0
        while self.small and len(group) < max(1, min(most, fair)) and (not group or seconds < most_seconds):
            group.append(self.small.popleft())
            seconds += ratio * self._estimated(group[-1])
        return group

    def _take_group(self, outcome: Outcome) -> Iterator[Finished]:
        for settings, result, seconds in outcome.finished:
            self.estimated = 0.99 * self.estimated + self._estimated(settings)
            self.measured = 0.99 * self.measured + seconds
            yield settings, result, seconds
        if outcome.error is not None:
            raise outcome.error

    def _estimated(self, settings: Settings) -> float:
        return estimated_seconds(settings, self.engine.processors_each)


def run_points(points: Sequence[Settings], engine: str = "threads") -> Outcome:
    """Run points one after the other, on a worker."""
    place = worker.ENGINES[engine]()
    finished: list[Finished] = []
    for settings in points:
        begin = time.perf_counter()
        try:
            result = run_point(settings, place)
        except Exception as error:
            return Outcome(finished, error)
        finished.append((settings, result, time.perf_counter() - begin))
    return Outcome(finished, None)


def estimated_seconds(settings: Settings, processors: int = 1) -> float:
    """Approximate time of a point on a worker whose simulations run on this many processors."""
    horizon, runs = int(settings["horizon"]), int(settings["runs"])
    rounds = horizon * runs
    seconds = EACH_POINT + COMPUTATIONS * has_computations(settings)
    if rounds <= SMALL_ROUNDS:  # otherwise a table of indices would be computed here, for nothing
        costs = [KNOWN_COSTS.get(policy["name"], USUAL_COST) for policy in settings["policies"]]
        return seconds + sum(costs) * rounds / processors / 1e9
    bandit = problem_from_dict(settings["problem"])
    policies = map(policy_from_dict, settings["policies"])
    return seconds + sum(run_cost(policy, bandit, horizon) for policy in policies) * runs / processors / 1e9


def has_computations(settings: Settings) -> bool:
    """Whether a point has parts that are computed without simulation."""
    return bool(settings["bounds"] or settings.get("exact") or settings.get("optimal"))


def _definitions(points: Sequence[Settings]) -> list[Any]:
    """Return the classes of policies and bandits, and the bodies of bounds, that these points name."""
    policies = {policy["name"] for settings in points for policy in settings["policies"]}
    bandits = {settings["problem"]["model"] for settings in points}
    found: list[Any] = [Policy.classes[name] for name in sorted(policies)]
    found += [kind for name, kind in bandit_classes().items() if name in bandits]
    bounds = {name for settings in points for name in _bounds(settings)}
    if bounds:
        from bayesregret.bounds.bound import Formula

        formulas = [formula for name, formula in Formula.every.items() if name in bounds or ALL_BOUNDS in bounds]
        found += [body for formula in formulas for _, body in formula.bodies.values()]
    return found


def _bounds(settings: Settings) -> Sequence[str]:
    bounds = settings["bounds"]
    return [bounds] if isinstance(bounds, str) else bounds
