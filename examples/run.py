"""Make the notebooks in this folder from their sources: `make examples`.

Each NAME.md is the source of NAME.ipynb: text, and blocks of Python, which become
cells. The notebook is run, and kept with its outputs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
}


def from_source(text: str) -> nbformat.NotebookNode:
    """Return the notebook of a source, without outputs."""
    cells = []
    for number, part in enumerate(BLOCK.split(text)):
        if part.strip():
            make = (
                nbformat.v4.new_code_cell
                if number % 2
                else nbformat.v4.new_markdown_cell
            )
            cells.append(make(part.strip(), id=f"cell-{len(cells)}"))
    return nbformat.v4.new_notebook(cells=cells, metadata=KERNEL)


def executed(source: Path, figures: str = "png") -> nbformat.NotebookNode:
    """Return the notebook of a source with its outputs; figures are "png" or "svg"."""
    notebook = from_source(source.read_text(encoding="utf-8"))
    options = ["--log-level=ERROR", f"--InlineBackend.figure_formats={{'{figures}'}}"]
    client = NotebookClient(
        notebook, resources={"metadata": {"path": str(FOLDER)}}, extra_arguments=options
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # the time at which it ran
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_blank(output)]
    return notebook


def _is_blank(output: nbformat.NotebookNode) -> bool:
    """Whether this is a progress bar that has gone."""
    data = output.get("data", {})
    return list(data) == ["text/plain"] and not data["text/plain"].strip()


def main(names: list[str]) -> None:
    for source in sorted(FOLDER.glob("*.md")):
        if not names or source.stem in names:
            nbformat.write(executed(source), source.with_suffix(".ipynb"))
            print(source.with_suffix(".ipynb").name)


if __name__ == "__main__":
    main(sys.argv[1:])
