"""The way from `simulate` to the kernel is short: a stranger can read all of it."""

import subprocess
import sys

import pytest

COUNT = """
import sys
import bayesregret as br

seen, reached = set(), []

def watch(frame, event, argument):
    code = frame.f_code
    # elementary.py is arithmetic, as Python's own math is.
    is_arithmetic = code.co_filename.endswith("elementary.py")
    if event == "call" and "bayesregret" in code.co_filename and code.co_name != "simulate" and not reached:
        if is_arithmetic:
            return
        seen.add(code)
        if code.co_qualname == "Simulation.play":
            reached.append(code)

bandit, policy = br.GaussianBandit([1, 0, 0], 1, 1), br.BayesUCB()
sys.setprofile(watch)
br.simulate(bandit, policy, horizon=100, runs=64, seed=1, threads=1, progress=False)
sys.setprofile(None)
assert reached
print(len(seen))
"""


@pytest.mark.compiled
def test_at_most_forty_functions_before_the_kernel():
    """In a new process, so that loading the compiler counts, too. The first one may compile, and does not count."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    assert 10 < int(done.stdout) <= 40, done.stdout
