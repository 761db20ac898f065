"""A row of the table: a figure, what is behind it, and what it must reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Timings of the same work that differ by more than this say that the machine was too busy to measure anything.
MOST_NOISE = 1.05
# A row during which others took more of the processors than this is worth little.
MOST_OTHERS = 0.10


@dataclass(frozen=True)
class Target:
    limit: float
    unit: str
    at_least: bool = False
    our_reading: bool = False  # the requirement gives no number, so this limit is the benchmark's own

    def met_by(self, figure: float, slack: float = 1.0) -> bool:
        if self.at_least:
            return figure * slack >= self.limit
        return figure <= self.limit * slack

    def __str__(self) -> str:
        limit = f"{'at least' if self.at_least else 'at most'} {self.limit:g} {self.unit}"
        return f"{limit} (own limit)" if self.our_reading else limit


@dataclass(frozen=True)
class Row:
    """`why` is asked when the target is missed: lines of a profile that say where the time or memory goes."""

    work: str
    measured: str
    figure: float | None = None
    unit: str = "times"
    target: Target | None = None
    why: Callable[[], list[str]] | None = None
    others: float = 0.0  # share of the processors that others took meanwhile

    def missed(self) -> bool:
        return self.target is not None and (self.figure is None or not self.target.met_by(self.figure))

    def verdict(self, noise: float) -> str:
        """`noise` is the ratio between timings of the same work in this run."""
        if self.target is None:
            return ""
        if self.figure is None:
            return "not measured"
        verdict = "yes"
        if self.missed():
            near = self.target.met_by(self.figure, min(noise, MOST_NOISE))
            verdict = "no, by less than the noise" if near else "**no**"
        return f"{verdict} (disturbed)" if self.disturbed() else verdict

    def cells(self, noise: float) -> list[str]:
        figure = "" if self.figure is None else f"{number(self.figure)} {self.unit}"
        return [self.work, self.measured, figure, str(self.target or ""), self.verdict(noise), f"{self.others:.0%}"]

    def disturbed(self) -> bool:
        return self.others > MOST_OTHERS


def at_most(limit: float, unit: str = "times") -> Target:
    return Target(limit, unit)


def own_limit(limit: float, unit: str = "times") -> Target:
    """At most this, where the requirement is a word such as "linear" or "constant" and no number."""
    return Target(limit, unit, our_reading=True)


def at_least(limit: float, unit: str = "times") -> Target:
    return Target(limit, unit, at_least=True)


def number(value: float) -> str:
    """Three digits, as people write them; whole numbers as they are."""
    if isinstance(value, int):
        return f"{value:,}"
    for size, decimals in ((100.0, 0), (10.0, 1)):
        if abs(value) >= size:
            return f"{value:,.{decimals}f}"
    return f"{value:.2f}"


def ns(*costs: float) -> str:
    """Costs per round, one against the next."""
    return " against ".join(number(cost) for cost in costs) + " ns a round"
