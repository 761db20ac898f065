"""An experiment: points to run, the trends that a figure draws of them, and the claims that they decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesregret.experiments.point import Result, Settings, number
from bayesregret.experiments.table import Axis, Claim, Exact, Kind, Table, Trend


@dataclass(frozen=True)
class Point:
    x: float
    name: str  # what it is, in words
    settings: Settings


Computed = tuple[float, float]  # an exact value and its numerical error


@dataclass(frozen=True)
class TrendOf:
    """How to read a trend from the results of points."""

    name: str
    label: str
    kind: Kind
    read: Callable[[Result], tuple[float, float | None]]  # value and standard error
    read_exact: Callable[[Result], Computed | None] = lambda result: None


@dataclass(frozen=True)
class Outcome:
    """A point with what it gave."""

    point: Point
    result: Result

    def regret(self, policy: int) -> float:
        return float(self.result["policies"][policy]["regret"])

    def stderr(self, policy: int) -> float:
        return float(self.result["policies"][policy]["stderr"])

    def exact(self, policy: int) -> Computed | None:
        return exact_regret_of(self.result, policy)

    def bound(self, name: str, part: str = "value") -> float:
        return number(self.result["bounds"][name][part])


Decide = Callable[[str, Sequence[Outcome]], list[Claim]]  # from the figure's name and its outcomes


@dataclass(frozen=True)
class Experiment:
    """A figure of the paper, or one beyond it."""

    figure: str
    title: str
    caption: str
    x: Axis
    y: Axis
    points: tuple[Point, ...]
    trends: tuple[TrendOf, ...]
    claims: Decide
    notes: Mapping[str, Any] = field(default_factory=dict)
    sort_by: Callable[[Outcome], float] | None = None  # points are in the order of this, and x is their rank
    name: Callable[[Outcome], str] = lambda outcome: outcome.point.name
    ranked: bool = False  # each trend is drawn in the order of its own values

    def table(self, outcomes: Sequence[Outcome]) -> Table:
        """The numbers that the figure draws."""
        ordered = list(outcomes) if self.sort_by is None else sorted(outcomes, key=self.sort_by)
        points = [o.point.x for o in ordered] if self.sort_by is None else [i + 1.0 for i in range(len(ordered))]
        return Table(
            self.figure,
            self.title,
            self.caption,
            self.x,
            self.y,
            tuple(points),
            tuple(_trend(trend, ordered) for trend in self.trends),
            tuple(map(self.name, ordered)) if self.sort_by is not None else None,
            dict(self.notes) | _common_settings(self.points),
            self.ranked,
        )


def _trend(trend: TrendOf, outcomes: Sequence[Outcome]) -> Trend:
    read = [trend.read(outcome.result) for outcome in outcomes]
    errors = [error for _, error in read if error is not None]
    values = tuple(value for value, _ in read)
    computed = [found for outcome in outcomes if (found := trend.read_exact(outcome.result)) is not None]
    return Trend(
        trend.name,
        trend.label,
        trend.kind,
        values,
        tuple(errors) if len(errors) == len(values) else None,
        Exact(*zip(*computed, strict=True)) if computed and len(computed) == len(values) else None,
    )


def _common_settings(points: Sequence[Point]) -> dict[str, Any]:
    """What all points share."""
    shared = {}
    for name in ("horizon", "runs", "seed"):
        values = {point.settings[name] for point in points}
        shared[name] = values.pop() if len(values) == 1 else "varies"
    return shared


def exact_regret_of(result: Result, policy: int) -> Computed | None:
    """The exact regret with its numerical error, where it was asked for."""
    told = result["policies"][policy]
    return (told["exact"], told["exact_error"]) if "exact" in told else None


def exact_difference_of(result: Result, policy: int) -> Computed | None:
    """How much more the exact regret is than the first policy's."""
    first, other = exact_regret_of(result, 0), exact_regret_of(result, policy)
    return None if first is None or other is None else (other[0] - first[0], other[1] + first[1])


def regret_of(policy: int, name: str, label: str) -> TrendOf:
    def read(result: Result) -> tuple[float, float | None]:
        told = result["policies"][policy]
        return told["regret"], told["stderr"]

    return TrendOf(name, label, "regret", read, lambda result: exact_regret_of(result, policy))


def ratio_of(policy: int, name: str, label: str) -> TrendOf:
    """Over the least regret that any policy can have; the point must be asked for it (`optimal`)."""

    def read(result: Result) -> tuple[float, float | None]:
        told, least = result["policies"][policy], result["optimal"]["regret"]
        return told["regret"] / least, told["stderr"] / least

    return TrendOf(name, label, "regret", read)


def difference_of(policy: int, name: str, label: str) -> TrendOf:
    """How much more regret than the first policy's, on the same instances and noise."""

    def read(result: Result) -> tuple[float, float | None]:
        told = result["policies"][policy]
        return told["more"], told["more_stderr"]

    return TrendOf(name, label, "difference", read, lambda result: exact_difference_of(result, policy))


def bound_of(name: str, label: str, kind: Kind, part: str = "value") -> TrendOf:
    def read(result: Result) -> tuple[float, float | None]:
        told = result["bounds"].get(name)
        return (number(told[part]) if told is not None else math.inf), None  # a form that refuses bounds nothing

    return TrendOf(name, label, kind, read)
