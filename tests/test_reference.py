"""The book's reference has every public name, and no other."""

import ast
import importlib
import inspect
import pathlib
import re

import bayesregret as br

REFERENCE = pathlib.Path(__file__).parents[1] / "docs" / "reference"
PAGES = [page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md")]
PUBLIC = re.compile(r"^\.\. auto(?:class|function|data):: bayesregret\.((?:bounds\.)?\w+)$", re.MULTILINE)
CONF = (REFERENCE.parent / "conf.py").read_text(encoding="utf-8")
INTERNAL = re.search(r'^INTERNAL = r"(.*)"$', CONF, re.MULTILINE)[1]
DOCUMENTED = re.compile(r"^\.\. auto(?:class|function|data):: (bayesregret[\w.]*)$", re.MULTILINE)
MEMBER_TYPES = re.compile(r"^ *\w+(?:, \w+)* : (.*)$", re.MULTILINE)


def test_every_public_name_is_in_the_reference():
    listed = [name for page in PAGES for name in PUBLIC.findall(page)]
    public = [name for name in br.__all__ if name != "bounds"] + [f"bounds.{name}" for name in br.bounds.__all__]
    assert sorted(listed) == sorted(public)


def resolved(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def types_of_ours(documented):
    """Classes of the package in the types of its docstring: those with which the book's build looks for an entry."""
    module = inspect.getmodule(documented)
    words = set(re.findall(r"\w+", " ".join(MEMBER_TYPES.findall(inspect.getdoc(documented) or ""))))
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesregret."):
            yield from (alias.name for alias in node.names if alias.name in words and alias.name[0].isupper())


def without_entry(names):
    entries = {name.rpartition(".")[2] for name in names}
    return {
        kind
        for name in names
        for kind in types_of_ours(resolved(name))
        if kind not in entries and not re.fullmatch(INTERNAL, kind) and not kind.isupper()
    }


def test_types_in_the_reference_have_an_entry_there():
    names = [name for page in PAGES for name in DOCUMENTED.findall(page)]
    assert without_entry(names) == set()
    assert "Engine" in without_entry([name for name in names if not name.endswith(".Engine")])  # the control
