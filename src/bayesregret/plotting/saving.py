"""Save a figure as PDF and PNG, and its numbers as CSV and LaTeX. The same table gives the same bytes."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bayesregret.plotting.drawing import draw
from bayesregret.plotting.latex import latex_table
from bayesregret.plotting.style import COLUMN, PAPER, Size, paper_style
from bayesregret.reproduction.table import Table
from bayesregret.writing import csv_text, write_atomically

DPI = 300
FORMS = ("pdf", "png", "csv", "tex")


def save(table: Table, folder: str | os.PathLike[str], size: Size = COLUMN) -> list[Path]:
    """Write FIGURE.pdf, .png, .csv and .tex into the folder, created if necessary; return their paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    figure = draw(table, size)
    # The PNG has a background, so that its black letters are readable on a dark page.
    contents = {
        "pdf": rendered(figure, "pdf", metadata={"CreationDate": None, "Title": table.title, "Creator": "bayesregret"}),
        "png": rendered(figure, "png", metadata={"Title": table.title, "Software": None}, dpi=DPI, facecolor=PAPER),
        "csv": csv_table(table).encode(),
        "tex": latex_table(table).encode(),
    }
    return [
        write_atomically(folder / name, contents[form])
        for form, name in zip(FORMS, figure_files(table.figure), strict=True)
    ]


def file_name(figure: str) -> str:
    """Return the figure's name, safe as a file name and as an HTML id."""
    return re.sub(r"[^\w.-]+", "-", figure).strip(".-") or "figure"


def figure_files(figure: str) -> list[str]:
    """Return the names of the files that `save` writes.

    >>> figure_files("figure-1a")
    ['figure-1a.pdf', 'figure-1a.png', 'figure-1a.csv', 'figure-1a.tex']
    """
    return [f"{file_name(figure)}.{form}" for form in FORMS]


def rendered(figure: Figure, form: str, **options: Any) -> bytes:
    """Return the figure as the bytes of a file in this format."""
    buffer = io.BytesIO()
    with paper_style():
        figure.savefig(buffer, format=form, **options)
    return buffer.getvalue()


def csv_table(table: Table) -> str:
    """Return the table as CSV, every number with all its digits."""
    return csv_text(table.rows())
