"""What is computed of the points to come, by other processes, while others are simulated.

Exact regrets and bounds are many small steps of Python, which threads cannot share. Simulations need all processors
but not long, so they stay where they can be interrupted.
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

from bayesregret.experiments.point import Computed, Settings, compute_point
from bayesregret.simulation.engine import available_threads

# A process takes a second or two to start: it pays for so many points.
FEWEST_POINTS = 24

Found = Callable[[Settings], Computed | None]


@contextmanager
def computed_ahead(points: Sequence[Settings], threads: int | None = None) -> Iterator[Found]:
    """A function that gives what was computed of one of these points, None if that is still to be done.

    There are as many processes as threads that may be used, all processors if None.
    """
    processes = threads or available_threads()
    if len(points) < FEWEST_POINTS or processes < 2:
        yield lambda settings: None
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_end_with_the_parent)
    places = {}
    for group in _alike(points):
        task = pool.submit(_compute_all, group)
        places.update({_key(settings): (task, place) for place, settings in enumerate(group)})

    def of(settings: Settings) -> Computed | None:
        # What fails there, such as a model of the user's that is not known there, is done or told here.
        with suppress(Exception):
            task, place = places[_key(settings)]
            return task.result()[place]
        return None

    try:
        yield of
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alike(points: Sequence[Settings]) -> list[list[Settings]]:
    """Points whose bandits differ in the prior means alone share most of the work, if one process has them all."""
    groups: dict[str, list[Settings]] = {}
    for settings in points:
        problem = {name: value for name, value in settings["problem"].items() if name != "prior_mean"}
        groups.setdefault(json.dumps([problem, settings["horizon"]], sort_keys=True), []).append(settings)
    return list(groups.values())


def _key(settings: Settings) -> str:
    return json.dumps(settings, sort_keys=True)


def _compute_all(points: Sequence[Settings]) -> list[Computed]:
    return [compute_point(settings) for settings in points]


def _end_with_the_parent() -> None:
    """Leave interrupts to the parent, and end when it does, however that is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
