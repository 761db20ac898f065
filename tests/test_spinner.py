"""Spinners: words where somebody watches, above all while kernels compile, and nothing elsewhere."""

import io
import os
import pty
import signal
import subprocess
import sys
import time
import types

import pytest

from bayesregret import compile_notice, progress, spinner
from bayesregret.compile_notice import CompileNotice
from bayesregret.progress import open_progress
from bayesregret.spinner import interlude, spinning


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    made = Terminal()
    # Not `sys.stderr`, which pytest sets anew after the fixtures.
    monkeypatch.setattr(spinner, "sys", types.SimpleNamespace(stderr=made, modules=sys.modules))
    monkeypatch.setattr(spinner, "PATIENCE", 0.0)
    monkeypatch.setattr(spinner, "FRAME_SECONDS", 0.01)
    return made


def wait_for(stream, words):
    """Wait until the thread that draws has written these words; fail if it does not."""
    for _ in range(1000):
        if words in stream.getvalue():
            return
        time.sleep(0.01)
    raise AssertionError(f"{words!r} is not in {stream.getvalue()[-200:]!r}")


def test_a_terminal_gets_words_that_are_gone_at_the_end(terminal):
    with spinning("optimal regret"):
        wait_for(terminal, "⠙ optimal regret")
    assert terminal.getvalue().startswith("\x1b[?25l\r\x1b[K⠋ optimal regret")
    assert terminal.getvalue().endswith("\r\x1b[K\x1b[?25h")


