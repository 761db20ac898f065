"""Ctrl-C on the command line: one line and status 130, also where other libraries would lose or print an exception."""

import os
import signal
import subprocess
import sys

import pytest

from bayesregret import interrupts

OPTIONS = ["simulate", "gaussian", "--policy", "ucb1", "--horizon", "20", "--runs", "20", "--json"]

# Python imports this at its start; it interrupts the process when it first comes to a place in the source.
INTERRUPT_AT = """
import signal, sys

def watch(frame, event, arg):
    code = frame.f_code
    if event == {event!r} and code.co_name == {function!r} and {file!r} in code.co_filename:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

sys.setprofile(watch)
"""
PLACES = {
    "the first import": ("call", "<module>", "numpy/__init__"),
    "an import in a command": ("call", "<module>", "numba/__init__"),
    "a callback of the compiler": ("call", "_raw_object_cache_notify", "llvmlite"),
    "a finalizer": ("call", "__del__", ""),
    "the simulation": ("call", "add", "tally"),
    "the exit": ("call", "_shutdown", "threading"),
}


def run_command(folder, **environment):
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment |= {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "bayesregret", *OPTIONS]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=60)


def run_interrupted(folder, event, function, file, **environment):
    (folder / "sitecustomize.py").write_text(INTERRUPT_AT.format(event=event, function=function, file=file))
    done = run_command(folder, **environment)
    assert (done.returncode, done.stderr) == (130, "bayesregret: interrupted\n")


@pytest.mark.compiled
@pytest.mark.parametrize("place", PLACES)
def test_one_line_wherever_it_comes(place, tmp_path):
    compiles = {"NUMBA_CACHE_DIR": str(tmp_path)} if "compiler" in place else {}
    run_interrupted(tmp_path, *PLACES[place], **compiles)


@pytest.mark.compiled
def test_compiled_code_is_written_whole(tmp_path):
    cache = tmp_path / "cache"
    first_write = ("c_call", "_save_data", "numba/core/caching")
    run_interrupted(tmp_path, *first_write, NUMBA_CACHE_DIR=str(cache))
    assert list(cache.rglob("*.nbc"))
    assert not list(cache.rglob("*.tmp.*"))
    again = run_command(tmp_path / "nowhere", NUMBA_CACHE_DIR=str(cache))
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.parametrize(
    ("started", "seen", "expected"),
    [
        (["python", "/bin/bayesregret", "bounds"], ["/bin/bayesregret", "bounds"], True),
        (["python", "-m", "bayesregret", "bounds"], ["-m", "bounds"], True),
        (["python", "-mbayesregret"], ["-m"], True),
        (["python", "script.py", "bayesregret"], ["script.py", "bayesregret"], False),
        (["python", "-c", "import bayesregret"], ["-c"], False),
        (["python"], [""], False),
        (["python", "-c", "a worker"], ["/bin/bayesregret", "reproduce", "figure-1a", "--runs"], False),
        ([], [""], False),
    ],
)
def test_what_a_command_is(started, seen, expected, monkeypatch):
    monkeypatch.setattr(sys, "orig_argv", started)
    monkeypatch.setattr(sys, "argv", seen)
    assert interrupts.runs_as_command() is expected


def test_in_python_use_nothing_changes():
    code = "import signal, sys, bayesregret; print(signal.getsignal(signal.SIGINT), sys.unraisablehook)"
    plain = "import signal, sys; print(signal.getsignal(signal.SIGINT), sys.unraisablehook)"
    assert output_of(code) == output_of(plain)


def output_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_parent_may_have_interrupts_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        interrupts.end_on_interrupts()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_process_started_while_interrupts_are_held_gets_none():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('goes on')"
    with interrupts.interrupts_held():
        held = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (held.stdout, held.stderr) == ("goes on\n", "")
    free = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "goes on" not in free.stdout, "held no longer"


@pytest.mark.parametrize("warnings", [None, "ignore::DeprecationWarning"])
def test_the_tracker_is_quiet_and_the_environment_is_put_back(warnings, monkeypatch):
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)
    if warnings is not None:
        monkeypatch.setenv("PYTHONWARNINGS", warnings)
    seen = []
    monkeypatch.setattr(
        "multiprocessing.resource_tracker.ensure_running", lambda: seen.append(os.environ["PYTHONWARNINGS"])
    )
    with interrupts.interrupts_held():
        assert os.environ.get("PYTHONWARNINGS") == warnings
    assert len(seen) == 1
    assert seen[0].endswith(interrupts.TRACKER_WARNING)
