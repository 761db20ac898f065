"""Connections to Dask clusters: a client that the user made, an address, or processes of this machine."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, cast

from bayesregret import checks
from bayesregret.extras import require
from bayesregret.interrupts import interrupts_held
from bayesregret.simulation.engines.cluster.same_bits import description, difference
from bayesregret.simulation.engines.cluster.worker import gpu_lanes, lacks, lacks_gpu, wrong_worker
from bayesregret.simulation.engines.threads import MOST_THREADS
from bayesregret.sources import PACKAGE

ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://\S+")
LOCAL = re.compile(r"local:([1-9]\d*)")
MAY_BE = 'a Dask client, an address such as "tcp://host:8786", or "local:4" for four processes of this machine'
PATIENCE, RECONNECTING = 10.0, 60.0  # seconds until a scheduler answers, at first and once it has answered before
LONGEST_SILENCE = 2 * RECONNECTING  # Dask itself gives up before
HEARTBEAT = 5.0  # seconds without news, after which we look whether the cluster is still there
LASTING = 2.0  # seconds for which the number of a cluster's threads is believed
UNKNOWN_LANES = 2**16  # while there are no workers yet: about those of a large GPU

_open_clients: dict[str, Any] = {}  # by address; they stay until Python exits, so that the next call finds them
_opening = threading.Lock()


class ClusterError(ConnectionError):
    """The cluster cannot be reached, or its workers die again and again."""


def is_client(given: object) -> bool:
    """Whether this is a Dask client."""
    return any(
        (kind.__name__, kind.__module__.partition(".")[0]) == ("Client", "distributed") for kind in type(given).__mro__
    )


def is_address(given: object) -> bool:
    """Whether this names a cluster."""
    return isinstance(given, str) and bool(ADDRESS.fullmatch(given) or LOCAL.fullmatch(given))


class Connection:
    """A client that is opened when it is first needed, and again after it has lost its cluster.

    Its workers play on their threads or, if `on_gpus`, on their GPUs.
    """

    def __init__(self, target: Any, on_gpus: bool = False) -> None:
        if not is_client(target) and not is_address(target):
            raise checks.fail("engine", MAY_BE, target)
        require("cluster", f'engine="{target}"' if isinstance(target, str) else "engine")
        if is_client(target) and target.asynchronous:
            raise ValueError("engine must be a Dask client that is not asynchronous")
        if local := LOCAL.fullmatch(str(target)):
            checks.whole("engine: local", int(local[1]), 1, MOST_THREADS)
        self.target, self.on_gpus = target, on_gpus
        self._lanes = 0  # of the GPUs of a worker, the most that any has
        self._compared: set[str] = set()  # workers that compute the same bits as this process
        self._at_once, self._counted = 0, -LASTING
        self._last_seen = time.monotonic()  # with a connection

    @property
    def client(self) -> Any:
        """The client; ClusterError if there is no connection, and none can be made."""
        client = _client_at(self.target) if isinstance(self.target, str) else self.target
        if client.status in ("closed", "closing"):
            raise ClusterError("the connection to the cluster is lost, and its client is closed")
        return client

    def tasks_at_once(self) -> int:
        """Number of tasks that the cluster runs at once, 0 if no worker is there yet."""
        now = time.monotonic()
        if now - self._counted > LASTING:
            with suppress(OSError, TimeoutError):  # the connection is being restored: the last number stays
                threads = self.client.nthreads().values()
                self._at_once, self._counted = len(threads) if self.on_gpus else sum(threads), now
        return self._at_once

    @property
    def lanes(self) -> int:
        """Number of runs that the GPUs of a worker play at once; 0 if workers play on processors."""
        return self._lanes or (UNKNOWN_LANES if self.on_gpus else 0)

    def compare(self) -> None:
        """ValueError, in one line, if a worker would compute other bits than this process, or lacks a GPU."""
        self.tend()
        client = self.client
        if set(client.nthreads()) <= self._compared:
            return
        for worker, is_there in client.run(_has_package(), on_error="ignore").items():
            if not is_there:
                raise ValueError(lacks(PACKAGE.name, worker))
        described = client.run(description, on_error="ignore")
        for worker, found in described.items():
            unlike = difference(description(), found)
            if unlike is not None:
                raise ValueError(wrong_worker(f"the worker {worker}", unlike))
        for worker, lanes in client.run(gpu_lanes, on_error="ignore").items() if self.on_gpus else ():
            if isinstance(lanes, str):
                raise ValueError(lacks_gpu(f"the worker {worker}", lanes))
            self._lanes = max(self._lanes, lanes)
        self._compared.update(described)

    def tend(self) -> None:
        """Look after the cluster: ClusterError if it is lost; local processes that died for good are replaced.

        Dask itself replaces processes, but not those that die while they start, or are dead again after 15 seconds.
        """
        client, local = self.client, LOCAL.fullmatch(str(self.target))
        if client.status != "connecting":
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > LONGEST_SILENCE:
            client.close(timeout=0)
            raise ClusterError("the connection to the cluster is lost, and could not be restored")
        if local:
            client.cluster.scale(int(local[1]))

    def unheard(self, keys: Collection[Any]) -> set[Any]:
        """Return those of these tasks that the scheduler has ended or forgotten; none if it does not answer."""
        with suppress(Exception):
            return set(self.client.run_on_scheduler(_ended(), list(keys), callback_timeout=HEARTBEAT))
        return set()

    def reconnect(self) -> None:
        """Break the connection, so that Dask makes a new one and cancels all futures."""
        client = self.client
        comm = getattr(client.scheduler_comm, "comm", None)  # None while it is being restored
        if comm is not None:
            client.loop.add_callback(comm.abort)

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results of futures, which are computed again if they are lost meanwhile."""
        client = self.client
        coming = asyncio.run_coroutine_threadsafe(_gathered(client, futures), client.loop.asyncio_loop)
        while True:
            with suppress(concurrent.futures.TimeoutError):
                return coming.result(timeout=HEARTBEAT)
            if coming.done():  # with a TimeoutError of its own
                return coming.result()
            self.tend()

    def run_everywhere(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in all workers, beside their tasks; best effort, and over within a second or so."""

        def run() -> None:
            with suppress(Exception):
                self.client.run(function, *arguments, on_error="ignore")

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(timeout=1.0)


async def _gathered(client: Any, futures: Sequence[Any]) -> list[Any]:
    return list(await client.gather(list(futures), asynchronous=True))


def _has_package() -> Callable[[], bool]:
    """Return a function that travels as code, because workers without the package could not look it up."""
    code = f"lambda: __import__('importlib.util').util.find_spec({PACKAGE.name!r}) is not None"
    return cast(Callable[[], bool], eval(code, {"__name__": "__main__"}))


def _ended() -> Callable[..., list[Any]]:
    """Return a function for the scheduler, which may lack the package: it travels as code."""
    code = (
        "lambda keys, dask_scheduler: [key for key in keys if key not in dask_scheduler.tasks"
        " or dask_scheduler.tasks[key].state in ('memory', 'erred', 'released', 'forgotten')]"
    )
    return cast(Callable[..., list[Any]], eval(code, {"__name__": "__main__"}))


def _client_at(address: str) -> Any:
    with _opening:
        client = _open_clients.get(address)
        if client is None or client.status in ("closed", "closing"):
            if client is None and not _open_clients:
                atexit.register(_close_all)
            client = _open_clients[address] = _open(address, PATIENCE if client is None else RECONNECTING)
        return client


def _open(address: str, patience: float) -> Any:
    import distributed

    settings: dict[str, Any] = {"set_as_default": False, "name": "bayesregret"}
    if local := LOCAL.fullmatch(address):
        with interrupts_held():  # an interrupt of this process is none of the workers'
            cluster = distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # any port; with bokeh installed there are pages to watch
                silence_logs=logging.CRITICAL,
            )
        return distributed.Client(cluster, **settings)
    try:
        return distributed.Client(address, timeout=patience, **settings)
    except (OSError, TimeoutError):
        raise ClusterError(
            f"engine must be a cluster that answers, got {address}: no scheduler within {patience:.0f} seconds"
        ) from None
    except ValueError as error:
        raise ValueError(
            f"engine must be {MAY_BE}, got {checks.shown(address)}: {checks.one_line(str(error))}"
        ) from None


def _close_all() -> None:
    """Close what was opened here, without a word."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    for client in _open_clients.values():
        with suppress(Exception):
            cluster = client.cluster
            client.close(timeout=2)
            if cluster is not None:
                cluster.close(timeout=5)
    _open_clients.clear()
