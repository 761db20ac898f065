"""Running a kernel over many runs on threads, with progress and interrupts."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts.checked import checked_results
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.rng import seed_key
from bayesregret.simulation.estimates import Estimate, Moments, estimate
from bayesregret.simulation.kernels.run import BLOCK, WRONG_CHOICE, Record, RunPlan, make_record, play_blocks
from bayesregret.simulation.kernels.select import select
from bayesregret.simulation.kernels.setup import make_state, with_tables
from bayesregret.simulation.kernels.wrong_choice import wrong_choice
from bayesregret.simulation.policy_result import Kept
from bayesregret.sources import is_outside

# A task has about this many rounds: its start costs nothing beside it, and the progress bar still moves often.
TASK_ROUNDS = 4_000_000
TASK_BLOCKS = 1024  # at most: the results of tasks that wait are small, however short the horizon
# Rounds that a user's own policy or model plays in plain Python before it is compiled.
TRIED_ROUNDS = 5


def available_threads() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


class Tally:
    """Results of the runs so far: mean and squared deviations of the curve, pulls and final regrets.

    With `keep`, those of each run; without, memory does not grow with runs.
    """

    def __init__(self, arms: int, checkpoints: int, *, keep: bool = True) -> None:
        self.runs = 0
        self.curve_mean = np.zeros(checkpoints)
        self.curve_squares = np.zeros(checkpoints)
        self.pulls = np.zeros(arms, np.int64)
        self.best = 0  # pulls of the best arm in all runs
        self.keep = keep
        self.moments = Moments()  # of the final regret, if its values are not kept
        self.final_regret: list[NDArray[np.float64]] = []
        self.best_pulls: list[NDArray[np.int64]] = []

    def add(self, record: Record) -> None:
        """Add the next task's runs; the order of blocks is fixed, so the sums always have the same bits."""
        self.pulls += record.pulls
        self.best += int(record.best_pulls.sum())
        if self.keep:
            self.final_regret.append(record.final_regret)
            self.best_pulls.append(record.best_pulls)
        else:
            self.moments.add(record.final_regret)
        left = len(record.final_regret)
        for mean, squares in zip(record.block_mean, record.block_squares, strict=True):
            size = min(BLOCK, left)
            left -= size
            # Chan, Golub and LeVeque's update: no cancellation, however large the regret.
            fraction = size / (self.runs + size)
            off = mean - self.curve_mean
            self.curve_mean += fraction * off
            self.curve_squares += squares + off * off * (self.runs * fraction)
            self.runs += size

    def estimate(self) -> Estimate:
        """Mean of the final regret; the bits do not depend on `keep`."""
        return estimate(np.concatenate(self.final_regret)) if self.keep else self.moments.estimate()

    def take_runs(self) -> Kept | None:
        """Return the results of each run, and forget them here: there must not be two copies."""
        if not self.keep:
            return None
        final_regret = np.concatenate(self.final_regret)
        self.final_regret.clear()
        best_pulls = np.concatenate(self.best_pulls)
        self.best_pulls.clear()
        return Kept(final_regret, best_pulls)


class Simulation:
    """One policy on one bandit: the compiled kernel with its inputs, and the runs done so far."""

    def __init__(
        self,
        bandit: Bandit,
        policy: Policy,
        *,
        horizon: int,
        seed: int,
        checkpoints: NDArray[np.int64],
        delay: int = 0,
        batch: int = 1,
        keep: bool = True,
    ) -> None:
        chosen = select(policy, bandit, horizon, late=delay > 0 or batch > 1)
        self.delta: float | None = (policy.delta or 1.0 / horizon) if hasattr(policy, "delta") else None
        self.belief, self.make_world = chosen.belief, bandit.world
        self.arms, self.horizon = bandit.arms, horizon
        self.key = seed_key(seed)
        self.stop = np.zeros(1, np.uint8)
        self.plan = RunPlan(horizon, checkpoints, self.stop, np.zeros(1, np.int64), delay, batch)
        self.tally = Tally(bandit.arms, len(checkpoints), keep=keep)
        # The classes of what the user gave decide what is compiled, so their files decide when to compile anew.
        self.classes = (type(chosen.own), type(chosen.belief), type(bandit.model))
        self.make_state: Callable[[], Any] = lambda: make_state(chosen, self.arms, min(delay + batch, horizon))
        self.own, self.policy = chosen.own, chosen.settings
        if is_outside(self.classes):
            self._try_in_plain_python()
        self.kernel = compile_kernel(play_blocks, *self.classes)
        self.policy = with_tables(chosen, self.arms, horizon)
        self._states = threading.local()

    def _try_in_plain_python(self) -> None:
        """Play a few rounds of a user's own policy or model, so that a wrong result is found where it is made."""
        horizon = min(TRIED_ROUNDS, self.horizon)
        plan = self.plan._replace(horizon=horizon, checkpoints=np.array([horizon]))
        record = make_record(1, self.arms, 1)
        play: Callable[..., None] = play_blocks
        with checked_results(), np.errstate(all="ignore"):
            play(self.make_state(), self.make_world(), self.policy, self.belief, self.key, 0, plan, record)

    def run_until(self, runs: int, threads: int, on_progress: Callable[[int], None]) -> None:
        """Add runs until there are `runs` of them, calling `on_progress` with the runs that each task added.

        An interrupt ends the running tasks soon, and leaves the tally as it was after the last whole task.
        """
        self.stop[0] = 0
        with _interrupts_set(self.stop), ThreadPoolExecutor(threads, thread_name_prefix="bayesregret") as pool:
            try:
                self._play(0, 0)  # compile here, where an interrupt is noticed, and not in a worker
                waiting: list[Future[Record]] = []
                for first, size in self._tasks(self.tally.runs, runs, threads):
                    waiting.append(pool.submit(self._play, first, size))
                    if len(waiting) > 2 * threads:  # add results in order, and keep few of them
                        self._collect(waiting.pop(0), on_progress)
                for task in waiting:
                    self._collect(task, on_progress)
            except BaseException:
                self.stop[0] = 1
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            finally:
                self._states = threading.local()  # this thread's state, which may be large

    def _tasks(self, begin: int, end: int, threads: int) -> Iterator[tuple[int, int]]:
        blocks = max(1, min(TASK_BLOCKS, TASK_ROUNDS // (BLOCK * self.horizon)))
        fair = math.ceil((end - begin) / (BLOCK * 4 * threads))
        size = BLOCK * max(1, min(blocks, fair))
        for first in range(begin, end, size):
            yield first, min(size, end - first)

    def _play(self, first_run: int, runs: int) -> Record:
        if not hasattr(self._states, "made"):
            self._states.made, self._states.world = self.make_state(), self.make_world()
        record = make_record(runs, self.arms, len(self.plan.checkpoints))
        # Without compilation, arithmetic that is meant to wrap or to divide by zero would warn.
        with np.errstate(all="ignore"):
            state, world = self._states.made, self._states.world
            self.kernel(state, world, self.policy, self.belief, self.key, first_run, self.plan, record)
        return record

    def _collect(self, task: Future[Record], on_progress: Callable[[int], None]) -> None:
        record = task.result()
        if self.stop[0] == WRONG_CHOICE:
            raise wrong_choice(self.own, self.belief, int(self.plan.wrong[0]), self.arms)
        if self.stop[0]:  # the interrupt came where Python ignores exceptions; the record is not whole
            raise KeyboardInterrupt
        self.tally.add(record)
        on_progress(len(record.final_regret))
