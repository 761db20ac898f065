"""The book's page about studies shows what comes out."""

import doctest
import pathlib
import re

import pytest

import bayesregret
from bayesregret.cli import run
from pages import COLUMNS
from shown import console_examples

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "reference" / "studies.md").read_text()
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", COLUMNS)
    monkeypatch.setattr(bayesregret, "__version__", "0.1.0")  # keys depend on it


def run_python() -> list[str]:
    text = "\n".join(re.findall(r"^```pycon\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
    complaints: list[str] = []
    examples = doctest.DocTestParser().get_doctest(text, {}, "studies.md", "studies.md", 0)
    assert len(examples.examples) == 2
    doctest.DocTestRunner().run(examples, out=complaints.append)
    return complaints


@pytest.mark.usefixtures("folder")
def test_the_examples(capsys):
    assert run_python() == []
    commands = console_examples(PAGE.replace("```text\n", "```console\n"))
    assert [arguments[1] for arguments, _ in commands] == ["list", "show", "export", "merge"]
    for arguments, shown in commands:
        assert run(arguments) == 0
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert [TIME.sub("", line) for line in printed] == [TIME.sub("", line) for line in shown]
