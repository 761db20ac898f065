"""Statuses of experiments, each computed once for all who ask for it at about the same time."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bayesregret.status import Status  # loaded now: the first request should not wait for it
from bayesregret.store import Experiment

SHARE = 0.2  # of the time, at most, that one experiment's status is being computed


@dataclass
class FreshStatus:
    """A status, and until when it is fresh."""

    status: Status
    until: float


class Statuses:
    """Statuses of the experiments of one server, computed one after another beside its other work."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "status")
        self._found: dict[tuple[str, bool], FreshStatus] = {}
        self._locks: dict[tuple[str, bool], asyncio.Lock] = {}

    async def status(self, experiment: Experiment, *, exact: bool) -> Status:
        """Return the status of an experiment, perhaps that of a moment ago."""
        which = experiment.name, exact
        async with self._locks.setdefault(which, asyncio.Lock()):
            found = self._found.get(which)
            if found is None or time.monotonic() > found.until:
                found = await asyncio.get_running_loop().run_in_executor(self._pool, _compute, experiment, exact)
                self._found[which] = found
            return found.status

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _compute(experiment: Experiment, exact: bool) -> FreshStatus:
    start = time.monotonic()
    status = experiment.status(exact=exact)
    end = time.monotonic()
    return FreshStatus(status, end + (end - start) / SHARE)
