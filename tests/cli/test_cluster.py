"""`--cluster` prints what threads print, in each command that simulates."""

import logging

import pytest

from bayesregret import cli

COMMANDS = {
    "simulate": ["simulate", "bernoulli", "--arms", "2", "--horizon", "10", "--runs", "100", "--json"],
    "plan": ["plan", "bernoulli", "--arms", "2", "--horizon", "10", "--runs", "100", "--policy", "greedy", "--json"],
    "sweep": ["sweep", "sweep.toml", "--json"],
    "reproduce": ["reproduce", "figure-2a", "--runs", "2", "--json"],
}
SWEEP = """
horizon = 10
runs = 20
[problem]
common = "bernoulli"
arms = 2
[vary]
alpha = [1, 2]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a sweep file, and loggers that are put back."""
    (tmp_path / "sweep.toml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    for name in ("distributed", "tornado", "asyncio"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.getLogger(name).level)


def printed(capsys, *arguments):
    status = cli.run([*arguments])
    output = capsys.readouterr()
    assert (status, output.err) == (0, "")
    return output.out


@pytest.mark.parametrize("command", ["simulate", "plan", "sweep"])
def test_a_cluster_prints_what_threads_print(command, capsys):
    folders = {"sweep": (["--output", "here"], ["--output", "there"])}.get(command, ([], []))
    here = printed(capsys, *COMMANDS[command], "--threads", "1", *folders[0])
    there = printed(capsys, *COMMANDS[command], "--cluster", "local:2", *folders[1])
    assert there.replace("there", "here") == here


@pytest.mark.parametrize("command", COMMANDS)
def test_nobody_at_an_address_is_one_line(command, capsys, monkeypatch):
    monkeypatch.setattr("bayesregret.simulation.engines.cluster.connection.PATIENCE", 0.2)
    status = cli.run([*COMMANDS[command], "--cluster", "tcp://127.0.0.1:1"])
    output = capsys.readouterr()
    assert (status, output.out) == (1, "")
    assert output.err.startswith("bayesregret: engine must be a cluster that answers, got tcp://127.0.0.1:1: no ")
    assert output.err.count("\n") == 1
