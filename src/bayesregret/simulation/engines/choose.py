"""From what a caller gives to an engine."""

from __future__ import annotations

import functools
from typing import Any

from bayesregret import checks
from bayesregret.simulation.engines.cluster.connection import is_address, is_client
from bayesregret.simulation.engines.cluster.engine import ClusterEngine
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.engines.threads import ThreadsEngine

EngineLike = Engine | str | Any  # an engine, its name, the address of a cluster, or a Dask client

MAY_BE = '"threads", "gpu", a Dask client, or a cluster such as "tcp://host:8786" or "local:4"'


def as_engine(engine: EngineLike | None = None, threads: int | None = None) -> Engine:
    """Return the engine that this stands for."""
    if engine is None or (isinstance(engine, str) and engine == ThreadsEngine.name):
        return ThreadsEngine(threads)
    if threads is not None:
        raise checks.fail("threads", 'left out unless engine is "threads"', threads)
    if isinstance(engine, Engine):
        return engine
    if isinstance(engine, str) and engine == "gpu":
        return the_gpu()
    if is_client(engine) or is_address(engine):
        return ClusterEngine(engine)
    raise checks.fail("engine", MAY_BE, engine)


@functools.cache
def the_gpu() -> Engine:
    """The GPUs of this machine."""
    from bayesregret.simulation.engines.gpu.engine import GpuEngine

    return GpuEngine()
