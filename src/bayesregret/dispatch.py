"""Contracts: functions with one body per class of their first argument, in plain Python and in compiled code.

A contract is called like any function; the class of its first argument picks the body. In plain Python the choice is a
dictionary look-up; in a compiled kernel it is made once, by type, and costs nothing at run time:

    @contract(returns="area")
    def area(shape): ...

    @area.implement(Square)
    def square_area(shape):
        return shape.side * shape.side

Nothing here imports Numba before the first kernel is compiled: importing the package stays fast, and every formula
stays an ordinary function that an online agent or a test without compilation can call.
"""

from __future__ import annotations

import functools
import gc
import inspect
import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

from bayesregret.compile_notice import CompileNotice
from bayesregret.sources import fingerprint, register_formula

F = TypeVar("F", bound=Callable[..., Any])

ANY_CLASS = object

# Division by zero gives inf or nan as in NumPy: the default check would be a branch in every inner loop.
# No kernel makes an array, so none needs to count references to one.
JIT_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
# Formulas are called by kernels alone: without wrappers for other callers they compile faster.
FORMULA_OPTIONS: dict[str, Any] = {**JIT_OPTIONS, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
# Left to itself LLVM calls some of these few-line functions, at more than their own cost.
INLINED: dict[str, Any] = {**FORMULA_OPTIONS, "forceinline": True}
OUTLINED: dict[str, Any] = {**FORMULA_OPTIONS, "forceinline": False}

Formula = tuple[Callable[..., Any], dict[str, Any]]  # with the options of the compiler for processors
# Registers contracts and formulas with a compiler, so that its kernels can contain them.
Compiler = Callable[[Sequence[Any], Sequence[Formula]], None]

_compiling = threading.RLock()  # for threads that make simulations at the same time
_numba_is_ready = False
_compilers: list[Compiler] = []
_contracts: list[Any] = []
_kernels: dict[tuple[Callable[..., Any], frozenset[type]], Callable[..., Any]] = {}
_formulas: list[Formula] = []


class MissingBodyError(TypeError):
    """A contract was called for a class that does not implement it."""


class Contract(Protocol):
    """A function with one body per class of its first argument."""

    __name__: str
    bodies: dict[type, Callable[..., Any]]
    returns: str  # the names of the results, separated by commas; empty if there are none

    def implement(self, subject: type) -> Callable[[F], F]: ...

    def otherwise(self, body: F) -> F: ...

    def supports(self, subject: object) -> bool: ...

    def __call__(self, *args: Any) -> Any: ...


def contract(*, returns: str = "") -> Callable[[Callable[..., Any]], Contract]:
    """Make a contract out of a documented stub; its signature is the contract's."""

    def make(stub: Callable[..., Any]) -> Contract:
        return _make_contract(stub, returns)

    return make


def _make_contract(stub: Callable[..., Any], returns: str) -> Contract:
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(stub)
    def call(*args: Any) -> Any:
        body = bodies.get(type(args[0])) or bodies.get(ANY_CLASS)
        if body is None:
            raise missing(type(args[0]))
        return body(*args)

    def missing(subject: type) -> MissingBodyError:
        return MissingBodyError(f"{subject.__name__} does not implement {stub.__name__}")

    def implement(subject: type) -> Callable[[F], F]:
        def register(body: F) -> F:
            check_arguments(body)
            bodies[subject] = body
            register_formula(body)
            return body

        return register

    def check_arguments(body: Callable[..., Any]) -> None:
        """Numba compares the names, and complains in a page."""
        code, wanted = body.__code__, list(inspect.signature(stub).parameters)
        if list(code.co_varnames[: code.co_argcount]) != wanted:
            raise TypeError(f"{body.__name__} must have the arguments of {stub.__name__}: {', '.join(wanted)}")

    def otherwise(body: F) -> F:
        """Register the body for classes without one."""
        return implement(ANY_CLASS)(body)

    def supports(subject: object) -> bool:
        """Whether this object, or this class, has its own body."""
        return (subject if isinstance(subject, type) else type(subject)) in bodies

    def choose(*types: Any) -> Callable[..., Any]:
        subject = getattr(types[0], "instance_class", type(None))
        body = bodies.get(subject) or bodies.get(ANY_CLASS)
        if body is None:
            raise missing(subject)
        return body

    # Numba compares a body's argument names with those of the function that chooses it.
    choose.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]

    made = cast(Any, call)
    made.implement, made.otherwise, made.supports, made.bodies = implement, otherwise, supports, bodies
    made.returns, made.choose = returns, choose
    _contracts.append(made)
    for register in _compilers:
        register([made], [])
    return cast(Contract, made)


