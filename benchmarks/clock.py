"""Timing side by side: candidates take turns, and the fastest turn of each counts.

On a shared machine a slow turn tells of the neighbours; the fastest tells of the code.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Any

import psutil

Cost = Callable[[], float]  # does the work once and returns what one unit of it cost, in nanoseconds


def timed(work: Callable[[], Any], units: int) -> Cost:
    """The cost of one unit of work that is done `units` at a time."""

    def cost() -> float:
        start = time.perf_counter_ns()
        work()
        return (time.perf_counter_ns() - start) / units

    return cost


def side_by_side(repetitions: int, *costs: Cost, warm_up: bool = True) -> list[float]:
    """The lowest cost of each candidate over repetitions in which they take turns."""
    if warm_up:  # compile, load and fill caches
        for cost in costs:
            cost()
    turns = [[cost() for cost in costs] for _ in range(repetitions)]
    return [min(turn) for turn in zip(*turns, strict=True)]


def fastest_of(turns: int, cost: Cost) -> Cost:
    """For what is over in a moment beside the others: one turn of theirs is worth a few of its own."""
    return lambda: min(cost() for _ in range(turns))


class Neighbours:
    """How much of the processors others take: a neighbour that stays slows every turn, so no turn shows it."""

    def __init__(self) -> None:
        self.since = self._now()

    def waited(self) -> bool:
        """Whether there is enough to judge by: processor time comes in steps of a hundredth of a second."""
        return time.perf_counter() - self.since[0] > 0.2

    def share(self) -> float:
        """Their share since this was last asked, between 0 and 1."""
        before, self.since = self.since, self._now()
        wall, busy, own = (now - then for now, then in zip(self.since, before, strict=True))
        return min(1.0, max(0.0, busy - own) / (wall * psutil.cpu_count()))

    @staticmethod
    def _now() -> tuple[float, float, float]:
        """Wall time, processor time of everyone, and of this process with its children, ended or not."""
        everyone, own = psutil.cpu_times(), sum(os.times()[:4]) + _living_children()
        idle = everyone.idle + getattr(everyone, "iowait", 0.0)
        # Linux counts guests among the users already.
        guests = getattr(everyone, "guest", 0.0) + getattr(everyone, "guest_nice", 0.0)
        return time.perf_counter(), sum(everyone) - idle - guests, own


def _living_children() -> float:
    """Processor time of processes that this one started, with theirs; it counts in `os.times` once they have ended."""
    seconds = 0.0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            seconds += sum(child.cpu_times()[:4])
    return seconds
