"""A table's numbers for people: as many digits as mean something, a value and its error in one cell."""

from __future__ import annotations

import math

from bayesregret.digits import brief, with_error
from bayesregret.experiments.table import Table, Trend


def cells(table: Table) -> list[list[str]]:
    """Headings and a row for each point."""
    heading = [table.x.label]
    if table.point_names is not None:
        heading.append("problem")
    rows = [heading + [trend.label for trend in table.trends]]
    for i, point in enumerate(table.points):
        names = [] if table.point_names is None else [table.point_names[i]]
        rows.append([shown_point(point), *names, *(shown_value(trend, i) for trend in table.trends)])
    return rows


def shown_value(trend: Trend, i: int) -> str:
    value = trend.values[i]
    if trend.errors is None or not math.isfinite(value) or not math.isfinite(trend.errors[i]):
        return shown(value)
    return with_error(value, trend.errors[i]).replace("-", "\N{MINUS SIGN}")


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
