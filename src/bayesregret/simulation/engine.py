"""The threads that run a kernel over many runs, with progress, and with an end when the user wants one."""

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

from bayesregret.contracts import take_lead
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.policies.base import (
    Policy,
    check_fits,
    check_fits_linear,
    is_mean_plus_width,
    make_chooser,
    make_linear_chooser,
    moves_with_time,
)
from bayesregret.rng import seed_key
from bayesregret.simulation.kernels.delayed import make_rounds_state
from bayesregret.simulation.kernels.every_round import make_prompt_state
from bayesregret.simulation.kernels.guaranteed_leader import make_streaks_state
from bayesregret.simulation.kernels.index_leader import make_arms_state, tabulate
from bayesregret.simulation.kernels.linear_every_round import make_linear_rounds_state
from bayesregret.simulation.kernels.linear_index import make_linear_state
from bayesregret.simulation.kernels.run import BLOCK, Plan, Record, make_record, play_blocks

# A task is this many rounds or so: long enough that starting it costs nothing, short enough for a lively progress bar.
TASK_ROUNDS = 4_000_000


def available_threads() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _interrupts_set(stop: NDArray[np.uint8]) -> Iterator[None]:
    """Let Ctrl-C set `stop` as well: an exception alone is lost if raised in a callback of the compiler."""
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
    """Mean and sum of squared deviations of the curve, pulls and final regrets of the runs so far."""

    def __init__(self, arms: int, checkpoints: int) -> None:
        self.runs = 0
        self.curve_mean = np.zeros(checkpoints)
        self.curve_squares = np.zeros(checkpoints)
        self.pulls = np.zeros(arms, np.int64)
        self.final_regret: list[NDArray[np.float64]] = []
        self.best_pulls: list[NDArray[np.int64]] = []

    def add(self, record: Record) -> None:
        """Take in the next task's runs; the order of blocks is fixed, so the sums have the same bits always."""
        self.pulls += record.pulls
        self.final_regret.append(record.final_regret)
        self.best_pulls.append(record.best_pulls)
        left = len(record.final_regret)
        for mean, squares in zip(record.block_mean, record.block_squares, strict=True):
            size = min(BLOCK, left)
            left -= size
            # Chan, Golub and LeVeque's update: no cancellation, whatever the regret's size.
            share = size / (self.runs + size)
            off = mean - self.curve_mean
            self.curve_mean += share * off
            self.curve_squares += squares + off * off * (self.runs * share)
            self.runs += size


class Simulation:
    """One policy on one bandit: the compiled kernel with all that it is given, and the runs done so far."""

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
    ) -> None:
        settings = policy.settings(bandit, horizon)
        self.delta: float | None = (policy.delta or 1.0 / horizon) if hasattr(policy, "delta") else None
        self.belief = policy.belief(bandit)
        self.make_world = bandit.world
        world = bandit.model
        self.arms = bandit.arms
        self.horizon = horizon
        self.key = seed_key(seed)
        self.stop = np.zeros(1, np.uint8)
        self.plan = Plan(horizon, checkpoints, self.stop, delay, batch)
        self.tally = Tally(bandit.arms, len(checkpoints))
        # The classes of what the user gave decide what is compiled, so their files decide when to compile anew.
        self.kernel = compile_kernel(play_blocks, type(settings), type(self.belief), type(world))
        self.make_state: Callable[[], Any]
        every_round = delay > 0 or batch > 1 or moves_with_time(settings)
        late = min(delay + batch, horizon)
        belief = self.belief
        self.policy: Any = settings
        if isinstance(belief, LinearModel):
            check_fits_linear(policy, settings)
        else:
            check_fits(policy, bandit, settings, belief)
        if isinstance(belief, LinearModel) and every_round:
            chooser = make_linear_chooser(policy, bandit, settings, *belief.whitened.shape)
            self.policy = chooser.settings
            self.make_state = lambda: make_linear_rounds_state(belief, chooser.memory, chooser.scratch, late)
        elif isinstance(belief, LinearModel):
            self.make_state = lambda: make_linear_state(belief)
        elif every_round:
            chooser = make_chooser(policy, bandit, settings)
            self.policy = chooser.settings
            room = self.arms, chooser.memory, chooser.scratch
            has_leases = type(self.policy) in take_lead.bodies
            if has_leases and hasattr(self.policy, "parts"):
                self.policy = self.policy._replace(parts=tabulate(self.policy.parts, belief, self.arms, horizon))
            if delay > 0 or batch > 1:
                self.make_state = lambda: make_rounds_state(*room, late)
            else:
                self.make_state = lambda: make_streaks_state(*room) if has_leases else make_prompt_state(*room)
        else:
            index_needs_table = is_mean_plus_width(settings)
            self.policy = tabulate(settings, belief, self.arms, horizon) if index_needs_table else settings
            self.make_state = lambda: make_arms_state(self.arms)
        self._states = threading.local()

    def run_until(self, runs: int, threads: int, on_progress: Callable[[int], None]) -> None:
        """Add runs until there are `runs` of them, calling `on_progress` with the runs that each task added.

        An interrupt ends the tasks under way within a moment and leaves the tally as it was after the last whole one.
        """
        self.stop[0] = 0
        with _interrupts_set(self.stop), ThreadPoolExecutor(threads, thread_name_prefix="bayesregret") as pool:
            try:
                self._play(0, 0)  # compile here, where an interrupt is heard, and not in a worker
                waiting: list[Future[Record]] = []
                for first, size in self._tasks(self.tally.runs, runs, threads):
                    waiting.append(pool.submit(self._play, first, size))
                    if len(waiting) > 2 * threads:  # results are taken in order and kept only as long as needed
                        self._collect(waiting.pop(0), on_progress)
                for task in waiting:
                    self._collect(task, on_progress)
            except BaseException:
                self.stop[0] = 1
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _tasks(self, begin: int, end: int, threads: int) -> Iterator[tuple[int, int]]:
        blocks = max(1, TASK_ROUNDS // (BLOCK * self.horizon))
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
        if self.stop[0]:  # the interrupt came where Python ignores exceptions; the record is not whole
            raise KeyboardInterrupt
        self.tally.add(record)
        on_progress(len(record.final_regret))
