"""Exact regrets and bounds of later points, computed by worker processes while earlier points are simulated.

These computations are many small steps of Python, which threads cannot run in parallel. Simulations use all processors
but finish quickly, so they stay in the main process, where the user can interrupt them.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress

from bayesregret.interrupts import interrupts_held
from bayesregret.reproduction.point import Computed, Settings, compute_point
from bayesregret.simulation.engines.threads import available_threads

# A process takes a second or two to start, which pays off from this many points on.
FEWEST_POINTS = 24

Lookup = Callable[[Settings], Computed | None]


@contextmanager
def computed_ahead(points: Sequence[Settings], threads: int | None = None) -> Iterator[Lookup]:
    """Yield a function that returns the computed part of one of these points; None if the caller must compute it.

    The number of processes is `threads`; None uses all processors.
    """
    processes = threads or available_threads()
    if len(points) < FEWEST_POINTS or processes < 2:
        yield lambda settings: None
        return
    context = multiprocessing.get_context("spawn")
    places = {}
    with interrupts_held():  # the processes never get one, not even before `_end_with_parent`
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_end_with_parent)
        for group in groups_alike(points):
            task = pool.submit(_compute_all, group)
            places.update({_key(settings): (task, place) for place, settings in enumerate(group)})

    def look_up(settings: Settings) -> Computed | None:
        # What fails in a worker, such as a user's model that it does not know, is done or reported by the caller.
        with suppress(Exception):
            task, place = places[_key(settings)]
            return task.result()[place]
        return None

    try:
        yield look_up
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def groups_alike(points: Sequence[Settings]) -> list[list[Settings]]:
    """Group points whose bandits differ only in the prior means: they share most of the work within one process."""
    groups: dict[str, list[Settings]] = {}
    for settings in points:
        problem = {name: value for name, value in settings["problem"].items() if name != "prior_mean"}
        groups.setdefault(json.dumps([problem, settings["horizon"]], sort_keys=True), []).append(settings)
    return list(groups.values())


def _key(settings: Settings) -> str:
    return json.dumps(settings, sort_keys=True)


def _compute_all(points: Sequence[Settings]) -> list[Computed]:
    return [compute_point(settings) for settings in points]


def _end_with_parent() -> None:
    """Leave interrupts to the parent, and exit when the parent ends for any reason."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
