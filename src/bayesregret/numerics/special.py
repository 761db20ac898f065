"""SciPy's special functions, callable from plain Python and from compiled code: the same machine code, the same bits.

Compiled code calls the C functions behind `scipy.special.cython_special` by a symbol name, so that it can be cached on
disk. SciPy is loaded only when a caller of these functions calls `make_special_functions_ready`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

# Each function's name in SciPy's C code, and its number of arguments.
PREFIX = "bayesregret_"  # of the names that compiled code calls
_IN_C = {
    "betaincc": ("__pyx_fuse_0betaincc", 3),
    "betainccinv": ("__pyx_fuse_0betainccinv", 3),
    "gammainccinv": ("gammainccinv", 2),
    "gammaincinv": ("gammaincinv", 2),
    "stdtrit": ("__pyx_fuse_0stdtrit", 2),
}


_registrations: list[Callable[[], None]] = []


@functools.cache
def make_special_functions_ready() -> None:
    """Load SciPy and register its functions with the compiler."""
    from llvmlite import binding
    from numba.core.registry import cpu_target
    from numba.extending import get_cython_function_address

    for name, (in_c, _) in _IN_C.items():
        binding.add_symbol(PREFIX + name, get_cython_function_address("scipy.special.cython_special", in_c))
    for register_with_numba in _registrations:
        register_with_numba()
    cpu_target.target_context.refresh()


def _special(name: str) -> Callable[..., float]:
    def call(*args: float) -> float:
        import scipy.special

        return float(getattr(scipy.special, name)(*args))

    call.__name__ = name

    def register_with_numba() -> None:
        from numba import types
        from numba.extending import overload

        arguments = _IN_C[name][1]
        in_c = types.ExternalFunction(PREFIX + name, types.float64(*[types.float64] * arguments))

        def choose(*args: Any) -> Callable[..., Any]:
            bodies: dict[int, Callable[..., Any]] = {
                2: lambda a, b: in_c(a, b),
                3: lambda a, b, c: in_c(a, b, c),
            }
            return bodies[arguments]

        overload(call, strict=False)(choose)

    _registrations.append(register_with_numba)
    return call


betaincc = _special("betaincc")
betainccinv = _special("betainccinv")
gammainccinv = _special("gammainccinv")
gammaincinv = _special("gammaincinv")
stdtrit = _special("stdtrit")
