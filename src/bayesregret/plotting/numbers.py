"""A table's numbers for people: as many digits as mean something, a value and its error in one cell."""

from __future__ import annotations

import math

from bayesregret.digits import brief, exact_digits, with_error
from bayesregret.experiments.table import Exact, Table, Trend


def cells(table: Table) -> list[list[str]]:
    """Headings and a row for each point."""
    heading = [] if table.ranked else [table.x.label]
    if table.point_names is not None:
        heading.append("problem")
    for trend in table.trends:
        heading += [trend.label] if trend.exact is None else [trend.label, f"{trend.label}, exact"]
    return [heading, *(_row(table, i) for i in range(len(table.points)))]


def _row(table: Table, i: int) -> list[str]:
    row = [] if table.ranked else [shown_point(table.points[i])]
    row += [] if table.point_names is None else [table.point_names[i]]
    for trend in table.trends:
        row += [shown_value(trend, i)] if trend.exact is None else [shown_value(trend, i), shown_exact(trend.exact, i)]
    return row


def shown_value(trend: Trend, i: int) -> str:
    value = trend.values[i]
    if trend.errors is None or not math.isfinite(value) or not math.isfinite(trend.errors[i]):
        return shown(value)
    return with_error(value, trend.errors[i]).replace("-", "\N{MINUS SIGN}")


def shown_exact(exact: Exact, i: int) -> str:
    """Six digits, if its error leaves so many alone."""
    value, error = exact.values[i], exact.errors[i]
    if not error < abs(value):
        return f"< {value + error:.0e}"
    return exact_digits(value, max(error, 1e-6 * abs(value))).replace("-", "\N{MINUS SIGN}")


def shown(value: float) -> str:
    """Four significant digits."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0.0 else "\N{MINUS SIGN}∞"
    return brief(value).replace("-", "\N{MINUS SIGN}")


def shown_point(point: float) -> str:
    """Four digits that count, whole numbers whole: 0.25, 20, 1000000."""
    if not math.isfinite(point):
        return shown(point)
    return (f"{point:.0f}" if point == round(point) and abs(point) < 1e9 else f"{point:.4g}").replace(
        "-", "\N{MINUS SIGN}"
    )
