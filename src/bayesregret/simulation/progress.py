"""Progress on long work: a bar in a terminal or a notebook, a callback, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Work that is over before this many seconds have passed shows no bar.
PATIENCE = 0.5
BAR_WIDTH = 30


class Progress:
    """Counts rounds; tells nobody."""

    def __init__(self, in_all: int) -> None:
        self.in_all = in_all
        self.done = 0

    def describe(self, what: str) -> None:
        """Say what is being worked on."""

    def extend(self, more: int) -> None:
        """There is more to do than was thought."""
        self.in_all += more

    def advance(self, rounds: int) -> None:
        self.done += rounds


class Callback(Progress):
    """Tells a function."""

    def __init__(self, in_all: int, tell: Callable[[int, int], None]) -> None:
        super().__init__(in_all)
        self.tell = tell

    def advance(self, rounds: int) -> None:
        super().advance(rounds)
        self.tell(self.done, self.in_all)


class Bar(Progress):
    """Shows how far the work is, once it has taken a moment."""

    def __init__(self, in_all: int) -> None:
        super().__init__(in_all)
        self.started = time.monotonic()
        self.what = ""
        self.shown = False

    def describe(self, what: str) -> None:
        self.what = what

    def advance(self, rounds: int) -> None:
        super().advance(rounds)
        if not self.shown:
            if time.monotonic() - self.started < PATIENCE:
                return
            self.open()
            self.shown = True
        self.draw()

    def open(self) -> None: ...

    def draw(self) -> None: ...

    def close(self) -> None: ...


class TerminalBar(Bar):
    """Drawn by Rich on standard error."""

    def open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self.rich = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self.rich.start()
        self.task = self.rich.add_task(self.what, total=self.in_all)

    def draw(self) -> None:
        self.rich.update(self.task, description=self.what, completed=self.done, total=self.in_all)

    def close(self) -> None:
        if self.shown:
            self.rich.stop()


class NotebookBar(Bar):
    """One line of output that is written again and again; needs no widgets."""

    def open(self) -> None:
        from IPython.display import display

        self.handle: Any = display({"text/plain": self.line()}, raw=True, display_id=True)

    def draw(self) -> None:
        self.handle.update({"text/plain": self.line()}, raw=True)

    def close(self) -> None:
        if self.shown:
            self.handle.update({"text/plain": ""}, raw=True)

    def line(self) -> str:
        share = self.done / self.in_all
        left = (time.monotonic() - self.started) * (1.0 / share - 1.0)
        full = round(BAR_WIDTH * share)
        return f"{self.what}  {'█' * full}{'░' * (BAR_WIDTH - full)}  {share:.0%}  {left:.0f} s left"


@contextmanager
def open_progress(wish: bool | Callable[[int, int], None] | None, *, rounds_in_all: int) -> Iterator[Progress]:
    if callable(wish):
        yield Callback(rounds_in_all, wish)
    elif wish or (wish is None and (_in_notebook() or sys.stderr.isatty())):
        bar = NotebookBar(rounds_in_all) if _in_notebook() else TerminalBar(rounds_in_all)
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield Progress(rounds_in_all)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
