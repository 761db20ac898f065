"""Two worker processes, which all tests of one process share."""

import functools
import importlib.util
import pathlib
import sys

import pytest

from bayesregret import ClusterEngine


@pytest.fixture
def cluster():
    """An engine with two workers; the first test that needs them starts them."""
    engine = ClusterEngine("local:2")
    engine.client.wait_for_workers(2, timeout=60)  # after a test that killed some
    return engine


@pytest.fixture
def own_module(tmp_path):
    """Import a text as a module of the user's, from a file outside the package."""
    made = []

    def load(name, text):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        # Python takes bytecode of the same second and length for that of the new text.
        pathlib.Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        spec = importlib.util.spec_from_file_location(name, path)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        made.append(name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in made:
        sys.modules.pop(name, None)


STAND_IN = """
import os
import time

import numpy as np

from bayesregret.simulation.kernels.run import make_record


class Mode(str):
    '''Takes the place of a policy.'''

    name = property(str)


class StandIn:
    '''Runs whose regret is their number, and that take no time but where the mode says so.'''

    classes = ()

    def __init__(self, folder, mode):
        self.mode, self.folder, self.stop = mode, folder, np.zeros(1, np.uint8)

    def play(self, first, runs):
        if self.mode.startswith("slow first") and first == 0 and runs:
            time.sleep(1.0)
        if self.mode == "endless" and runs:
            while not self.stop[0]:
                time.sleep(0.01)
            open(f"{self.folder}/stopped", "w").close()
        if self.mode == "deadly" and runs:
            os._exit(1)
        if self.mode == "wrong" and first > 0:
            raise ValueError("run 64 must be right")
        record = make_record(runs, 2, 1)
        record.final_regret[:] = np.arange(first, first + runs)
        record.best_pulls[:] = 0
        record.block_mean[:] = record.block_squares[:] = 0.0
        return record
"""


@pytest.fixture
def stand_in(own_module, tmp_path):
    """Make a stand-in for a simulation, which costs nothing."""
    stand_ins = own_module("stand_ins", STAND_IN)

    def make(mode, nanoseconds=10**6):
        parts = str(tmp_path), stand_ins.Mode(mode)
        made = stand_ins.StandIn(*parts)
        made.recipe = functools.partial(stand_ins.StandIn, *parts)
        made.cost = lambda: nanoseconds
        made.plan = made
        made.checkpoints = [1]
        return made

    return make
