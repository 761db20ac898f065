"""What an experiment yields and a figure draws: numbers with their meaning, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Scale = Literal["linear", "log"]
Kind = Literal["regret", "difference", "printed", "certified"]
Verdict = Literal["holds", "fails"]


@dataclass(frozen=True)
class Axis:
    label: str
    scale: Scale = "linear"
    mark: float | None = None  # a value with a meaning of its own, where a line is drawn
    mark_label: str = ""


OVER_OPTIMAL = Axis("regret / least regret", "log", mark=1.0, mark_label="optimal")


@dataclass(frozen=True)
class Exact:
    """What was computed without simulation, with estimates of the numerical error."""

    values: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Trend:
    """One line of a figure: a value for each point, with standard errors where it was simulated."""

    name: str  # of the policy or bound: bayes-ucb, gap_dependent
    label: str  # as the paper calls it
    kind: Kind
    values: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    exact: Exact | None = None  # what the simulated values estimate

    def in_order(self) -> list[int]:
        """Its points from the lowest value to the highest; those that are no number last."""
        return sorted(range(len(self.values)), key=lambda i: (math.isnan(self.values[i]), self.values[i]))


@dataclass(frozen=True)
class Table:
    """The numbers behind one figure."""

    figure: str  # figure-1a
    title: str
    caption: str
    x: Axis
    y: Axis
    points: tuple[float, ...]  # where the trends have their values
    trends: tuple[Trend, ...]
    point_names: tuple[str, ...] | None = None  # what each point is, where x alone does not say it
    settings: Mapping[str, Any] = field(default_factory=dict)
    ranked: bool = False  # each trend is drawn in the order of its own values, and x is the rank

    def __getitem__(self, name: str) -> Trend:
        return next(trend for trend in self.trends if trend.name == name)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def rows(self) -> list[list[Any]]:
        """Headings, then a row for each point: for CSV, LaTeX and the report's tables."""
        heading: list[Any] = [] if self.ranked else [self.x.label]
        if self.point_names is not None:
            heading.append("problem")
        for trend in self.trends:
            heading.append(trend.label)
            if trend.errors is not None:
                heading.append(f"{trend.label}, standard error")
            if trend.exact is not None:
                heading += [f"{trend.label}, exact", f"{trend.label}, error of the exact one"]
        return [heading, *(self._row(i) for i in range(len(self.points)))]

    def _row(self, i: int) -> list[Any]:
        row: list[Any] = [] if self.ranked else [self.points[i]]
        if self.point_names is not None:
            row.append(self.point_names[i])
        for trend in self.trends:
            row.append(trend.values[i])
            if trend.errors is not None:
                row.append(trend.errors[i])
            if trend.exact is not None:
                row += [trend.exact.values[i], trend.exact.errors[i]]
        return row


@dataclass(frozen=True)
class Claim:
    """Something the paper, or this package, says about an experiment, with the verdict that the numbers give."""

    figure: str
    statement: str
    verdict: Verdict
    evidence: str  # the numbers in one line
    exceptions: tuple[str, ...] = ()  # where it fails, point by point
    whose: Literal["paper", "bayesregret"] = "paper"