def all_contracts() -> list[Contract]:
    return list(_contracts)


def jitable(function: F) -> F:
    """Let compiled code contain this plain function; in plain Python it is unchanged."""
    return _jitable(function, INLINED)


def rarely_called(function: F) -> F:
    """Like `jitable`, for rarely taken paths: compiled once and never inlined into its callers."""
    return _jitable(function, OUTLINED)


def order_free(function: F) -> F:
    """Like `jitable`, for the largest or smallest of numbers, which may be compared in any order, many at once.

    Assumes that no number is nan, and may return either of two zeros; otherwise the result has the same bits.
    """
    return _jitable(function, {**INLINED, "fastmath": {"nnan", "nsz"}})


def _jitable(function: F, options: dict[str, Any]) -> F:
    register_formula(function)
    _formulas.append((function, options))
    for register in _compilers:
        register([], [(function, options)])
    return function


def add_compiler(register: Compiler) -> None:
    """Register all contracts and formulas with a compiler, and those that are made later as well."""
    register(_contracts, _formulas)
    _compilers.append(register)


def _register_with_numba(contracts: Sequence[Any], formulas: Sequence[Formula]) -> None:
    """Register with the compiler for processors; the first time, load it."""
    global _numba_is_ready
    # Numba makes many objects that stay; searching them for garbage takes a quarter of its start-up.
    collecting = gc.isenabled()
    gc.disable()
    try:
        from numba.core import event
        from numba.core.registry import cpu_target
        from numba.extending import overload, register_jitable

        if not _numba_is_ready:
            event.Listener.register(CompileNotice)
            event.register("numba:compile", CompileNotice())  # type: ignore[no-untyped-call]
            _compilers.append(_register_with_numba)
        for made in contracts:
            overload(made, jit_options=cast(Any, INLINED))(made.choose)
        for function, options in formulas:
            register_jitable(**options)(function)
        cpu_target.target_context.refresh()
    finally:
        if collecting:
            gc.enable()
    _numba_is_ready = True


def compile_kernel(body: Callable[..., Any], *classes: type) -> Callable[..., Any]:
    """Compile `body` for arguments of these classes; kept on disk between processes, run without the GIL."""
    with _compiling:
        made = _kernels.get((body, frozenset(classes)))
        if made is not None:
            return made
        if not _numba_is_ready:
            _register_with_numba(_contracts, _formulas)
        import numba
        from numba.extending import register_jitable

        register_jitable(**INLINED)(body)

        def kernel(*args):  # type: ignore[no-untyped-def]
            return body(*args)

        kernel.body = body  # type: ignore[attr-defined]
        # Numba names its files after this. It looks for changes only in the file of the cached function itself: without
        # the fingerprint an edited model, or a researcher's edited policy, would silently run its old machine code.
        kernel.__qualname__ = f"{body.__name__}_{fingerprint(body, classes)}"
        options: dict[str, Any] = {"nogil": True, **JIT_OPTIONS}
        # Classes defined at a prompt or in a script are new ones in every process: no file could be found again.
        keep = "__main__" not in map(operator.attrgetter("__module__"), classes)
        try:
            compiled = numba.njit(kernel, cache=keep, **options)
        except RuntimeError:  # no folder to keep compiled code in: compile in every process
            compiled = numba.njit(kernel, **options)

        def run(*args: Any) -> Any:
            """Turn the compiler's page of errors into one line that names the user's function."""
            try:
                return compiled(*args)
            except Exception as error:
                if not type(error).__module__.startswith("numba."):
                    raise
                from bayesregret.compile_errors import explain

                raise explain(error) from None

        _kernels[body, frozenset(classes)] = run
        return run
