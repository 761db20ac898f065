"""One simulation on one GPU: its arrays there, its kernels, and chunks of runs."""

from __future__ import annotations

import functools
import math
import re
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import cuda

from bayesregret.compile_errors import NEEDS_MEMORY
from bayesregret.memory import shown_bytes
from bayesregret.simulation.engines.gpu import kernels
from bayesregret.simulation.engines.gpu.compiler import compiled
from bayesregret.simulation.engines.gpu.lanes import Separate, Shared, bytes_of, has_aliases, mapped
from bayesregret.simulation.kernels.index_leader import IndexLeaderState
from bayesregret.simulation.kernels.run import BLOCK, Record

if TYPE_CHECKING:
    from bayesregret.checks import Array
    from bayesregret.simulation.simulation import Simulation

WARP = 32
MOST_LANES = 384  # of a multiprocessor, which leaves registers enough for each
LANES_IN_GLOBAL = 256  # of a multiprocessor, where states do not fit into shared memory
QUARTERS, REGISTERS = 4, 16_384  # of a multiprocessor, among which warps are divided; of each quarter
MOST_REGISTERS = 255  # of a lane
LANES_THAT_ADD = 128  # of a block that adds up
CHUNK_ROUNDS = 2**30  # of a chunk: it takes a fraction of a second, and its start costs nothing beside that
MEMORY_FRACTION = 0.4  # of what is free on a GPU, for the lanes, and for each of the two chunks that are under way


def most_lanes(device: int) -> int:
    """Number of lanes of a GPU, where they have room for their states."""
    return MOST_LANES * multiprocessors(cuda.gpus[device])


def multiprocessors(gpu: Any) -> int:
    return getattr(gpu, "MULTIPROCESSOR_COUNT", 1)  # the simulator has none


class Chunk(NamedTuple):
    """Runs that a GPU plays."""

    record: Record  # arrays on the GPU
    played: Any  # the event that its kernels have ended


