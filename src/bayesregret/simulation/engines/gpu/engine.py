"""The GPU engine: chunks of runs on one GPU or several, while the processor adds up those before."""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from bayesregret import checks
from bayesregret.extras import require
from bayesregret.simulation.engines.engine import Engine

if TYPE_CHECKING:
    from bayesregret.simulation.engines.gpu.job import Chunk, Job
    from bayesregret.simulation.kernels.run import Record
    from bayesregret.simulation.simulation import Simulation

CORES = 300  # processor cores that one GPU stands for, where a time is estimated


class GpuEngine(Engine):
    """Plays runs on NVIDIA GPUs of this machine, with the bits of processors.

    Parameters
    ----------
    devices : sequence of int, optional
        Numbers of the GPUs; by default all of them.

    Examples
    --------
    >>> engine = GpuEngine()  # doctest: +SKIP
    >>> simulate(GaussianBandit([1, 0], 1, 1), "bayes-ucb", horizon=1000, runs=10**7, engine=engine)  # doctest: +SKIP
    """

    name: ClassVar[str] = "gpu"

    def __init__(self, devices: Sequence[int] | None = None) -> None:
        require("gpu", 'engine="gpu"')
        try:
            found = found_devices()
        except ValueError as error:
            raise ValueError(f'engine must be "threads" on this machine, got gpu: {error}') from None
        self.devices = found if devices is None else tuple(devices)
        if not self.devices or not set(self.devices) <= set(found):
            raise checks.fail("devices", f"numbers from {', '.join(map(str, found))}", devices)
        self.processors = CORES * len(self.devices)

    @property
    def lanes(self) -> int:
        """Number of runs that these GPUs play at once, at most."""
        from bayesregret.simulation.engines.gpu.job import most_lanes

        return sum(map(most_lanes, self.devices))

    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        from bayesregret.simulation.engines.gpu.job import Job

        simulation.stop[0] = 0
        share = math.ceil((end - begin) / len(self.devices))
        jobs = [Job(simulation, device, share) for device in self.devices]
        size = jobs[0].chunk
        waiting: deque[tuple[Job, Chunk]] = deque()
        try:
            for number, first in enumerate(range(begin, end, size)):
                job = jobs[number % len(jobs)]
                waiting.append((job, job.launch(first, min(size, end - first))))
                if len(waiting) > len(jobs):  # the GPUs play on while this chunk is added up
                    yield _collect(*waiting.popleft())
            while waiting:
                yield _collect(*waiting.popleft())
        finally:
            for job in jobs:
                job.stop()


def _collect(job: Job, chunk: Chunk) -> Record:
    return job.collect(chunk)


@functools.cache
def found_devices() -> tuple[int, ...]:
    """Numbers of the GPUs; ValueError, which says why in one line, if there is none."""
    from numba import cuda
    from numba.core import config

    if config.ENABLE_CUDASIM:
        return (0,)
    try:
        return tuple(range(len(cuda.gpus)))
    except Exception as error:  # no driver, an old one, no GPU
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(reason[:200].rstrip(" :.")) from None
