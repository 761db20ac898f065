"""Several processes, kills and disturbance: a small slice of benchmarks/attack_experiments.py.

In processes of their own, which are forked from one without threads.
"""

import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[1] / "killed_experiments.py"


def run(*arguments):
    done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


def test_nothing_acknowledged_is_lost_by_kills(url):
    events, kills, decisions, rewards = run("kills", url, 4, 2)
    assert kills == 12
    assert decisions > 0
    assert rewards > 0
    assert events >= decisions + rewards


def test_processes_that_disturb_one_another_are_one_agent(url):
    """Every key is asked for by two processes or more, and every reward comes several times, also wrongly."""
    events, refused = run("disturb", url, 4, 200)
    assert events == 400
    assert refused > 0
