"""The book's examples give what they show."""

import doctest
import pathlib
import re

import pytest

from bayesregret.cli import run
from shown import console_examples, is_shown

BOOK = pathlib.Path(__file__).parents[1] / "docs"
PAGES = sorted(BOOK.rglob("*.md"))
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLES = [(page, *example) for page in PAGES for example in console_examples(page.read_text())]


@pytest.mark.compiled
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_examples(page):
    text = "\n".join(PYTHON.findall(page.read_text()))
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    complaints = []
    doctest.DocTestRunner().run(examples, out=complaints.append)
    assert not complaints, "".join(complaints)


def test_there_are_examples():
    assert len(EXAMPLES) > 5


@pytest.mark.compiled
@pytest.mark.parametrize(("page", "arguments", "shown"), EXAMPLES, ids=lambda part: getattr(part, "stem", None))
def test_commands(page, arguments, shown, capsys):
    assert run(arguments) == 0
    printed = capsys.readouterr().out.splitlines()
    printed.append(" ".join(printed))  # a long line may be broken in the book
    missing = [line for line in shown if line != "..." and not is_shown(line, printed)]
    assert not missing


def test_what_was_not_printed_is_noticed():
    """The control."""
    assert is_shown("gap_dependent  paper  1352", ["gap_dependent  paper  Theorem 1  1352  876.7"])
    assert not is_shown("gap_dependent  paper  1353", ["gap_dependent  paper  Theorem 1  1352  876.7"])
