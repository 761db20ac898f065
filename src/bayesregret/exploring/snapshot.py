"""What a view shows at one moment: a table of numbers to draw, and the numbers to read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bayesregret.digits import PLUS_MINUS, typeset_value, with_error
from bayesregret.reproduction.table import Table

# Work asks this from time to time, and ends once it says yes.
IsAbandoned = Callable[[], bool]


class Abandoned(Exception):  # noqa: N818 - it is no error
    """The work is for a picture that nobody waits for any more."""


def never() -> bool:
    return False


@dataclass(frozen=True)
class Reading:
    """One number of the page, with its error and its source."""

    text: str
    value: float = math.nan
    error: float = math.nan  # standard error of a simulated number, numerical error of a computed one

    @staticmethod
    def simulated(value: float, stderr: float) -> Reading:
        if not math.isfinite(stderr):
            return Reading("\N{HORIZONTAL ELLIPSIS}")
        return Reading(with_error(value, stderr).replace("+-", PLUS_MINUS), value, stderr)

    @staticmethod
    def computed(value: float, error: float = 0.0) -> Reading:
        return Reading(typeset_value(value), value, error)


WAITING = Reading("\N{HORIZONTAL ELLIPSIS}")
NOTHING = Reading("\N{EN DASH}")


@dataclass(frozen=True)
class Line:
    """One trend of the picture in numbers, which is also its entry in the legend."""

    name: str
    label: str
    readings: tuple[Reading, ...]
    note: str = ""  # why there is no number


@dataclass(frozen=True)
class Snapshot:
    """What a view shows: the work behind it is done, or goes on."""

    table: Table
    headings: tuple[str, ...]
    lines: tuple[Line, ...]
    status: str
    done: bool
    at: float | None = None  # the present value on the horizontal axis
    numbers: Table | None = None  # to save, if they are more than what is drawn
