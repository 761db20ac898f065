"""The GPU engine: chunks of runs on one GPU or several, while the processor adds up those before."""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesregret.dispatch import MissingBodyError
from bayesregret.extras import require
from bayesregret.memory import shown_bytes
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.kernels.index_leader import IndexLeaderState
from bayesregret.simulation.kernels.run import BLOCK, Record

if TYPE_CHECKING:
    from bayesregret.checks import Array
    from bayesregret.simulation.simulation import Simulation

LANES_OF_BLOCK = 128
# Lanes of each multiprocessor: of the kernel shaped for GPUs, and of processors' kernels. More of them wait less for
# each other's memory, fewer keep their states in faster memory.
LEADER_LANES, OTHER_LANES = 512, 512
MOST_ARMS = 64  # for which a lane keeps its state in memory of its own
REGISTERS: int | None = None  # of each lane, at most
CHUNK_ROUNDS = 2**30  # of a chunk: it takes a fraction of a second, and its start costs nothing beside that
MEMORY_FRACTION = 0.4  # of what is free on a GPU, for each of the two chunks that are under way
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
        self.devices = found_devices() if devices is None else tuple(devices)
        self.processors = CORES * len(self.devices)

    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        if begin == end:
            return
        simulation.stop[0] = 0
        jobs = [Job(simulation, device, end - begin) for device in self.devices]
        waiting: deque[tuple[Job, Any]] = deque()
        try:
            for number, first in enumerate(range(begin, end, jobs[0].chunk)):
                job = jobs[number % len(jobs)]
                waiting.append((job, job.launch(first, min(jobs[0].chunk, end - first))))
                if len(waiting) > len(jobs):  # the GPUs play on while this chunk is added up
                    yield _collect(*waiting.popleft())
            while waiting:
                yield _collect(*waiting.popleft())
        finally:
            for job in jobs:
                job.stop()


def _collect(job: Job, chunk: Chunk) -> Record:
    return job.collect(chunk)


def found_devices() -> tuple[int, ...]:
    """Numbers of the GPUs; ValueError, in one line, if there is none."""
    from numba import cuda
    from numba.core import config

    if config.ENABLE_CUDASIM:
        return (0,)
    try:
        return tuple(range(len(cuda.gpus)))
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"engine must be one that this machine has, got gpu: {reason[0][:200]}") from None


class Chunk(NamedTuple):
    """Runs that a GPU plays, and the arrays there that hold their results."""

    record: Record
    played: Any  # the event that its kernels have ended


