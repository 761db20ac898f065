"""Who watches a terminal or a notebook reads what is being compiled, because that can take longer than the work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from bayesregret.spinner import interlude

WORDS = "compiling {}, once"  # the compiled code is kept on disk
# What a kernel is for, by the folder of its body.
PURPOSES = {"agent": "the agent", "exact": "exact regret", "optimal": "optimal regret", "simulation": "the simulation"}


class CompileNotice:
    """Listener of Numba's event "numba:compile", which occurs when compiled code is not on disk."""

    shown: AbstractContextManager[None] | None = None  # Numba compiles one kernel at a time

    def notify(self, event: Any) -> None:
        body = getattr(event.data["dispatcher"].py_func, "body", None)
        if body is None:  # a formula inside a kernel, or somebody else's function
            return
        if event.is_start:
            self.shown = interlude(WORDS, _purpose(body))
            self.shown.__enter__()
        elif self.shown is not None:
            self.shown.__exit__(None, None, None)
            self.shown = None


def _purpose(body: Callable[..., Any]) -> str:
    return next((words for folder, words in PURPOSES.items() if f".{folder}." in body.__module__), "formulas")
