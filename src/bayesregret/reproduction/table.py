"""The numbers behind a figure, and claims about them, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Scale = Literal["linear", "log"]
Kind = Literal["regret", "difference", "printed", "certified"]
Form = Literal["line", "marks", "bars"]
Verdict = Literal["holds", "fails"]


@dataclass(frozen=True)
class Axis:
    """Label and scale of an axis."""

    label: str
    scale: Scale = "linear"
    mark: float | None = None  # a reference value, where a line is drawn
    mark_label: str = ""


OVER_OPTIMAL = Axis("regret / least regret", "log", mark=1.0, mark_label="optimal")
OVER_LOWER_BOUND = Axis("regret / least regret, at most", "log", mark=1.0, mark_label="optimal")


@dataclass(frozen=True)
class Exact:
    """Values computed without simulation, with estimates of their numerical errors."""

    values: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Trend:
    """One line of a figure: a value for each point, with standard errors if simulated."""

    name: str  # the policy or bound: bayes-ucb, gap_dependent
    label: str  # the name in the legend
    kind: Kind
    values: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    exact: Exact | None = None  # the values that the simulated ones estimate
    form: Form = "line"  # how values are drawn; bars begin at the y axis's mark

    def in_order(self) -> list[int]:
        """Return the indices of the points from the lowest value to the highest, NaN last."""
        return sorted(range(len(self.values)), key=lambda i: (math.isnan(self.values[i]), self.values[i]))


@dataclass(frozen=True)
class Table:
    """The numbers behind one figure."""

    figure: str  # figure-1a
    title: str
    caption: str
    x: Axis
    y: Axis
    points: tuple[float, ...]  # x coordinates of the trends' values
    trends: tuple[Trend, ...]
    point_names: tuple[str, ...] | None = None  # for people, where x alone does not identify the point
    settings: Mapping[str, Any] = field(default_factory=dict)
    ranked: bool = False  # whether each trend is drawn in the order of its values, with x the rank
    front: str | None = None  # name of the trend that is drawn in front of all others

    def __getitem__(self, name: str) -> Trend:
        return next(trend for trend in self.trends if trend.name == name)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def rows(self) -> list[list[Any]]:
        """Return headings and a row per point, for CSV."""
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
    """A statement of the paper or of this package about an experiment, with the verdict computed from the numbers."""

    figure: str
    statement: str
    verdict: Verdict
    evidence: str  # the numbers in one line
    exceptions: tuple[str, ...] = ()  # one line for each point where it fails
    whose: Literal["paper", "bayesregret"] = "paper"
