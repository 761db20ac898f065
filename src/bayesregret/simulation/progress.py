"""Progress on long work: a bar in a terminal or a notebook, a callback, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Work that is over before this many seconds have passed shows no bar.
PATIENCE = 0.5


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
    """Draws a bar with Rich, once the work has taken a moment."""

    def __init__(self, in_all: int) -> None:
        super().__init__(in_all)
        self.started = time.monotonic()
        self.what = ""
        self.bar: Any = None
        self.task: Any = None

    def describe(self, what: str) -> None:
        self.what = what
        if self.bar is not None:
            self.bar.update(self.task, description=what)

    def advance(self, rounds: int) -> None:
        super().advance(rounds)
        if self.bar is None:
            if time.monotonic() - self.started < PATIENCE:
                return
            self._open()
        self.bar.update(self.task, completed=self.done, total=self.in_all)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self.bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self.bar.start()
        self.task = self.bar.add_task(self.what, total=self.in_all)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def open_progress(wish: bool | Callable[[int, int], None] | None, *, rounds_in_all: int) -> Iterator[Progress]:
    if callable(wish):
        yield Callback(rounds_in_all, wish)
    elif wish or (wish is None and (sys.stderr.isatty() or _in_notebook())):
        bar = Bar(rounds_in_all)
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
