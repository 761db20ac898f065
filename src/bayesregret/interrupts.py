"""Ctrl-C on the command line: one line and exit status 130, whenever it comes after Python has reached the package.

Python raises KeyboardInterrupt wherever the program happens to be. A command of ours expects that; other libraries do
not. Raised in a callback of the compiler or in the middle of an import, the exception is swallowed, printed with a
traceback, or leaves C code in a state that crashes. So there the process ends at once, without an exception.

Nothing is lost by that: studies are SQLite files, and Numba renames its files when they are complete. In Python use
nothing here runs, and KeyboardInterrupt is what it always is.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

PROGRAM = "bayesregret"
STATUS = 130  # 128 + SIGINT, as in shells
MESSAGE = "interrupted"

COMPILER = ("numba", "llvmlite")
IMPORTS = "<frozen importlib._bootstrap>"
COMPILED_CODE_FILES = "numba.core.caching"
RETRY_SECONDS = 0.01
TRACKER_WARNING = "ignore:resource_tracker:UserWarning"
# A progress bar hides the cursor.
CLEAR_LINE_SHOW_CURSOR = "\r\x1b[K\x1b[?25h"

_raises = False
_status: int | None = None


def runs_as_command() -> bool:
    """Whether this process is `bayesregret ...` or `python -m bayesregret ...`."""
    started = sys.orig_argv[-len(sys.argv) :][:1]  # the rest are options
    return bool(started) and os.path.basename(started[0]).removeprefix("-m").removesuffix(".exe") == PROGRAM


def end_on_interrupts() -> None:
    """From now on SIGINT ends this process, unless its parent asked to ignore it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    atexit.register(_skip_clean_up)  # registered first, so called last
    sys.unraisablehook = _end_if_interrupted
    signal.signal(signal.SIGINT, _interrupt)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """In this block an interrupt is a KeyboardInterrupt, except inside the compiler and imports."""
    global _raises
    _raises = True
    try:
        yield
    finally:
        _raises = False


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold back interrupts; threads and processes that are started meanwhile never get one."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    _start_tracker()  # which would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_tracker() -> None:
    """Start the tracker of `multiprocessing` without its warning: what an interrupted command leaves, it removes."""
    from multiprocessing import resource_tracker  # takes a while to load

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [before, TRACKER_WARNING]))
    try:
        resource_tracker.ensure_running()
    finally:
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def leave(status: int) -> NoReturn:
    """Exit with this status; after an interrupt without waiting for other processes and threads of this one."""
    global _status
    _status = status
    if status == STATUS:
        _skip_clean_up()
    sys.exit(status)


def _skip_clean_up() -> None:
    """Exit before Python frees the compiler's memory: that takes it a quarter of a second, without our handler."""
    if _status is None:  # an error that nobody expected: leave the rest to Python
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_status)


def _interrupt(number: int, frame: FrameType | None) -> None:
    frames = list(_callers(frame))
    modules = [str(caller.f_globals.get("__name__")) for caller in frames]
    if COMPILED_CODE_FILES in modules:  # wait until the file is complete
        threading.Timer(RETRY_SECONDS, signal.raise_signal, (number,)).start()
    elif not _raises or _in_fragile_code(frames, modules):
        _end()
    else:
        raise KeyboardInterrupt


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _in_fragile_code(frames: list[FrameType], modules: list[str]) -> bool:
    imports = any(caller.f_code.co_filename == IMPORTS for caller in frames)
    return imports or any(module.partition(".")[0] in COMPILER for module in modules)


def _end_if_interrupted(unraisable: sys.UnraisableHookArgs) -> None:
    """Python ignores exceptions in callbacks and finalizers; an interrupt there must still be heard."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _end()
    sys.__unraisablehook__(unraisable)


def _end() -> None:
    """Say so and exit: straight to the file, because the interrupt may have come while the stream was written to."""
    if sys.__stderr__ is not None:  # None: closed before the start, and the number may be another file's
        clear = CLEAR_LINE_SHOW_CURSOR if sys.__stderr__.isatty() else ""
        with suppress(OSError):
            os.write(sys.__stderr__.fileno(), f"{clear}{PROGRAM}: {MESSAGE}\n".encode())
    os._exit(STATUS)
