"""Numbers as a plan prints them: no digit that is noise."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from bayesregret.digits import exact_digits, with_error
from bayesregret.planning.zero_crossing import Crossing
from bayesregret.simulation.result import Estimate

ENOUGH = 1e-5  # of a computed number: nobody decides by more digits
ROUNDING = 1e-9
MOST_DECIMALS = 7


def rounded(value: float, error: float) -> str:
    """Up to the first digit that the error leaves in doubt: 12,300 for 12345 with an error of 450.

    What is not below 1 keeps one digit, however large the error is.
    """
    if not 0.0 < error < math.inf or value == 0.0:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    place = min(math.floor(math.log10(error)), max(0, math.floor(math.log10(abs(value)))))
    return f"{round(value, -place):,.{max(0, -place)}f}"


def told(value: Estimate, exact: bool) -> str:
    """A mean and its standard error, or the digits of a computed one; with its error if that leaves none."""
    if exact and value.mean == 0.0:
        return "0"
    if exact and value.stderr < abs(value.mean):
        return in_thousands(exact_digits(value.mean, max(value.stderr, ENOUGH * abs(value.mean))))
    return in_thousands(with_error(value.mean, value.stderr))


def in_thousands(text: str) -> str:
    """1,234,567.8 for 1234567.8, as other numbers of a plan are."""
    return re.sub(r"(?<![\d.,])\d{4,}", lambda whole: f"{int(whole[0]):,}", text)


def at_most(value: float) -> str:
    """Four digits of a bound from above: the last one is rounded up."""
    return _directed(value, 4, math.ceil)


def at_least(value: float) -> str:
    """Three digits of what is guaranteed: the last one is rounded down."""
    return _directed(value, 3, math.floor)


def _directed(value: float, digits: int, to_whole: Callable[[float], int]) -> str:
    if not 0.0 < value < math.inf:
        return f"{value:g}"
    decimals = digits - 1 - math.floor(math.log10(value))
    units = value * 10.0**decimals
    near = round(units)
    # A number of so few digits is itself, whatever rounding did to it.
    moved = (near if math.isclose(units, near, rel_tol=ROUNDING) else to_whole(units)) / 10.0**decimals
    return f"{moved:,.{max(0, decimals)}f}" if decimals <= MOST_DECIMALS and moved < 1e7 else f"{moved:.{digits}g}"


def percent(value: Estimate) -> str:
    return f"{with_error(100.0 * value.mean, 100.0 * value.stderr)}%"


def with_interval(at: Crossing, reach: float = math.inf, *, is_whole: bool = False) -> str:
    """12,300 (11,900 to 12,700), or to beyond the reach of what was looked at; whole numbers have no decimals."""
    error = 0.25 * (at.high - at.low)
    if is_whole:
        at, error = Crossing(*map(round, at)), max(1.0, error)
    middle, low, high = (rounded(value, error) for value in at)
    beyond = "beyond " if at.high >= reach * (1.0 - ROUNDING) else ""
    return middle if low == high else f"{middle} ({low} to {beyond}{high})"


def listed(names: Sequence[str], last: str = "and") -> str:
    """a, b and c."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
