"""What runs on workers: calls with their context, and blocks of simulations that are made once per process."""

from __future__ import annotations

import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret.simulation.engines.cluster.own_files import OwnFiles, install, own_files
from bayesregret.simulation.engines.cluster.same_bits import description, difference
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.kernels.run import STOPPED

if TYPE_CHECKING:
    from bayesregret.simulation.kernels.run import Record
    from bayesregret.simulation.simulation import Simulation

# Simulations that a worker keeps ready; the others are made again.
MOST_SIMULATIONS = 8
# A task that was cancelled may still arrive after the word to stop, and would then play on for nobody.
MOST_STOPPED = 1000

_simulations: OrderedDict[str, Simulation] = OrderedDict()
_stopped: OrderedDict[str, None] = OrderedDict()  # tokens
_changing = threading.RLock()


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


def call(parcel: bytes) -> Any:
    """Call the packed function."""
    return unpack(parcel)()


def play(token: str, parcel: bytes, first: int, runs: int) -> tuple[Record, float]:
    """Play runs of the packed simulation; return their record without scratch, and the seconds that they took."""
    simulation = _ready(token, parcel)
    begin = time.perf_counter()
    try:
        record = simulation.play(first, runs)
    except BaseException as error:
        _end(token)
        if isinstance(error, KeyboardInterrupt):  # which would end the worker
            raise RuntimeError("these runs were stopped") from None
        raise
    return record._replace(rows=record.rows[:0]), time.perf_counter() - begin


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


def _ready(token: str, parcel: bytes) -> Simulation:
    """Return the simulation, made and compiled."""
    with _changing:
        simulation: Simulation | None = _simulations.pop(token, None)
        if simulation is None:
            simulation = unpack(parcel)()
            simulation.play(0, 0)
        _simulations[token] = simulation  # the newest one
        while len(_simulations) > MOST_SIMULATIONS:
            _simulations.popitem(last=False)
    if token in _stopped:  # looked up last: who stops it later finds it
        _simulations.pop(token, None)
        raise RuntimeError("these runs were stopped")
    return simulation
