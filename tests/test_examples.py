"""The notebooks in `examples/` give what they show, and are what their sources say."""

import importlib.util
import pathlib
import re

import nbformat
import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "examples"
SOURCES = sorted(FOLDER.glob("*.md"))
COLOUR = re.compile(r"\x1b\[[\d;]*m")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("examples_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def committed(source):
    return nbformat.read(source.with_suffix(".ipynb"), as_version=4)


def texts(notebook):
    """The text that each cell shows; of a picture, that there is one."""
    return [
        [ADDRESS.sub("", COLOUR.sub("", _text(output))) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _text(output):
    data = output.get("data", {})
    return output.get("text", "") + data.get("text/plain", "") + " ".join(sorted(data))


def test_there_are_three():
    assert len(SOURCES) == 3


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_notebooks_are_made_from_their_sources(source, maker):
    made = maker.from_source(source.read_text(encoding="utf-8"))
    shown = [(cell.cell_type, cell.source) for cell in made.cells]
    assert [(cell.cell_type, cell.source) for cell in committed(source).cells] == shown, "run `make examples`"


@pytest.mark.compiled
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_notebooks_show_what_comes_out(source, maker):
    assert texts(maker.executed(source)) == texts(committed(source)), "run `make examples`"


@pytest.mark.compiled
def test_another_output_is_noticed(maker, tmp_path):
    """The control."""
    source = tmp_path / "wrong.md"
    source.write_text("# A sum\n\n```python\n1 + 1\n```\n")
    made = maker.executed(source)
    assert texts(made) == [["2text/plain"]]
    made.cells[1].outputs[0].data["text/plain"] = "3"
    assert texts(made) != texts(maker.executed(source))
