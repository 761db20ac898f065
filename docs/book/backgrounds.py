"""Each SVG on a light and on a dark page: transparent, and a twin `NAME-dark.svg` in lighter colours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

# The colours of figures.py and of the package's plots, and what takes their place on a dark page.
ON_DARK = {
    "#222222": "#e6edf3",
    "#444444": "#c9d1d9",
    "#777777": "#9aa4ae",
    "#e9e9e9": "#2d3238",
    "#e6e6e6": "#2d3238",
    "#0072b2": "#4fa8e8",
    "#4aa3df": "#9ad4ff",
    "#d55e00": "#ff8a47",
    "#009e73": "#35c99b",
    "#b5598a": "#e294c0",
    "#c98a00": "#e7b53c",
    "#1f77b4": "#4fa8e8",  # matplotlib's first four, for notebooks
    "#ff7f0e": "#ffa14f",
    "#2ca02c": "#5fd068",
    "#d62728": "#ff7b72",
    "#000000": "#e6edf3",
    "#b0b0b0": "#4a5058",
    "#cccccc": "#4a5058",
    "#ffffff": "#131416",
}
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")


def transparent(svg: str) -> str:
    """Without its white background; white lines between areas stay."""
    return re.sub(r"fill: #ffffff\b", "fill: none", svg)


def dark(svg: str) -> str:
    """In colours for a dark page. What has no colour, which means black, inherits that of the whole picture."""
    coloured = COLOUR.sub(lambda found: ON_DARK.get(found[0].lower(), found[0]), transparent(svg))
    return re.sub(r"<svg ", f'<svg fill="{ON_DARK["#000000"]}" ', coloured, count=1)


def write_pair(path: Path, svg: str) -> None:
    """Write NAME.svg and NAME-dark.svg."""
    path.write_text(transparent(svg), encoding="utf-8")
    twin(path).write_text(dark(svg), encoding="utf-8")


def twin(path: Path) -> Path:
    return path.with_name(f"{path.stem}-dark{path.suffix}")


class ShowTwins(SphinxTransform):
    """Each picture with a twin becomes two, of which the theme shows one."""

    default_priority = 210

    def apply(self, **_: Any) -> None:
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for image in list(self.document.findall(nodes.image)):
            uri = Path(image["uri"])
            if "://" in image["uri"] or not twin(folder / uri).is_file():
                continue
            shown = image.parent if isinstance(image.parent, nodes.reference) else image
            other = shown.deepcopy()
            image["classes"].append("only-light")
            for copied in other.findall(nodes.image):
                copied["uri"] = twin(uri).as_posix()
                copied["classes"].append("only-dark")
            shown.parent.insert(shown.parent.index(shown) + 1, other)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(ShowTwins)
    return {"parallel_read_safe": True}


if __name__ == "__main__":  # the committed pictures, without drawing them again
    for found in sorted((Path(__file__).parents[1] / "_static").glob("*.svg")):
        if not found.stem.endswith("-dark"):
            write_pair(found, found.read_text(encoding="utf-8"))
