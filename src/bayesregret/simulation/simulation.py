"""One policy on one bandit: the compiled kernel with its inputs, and the runs played so far."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts.checked import checked_results
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.rng import seed_key
from bayesregret.simulation.cost import run_cost
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.kernels.run import (
    BLOCK,
    NOT_TRACKED,
    WRONG_CHOICE,
    Record,
    RunPlan,
    make_record,
    play_blocks,
)
from bayesregret.simulation.kernels.select import select
from bayesregret.simulation.kernels.setup import make_state, with_tables
from bayesregret.simulation.kernels.wrong_choice import wrong_choice
from bayesregret.simulation.tally import Tally
from bayesregret.sources import is_outside

# A task has about this many rounds: its start costs nothing beside it, and the progress bar still moves often.
TASK_ROUNDS = 4_000_000
TASK_BLOCKS = 1024  # at most: the results of tasks that wait are small, however short the horizon
# Rounds that a user's own policy or model plays in plain Python before it is compiled.
TRIED_ROUNDS = 5


class Simulation:
    """One policy on one bandit: the compiled kernel with its inputs, and the runs played so far."""

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
        epsilon: float = NOT_TRACKED,
    ) -> None:
        chosen = select(policy, bandit, horizon, late=delay > 0 or batch > 1)
        # Makes this simulation again, in another process.
        self.recipe: Callable[[], Simulation] = partial(
            Simulation,
            *(bandit, policy),
            horizon=horizon,
            seed=seed,
            checkpoints=checkpoints,
            delay=delay,
            batch=batch,
            keep=False,
            epsilon=epsilon,
        )
        self.cost = partial(run_cost, policy, bandit, horizon, is_late=delay > 0 or batch > 1)
        self.delta: float | None = (policy.delta or 1.0 / horizon) if hasattr(policy, "delta") else None
        self.bandit, self.belief, self.make_world = bandit, chosen.belief, bandit.world
        self.arms, self.horizon = bandit.arms, horizon
        self.key = seed_key(seed)
        self.stop = np.zeros(1, np.uint8)
        self.plan = RunPlan(horizon, checkpoints, self.stop, np.zeros(1, np.int64), delay, batch, epsilon)
        self.tally = Tally(bandit.arms, len(checkpoints), keep=keep)
        # The classes of what the user gave decide what is compiled, so their files decide when to compile anew.
        self.classes = (type(chosen.own), type(chosen.belief), type(bandit.model))
        self.make_state: Callable[[], Any] = partial(make_state, chosen, self.arms, min(delay + batch, horizon))
        self.own, self.policy = chosen.own, chosen.settings
        if is_outside(self.classes):
            self._try_in_plain_python()
        self.kernel = compile_kernel(play_blocks, *self.classes)
        self.policy = with_tables(chosen, self.arms, horizon)
        # Of each thread. Not a `threading.local`: the garbage collector must never meet one while a profiler, such as
        # that of a Dask worker, looks at the frames of all threads. Both need the same lock of the interpreter.
        self._states: dict[int, tuple[Any, Any]] = {}

    def _try_in_plain_python(self) -> None:
        """Play a few rounds of a user's own policy or model, so that a wrong result is found where it is made."""
        horizon = min(TRIED_ROUNDS, self.horizon)
        plan = self.plan._replace(horizon=horizon, checkpoints=np.array([horizon]))
        record = make_record(1, self.arms, 1)
        play: Callable[..., None] = play_blocks
        with checked_results(), np.errstate(all="ignore"):
            play(self.make_state(), self.make_world(), self.policy, self.belief, self.key, 0, plan, record)

    def run_until(self, runs: int, engine: Engine, on_progress: Callable[[int], None]) -> None:
        """Add runs until there are `runs` of them, calling `on_progress` with the runs that each task added.

        An interrupt ends the running tasks soon, and leaves the tally as it was after the last whole task.
        """
        self.tally.expected = runs
        with closing(engine.play(self, self.tally.runs, runs)) as records:  # type: ignore[type-var]
            for record in records:
                self.tally.add(record)
                on_progress(len(record.final_regret))

    def tasks(self, begin: int, end: int, threads: int) -> Iterator[tuple[int, int]]:
        """Yield first run and number of runs of tasks for this many threads; each task begins a block."""
        blocks = max(1, min(TASK_BLOCKS, TASK_ROUNDS // (BLOCK * self.horizon)))
        fair = math.ceil((end - begin) / (BLOCK * 4 * threads))
        size = BLOCK * max(1, min(blocks, fair))
        for first in range(begin, end, size):
            yield first, min(size, end - first)

    def play(self, first_run: int, runs: int) -> Record:
        """Play runs on this thread; KeyboardInterrupt if they were stopped."""
        thread = threading.get_ident()
        if thread not in self._states:
            self._states[thread] = self.make_state(), self.make_world()
        state, world = self._states[thread]
        record = make_record(runs, self.arms, len(self.plan.checkpoints))
        # Without compilation, arithmetic that is meant to wrap or to divide by zero would warn.
        with np.errstate(all="ignore"):
            self.kernel(state, world, self.policy, self.belief, self.key, first_run, self.plan, record)
        if self.stop[0]:  # the record is not whole
            raise self.why_stopped()
        return record

    def why_stopped(self) -> BaseException:
        """The exception for runs that were stopped from outside, or by a policy's wrong choice."""
        if self.stop[0] == WRONG_CHOICE:
            return wrong_choice(self.own, self.belief, int(self.plan.wrong[0]), self.arms)
        return KeyboardInterrupt()

    def forget_states(self) -> None:
        """Release the states of threads, which may be large."""
        self._states.clear()
