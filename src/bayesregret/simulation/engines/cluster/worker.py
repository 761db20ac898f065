"""What runs on workers: calls with their context, and blocks of simulations that are made once per process."""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesregret.extras import MissingExtraError, require
from bayesregret.simulation.engines.cluster.own_files import OwnFiles, install, own_files
from bayesregret.simulation.engines.cluster.same_bits import description, difference
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.engines.gpu.engine import CORES, GpuEngine, found_devices
from bayesregret.simulation.kernels.run import STOPPED, Record

if TYPE_CHECKING:
    from bayesregret.simulation.simulation import Simulation

# Simulations that a worker keeps ready; the others are made again.
MOST_SIMULATIONS = 8
# A task that was cancelled may still arrive after the word to stop, and would then play on for nobody.
MOST_STOPPED = 1000
WERE_STOPPED = "these runs were stopped"

_simulations: OrderedDict[str, Simulation] = OrderedDict()
_stopped: OrderedDict[str, None] = OrderedDict()  # tokens
_changing = threading.RLock()
_gpus_free = threading.RLock()


class Parcel(NamedTuple):
    """An object for workers, and what they need before they can use it."""

    sender: Mapping[str, str]  # what the bits of the sender's results depend on
    own: OwnFiles
    content: bytes


class ThisThread(Engine):
    """Plays runs on the thread that asks for them, which is a worker's own: thousands of threads would come and go."""

    name: ClassVar[str] = "this thread"
    processors = 1

    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        for first, runs in simulation.tasks(begin, end, threads=1):
            yield simulation.play(first, runs)


class OwnGpus(Engine):
    """Plays runs on the GPUs of this worker, for one task at a time: two would share lanes and memory."""

    name: ClassVar[str] = "gpu"
    processors = CORES

    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        reason = why_no_gpu()
        if reason is not None:
            raise ValueError(lacks_gpu("a worker", reason))
        with _gpus_free, closing(own_gpus().play(simulation, begin, end)) as records:  # type: ignore[type-var]
            try:
                yield from records
            except Exception as error:
                if not type(error).__module__.startswith("numba"):
                    raise
                # One line, also where nobody has the driver's classes.
                raise OSError(f"the GPU of a worker failed: {' '.join(str(error).split())[:200]}") from None


ENGINES: Mapping[str, type[Engine]] = {"threads": ThisThread, "gpu": OwnGpus}  # of a worker


def own_gpus() -> GpuEngine:
    """The GPUs that this worker sees. dask-cuda shows a worker all those of its machine, its own one first."""
    return GpuEngine([0] if "dask_cuda" in sys.modules else None)


def why_no_gpu() -> str | None:
    """Why this process cannot use a GPU, in one line; None if it can."""
    try:
        require("gpu", "a GPU")
        found_devices()
    except (ValueError, MissingExtraError) as error:
        return str(error)
    return None


def gpu_lanes() -> int | str:
    """Number of runs that the GPUs of this process play at once, or why it has none."""
    return why_no_gpu() or own_gpus().lanes


def pack(content: Any, definitions: Iterable[type | Callable[..., Any]] = ()) -> bytes:
    """Pickle an object together with the user's files that have these definitions."""
    own = own_files(definitions)
    return pickle.dumps(Parcel(description(), own, pickle.dumps(content)), pickle.HIGHEST_PROTOCOL)


def unpack(parcel: bytes) -> Any:
    """Return the object; ValueError, in one line, if this process computes other bits or lacks a module."""
    sender, own, content = pickle.loads(parcel)
    unlike = difference(sender, description())
    if unlike is not None:
        raise ValueError(wrong_worker("a worker", unlike))
    try:
        install(own)
        return pickle.loads(content)
    except ModuleNotFoundError as error:
        raise ValueError(lacks(error.name, "a worker")) from None


def wrong_worker(worker: str, unlike: str) -> str:
    return f"engine must be a cluster whose workers compute the same bits as this process, but {worker} {unlike}"


def lacks(module: str | None, worker: str) -> str:
    return f"engine must be a cluster whose workers have the module {module}, which {worker} lacks"


def lacks_gpu(worker: str, reason: str) -> str:
    return f"engine must be a cluster whose workers have GPUs, but {worker} cannot use one: {reason}"


def call(parcel: bytes) -> Any:
    """Call the packed function."""
    return unpack(parcel)()


def play(token: str, parcel: bytes, first: int, runs: int, engine: str = "threads") -> tuple[Record, float | None]:
    """Play runs of the packed simulation; return their record without scratch, and the seconds that they took.

    None instead of the seconds in which a kernel for a GPU may have been compiled.
    """
    is_compiled = engine == "threads" or token in _simulations
    simulation = _ready(token, parcel, engine)
    try:
        played = _play_on_gpus if engine == "gpu" else _play_here
        record, seconds = played(simulation, token, first, runs)
    except BaseException as error:
        _end(token)
        if isinstance(error, KeyboardInterrupt):  # which would end the worker
            raise RuntimeError(WERE_STOPPED) from None
        raise
    return record._replace(rows=record.rows[:0]), seconds if is_compiled else None


def _play_here(simulation: Simulation, token: str, first: int, runs: int) -> tuple[Record, float]:
    begin = time.perf_counter()
    return simulation.play(first, runs), time.perf_counter() - begin


def _play_on_gpus(simulation: Simulation, token: str, first: int, runs: int) -> tuple[Record, float]:
    records = []
    with _gpus_free, closing(OwnGpus().play(simulation, first, first + runs)) as chunks:  # type: ignore[type-var]
        begin = time.perf_counter()
        for chunk in chunks:
            if token in _stopped:
                raise RuntimeError(WERE_STOPPED)
            records.append(chunk)
        return joined(records), time.perf_counter() - begin


def joined(records: Sequence[Record]) -> Record:
    """Return one record of runs that follow each other; all records but the last one have whole blocks."""
    parts: Any = Record._make(zip(*records, strict=True))
    return Record(
        np.concatenate(parts.final_regret),
        np.concatenate(parts.best_pulls),
        sum(parts.pulls),
        np.concatenate(parts.block_mean),
        np.concatenate(parts.block_squares),
        sum(parts.on_best),
        sum(parts.near_best),
        parts.rows[0],
    )


def stop(token: str) -> None:
    """End the running tasks of a simulation soon, and play no more of it."""
    _stopped[token] = None
    while len(_stopped) > MOST_STOPPED:
        _stopped.popitem(last=False)
    _end(token)


def _end(token: str) -> None:
    """End the running tasks of a simulation soon, and forget it."""
    simulation = _simulations.pop(token, None)
    if simulation is not None and not simulation.stop[0]:
        simulation.stop[0] = STOPPED


def _ready(token: str, parcel: bytes, engine: str) -> Simulation:
    """Return the simulation, made and compiled for processors if they play it."""
    with _changing:
        simulation: Simulation | None = _simulations.pop(token, None)
        if simulation is None:
            simulation = unpack(parcel)()
            if engine == "threads":
                simulation.play(0, 0)
        _simulations[token] = simulation  # the newest one
        while len(_simulations) > MOST_SIMULATIONS:
            _simulations.popitem(last=False)
    if token in _stopped:  # looked up last: who stops it later finds it
        _simulations.pop(token, None)
        raise RuntimeError(WERE_STOPPED)
    return simulation
