"""One contract function, one body per class, the same in plain Python and in compiled code.

A contract is called like any function; the class of its first argument picks the body. In plain Python the
choice is a dictionary look-up, in a compiled kernel it is made once, by type, so a kernel pays nothing for it:

    @contract
    def area(shape): ...

    @area.implement(Square)
    def square_area(shape):
        return shape.side * shape.side

Nothing here imports Numba until the first kernel is asked for: importing the package stays light, and every
formula stays an ordinary function that an online agent or a test without compilation can call.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import inspect
import pathlib
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

ANY_CLASS = object

PACKAGE = pathlib.Path(__file__).parent

# Division by zero gives inf or nan as in NumPy: the default check would be a branch in every inner loop.
# No kernel makes an array, so none needs to count references to one.
JIT_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
# Left to itself LLVM calls some of these few-line functions, at more than their own cost.
INLINED: dict[str, Any] = {**JIT_OPTIONS, "forceinline": True}
OUTLINED: dict[str, Any] = {**JIT_OPTIONS, "forceinline": False}

_waiting: list[Callable[[], None]] = []
_numba_is_ready = False
_files_of_formulas: set[str] = set()


class Contract(Protocol):
    """A function with one body per class of its first argument."""

    bodies: dict[type, Callable[..., Any]]

    def implement(self, subject: type) -> Callable[[F], F]: ...

    def otherwise(self, body: F) -> F: ...

    def __call__(self, *args: Any) -> Any: ...


def contract(stub: Callable[..., Any]) -> Contract:
    """Make a contract out of a documented stub; its signature is the contract's."""
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(stub)
    def call(*args: Any) -> Any:
        try:
            body = bodies.get(type(args[0])) or bodies[ANY_CLASS]
        except KeyError:
            raise TypeError(f"{stub.__name__} has no body for {type(args[0]).__name__}") from None
        return body(*args)

    def implement(subject: type) -> Callable[[F], F]:
        def register(body: F) -> F:
            bodies[subject] = body
            _files_of_formulas.add(body.__code__.co_filename)
            return body

        return register

    def otherwise(body: F) -> F:
        """The body for classes that have none of their own."""
        return implement(ANY_CLASS)(body)

    def choose(*types: Any) -> Callable[..., Any] | None:
        return bodies.get(getattr(types[0], "instance_class", type(None)), bodies.get(ANY_CLASS))

    # Numba compares a body's argument names with those of the function that chooses it.
    choose.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]

    def register_with_numba() -> None:
        from numba.extending import overload

        overload(call, jit_options=cast(Any, INLINED))(choose)

    when_numba_is_ready(register_with_numba)
    made = cast(Any, call)
    made.implement = implement
    made.otherwise = otherwise
    made.bodies = bodies
    return cast(Contract, made)


def jitable(function: F) -> F:
    """Let compiled code contain this plain function; in plain Python it is what it was."""
    return _jitable(function, INLINED)


def rarely_called(function: F) -> F:
    """Like `jitable`, for what is off the beaten track: compiled once and kept out of its callers."""
    return _jitable(function, OUTLINED)


def order_free(function: F) -> F:
    """Like `jitable`, for the largest or smallest of numbers: they may be compared in any order, many at once.

    Assumes that none is nan, and may return either of two zeros; the value is the same bits otherwise.
    """
    return _jitable(function, {**INLINED, "fastmath": {"nnan", "nsz"}})


def _jitable(function: F, options: dict[str, Any]) -> F:
    _files_of_formulas.add(function.__code__.co_filename)

    def register_with_numba() -> None:
        from numba.extending import register_jitable

        register_jitable(**options)(function)

    when_numba_is_ready(register_with_numba)
    return function


def when_numba_is_ready(register: Callable[[], None]) -> None:
    if _numba_is_ready:
        register()
    else:
        _waiting.append(register)


def _make_numba_ready() -> None:
    global _numba_is_ready
    if _numba_is_ready:
        return
    # Numba makes a great many objects that stay; looking for garbage among them is a quarter of its start.
    collecting = gc.isenabled()
    gc.disable()
    try:
        from numba.core.registry import cpu_target

        while _waiting:
            _waiting.pop(0)()
        cpu_target.target_context.refresh()
    finally:
        if collecting:
            gc.enable()
    _numba_is_ready = True


def compile_kernel(body: Callable[..., Any], *classes: type) -> Callable[..., Any]:
    """Compile `body` for arguments of these classes; kept on disk between processes, run without the GIL."""
    _make_numba_ready()
    return _compile(body, frozenset(classes))


@functools.cache
def _compile(body: Callable[..., Any], classes: frozenset[type]) -> Callable[..., Any]:
    import numba

    jitable(body)

    def kernel(*args):  # type: ignore[no-untyped-def]
        return body(*args)

    # Numba names its files after this. It looks for changes only in the file of the cached function itself: without the
    # fingerprint an edited model, or a researcher's edited policy, would silently run its old machine code.
    kernel.__qualname__ = f"{body.__name__}_{_fingerprint(classes)}"
    options: dict[str, Any] = {"nogil": True, **JIT_OPTIONS}
    # Classes typed at a prompt or in a script are new ones in every process: no file could be found again.
    keep = all(subject.__module__ != "__main__" for subject in classes)
    try:
        return cast(Callable[..., Any], numba.njit(kernel, cache=keep, **options))
    except RuntimeError:  # no folder to keep compiled code in: compile in every process
        return cast(Callable[..., Any], numba.njit(kernel, **options))


def _fingerprint(classes: frozenset[type]) -> str:
    """Names every source that a kernel for these classes may contain, and where the classes are found."""
    digest = hashlib.sha256(_sources(tuple(sorted(PACKAGE.rglob("*.py")))))
    for name in sorted(f"{subject.__module__}.{subject.__qualname__}" for subject in classes):
        digest.update(name.encode())
    package = PACKAGE.name + "."
    if not all(subject.__module__.startswith(package) for subject in classes):
        # A formula of the user's may call any other: all their files count.
        outside = (pathlib.Path(name) for name in sorted(_files_of_formulas))
        digest.update(_sources(tuple(path for path in outside if path.is_file() and PACKAGE not in path.parents)))
    return digest.hexdigest()[:16]


def _sources(paths: tuple[pathlib.Path, ...]) -> bytes:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).digest()