def test_short_work_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(spinner, "PATIENCE", 60.0)
    with spinning("optimal regret"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("wanted", [None, False])
def test_nothing_where_nobody_watches(wanted, capsys, monkeypatch):
    monkeypatch.setattr(spinner, "PATIENCE", 0.0)
    with spinning("optimal regret", wanted), interlude("compiling {}, once", "the agent"):
        assert spinner.open_displays == []
    assert capsys.readouterr().err == ""


def test_work_inside_borrows_the_display(terminal):
    with spinning("exact regret of ucb1"):
        with interlude("compiling {}, once", "something"):
            wait_for(terminal, "compiling exact regret of ucb1, once")
        before = len(terminal.getvalue())
        wait_for(types.SimpleNamespace(getvalue=lambda: terminal.getvalue()[before:]), " exact regret of ucb1")
    assert spinner.open_displays == []


def test_a_terminal_without_unicode_or_width(terminal, monkeypatch):
    terminal.encoding = "latin-1"
    monkeypatch.setenv("COLUMNS", "9")
    with spinning("optimal regret"):
        wait_for(terminal, "/ optima")
    assert "optimal" not in terminal.getvalue()


def test_processes_that_work_for_this_one_show_nothing(terminal, monkeypatch):
    assert spinner.is_watched()
    monkeypatch.setattr("multiprocessing.parent_process", lambda: object())
    assert not spinner.is_watched()


def test_a_notebook_gets_one_line(monkeypatch):
    lines = []
    handle = types.SimpleNamespace(update=lambda data, raw: lines.append(data["text/plain"]))

    def display(data, raw, display_id):
        lines.append(data["text/plain"])
        return handle

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    with spinning("optimal regret"), interlude("compiling {}, once", "the agent"):
        pass
    assert lines == ["optimal regret", "compiling optimal regret, once", "optimal regret", ""]


# --- compilation ---------------------------------------------------------------------------------------------------


def event(body, is_start):
    dispatcher = types.SimpleNamespace(py_func=types.SimpleNamespace(**({} if body is None else {"body": body})))
    return types.SimpleNamespace(data={"dispatcher": dispatcher}, is_start=is_start)


def compile_in_words(body, inside=lambda: None):
    notice = CompileNotice()
    notice.notify(event(body, True))
    notice.notify(event(None, True))  # a formula within it
    notice.notify(event(None, False))
    inside()
    notice.notify(event(body, False))


def in_module(name):
    return types.SimpleNamespace(__module__=name)


@pytest.mark.parametrize(
    ("module", "purpose"),
    [
        ("bayesregret.agent.arms", "the agent"),
        ("bayesregret.exact.bernoulli.cells", "exact regret"),
        ("bayesregret.simulation.kernels.run", "the simulation"),
        ("elsewhere", "formulas"),
    ],
)
def test_the_purpose_of_a_kernel(terminal, module, purpose):
    compile_in_words(in_module(module), lambda: wait_for(terminal, f"compiling {purpose}, once"))
    assert terminal.getvalue().endswith("\r\x1b[K\x1b[?25h")


def test_a_bar_that_is_shown_says_it_itself(terminal, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    said = []
    with open_progress(None, total=10) as bar:
        bar.describe("thompson")
        bar.advance(1)
        body = in_module("bayesregret.simulation.kernels.run")
        compile_in_words(body, lambda: said.append(bar.rich.tasks[0].description))
        said.append(bar.rich.tasks[0].description)
    assert said == ["compiling thompson, once", "thompson"]


def test_a_bar_that_is_not_shown_yet_leaves_it_to_a_spinner(terminal):
    with open_progress(None, total=10) as bar:
        bar.describe("thompson")
        compile_in_words(in_module("x"), lambda: wait_for(terminal, "compiling thompson, once"))
        assert not bar.shown


@pytest.mark.parametrize("progress", [False, lambda done, total: None])
def test_who_wants_no_bar_wants_no_words(terminal, progress):
    with open_progress(progress, total=10) as bar:
        bar.describe("thompson")
        compile_in_words(in_module("x"))
    assert terminal.getvalue() == ""


def test_work_without_a_bar_of_its_own_uses_the_one_around_it(terminal):
    with spinning("audit"), open_progress(False, total=10) as bar:
        bar.describe("thompson")
        compile_in_words(in_module("x"), lambda: wait_for(terminal, "compiling thompson, once"))


def test_the_words_are_plain():
    assert compile_notice.WORDS.format("thompson") == "compiling thompson, once"


# In a new process: what a user sees. Words appear at once, however fast the machine compiles.
COMMAND = """
import sys
from bayesregret import spinner
spinner.PATIENCE = 0.0
from bayesregret.cli import main
sys.argv = ["bayesregret", "simulate", "gaussian", "--policy", "ucb1", "--horizon", "20", "--runs", "20"]
main()
"""
AGENT = """
import bayesregret as br
from bayesregret import spinner
spinner.PATIENCE = 0.0
br.EpsilonGreedy(0.1).start(br.BernoulliBandit([1, 1], [1, 1]), seed=1).select()
"""


def in_terminal(code, cache, interrupt_at=None):
    """Run a process in a terminal of its own; return its exit status and all that it wrote."""
    ours, its = pty.openpty()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "COLUMNS": "80"}
    process = subprocess.Popen([sys.executable, "-c", code], stdin=its, stdout=its, stderr=its, env=environment)
    os.close(its)
    written = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # Linux: the other end is closed
            more = b""
        if not more:
            break
        written += more
        if interrupt_at is not None and interrupt_at in written:
            process.send_signal(signal.SIGINT)
            interrupt_at = None
    os.close(ours)
    return process.wait(), written.decode()


@pytest.mark.compiled
def test_compilation_is_announced_once_and_may_be_interrupted(tmp_path):
    status, written = in_terminal(COMMAND, tmp_path / "interrupted", interrupt_at=b"compiling ucb1, once")
    assert status == 130
    assert written.endswith("\x1b[?25hbayesregret: interrupted\r\n")
    assert "Traceback" not in written
    status, written = in_terminal(COMMAND, tmp_path)
    assert (status, "compiling ucb1, once" in written) == (0, True)
    status, written = in_terminal(COMMAND, tmp_path)
    assert (status, "compiling" in written) == (0, False)


@pytest.mark.compiled
def test_agents_compile_with_words_too(tmp_path):
    assert "compiling the agent, once" in in_terminal(AGENT, tmp_path)[1]
    assert "compiling" not in in_terminal(AGENT, tmp_path)[1]
