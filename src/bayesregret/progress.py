"""Progress of long work: a bar in a terminal or a notebook, a callback, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from bayesregret.spinner import Display, in_notebook, is_watched, open_displays, spinning

# Work that ends within this many seconds shows no bar.
PATIENCE = 0.5
BAR_WIDTH = 30


class WorkProgress:
    """Counter of finished work, in any unit, that displays nothing."""

    outer: Display | None = None  # the display inside which this work is done
    description = ""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def describe(self, description: str) -> None:
        """Name the current part of the work."""
        self.description = description

    def interlude(self, words: str) -> AbstractContextManager[None]:
        """Show other words during a block, if anything is shown."""
        return nullcontext() if self.outer is None else self.outer.interlude(words)

    def extend(self, more: int) -> None:
        """Add `more` to the total."""
        self.total += more

    def advance(self, amount: int) -> None:
        """Count `amount` more as done."""
        self.done += amount


class CallbackProgress(WorkProgress):
    """Calls a function with the amount done and the total."""

    def __init__(self, total: int, report: Callable[[int, int], None]) -> None:
        super().__init__(total)
        self.report = report

    def advance(self, amount: int) -> None:
        super().advance(amount)
        self.report(self.done, self.total)


class Bar(WorkProgress):
    """Bar that appears once the work has taken `PATIENCE` seconds.

    With `countable` units, such as points of an experiment, it appears with the first description, since a single unit
    may take long, and shows "3/9" in place of a percentage. So does a bar with an `expected` time, which it shows.
    """

    def __init__(self, total: int, *, countable: bool = False, expected: str | None = None) -> None:
        super().__init__(total)
        self.countable = countable
        self.expected = expected
        self.started = time.monotonic()
        self.words = ""
        self.shown = False

    def describe(self, description: str) -> None:
        super().describe(description)
        self.words = description if self.expected is None else f"{description}, {self.expected} in all"
        if self.countable or self.expected is not None:
            self.show()

    def interlude(self, words: str) -> AbstractContextManager[None]:
        return self._with_words(words) if self.shown else spinning(words, True)

    @contextmanager
    def _with_words(self, words: str) -> Iterator[None]:
        before, self.words = self.words, words
        self.draw()
        try:
            yield
        finally:
            self.words = before
            self.draw()

    def advance(self, amount: int) -> None:
        super().advance(amount)
        if self.shown or time.monotonic() - self.started >= PATIENCE:
            self.show()

    def show(self) -> None:
        if not self.shown:
            self.open()
            self.shown = True
        self.draw()

    def open(self) -> None: ...

    def draw(self) -> None: ...

    def close(self) -> None: ...


class TerminalBar(Bar):
    """Bar that Rich draws on standard error, and removes at the end."""

    def open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        amount = MofNCompleteColumn() if self.countable else TaskProgressColumn()
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
        self.rich = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self.rich.start()
        self.task = self.rich.add_task(self.words, total=self.total)

    def draw(self) -> None:
        self.rich.update(self.task, description=self.words, completed=self.done, total=self.total)

    def close(self) -> None:
        if self.shown:
            self.rich.stop()


class NotebookBar(Bar):
    """Bar in one line of output that is rewritten; needs no widgets."""

    def open(self) -> None:
        from IPython.display import display

        self.handle: Any = display({"text/plain": self.line()}, raw=True, display_id=True)

    def draw(self) -> None:
        self.handle.update({"text/plain": self.line()}, raw=True)

    def close(self) -> None:
        if self.shown:
            self.handle.update({"text/plain": ""}, raw=True)

    def line(self) -> str:
        fraction = self.done / self.total if self.total else 0.0
        filled = round(BAR_WIDTH * fraction)
        amount = f"{self.done}/{self.total}" if self.countable else f"{fraction:.0%}"
        parts = [self.words, "█" * filled + "░" * (BAR_WIDTH - filled), amount]
        if fraction > 0.0:
            remaining = (time.monotonic() - self.started) * (1.0 / fraction - 1.0)
            parts.append(f"{remaining:.0f} s left")
        return "  ".join(parts)


@contextmanager
def open_progress(
    progress: bool | Callable[[int, int], None] | None,
    *,
    total: int,
    countable: bool = False,
    expected: str | None = None,
) -> Iterator[WorkProgress]:
    """Progress of a block of work: with None a bar if somebody watches a terminal or a notebook, with True always a
    bar, with False nothing, and with a function calls to it."""
    if callable(progress):
        made: WorkProgress = CallbackProgress(total, progress)
    elif progress or (progress is None and is_watched()):
        made = (NotebookBar if in_notebook() else TerminalBar)(total, countable=countable, expected=expected)
    else:
        made = WorkProgress(total)
    made.outer = open_displays[-1] if open_displays else None
    open_displays.append(made)
    try:
        yield made
    finally:
        open_displays.remove(made)
        if isinstance(made, Bar):
            made.close()
