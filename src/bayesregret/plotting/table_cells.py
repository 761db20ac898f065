"""Table cells as text: a value and its error share one cell."""

from __future__ import annotations

from bayesregret.digits import typeset_exact, typeset_setting, typeset_with_error
from bayesregret.reproduction.table import Exact, Table, Trend


def table_cells(table: Table) -> list[list[str]]:
    """Return the headings and one row per point."""
    heading = [] if table.ranked else [table.x.label]
    if table.point_names is not None:
        heading.append("problem")
    for trend in table.trends:
        heading += [trend.label] if trend.exact is None else [trend.label, f"{trend.label}, exact"]
    return [heading, *(_row(table, i) for i in range(len(table.points)))]


def _row(table: Table, i: int) -> list[str]:
    row = [] if table.ranked else [typeset_setting(table.points[i])]
    row += [] if table.point_names is None else [table.point_names[i]]
    for trend in table.trends:
        row += [value_cell(trend, i)] if trend.exact is None else [value_cell(trend, i), exact_cell(trend.exact, i)]
    return row


def value_cell(trend: Trend, i: int) -> str:
    return typeset_with_error(trend.values[i], None if trend.errors is None else trend.errors[i])


def exact_cell(exact: Exact, i: int) -> str:
    return typeset_exact(exact.values[i], exact.errors[i])
