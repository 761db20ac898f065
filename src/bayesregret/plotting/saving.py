"""Save a figure as PDF and PNG, and its numbers as CSV and LaTeX. The same table gives the same bytes."""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bayesregret.experiments.table import Table
from bayesregret.plotting.drawing import draw
from bayesregret.plotting.latex import latex_table
from bayesregret.plotting.style import COLUMN, PAPER, Size, paper_style
from bayesregret.writing import write_atomically

DPI = 300


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
    return [write_atomically(folder / f"{file_name(table)}.{ending}", content) for ending, content in contents.items()]


def file_name(table: Table) -> str:
    """Return the figure's name, safe as a file name and as an HTML id."""
    return re.sub(r"[^\w.-]+", "-", table.figure).strip(".-") or "figure"


def rendered(figure: Figure, form: str, **options: Any) -> bytes:
    """Return the figure as the bytes of a file in this format."""
    buffer = io.BytesIO()
    with paper_style():
        figure.savefig(buffer, format=form, **options)
    return buffer.getvalue()


def csv_table(table: Table) -> str:
    """Return the table as CSV, every number with all its digits."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(table.rows())
    return buffer.getvalue()
