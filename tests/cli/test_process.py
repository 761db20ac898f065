"""The command line as a process of its own: what it loads, pipes, interrupts, terminals."""

import os
import pathlib
import pty
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.compiled  # nothing here is needed for coverage, which makes it slow

SIMULATE = [sys.executable, "-m", "bayesregret", "simulate", "gaussian", "--horizon", "50", "--runs", "20"]
HEAVY = {"numba", "llvmlite", "matplotlib", "pandas", "scipy", "rich", "pydantic"}


def loaded_by(code: str) -> set[str]:
    code += "; import sys; print('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return set(printed.partition("LOADED")[2].split())


def test_help_and_import_load_nothing_heavy():
    assert not loaded_by("import bayesregret") & HEAVY
    assert not loaded_by("from bayesregret.cli import run; run(['--help'])") & HEAVY
    assert not loaded_by("from bayesregret.cli import run; run(['--version'])") & HEAVY
    assert "numba" not in loaded_by("from bayesregret.cli import run; run(['simulate', '--help'])")
    assert "numba" in loaded_by("import bayesregret.cli, numba"), "the control"


def test_the_installed_command_is_the_module():
    command = pathlib.Path(sys.executable).with_name("bayesregret")
    by_name = subprocess.run([command, *SIMULATE[3:], "--json"], capture_output=True, check=True)
    by_module = subprocess.run([*SIMULATE, "--json"], capture_output=True, check=True)
    assert by_name.stdout == by_module.stdout
    assert by_name.stderr == by_module.stderr == b""


def test_bad_input_is_one_line_and_status_2():
    done = subprocess.run([*SIMULATE, "--seed", "-1"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "bayesregret: --seed must be a whole number, at least 0, got -1\n"


@pytest.mark.parametrize("output", [["--json"], [], ["--help"]])
def test_a_broken_pipe_is_quiet(output):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*SIMULATE, *output], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([*SIMULATE, "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "bayesregret: [Errno 28] No space left on device\n"


@pytest.mark.parametrize(("closed", "status"), [(1, 0), (2, 2)])
def test_streams_closed_from_the_start(closed, status):
    arguments = [*SIMULATE, *(["--seed", "x"] if status else [])]
    with_closed = f'"$@" {closed}>&-'
    done = subprocess.run(["sh", "-c", with_closed, "sh", *arguments], capture_output=True)
    assert done.returncode == status
    assert done.stdout == done.stderr == b""


INTERRUPTED = """
import sys
from bayesregret import cli
from bayesregret.cli import simulate

def tell(done, in_all):
    print("going", flush=True)

original = simulate.run_simulation
simulate.run_simulation = lambda *a, **k: original(*a, **{**k, "progress": tell})
sys.exit(cli.run(["simulate", "gaussian", "--horizon", "200", "--runs", "1e9", "--keep", "summary"]))
"""


@pytest.mark.compiled
def test_an_interrupt_ends_it_within_a_moment():
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "going\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "bayesregret: interrupted\n"
    assert time.monotonic() - began < 5.0  # promised: one second, on a machine with nothing else to do


def test_a_terminal_gets_a_table_with_lines():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "60"}
    done = subprocess.run(SIMULATE, stdout=theirs, stderr=subprocess.PIPE, env=environment)
    os.close(theirs)
    text = b""
    while block := _read(ours):
        text += block
    os.close(ours)
    shown = text.decode()
    assert done.returncode == 0
    assert done.stderr == b""
    assert "───" in shown
    assert "\x1b[1m" in shown, "bold headings"
    assert "…" not in shown, "no number is cut short"


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 10_000)
    except OSError:  # how a terminal says that nobody writes any more
        return b""