class Job:
    """One simulation on one GPU.

    Each multiprocessor has one block of lanes, as wide as its shared memory allows: what lanes look up at random is
    ten times slower to reach elsewhere.
    """

    def __init__(self, simulation: Simulation, device: int, runs: int) -> None:
        self.simulation, self.device = simulation, device
        with cuda.gpus[device]:
            self._choose_kernel()
            self._place_arrays(runs)

    def _choose_kernel(self) -> None:
        """Choose the kernel, the width of a block of lanes, and the bytes of shared memory that it needs."""
        simulation = self.simulation
        self.state = simulation.make_state()
        gpu = cuda.get_current_device()
        shared = getattr(gpu, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", 49_152) - 8 * kernels.AFTER_ZIGGURAT
        self.blocks = multiprocessors(gpu)
        for_leader = 8 * kernels.LEADER_WORDS * simulation.arms
        for_state = bytes_of(self.state)
        is_short = simulation.horizon <= kernels.MOST_LEADER_ROUNDS
        if isinstance(self.state, IndexLeaderState) and is_short and _width(shared, for_leader):
            self.state, for_lane = None, for_leader
            self.kernel = kernels.make_leader_kernel(simulation.arms)
        else:
            # In shared memory every name has an array of its own.
            for_lane = for_state if _width(shared, for_state) and not has_aliases(self.state) else 0
            self.kernel = kernels.make_lane_kernel(for_lane > 0)
        self.width = _width(shared, for_lane) if for_lane else LANES_IN_GLOBAL
        self.shared_bytes = 8 * kernels.AFTER_ZIGGURAT + for_lane * self.width
        self.states_are_global = for_lane == 0

    def _place_arrays(self, runs: int) -> None:
        simulation, world = self.simulation, self.simulation.make_world()
        is_shared = world is simulation.bandit.model
        free = _free_memory()
        each = 8 * simulation.arms + (0 if is_shared else bytes_of(world))
        each += bytes_of(self.state) if self.states_are_global else 0
        self._narrow(runs, each, free)
        self.chunk = self._chunk_that_fits(runs, free - each * self.lanes)
        to_device = functools.partial(mapped, cuda.to_device)
        self.worlds = Shared(to_device(world)) if is_shared else Separate(self._for_lanes(world, self.lanes))
        self.policy, self.belief = to_device(simulation.policy), to_device(simulation.belief)
        checkpoints = np.append(simulation.plan.checkpoints, kernels.NEVER)
        self.plan = to_device(simulation.plan._replace(checkpoints=checkpoints))
        self.lane_arrays: tuple[Any, ...] = ()
        if self.state is not None:
            # Of states in shared memory only the shapes are used.
            states = self._for_lanes(self.state, self.lanes if self.states_are_global else self.width)
            self.lane_arrays = states, cuda.device_array((simulation.arms, self.lanes), np.int64)
        # Kernels follow each other, because they share the lanes' states; results of one are copied during the next.
        self.playing, self.copying, self.control = (cuda.stream() for _ in range(3))
        self.records = deque(self._make_record() for _ in range(2))

    @property
    def lanes(self) -> int:
        return self.blocks * self.width

    def _narrow(self, runs: int, each: int, free: int) -> None:
        """Use no more lanes than there are runs, or than fit into memory."""
        fit = int(MEMORY_FRACTION * free) // each
        if fit < WARP:
            raise ValueError(
                f"arms must be fewer on this GPU: a lane needs {shown_bytes(each)}, and {shown_bytes(free)} of its "
                "memory is free"
            )
        self.width = min(self.width, max(WARP, WARP * math.ceil(min(fit, runs) / WARP / self.blocks)))
        self.blocks = max(1, min(self.blocks, fit // self.width))

    def _chunk_that_fits(self, runs: int, free: int) -> int:
        """Runs of a chunk, in whole blocks of runs."""
        checkpoints = len(self.simulation.plan.checkpoints)
        for_run = 8 * checkpoints * (1 + 4 / BLOCK) + 16
        fit = int(MEMORY_FRACTION * free / for_run)
        if fit < BLOCK:
            raise ValueError(f"checkpoints must be fewer on this GPU: {shown_bytes(free)} of its memory is free")
        # Of whole turns of all lanes, so that none of them waits at the end.
        turns = max(1, CHUNK_ROUNDS // self.simulation.horizon // self.lanes)
        wanted = min(math.lcm(self.lanes, BLOCK), turns * self.lanes) if turns == 1 else turns * self.lanes
        return BLOCK * max(1, min(fit, wanted, runs + BLOCK - 1) // BLOCK)

    def _for_lanes(self, nested: Any, lanes: int) -> Any:
        """Copy arrays to the GPU, once for every lane."""

        def repeated(array: Array) -> Any:
            made = cuda.device_array((*array.shape, lanes), array.dtype)
            made.copy_to_device(np.repeat(array[..., None], lanes, axis=-1))
            return made

        return mapped(repeated, nested)

    def _make_record(self) -> Record:
        runs, checkpoints = self.chunk, len(self.simulation.plan.checkpoints)
        blocks = runs // BLOCK
        tracked = blocks if self.simulation.plan.epsilon >= 0.0 else 1
        shapes = (runs, runs, self.simulation.arms, (blocks, checkpoints), (blocks, checkpoints))
        kinds = (np.float64, np.int64, np.int64, np.float64, np.float64, np.int64, np.int64, np.float64)
        every = (*shapes, (tracked, checkpoints), (tracked, checkpoints), (runs, checkpoints))
        return Record(*(cuda.device_array(shape, kind) for shape, kind in zip(every, kinds, strict=True)))

    def launch(self, first_run: int, runs: int) -> Chunk:
        """Start to play runs, and return at once."""
        self.records.rotate()
        with cuda.gpus[self.device]:
            record = _first_runs(self.records[0], runs)
            for counted in (record.pulls, record.on_best, record.near_best):
                _fill_with_zeros(counted, self.playing)
            self._play(record, first_run)
            blocks, checkpoints = record.block_mean.shape
            self._add_up(
                kernels.reduce_blocks, blocks * checkpoints, record.rows, record.block_mean, record.block_squares
            )
            epsilon = self.simulation.plan.epsilon
            if epsilon >= 0.0:
                self._add_up(kernels.count_blocks, blocks, record.rows, epsilon, record.on_best, record.near_best)
            played = cuda.event()
            played.record(self.playing)
        return Chunk(record, played)

    def _play(self, record: Record, first_run: int) -> None:
        common = (self.worlds, self.policy, self.belief, self.simulation.key, first_run, self.plan)
        results = (record.rows, record.final_regret, record.best_pulls)
        states, pulls = self.lane_arrays[:1], (*self.lane_arrays[1:], record.pulls)
        arguments = (*states, *common, *results, *pulls)
        warps = -(-self.width // WARP // QUARTERS) or 1
        registers = min(MOST_REGISTERS, REGISTERS // warps // WARP // 8 * 8)
        try:
            kernel = compiled(self.kernel, arguments, self.shared_bytes, registers)
        except Exception as error:
            raise self._explained(error) from None
        kernel[self.blocks, self.width, self.playing, self.shared_bytes](*arguments)

    def _add_up(self, kernel: Any, lanes: int, *arguments: Any) -> None:
        blocks = -(-lanes // LANES_THAT_ADD)
        compiled(kernel, arguments)[blocks, LANES_THAT_ADD, self.playing](*arguments)

    def collect(self, chunk: Chunk) -> Record:
        """Wait for a chunk, and return its results."""
        on_gpu: list[Any] = [*chunk.record[:-1], self.plan.stop, self.plan.wrong]
        with cuda.gpus[self.device]:
            chunk.played.wait(self.copying)
            found = [array.copy_to_host(stream=self.copying) for array in on_gpu]
            self.copying.synchronize()
        regret, best_pulls, pulls, mean, squares, on_best, near_best, stop, wrong = found
        if stop[0]:
            self.simulation.stop[0], self.simulation.plan.wrong[0] = stop[0], wrong[0]
            raise self.simulation.why_stopped()
        rows = np.empty((0, 0))
        return Record(regret, best_pulls, pulls, mean, squares, on_best.sum(axis=0), near_best.sum(axis=0), rows)

    def stop(self) -> None:
        """End the runs that are still played, and wait for their end."""
        with cuda.gpus[self.device]:
            self.plan.stop.copy_to_device(np.ones(1, np.uint8), stream=self.control)
            self.control.synchronize()
            self.playing.synchronize()

    def _explained(self, error: Exception) -> Exception:
        """One line for an error of the compiler."""
        policy, bandit = type(self.simulation.own).__name__, self.simulation.bandit.a_kind
        text = re.sub(r"\x1b\[\d*m", "", str(error))
        if "ExternalFunctionDescriptor" in text:
            reason = "its formulas call SciPy"
        elif NEEDS_MEMORY.search(text):
            reason = "its formulas make arrays"
        else:
            reason = next(iter(filter(None, map(str.strip, text.splitlines()))), type(error).__name__)[:200]
        return ValueError(f"engine gpu cannot play {policy} on {bandit} bandit: {reason}")


def _width(shared: int, for_lane: int) -> int:
    """Lanes of a block, in whole warps, of which each needs this many bytes of shared memory; 0 if none fits."""
    return min(MOST_LANES, shared // for_lane // WARP * WARP)


def _first_runs(record: Record, runs: int) -> Record:
    """The part of a chunk's arrays that fewer runs need."""
    blocks = -(-runs // BLOCK)
    return Record(
        record.final_regret[:runs],
        record.best_pulls[:runs],
        record.pulls,
        record.block_mean[:blocks],
        record.block_squares[:blocks],
        record.on_best[:blocks],
        record.near_best[:blocks],
        record.rows[:runs],
    )


def _fill_with_zeros(array: Any, stream: Any) -> None:
    if hasattr(array, "gpu_data"):
        from numba.cuda.cudadrv.driver import device_memset

        device_memset(array, 0, array.nbytes, stream=stream)
    else:  # the simulator
        array.copy_to_device(np.zeros(array.shape, array.dtype))


def _free_memory() -> int:
    """Bytes that are free on the current GPU."""
    return int(min(2**40, cuda.current_context().get_memory_info()[0]))  # the simulator has infinitely many
