"""Progress: a bar where somebody looks, nothing elsewhere."""

import sys
import types

import pytest

from bayesregret import progress
from bayesregret.progress import Bar, NotebookBar, TerminalBar, WorkProgress, open_progress


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)


def test_nothing_where_nobody_looks(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    with open_progress(None, total=10) as bar:
        assert type(bar) is WorkProgress
    with open_progress(False, total=10) as bar:
        assert type(bar) is WorkProgress


def test_a_terminal_gets_a_bar_unless_it_is_switched_off(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with open_progress(None, total=10) as bar:
        assert type(bar) is TerminalBar
    with open_progress(False, total=10) as bar:
        assert type(bar) is WorkProgress


def test_a_function_is_called_with_the_amount_done_and_the_total():
    calls = []
    with open_progress(lambda done, total: calls.append((done, total)), total=10) as bar:
        bar.describe("anything")
        bar.advance(4)
        bar.extend(10)
        bar.advance(16)
    assert calls == [(4, 10), (20, 20)]


def test_short_work_shows_no_bar(capsys):
    with open_progress(True, total=10) as bar:
        bar.advance(10)
        assert isinstance(bar, Bar)
        assert not bar.shown
    assert capsys.readouterr().err == ""


def test_the_terminal_bar_is_on_standard_error_and_names_the_work(impatient, capsys):
    with open_progress(True, total=10) as bar:
        bar.describe("bayes-ucb")
        bar.advance(5)
        (task,) = bar.rich.tasks
        assert (task.description, task.completed, task.total) == ("bayes-ucb", 5, 10)
        assert bar.rich.console.stderr
    assert capsys.readouterr().out == ""


def test_a_bar_of_countable_units_is_there_before_the_first_is_done(capsys):
    with open_progress(True, total=9, countable=True) as bar:
        assert not bar.shown
        bar.describe("figure-6a  width 1")
        assert bar.shown
        (task,) = bar.rich.tasks
        assert (task.description, task.completed, task.total) == ("figure-6a  width 1", 0, 9)
        assert any(type(column).__name__ == "MofNCompleteColumn" for column in bar.rich.columns)
        bar.advance(1)
        assert task.completed == 1
    assert capsys.readouterr().out == ""


def test_a_bar_with_an_expected_time_is_there_at_once(capsys):
    with open_progress(True, total=9, expected="about 3 hours") as bar:
        bar.describe("ucb1")
        assert [task.description for task in bar.rich.tasks] == ["ucb1, about 3 hours in all"]


@pytest.fixture
def notebook_lines(monkeypatch):
    """The lines that a notebook's bar writes."""
    lines = []
    handle = types.SimpleNamespace(update=lambda data, raw: lines.append(data["text/plain"]))

    def display(data, raw, display_id):
        lines.append(data["text/plain"])
        return handle

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    return lines


def test_the_notebook_bar_rewrites_one_line(impatient, notebook_lines):
    with open_progress(None, total=10) as bar:
        assert type(bar) is NotebookBar
        bar.describe("ucb1")
        bar.advance(5)
    assert notebook_lines[0].startswith("ucb1  ███████████████░")
    assert "50%" in notebook_lines[0]
    assert notebook_lines[0].endswith(" s left")
    assert notebook_lines[-1] == ""


def test_the_notebook_bar_counts_units(notebook_lines):
    with open_progress(None, total=9, countable=True) as bar:
        bar.describe("figure-6a")
        assert notebook_lines[-1] == f"figure-6a  {'░' * 30}  0/9"
        bar.advance(9)
        assert notebook_lines[-1] == f"figure-6a  {'█' * 30}  9/9  0 s left"
