"""Numbers as a plan prints them: no digit that is noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bayesregret.digits import exact_digits, with_error
from bayesregret.planning.crossing import Crossing
from bayesregret.simulation.result import Estimate

ENOUGH = 1e-5  # of a computed number: nobody decides by more digits


def rounded(value: float, error: float) -> str:
    """Up to the first digit that the error leaves in doubt: 12,300 for 12345 with an error of 450."""
    if not 0.0 < error < math.inf or value == 0.0:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    place = math.floor(math.log10(error))
    return f"{round(value, -place):,.{max(0, -place)}f}"


def told(value: Estimate, exact: bool) -> str:
    """A mean and its standard error, or the digits of a computed one."""
    if exact:
        return exact_digits(value.mean, max(value.stderr, ENOUGH * abs(value.mean))) if value.mean else "0"
    return with_error(value.mean, value.stderr)


def percent(value: Estimate) -> str:
    return f"{with_error(100.0 * value.mean, 100.0 * value.stderr)}%"


def with_interval(at: Crossing, reach: float = math.inf) -> str:
    """12,300 (11,900 to 12,700), or to beyond the reach of what was looked at."""
    error = 0.25 * (at.high - at.low)
    middle, low, high = (rounded(value, error) for value in at)
    return middle if low == high else f"{middle} ({low} to {'beyond ' if at.high >= reach else ''}{high})"


def listed(names: Sequence[str], last: str = "and") -> str:
    """a, b and c."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
