"""Tables in LaTeX, with the rules of booktabs."""

from __future__ import annotations

from bayesregret.plotting import labels
from bayesregret.plotting.table_cells import table_cells
from bayesregret.reproduction.table import Table

HEADING_LETTERS = 11  # in a line of a heading, to keep columns narrow
ROWS_PER_PAGE = 45
MANY_COLUMNS = 6  # more columns get less space between them
VERY_MANY_COLUMNS = 8  # more columns get smaller letters, too


def latex_table(table: Table) -> str:
    """Return a `tabular`, or a `longtable` if it would not fit on a page."""
    rows = table_cells(table)
    is_long = len(rows) > ROWS_PER_PAGE
    environment = "longtable" if is_long else "tabular"
    packages = r"\usepackage{booktabs,longtable}" if is_long else r"\usepackage{booktabs}"
    first = ("" if table.ranked else "r") + ("l" if table.point_names is not None else "")
    columns = first + "r" * (len(rows[0]) - len(first))
    narrow = len(columns) > MANY_COLUMNS
    smaller = r"\footnotesize" if len(columns) > VERY_MANY_COLUMNS else ""
    lines = [
        f"% {_comment(table.figure)}: {_comment(table.title)}. Needs {packages}.",
        *([rf"\begingroup{smaller}\setlength{{\tabcolsep}}{{3pt}}"] if narrow else []),
        rf"\begin{{{environment}}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(_heading, rows[0])) + r" \\",
        r"\midrule",
        *([r"\endhead"] if is_long else []),
        *(" & ".join(map(_cell, row)) + r" \\" for row in rows[1:]),
        r"\bottomrule",
        rf"\end{{{environment}}}",
        *([r"\endgroup"] if narrow else []),
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return " ".join(text.split())


def _heading(label: str) -> str:
    lines = [labels.for_latex(line) for line in labels.wrapped(label, HEADING_LETTERS)]
    stacked = r" \\ ".join(lines)
    return stacked if len(lines) == 1 else rf"\shortstack{{{stacked}}}"


def _cell(text: str) -> str:
    return labels.for_latex(text).replace(r" $\pm$ ", r"\,$\pm$\,")
