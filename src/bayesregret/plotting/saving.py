"""Files of a figure: PDF and PNG for a paper, its numbers as CSV and LaTeX. The same bytes for the same table."""

from __future__ import annotations

import csv
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bayesregret.experiments.table import Table
from bayesregret.plotting.drawing import draw
from bayesregret.plotting.latex import latex_table
from bayesregret.plotting.style import COLUMN, PAPER, Size, paper_style

DPI = 300


def save(table: Table, folder: str | os.PathLike[str], size: Size = COLUMN) -> list[Path]:
    """Writes FIGURE.pdf, .png, .csv and .tex into the folder, which is made if need be; returns their paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    figure = draw(table, size)
    # Whoever opens a PNG on a dark page must still see black letters.
    contents = {
        "pdf": rendered(figure, "pdf", metadata={"CreationDate": None, "Title": table.title, "Creator": "bayesregret"}),
        "png": rendered(figure, "png", metadata={"Title": table.title, "Software": None}, dpi=DPI, facecolor=PAPER),
        "csv": csv_table(table).encode(),
        "tex": latex_table(table).encode(),
    }
    return [write_whole(folder / f"{file_name(table)}.{ending}", content) for ending, content in contents.items()]


def file_name(table: Table) -> str:
    """The figure's name without what could lead out of a folder, or out of an HTML id."""
    return re.sub(r"[^\w.-]+", "-", table.figure).strip(".-") or "figure"


def rendered(figure: Figure, form: str, **options: Any) -> bytes:
    """The figure as the bytes of a file of that form."""
    into = io.BytesIO()
    with paper_style():
        figure.savefig(into, format=form, **options)
    return into.getvalue()


def csv_table(table: Table) -> str:
    """Every number with all its digits."""
    into = io.StringIO()
    csv.writer(into, lineterminator="\n").writerows(table.rows())
    return into.getvalue()


def write_whole(path: Path, content: bytes) -> Path:
    """Writes all of the file or nothing: a reader never sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are for their owner alone
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path
