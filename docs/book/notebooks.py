"""The tutorials: the notebooks of `examples/`, run when the book is built, and shown with what came out.

Their figures become two pictures, one for a light and one for a dark page.
"""

from __future__ import annotations

import base64
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from sphinx.application import Sphinx

from book.backgrounds import dark, transparent

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

from run import executed  # noqa: E402


def write_tutorials(app: Sphinx) -> None:
    """Run every notebook, and write it among the book's pages, where git ignores it."""
    sources = sorted(EXAMPLES.glob("*.md"))
    with ThreadPoolExecutor(2) as pool:
        for source, notebook in zip(sources, pool.map(lambda path: executed(path, "svg"), sources), strict=True):
            show_twins(notebook)
            nbformat.write(notebook, Path(app.srcdir, "tutorials", f"{source.stem}.ipynb"))


def show_twins(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            svg = output.get("data", {}).pop("image/svg+xml", None)
            if svg is not None:
                pictures = _picture(transparent(svg), "only-light"), _picture(dark(svg), "only-dark")
                output.data = nbformat.from_dict({"text/html": "\n".join(pictures)})


def _picture(svg: str, visible: str) -> str:
    """An image of its own, because the names inside of two pictures on one page would clash."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img class="{visible}" alt="the figure that this cell draws" src="data:image/svg+xml;base64,{data}">'


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_tutorials)
    return {"parallel_read_safe": True}
