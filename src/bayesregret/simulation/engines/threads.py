"""The threads of this process."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from bayesregret import checks
from bayesregret.simulation.engines.engine import Engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayesregret.simulation.kernels.run import Record
    from bayesregret.simulation.simulation import Simulation

MOST_THREADS = 4096


def available_threads() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadsEngine(Engine):
    """Plays runs on threads of this process.

    Parameters
    ----------
    threads : int, optional
        Number of threads; by default all processors that this process may use.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> result = simulate(bandit, "greedy", horizon=20, runs=100, engine=ThreadsEngine(1))
    >>> result["greedy"].mean > 0
    True
    """

    name: ClassVar[str] = "threads"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = available_threads() if threads is None else checks.whole("threads", threads, 1, MOST_THREADS)
        self.processors = self.threads

    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        simulation.stop[0] = 0
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="bayesregret")
        with _interrupts_set(simulation.stop), pool:
            try:
                simulation.play(0, 0)  # compile here, where an interrupt is noticed, and not in a worker
                waiting: deque[Future[Record]] = deque()
                for first, size in simulation.tasks(begin, end, self.threads):
                    waiting.append(pool.submit(simulation.play, first, size))
                    if len(waiting) > 2 * self.threads:  # keep few results
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:
                simulation.stop[0] = 1
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            finally:
                simulation.forget_states()


@contextmanager
def _interrupts_set(stop: NDArray[np.uint8]) -> Iterator[None]:
    """Let Ctrl-C set `stop` as well: an exception alone is lost if it is raised in a callback of the compiler."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        stop[0] = 1
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
