"""Base classes of results: a text table when printed, an HTML table in a notebook, a data frame, and a plot."""

from __future__ import annotations

import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Collection
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from bayesregret.digits import html_table, text_table
from bayesregret.extras import require

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Shown(ABC):
    """A result with a table and a summary below it."""

    words: ClassVar[Collection[str]] = ()  # headings of columns that hold words, not numbers

    @abstractmethod
    def table(self) -> list[list[str]]:
        """Return headings and rows, as `print` and the command line show them."""

    @abstractmethod
    def summary(self) -> str:
        """Return what stands below the table, in one or more lines."""

    def __str__(self) -> str:
        return f"{text_table(self.table(), self.words)}\n{self.summary()}"

    def _repr_html_(self) -> str:
        """Return the table and the summary, as a notebook shows them."""
        return html_table(self.table(), self.words) + f"<p>{escape(self.summary()).replace(chr(10), '<br>')}</p>"


class Result(Shown):
    """A result with numbers for a data frame and a picture."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """Return the numbers of the result as plain data, one mapping per row of `to_frame`."""

    @abstractmethod
    def _draw(self, axes: Axes) -> None:
        """Draw the result."""

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of the result as a pandas DataFrame."""
        require("frame", "to_frame")
        # Imported by name, because results of the core must not depend on pandas or matplotlib.
        return importlib.import_module("pandas").DataFrame(self.records())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result; needs matplotlib. ``result.plot().figure.savefig("regret.png")`` writes a file.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw in, so that one picture may hold several results; by default those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        require("plot", "plot")
        if isinstance(ax, str | os.PathLike):
            raise TypeError(f"plot draws in axes; write .plot().figure.savefig({os.fspath(ax)!r}) for a file")
        if ax is None:
            _, ax = importlib.import_module("matplotlib.pyplot").subplots(layout="constrained")
        self._draw(ax)
        return ax


def draw_curve(axes: Axes, rounds: Any, regret: Any, label: str, errors: Any = None) -> None:
    """Draw cumulative regret over rounds, with a band of one standard error if it is simulated."""
    (line,) = axes.plot(rounds, regret, label=label)
    if errors is not None:
        low, high = regret - errors, regret + errors
        axes.fill_between(rounds, low, high, color=line.get_color(), alpha=0.2, lw=0.0, label="_band")
    axes.set_xlabel("round")
    axes.set_ylabel("Bayes regret")
    show_legend(axes)


def draw_level(axes: Axes, value: float, label: str) -> None:
    """Draw a line across the picture, such as a bound on the regret at the horizon."""
    axes.axhline(value, color=f"C{len(axes.get_lines())}", ls="--", lw=1.2, label=label)
    axes.set_xlabel(axes.get_xlabel() or "round")
    axes.set_ylabel("Bayes regret")
    show_legend(axes)


def show_legend(axes: Axes, title: str | None = None) -> None:
    """Show the legend of all that is drawn; a title given earlier stays."""
    shown = axes.get_legend()
    if title is None and shown is not None:
        title = shown.get_title().get_text() or None
    axes.legend(frameon=False, title=title, alignment="left")