class Job:
    """One simulation on one GPU."""

    def __init__(self, simulation: Simulation, device: int, runs: int) -> None:
        from numba import cuda

        self.simulation, self.cuda, self.device = simulation, cuda, device
        with self._on_device():
            self._prepare(runs)

    def _on_device(self) -> Any:
        return self.cuda.gpus[self.device]

    def _prepare(self, runs: int) -> None:
        from bayesregret.simulation.engines.gpu.compiler import compiled
        from bayesregret.simulation.engines.gpu.kernels import (
            count_blocks,
            make_leader_kernel,
            play_on_lanes,
            reduce_blocks,
        )
        from bayesregret.simulation.engines.gpu.lanes import Separate, Shared, bytes_of, mapped

        simulation, cuda = self.simulation, self.cuda
        state, world = simulation.make_state(), simulation.make_world()
        self.is_leader = isinstance(state, IndexLeaderState) and simulation.arms <= MOST_ARMS
        capacity = max(8, 1 << (simulation.arms - 1).bit_length())
        self.kernel = compiled(make_leader_kernel(capacity) if self.is_leader else play_on_lanes, REGISTERS)
        self.reduce, self.count = compiled(reduce_blocks), compiled(count_blocks)
        is_shared = world is simulation.bandit.model
        free = _free_memory(cuda)
        each = (0 if self.is_leader else bytes_of(state)) + (0 if is_shared else bytes_of(world)) + 8 * simulation.arms
        self.lanes = self._lanes(cuda, runs, each, free)
        self.chunk = self._chunk(runs, free - each * self.lanes)
        if not self.is_leader:
            self.states = mapped(self._for_every_lane, state)
            self.lane_pulls = cuda.device_array((simulation.arms, self.lanes), np.int64)
        to_device = functools.partial(mapped, cuda.to_device)
        self.worlds = Shared(to_device(world)) if is_shared else Separate(mapped(self._for_every_lane, world))
        self.policy, self.belief = to_device(simulation.policy), to_device(simulation.belief)
        self.plan = to_device(simulation.plan)
        # Kernels follow each other, because they share the lanes' states; results of one are copied during the next.
        self.playing, self.copying, self.control = (cuda.stream() for _ in range(3))
        self.records = deque(self._device_record() for _ in range(2))

    def _lanes(self, cuda: Any, runs: int, each: int, free: int) -> int:
        multiprocessors = getattr(cuda.get_current_device(), "MULTIPROCESSOR_COUNT", 1)
        most = multiprocessors * (LEADER_LANES if self.is_leader else OTHER_LANES)
        fit = int(MEMORY_FRACTION * free) // max(1, each)
        blocks = min(most, fit, runs) // LANES_OF_BLOCK
        if fit < LANES_OF_BLOCK:
            raise ValueError(
                f"arms must be fewer on this GPU: each of its lanes needs {shown_bytes(each)}, and "
                f"{shown_bytes(free)} of its memory is free"
            )
        return max(1, blocks) * LANES_OF_BLOCK

    def _chunk(self, runs: int, free: int) -> int:
        """Runs of a chunk, in whole blocks."""
        checkpoints = len(self.simulation.plan.checkpoints)
        for_run = 8 * checkpoints * (1 + 2 / BLOCK + 2 / BLOCK) + 16
        fit = int(MEMORY_FRACTION * free / for_run)
        if fit < BLOCK:
            raise ValueError(f"checkpoints must be fewer on this GPU: {shown_bytes(free)} of its memory is free")
        wanted = max(2 * self.lanes, CHUNK_ROUNDS // self.simulation.horizon)
        return BLOCK * max(1, min(fit, wanted, math.ceil(runs / BLOCK) * BLOCK) // BLOCK)

    def _for_every_lane(self, array: Array) -> Any:
        """Copy an array to the GPU, once for every lane."""
        made = self.cuda.device_array((*array.shape, self.lanes), array.dtype)
        made.copy_to_device(np.repeat(array[..., None], self.lanes, axis=-1))
        return made

    def launch(self, first_run: int, runs: int) -> Chunk:
        """Start to play runs, and return at once."""
        from bayesregret.simulation.engines.gpu.compiler import without_fusion
        from bayesregret.simulation.engines.gpu.kernels import SHARED_BYTES

        simulation, cuda = self.simulation, self.cuda
        stream = self.playing
        self.records.rotate()
        with self._on_device(), without_fusion():
            record = _first_runs(self.records[0], runs)
            for counted in (record.pulls, record.on_best, record.near_best):
                _fill_with_zeros(counted, stream)
            grid = (self.lanes // LANES_OF_BLOCK, LANES_OF_BLOCK, stream, SHARED_BYTES)
            shared = (self.worlds, self.policy, self.belief, simulation.key, first_run, self.plan)
            results = (record.rows, record.final_regret, record.best_pulls)
            try:
                if self.is_leader:
                    self.kernel[grid](*shared, *results, record.pulls)
                else:
                    self.kernel[grid](self.states, *shared, *results, self.lane_pulls, record.pulls)
            except Exception as error:
                raise self._explained(error) from None
            blocks, checkpoints = record.block_mean.shape
            self.reduce[_grid(blocks * checkpoints, stream)](record.rows, record.block_mean, record.block_squares)
            if simulation.plan.epsilon >= 0.0:
                epsilon = simulation.plan.epsilon
                self.count[_grid(blocks, stream)](record.rows, epsilon, record.on_best, record.near_best)
            played = cuda.event()
            played.record(stream)
        return Chunk(record, played)

    def _device_record(self) -> Record:
        cuda, runs, checkpoints = self.cuda, self.chunk, len(self.simulation.plan.checkpoints)
        blocks = runs // BLOCK
        tracked = blocks if self.simulation.plan.epsilon >= 0.0 else 1
        return Record(
            cuda.device_array(runs, np.float64),
            cuda.device_array(runs, np.int64),
            cuda.device_array(self.simulation.arms, np.int64),
            cuda.device_array((blocks, checkpoints), np.float64),
            cuda.device_array((blocks, checkpoints), np.float64),
            cuda.device_array((tracked, checkpoints), np.int64),
            cuda.device_array((tracked, checkpoints), np.int64),
            cuda.device_array((runs, checkpoints), np.float64),
        )

    def collect(self, chunk: Chunk) -> Record:
        """Wait for a chunk, and return its results."""
        with self._on_device():
            chunk.played.wait(self.copying)
            found = [array.copy_to_host(stream=self.copying) for array in chunk.record[:-1]]
            stop, wrong = (array.copy_to_host(stream=self.copying) for array in (self.plan.stop, self.plan.wrong))
            self.copying.synchronize()
        if stop[0]:
            self.simulation.stop[0], self.simulation.plan.wrong[0] = stop[0], wrong[0]
            raise self.simulation.why_stopped()
        regret, best_pulls, pulls, mean, squares, on_best, near_best = found
        rows = np.empty((0, 0))
        return Record(regret, best_pulls, pulls, mean, squares, on_best.sum(axis=0), near_best.sum(axis=0), rows)

    def stop(self) -> None:
        """End the runs that are still played, and wait for their end."""
        with self._on_device():
            self.plan.stop.copy_to_device(np.ones(1, np.uint8), stream=self.control)
            self.control.synchronize()
            self.playing.synchronize()

    def _explained(self, error: Exception) -> Exception:
        """One line for an error of the compiler or of the driver; other errors as they are."""
        name = type(error).__name__
        from_cuda = type(error).__module__.startswith(("numba", "cuda"))
        if not from_cuda and not isinstance(error, MissingBodyError):
            return error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [name]
        own = type(self.simulation.own).__name__
        return ValueError(f"engine gpu cannot play {own} here: {lines[-1][:200]}")


def _grid(lanes: int, stream: Any) -> tuple[int, int, Any]:
    return -(-lanes // LANES_OF_BLOCK), LANES_OF_BLOCK, stream


def _first_runs(record: Record, runs: int) -> Record:
    """The part of a chunk's arrays that fewer runs need."""
    blocks = -(-runs // BLOCK)
    tracked = record.on_best[: min(blocks, len(record.on_best))], record.near_best[: min(blocks, len(record.near_best))]
    return Record(
        record.final_regret[:runs],
        record.best_pulls[:runs],
        record.pulls,
        record.block_mean[:blocks],
        record.block_squares[:blocks],
        *tracked,
        record.rows[:runs],
    )


def _fill_with_zeros(array: Any, stream: Any) -> None:
    if hasattr(array, "gpu_data"):
        from numba.cuda.cudadrv.driver import device_memset

        device_memset(array, 0, array.nbytes, stream=stream)
    else:  # the simulator
        array.copy_to_device(np.zeros(array.shape, array.dtype))


def _free_memory(cuda: Any) -> int:
    """Bytes that are free on the current GPU."""
    context = cuda.current_context()
    return int(min(2**40, context.get_memory_info()[0]))  # the simulator has infinitely many
