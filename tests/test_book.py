"""The book's examples give what they show."""

import pathlib

import pytest

import bayesregret as br
from bayesregret.bounds.bound import Formula
from pages import BLOCK, COLUMNS, columns, run_page
from shown import is_shown

BOOK = pathlib.Path(__file__).parents[1] / "docs"
PAGES = sorted(BOOK.rglob("*.md"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a page may write; it reads the book's data under docs/."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(br.Policy, "classes", dict(br.Policy.classes))  # pages define their own
    monkeypatch.setattr(Formula, "every", dict(Formula.every))
    (tmp_path / "docs").symlink_to(BOOK)
    return tmp_path


@pytest.mark.compiled
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(page, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns(page))
    complaints, left = run_page(page, folder)
    assert not complaints, "\n".join(complaints)
    if page.parent.name == "how-to":
        assert not left, "every block of a how-to guide is run"


@pytest.mark.compiled
def test_a_page_that_shows_something_else_is_noticed(folder):
    """The control."""
    wrong = folder / "wrong.md"
    wrong.write_text(
        "```python\n>>> 1 + 1\n3\n```\n\n```console\n$ bayesregret --version\nbayesregret 0\n```\n\n```sh\nls\n```\n"
    )
    complaints, left = run_page(wrong, folder)
    assert len(complaints) == 2
    assert left == ["ls\n"]


@pytest.mark.parametrize("page", [page for page in PAGES if columns(page)], ids=lambda page: page.stem)
def test_code_is_no_wider_than_the_book(page):
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    blocks = [text for _, _, language, text in found if not language.startswith("{")]
    wide = [line for text in blocks for line in text.splitlines() if len(line) > int(COLUMNS)]
    # An error message is one line, however long.
    assert [line for line in wide if not line.startswith("ValueError: ")] == []


def test_what_was_not_printed_is_noticed():
    """The control."""
    assert is_shown("gap_dependent  paper  1352", ["gap_dependent  paper  Theorem 1  1352  876.7"])
    assert not is_shown("gap_dependent  paper  1353", ["gap_dependent  paper  Theorem 1  1352  876.7"])
