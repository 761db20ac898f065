"""The checks of the built book find what is broken; links to it from the outside lead somewhere."""

import pathlib
import re

import pytest

from book.links import broken

ROOT = pathlib.Path(__file__).parents[1]
LINK = re.compile(r"(?:\]\(|srcset=\"|src=\")([^)\s\"]+)")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_documents_outside_the_book(name):
    links = [link for link in LINK.findall((ROOT / name).read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []


def test_paths_of_pages_in_code_and_tests():
    files = [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    named = {page for path in files for page in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))}
    assert len(named) > 5
    assert [page for page in sorted(named) if not (ROOT / page).exists()] == []


PAGE = "<html><body><h1 id='top'>A</h1>{}</body></html>"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            "<a href='b.html#there'>B</a><a href='#top'>up</a><img src='p.svg'><a href='https://example.org/x'>x</a>",
            None,
        ),
        ("<a href='c.html'>C</a>", "a.html: c.html does not exist"),
        ("<a href='b.html#nowhere'>B</a>", "a.html: b.html#nowhere has no such anchor"),
        ("<img src='q.svg'>", "a.html: q.svg does not exist"),
        ("<link href='style.css?v=1'>", "a.html: style.css?v=1 does not exist"),
    ],
)
def test_broken_links_are_found(tmp_path, body, complaint):
    (tmp_path / "a.html").write_text(PAGE.format(body))
    (tmp_path / "b.html").write_text(PAGE.format("<p id='there'>B</p>"))
    (tmp_path / "p.svg").write_text("<svg/>")
    assert broken(tmp_path) == ([] if complaint is None else [complaint])


def test_a_book_without_pages_is_broken(tmp_path):
    assert broken(tmp_path) == ["no pages"]
