"""Progress: a bar where somebody looks, nothing elsewhere."""

import sys
import types

import pytest

from bayesregret.simulation import progress
from bayesregret.simulation.progress import Bar, NotebookBar, Progress, TerminalBar, open_progress


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)


def test_nothing_where_nobody_looks(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    with open_progress(None, rounds_in_all=10) as bar:
        assert type(bar) is Progress
    with open_progress(False, rounds_in_all=10) as bar:
        assert type(bar) is Progress


def test_a_terminal_gets_a_bar_unless_told_otherwise(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with open_progress(None, rounds_in_all=10) as bar:
        assert type(bar) is TerminalBar
    with open_progress(False, rounds_in_all=10) as bar:
        assert type(bar) is Progress


def test_a_function_is_told_what_is_done_and_what_is_to_do():
    told = []
    with open_progress(lambda done, in_all: told.append((done, in_all)), rounds_in_all=10) as bar:
        bar.describe("anything")
        bar.advance(4)
        bar.extend(10)
        bar.advance(16)
    assert told == [(4, 10), (20, 20)]


def test_short_work_shows_no_bar(capsys):
    with open_progress(True, rounds_in_all=10) as bar:
        bar.advance(10)
        assert isinstance(bar, Bar)
        assert not bar.shown
    assert capsys.readouterr().err == ""


def test_the_terminal_bar_is_on_standard_error_and_names_the_work(impatient, capsys):
    with open_progress(True, rounds_in_all=10) as bar:
        bar.describe("bayes-ucb")
        bar.advance(5)
        (task,) = bar.rich.tasks
        assert (task.description, task.completed, task.total) == ("bayes-ucb", 5, 10)
        assert bar.rich.console.stderr
    assert capsys.readouterr().out == ""


def test_the_notebook_bar_rewrites_one_line(impatient, monkeypatch):
    lines = []
    handle = types.SimpleNamespace(update=lambda data, raw: lines.append(data["text/plain"]))

    def display(data, raw, display_id):
        lines.append(data["text/plain"])
        return handle

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    with open_progress(None, rounds_in_all=10) as bar:
        assert type(bar) is NotebookBar
        bar.describe("ucb1")
        bar.advance(5)
    assert lines[0].startswith("ucb1  ███████████████░")
    assert "50%" in lines[0]
    assert lines[-1] == ""
