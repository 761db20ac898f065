"""Workers that play on GPUs: in NVIDIA's simulator, which plays one lane at a time, and with stand-ins for GPUs."""

import logging
import os
import pathlib
import runpy
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import bayesregret as br
from bayesregret import cli
from bayesregret.reproduction import run_experiments
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.simulation.engines.cluster import worker
from bayesregret.simulation.engines.cluster.engine import Sizes
from bayesregret.simulation.kernels.run import make_record
from bayesregret.study import Study

SIMULATOR = pathlib.Path(__file__).parents[1] / "gpu" / "on_simulator.py"
BANDIT = br.GaussianBandit([0.5, 0.0], 1.0, 1.5)
SWEEP = {
    "horizon": 3,
    "runs": 65,
    "policies": ["greedy"],
    "problem": {"common": "gaussian", "arms": 2},
    "vary": {"prior_width": [1, 2, 3]},
}


@contextmanager
def client_of(number, environment):
    """A client of a cluster of this machine, whose processes have this environment."""
    import distributed

    with distributed.LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
        env=environment,
    ) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            yield client


@pytest.fixture(scope="module")
def simulated_gpus():
    with client_of(2, {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}) as client:
        client.run(runpy.run_path, str(SIMULATOR))  # a warp has one lane
        yield br.ClusterEngine(client, engine="gpu")


def bits(found):
    return [np.ascontiguousarray(array).tobytes() for array in (*found.kept, found.mean_pulls, *found.curve)]


@pytest.mark.parametrize("policy", ["bayes-ucb", "thompson"])
def test_bits_are_those_of_threads(simulated_gpus, policy, monkeypatch):
    asked = {"horizon": 5, "runs": 150, "seed": 3, "progress": False}
    here = br.simulate(BANDIT, policy, threads=1, **asked)[policy]
    there = br.simulate(BANDIT, policy, engine=simulated_gpus, **asked)[policy]
    assert bits(there) == bits(here)
    assert bits(br.simulate(BANDIT, policy, engine=simulated_gpus, **asked | {"seed": 4})[policy]) != bits(here)


def test_a_task_of_several_chunks(simulated_gpus, monkeypatch):
    monkeypatch.setattr(Sizes, "runs", lambda sizes, left, at_once: left)
    chunk_rounds = "import bayesregret.simulation.engines.gpu.job as job; job.CHUNK_ROUNDS = {}"
    simulated_gpus.client.run(exec, chunk_rounds.format(64))
    plans = [br.plan(BANDIT, "greedy", horizon=3, runs=200, engine=place) for place in ("threads", simulated_gpus)]
    simulated_gpus.client.run(exec, chunk_rounds.format(2**30))
    assert plans[0].to_dict() == plans[1].to_dict()


@pytest.mark.parametrize("large", [0.0, 10.0], ids=["split", "in groups"])
def test_points_of_a_sweep(simulated_gpus, tmp_path, monkeypatch, large):
    monkeypatch.setattr("bayesregret.reproduction.cluster_points.LARGE_SECONDS", large)
    found = []
    for name, engine in (("here", "threads"), ("there", simulated_gpus)):
        with Study.open(tmp_path / f"{name}.sqlite") as study:
            found.append([done.table for done in run_experiments(sweep_experiments(SWEEP), study, engine=engine)])
    assert found[0] == found[1]


def test_a_policy_that_no_gpu_plays_is_one_line(simulated_gpus):
    """In the simulator any policy runs, so a wrong choice stands for what is refused there."""
    found = simulated_gpus.client.run(worker.gpu_lanes)
    assert set(found.values()) == {1}, "the simulator's own, and a warp of one lane"
    with pytest.raises(ValueError, match=r"^arms must be fewer on this GPU: a lane needs 16 bytes, and "):
        free = "import bayesregret.simulation.engines.gpu.job as job; job.MEMORY_FRACTION = {}"
        simulated_gpus.client.run(exec, free.format(1e-12))
        try:
            br.simulate(BANDIT, "ucb1", horizon=3, runs=64, engine=simulated_gpus, progress=False)
        finally:
            simulated_gpus.client.run(exec, free.format(0.4))
