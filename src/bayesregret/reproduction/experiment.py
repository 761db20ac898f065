"""Experiments: points to run, trends that a figure draws through them, and claims that they decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesregret.reproduction.point import Result, Settings, number
from bayesregret.reproduction.table import Axis, Claim, Exact, Form, Kind, Table, Trend


@dataclass(frozen=True)
class Point:
    """One set of settings to run, and its place on the x axis."""

    x: float
    name: str  # for people: width 0.5
    settings: Settings


ExactValue = tuple[float, float]  # with its numerical error


@dataclass(frozen=True)
class TrendOf:
    """A trend to draw, with the functions that read its values from the results of points."""

    name: str
    label: str
    kind: Kind
    read: Callable[[Result], tuple[float, float | None]]  # value and standard error
    read_exact: Callable[[Result], ExactValue | None] = lambda result: None
    form: Form = "line"


@dataclass(frozen=True)
class PointOutcome:
    """A point with its result."""

    point: Point
    result: Result

    def regret(self, policy: int) -> float:
        return float(self.result["policies"][policy]["regret"])

    def stderr(self, policy: int) -> float:
        return float(self.result["policies"][policy]["stderr"])

    def exact(self, policy: int) -> ExactValue | None:
        return exact_regret_of(self.result, policy)

    def best_estimate(self, policy: int) -> tuple[float, float]:
        return best_estimate_of(self.result, policy)

    def bound(self, name: str, part: str = "value") -> float:
        return number(self.result["bounds"][name][part])


Decide = Callable[[str, Sequence[PointOutcome]], list[Claim]]  # takes the figure's name and its outcomes


@dataclass(frozen=True)
class Experiment:
    """Everything that defines one figure."""

    figure: str
    title: str
    caption: str
    x: Axis
    y: Axis
    points: tuple[Point, ...]
    trends: tuple[TrendOf, ...]
    claims: Decide
    notes: Mapping[str, Any] = field(default_factory=dict)
    sort_by: Callable[[PointOutcome], float] | None = None  # if given, points are sorted by this, and x is their rank
    name: Callable[[PointOutcome], str] = lambda outcome: outcome.point.name
    ranked: bool = False  # whether each trend is drawn in the order of its values

    def table(self, outcomes: Sequence[PointOutcome]) -> Table:
        """Return the numbers that the figure draws."""
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


def _trend(trend: TrendOf, outcomes: Sequence[PointOutcome]) -> Trend:
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
        trend.form,
    )


def _common_settings(points: Sequence[Point]) -> dict[str, Any]:
    """Settings of all points; "varies" where they differ."""
    shared = {}
    for name in ("horizon", "runs", "seed"):
        values = {point.settings[name] for point in points}
        shared[name] = values.pop() if len(values) == 1 else "varies"
    return shared


def exact_regret_of(result: Result, policy: int) -> ExactValue | None:
    """Return the exact regret with its numerical error; None if the settings did not request it."""
    found = result["policies"][policy]
    return (found["exact"], found["exact_error"]) if "exact" in found else None


def best_estimate_of(result: Result, policy: int) -> tuple[float, float]:
    """Return the exact regret with its numerical error if there is one, otherwise the mean with its standard error."""
    exact, found = exact_regret_of(result, policy), result["policies"][policy]
    return (found["regret"], found["stderr"]) if exact is None else exact


def exact_difference_of(result: Result, policy: int) -> ExactValue | None:
    """Return the exact regret minus the first policy's."""
    first, other = exact_regret_of(result, 0), exact_regret_of(result, policy)
    return None if first is None or other is None else (other[0] - first[0], other[1] + first[1])


def regret_of(policy: int, name: str, label: str) -> TrendOf:
    """Trend of a policy's regret."""

    def read(result: Result) -> tuple[float, float | None]:
        found = result["policies"][policy]
        return found["regret"], found["stderr"]

    return TrendOf(name, label, "regret", read, lambda result: exact_regret_of(result, policy))


def best_regret_of(policy: int, name: str, label: str) -> TrendOf:
    """Trend of a policy's regret, exact at points where it is computed and simulated at the others."""
    return TrendOf(name, label, "regret", lambda result: best_estimate_of(result, policy))


def ratio_of(policy: int, name: str, label: str) -> TrendOf:
    """Trend of a policy's regret over the optimal regret, which the settings must request (`optimal`)."""

    def read(result: Result) -> tuple[float, float | None]:
        found, optimal = result["policies"][policy], result["optimal"]["regret"]
        return found["regret"] / optimal, found["stderr"] / optimal

    return TrendOf(name, label, "regret", read)


def difference_of(policy: int, name: str, label: str) -> TrendOf:
    """Trend of a policy's regret minus the first policy's, on the same instances and noise."""

    def read(result: Result) -> tuple[float, float | None]:
        found = result["policies"][policy]
        return found["more"], found["more_stderr"]

    return TrendOf(name, label, "difference", read, lambda result: exact_difference_of(result, policy))


def bound_of(name: str, label: str, kind: Kind, part: str = "value") -> TrendOf:
    """Trend of a bound: infinite where its assumptions fail."""

    def read(result: Result) -> tuple[float, float | None]:
        bound = result["bounds"].get(name)
        return (number(bound[part]) if bound is not None else math.inf), None

    return TrendOf(name, label, kind, read)
