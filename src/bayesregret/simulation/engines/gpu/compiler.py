"""Compiling formulas and kernels for CUDA: the same sources as for processors, and the same bits."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda looks for a name that NumPy no longer has
    np.row_stack = np.vstack

from numba import cuda, float64
from numba.core import config as numba_config
from numba.cuda.core import config

from bayesregret.dispatch import Formula, add_compiler
from bayesregret.rng import ziggurat
from bayesregret.simulation.engines.gpu import kernels, lanes

_one_at_a_time = threading.Lock()
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few runs do not fill a GPU, and that is nobody's mistake


@functools.cache
def register_formulas() -> None:
    """Let CUDA kernels contain all contracts and formulas, and those of the user."""
    if numba_config.ENABLE_CUDASIM:  # it runs kernels in plain Python
        return
    from numba.cuda.extending import overload

    overload(lanes.lane_of)(_choose_lane_of)
    overload(lanes.in_shared_memory)(_choose_in_shared_memory)
    overload(lanes.world_of)(_choose_world_of)
    overload(ziggurat)(lambda layer: _layer_in_shared_memory)
    add_compiler(_register_for_cuda)
    _register_for_cuda([], [(helper, {}) for helper in (kernels.fill_ziggurat, kernels.two_highest)])


def _register_for_cuda(contracts: Sequence[Any], formulas: Sequence[Formula]) -> None:
    from numba.cuda.extending import overload, register_jitable

    for made in contracts:
        overload(made)(made.choose)
    for function, _ in formulas:
        if function is not ziggurat:
            register_jitable(function)


def _layer_in_shared_memory(layer):
    table = cuda.shared.array(0, float64)
    return table[2 * layer], table[2 * layer + 1]


def _choose_lane_of(nested, lane):
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


def _choose_in_shared_memory(states, first):
    """The body of `in_shared_memory` for a NamedTuple: its arrays one after the other."""
    from numba.cuda import types

    ends: list[str] = []
    scope: dict[str, Any] = {"moved": _moved(), "cuda": cuda, "float64": float64}

    def placed(path: str, kind: Any) -> str:
        if isinstance(kind, types.BaseNamedTuple):
            parts = ", ".join(
                placed(f"{path}.{field}", part) for field, part in zip(kind.fields, kind.types, strict=True)
            )
            name = f"make_{len(scope)}"
            scope[name] = kind.instance_class
            return f"{name}({parts})"
        place = f"end_{len(ends)}"
        ends.append(f"end_{len(ends) + 1} = {place} + {path}.size")
        return f"moved({path}, memory, {place})"

    made = placed("states", states)
    lines = [
        "def in_order(states, first):",
        "memory = cuda.shared.array(0, float64)",
        "end_0 = first",
        *ends,
        f"return {made}",
    ]
    exec("\n    ".join(lines), scope)
    return scope["in_order"]


@functools.cache
def _moved() -> Any:
    """Formula for compiled code: an array of the same kind and shape, whose data are elsewhere."""
    from numba.core.imputils import impl_ret_borrowed
    from numba.cuda.extending import intrinsic

    @intrinsic
    def moved(context, array, memory, place):
        def generate(context, builder, signature, arguments):
            kind, of_memory, _ = signature.args
            made = context.make_array(kind)(context, builder, arguments[0])
            data = context.make_array(of_memory)(context, builder, arguments[1]).data
            made.data = builder.bitcast(builder.gep(data, [arguments[2]]), made.data.type)
            return impl_ret_borrowed(context, builder, kind, made._getvalue())

        return array(array, memory, place), generate

    return moved


def _choose_world_of(worlds, lane):
    if worlds.instance_class is lanes.Shared:
        return lambda worlds, lane: worlds.model
    return lambda worlds, lane: lanes.lane_of(worlds.model, lane)


@functools.cache
def dispatcher(kernel: Callable[..., Any], registers: int | None = None) -> Any:
    """Return the kernel for CUDA, not compiled yet."""
    register_formulas()
    if numba_config.ENABLE_CUDASIM:
        return cuda.jit(kernel)
    # Link-time optimisation would fuse products and sums, whatever NVVM was told.
    return cuda.jit(kernel, lto=False, max_registers=registers)


def compiled(
    kernel: Callable[..., Any], arguments: Sequence[Any], shared_bytes: int = 0, registers: int | None = None
) -> Any:
    """Return the kernel for CUDA, compiled for the classes of these arguments."""
    made = dispatcher(kernel, registers)
    if not numba_config.ENABLE_CUDASIM:
        with without_fusion():
            binary = made.compile(tuple(map(made.typeof_pyval, arguments)))
        _allow_shared_memory(binary, shared_bytes)
    return made


def _allow_shared_memory(binary: Any, shared_bytes: int) -> None:
    """Let a kernel use more shared memory than it may without asking."""
    from numba.cuda.cudadrv.driver import binding, driver

    function = binary._codelibrary.get_cufunc()
    attribute = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.cuKernelSetAttribute(attribute, shared_bytes, function.handle, function.device.id)


@contextmanager
def without_fusion() -> Iterator[None]:
    """Compile no product and sum into one operation: that rounds once where processors round twice."""
    if numba_config.ENABLE_CUDASIM:
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
