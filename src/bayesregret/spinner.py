"""Words beside a spinner during work whose end nobody can foresee: in a terminal or a notebook, nothing elsewhere.

Only one thing on the screen moves at a time: work that has its own words (a kernel that is compiled) borrows the
innermost display that is open, a spinner or a progress bar.
"""

from __future__ import annotations

import itertools
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Protocol

# Work that ends within this many seconds shows nothing.
PATIENCE = 1.0
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
PLAIN_FRAMES = "|/-\\"
FRAME_SECONDS = 0.1
CLEAR_LINE, HIDE_CURSOR, SHOW_CURSOR = "\r\x1b[K", "\x1b[?25l", "\x1b[?25h"


class Display(Protocol):
    """A spinner or a progress bar."""

    description: str

    def interlude(self, words: str) -> AbstractContextManager[None]:
        """Show other words during a block."""


# The innermost one is last. One list for the whole process: a thread that works for another one shares its display.
open_displays: list[Display] = []


class Spinner:
    """Spinner on standard error that a thread draws once the work has taken `PATIENCE` seconds."""

    def __init__(self, description: str) -> None:
        self.description = self.words = description
        self.stream = sys.stderr
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.thread.join()

    @contextmanager
    def interlude(self, words: str) -> Iterator[None]:
        self.words = words
        try:
            yield
        finally:
            self.words = self.description

    def _draw(self) -> None:
        if self.ended.wait(PATIENCE):
            return
        with suppress(OSError, ValueError):  # the terminal has gone
            self._write(HIDE_CURSOR)
            for frame in itertools.cycle(_frames(self.stream)):
                line = f"{frame} {self.words}"[: shutil.get_terminal_size().columns - 1]
                self._write(CLEAR_LINE + line)
                if self.ended.wait(FRAME_SECONDS):
                    break
            self._write(CLEAR_LINE + SHOW_CURSOR)

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


class NotebookLine:
    """Words in one line of output, which is empty at the end."""

    def __init__(self, description: str) -> None:
        self.description = description
        self.handle: Any = None

    def __enter__(self) -> None:
        self._show(self.description)

    def __exit__(self, *error: object) -> None:
        self._show("")

    @contextmanager
    def interlude(self, words: str) -> Iterator[None]:
        self._show(words)
        try:
            yield
        finally:
            self._show(self.description)

    def _show(self, words: str) -> None:
        data = {"text/plain": words}
        if self.handle is None:
            from IPython.display import display

            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


@contextmanager
def spinning(description: str, wanted: bool | None = None) -> Iterator[None]:
    """Show words with a spinner during the block: where somebody watches, or always or never if given."""
    if not (is_watched() if wanted is None else wanted):
        yield
        return
    made = NotebookLine(description) if in_notebook() else Spinner(description)
    open_displays.append(made)
    try:
        with made:
            yield
    finally:
        open_displays.remove(made)


def interlude(words: str, otherwise: str) -> AbstractContextManager[None]:
    """Show `words` with {} replaced by the description of the open display, or by `otherwise`, during a block."""
    if not open_displays:
        return spinning(words.format(otherwise))
    display = open_displays[-1]
    return display.interlude(words.format(display.description or otherwise))


def is_watched() -> bool:
    """Whether somebody watches a notebook or a terminal; processes that this one started leave it to this one."""
    if in_notebook() or not sys.stderr.isatty():
        return in_notebook()
    import multiprocessing  # takes a while to load

    return multiprocessing.parent_process() is None


def in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _frames(stream: Any) -> str:
    try:
        FRAMES.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return PLAIN_FRAMES
    return FRAMES
