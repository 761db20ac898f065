"""Compiling formulas and kernels for CUDA: the same sources as for processors, and the same bits."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda looks for a name that NumPy no longer has
    np.row_stack = np.vstack  # type: ignore[attr-defined]

from numba import cuda, float64
from numba.core import config

from bayesregret.dispatch import Formula, add_compiler
from bayesregret.rng import ziggurat
from bayesregret.simulation.engines.gpu import lanes
from bayesregret.simulation.engines.gpu.kernels import fill_ziggurat

_one_at_a_time = threading.Lock()


@functools.cache
def register_formulas() -> None:
    """Let CUDA kernels contain all contracts and formulas, and those of the user."""
    if config.ENABLE_CUDASIM:  # it runs kernels in plain Python
        return
    from numba.cuda.extending import overload

    overload(lanes.lane_of)(_choose_lane_of)
    overload(lanes.world_of)(_choose_world_of)
    overload(ziggurat)(lambda layer: _layer_in_shared_memory)
    add_compiler(_register_for_cuda)


def _register_for_cuda(contracts: Sequence[Any], formulas: Sequence[Formula]) -> None:
    from numba.cuda.extending import overload, register_jitable

    for made in contracts:
        overload(made)(made.choose)
    for function, _ in formulas:
        if function is not ziggurat:
            register_jitable(function)


def _layer_in_shared_memory(layer):  # type: ignore[no-untyped-def]
    table = cuda.shared.array(0, float64)
    return table[2 * layer], table[2 * layer + 1]


def _choose_lane_of(nested, lane):  # type: ignore[no-untyped-def]
    """The body of `lane_of` for a NamedTuple. Only it may return arrays, so it takes views of its fields itself."""
    views = ", ".join(_view(f"nested.{field}", kind) for field, kind in zip(nested.fields, nested.types, strict=True))
    scope: dict[str, Any] = {"lane_of": lanes.lane_of, "make": nested.instance_class}
    exec(f"def of_fields(nested, lane):\n    return make({views})", scope)
    return scope["of_fields"]


def _view(field: str, kind: Any) -> str:
    from numba.cuda import types

    if isinstance(kind, types.BaseNamedTuple):
        return f"lane_of({field}, lane)"
    return f"{field}[{':, ' * (kind.ndim - 1)}lane]" if isinstance(kind, types.Array) else field


def _choose_world_of(worlds, lane):  # type: ignore[no-untyped-def]
    if worlds.instance_class is lanes.Shared:
        return lambda worlds, lane: worlds.model
    return lambda worlds, lane: lanes.lane_of(worlds.model, lane)


@functools.cache
def compiled(kernel: Callable[..., Any], registers: int | None = None) -> Any:
    """Return the kernel for CUDA; a call compiles it for the classes of its arguments."""
    register_formulas()
    if config.ENABLE_CUDASIM:
        return cuda.jit(kernel)
    from numba.cuda.extending import register_jitable

    register_jitable(fill_ziggurat)
    # Link-time optimisation would fuse products and sums, whatever NVVM was told.
    return cuda.jit(kernel, lto=False, max_registers=registers)


@contextmanager
def without_fusion() -> Iterator[None]:
    """Compile no product and sum into one operation: that rounds once where processors round twice."""
    if config.ENABLE_CUDASIM:
        yield
        return
    from numba.cuda.cudadrv import nvvm

    with _one_at_a_time:
        compile_ir = nvvm.compile_ir
        nvvm.compile_ir = functools.partial(compile_ir, fma=0)
        try:
            yield
        finally:
            nvvm.compile_ir = compile_ir
